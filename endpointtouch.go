package uetcc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// Touch loads what a batch of received packets will need, so that the cache misses
// of one overlap with those of the others; call [Endpoint.Receive] for each
// afterwards. Worth it with a thousand PDCs and more. Ignore the sum: it keeps the
// loads.
func (e *Endpoint) Touch(in []Datagram) (sum int64) {
	var ids [32]pds.PDCID
	for len(in) > 0 {
		n := min(len(in), len(ids))
		for i := range in[:n] {
			ids[i] = 0
			if b := in[i].Packet; len(b) >= pds.RequestLen {
				ids[i] = pds.PDCID(binary.BigEndian.Uint16(b[10:])) // dpdcid of requests and acknowledgements
			}
		}
		sum += e.pds.Touch(ids[:n])
		in = in[n:]
	}
	return sum
}
