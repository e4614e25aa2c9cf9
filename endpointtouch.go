package uetcc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// touchBatch is how many packets are looked at together.
const touchBatch = 32

// Touch loads what a batch of received packets will need, so that the cache misses
// of one overlap with those of the others; call [Endpoint.Receive] for each
// afterwards. Worth it with a thousand PDCs and more. Ignore the sum: it keeps the
// loads.
func (e *Endpoint) Touch(in []Datagram) (sum int64) {
	var (
		packets [touchBatch]pdc.In
		members [touchBatch]ccc.Handle
	)
	for len(in) > 0 {
		n := min(len(in), touchBatch)
		for i := range in[:n] {
			packets[i].Packet, members[i] = in[i].Packet, 0
			if id := dpdcid(in[i].Packet); id < len(e.flows) {
				members[i] = ccc.Handle(e.flows[id].pdc)
			}
		}
		sum += int64(e.pds.Touch(packets[:n])) + e.cc.Touch(members[:n])
		in = in[n:]
	}
	return sum
}

// dpdcid reads the field where requests and acknowledgements have it.
func dpdcid(b []byte) int {
	if len(b) < pds.RequestLen {
		return 0
	}
	return int(binary.BigEndian.Uint16(b[10:]))
}
