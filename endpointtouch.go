package uetcc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// touchBatch is how many packets are looked at together, and touchSoon how many
// one acknowledgement may let go.
const (
	touchBatch = 32
	touchSoon  = 4
)

// Touch loads what a batch of received packets will need, so that the cache misses
// of one overlap with those of the others; call [Endpoint.Receive] for each
// afterwards. Worth it with a thousand PDCs and more. Ignore the sum: it keeps the
// loads.
func (e *Endpoint) Touch(in []Datagram) (sum int64) {
	var requests [touchBatch]uint16 // that packets are for
	for len(in) > 0 {
		n, k := min(len(in), touchBatch), 0
		for i := range in[:n] {
			id, request := named(in[i].Packet)
			if requests[k] = uint16(id); request {
				k++
			} else {
				sum += e.touchFirst(in[i].Packet, id)
			}
		}
		sum += int64(e.pds.TouchRequests(requests[:k]) + e.target.Touch(requests[:k]))
		if k < n {
			sum += e.touchSource(in[:n])
		}
		in = in[n:]
	}
	return sum
}

// touchSource loads what acknowledgements among packets, which have had their first
// pass, tell the place of, and what is sent meanwhile.
func (e *Endpoint) touchSource(in []Datagram) (sum int64) {
	next := e.pds.Upcoming(len(in))
	for _, id := range next {
		sum += int64(e.pds.TouchNext(id)) + int64(e.flows[id].ahead) + int64(e.cc.TouchPDC(int(id)))
	}
	for i := range in {
		if _, request := named(in[i].Packet); !request {
			sum += e.touchSecond(in[i].Packet)
		}
	}
	for _, id := range next {
		sum += int64(e.pds.TouchUnsent(id)) + e.cc.TouchContext(int(id)) + e.touchMessage(&e.flows[id])
	}
	return sum
}

// touchFirst loads what an acknowledgement tells the place of.
func (e *Endpoint) touchFirst(b []byte, id pds.PDCID) int64 {
	sum := int64(e.pds.Touch(b))
	if int(id) < len(e.flows) {
		sum += int64(e.flows[id].ahead) + int64(e.cc.TouchPDC(int(id)))
	}
	return sum
}

// touchSecond loads what lies where the first pass has found out.
func (e *Endpoint) touchSecond(b []byte) int64 {
	sum := int64(e.pds.TouchSent(b))
	if id, _ := named(b); int(id) < len(e.flows) {
		sum += e.cc.TouchContext(int(id)) + e.touchMessage(&e.flows[id])
	}
	return sum
}

// touchMessage loads the message whose packets f hands over, which is nearly
// always the one that those belong to that are sent and acknowledged.
func (e *Endpoint) touchMessage(f *flow) (sum int64) {
	if i := f.messages.head; i != 0 {
		sum = int64(e.sender.Touch(Handle(i - 1)))
		if f.ahead <= submitLow+touchSoon {
			sum += e.messages[i-1].left
		}
	}
	return sum
}

// named reads the dpdcid of a request or an acknowledgement, which is the low half
// of a target's peer, and whether it is a request.
func named(b []byte) (id pds.PDCID, request bool) {
	if len(b) < pds.RequestLen {
		return 0, false
	}
	return pds.PDCID(binary.BigEndian.Uint16(b[10:])), pds.Type(b[0] >> 3).IsRequest()
}
