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

// scattered is from how many PDCs on an acknowledgement by itself is looked at before it
// is taken in: more than a second-level cache holds the state of.
const scattered = 1 << 12

// Touch loads what a batch of received packets will need, so that the cache misses
// of one overlap with those of the others; call [Endpoint.Receive] for each
// afterwards. Worth it with a thousand PDCs and more. Ignore the sum: it keeps the
// loads.
func (e *Endpoint) Touch(in []Datagram) (sum int64) {
	var requests, sources [2 * touchBatch]uint16 // PDCs that requests are for; that send
	all := 0
	for len(in) > 0 {
		n, k := min(len(in), touchBatch), 0
		for i := range in[:n] {
			id, request := named(in[i].Packet)
			requests[k], sources[i-k] = uint16(id), uint16(id)
			if request {
				k++
			}
		}
		sum += int64(e.pds.TouchRequests(requests[:k]) + e.target.Touch(requests[:k]))
		if acks := n - k; acks > 0 {
			next := e.pds.Upcoming(acks)
			for i, id := range next {
				sources[acks+i] = uint16(id)
			}
			sum += e.touchSources(sources[:acks+len(next)])
			all += acks
		}
		in = in[n:]
	}
	e.touched = max(e.touched, all)
	return sum
}

// touchACK loads what an acknowledgement that has not been in a batch will need: its
// misses overlap with each other, where one after another would come to light only as
// what is before it has been done.
func (e *Endpoint) touchACK(b []byte) {
	e.touched++
	id, _ := named(b)
	e.loaded += e.touchSources([]uint16{uint16(id)})
}

// touchSources loads what acknowledgements for PDCs and what is sent meanwhile needs.
func (e *Endpoint) touchSources(ids []uint16) (sum int64) {
	sum = int64(e.pds.TouchSources(ids))
	for _, id := range ids {
		if int(id) < len(e.flows) {
			sum += int64(e.flows[id].ahead) + int64(e.cc.TouchPDC(int(id)))
		}
	}
	sum += int64(e.pds.TouchPackets(ids))
	for _, id := range ids {
		if int(id) < len(e.flows) {
			sum += e.cc.TouchContext(int(id)) + e.touchMessage(id, &e.flows[id])
		}
	}
	return sum
}

// touchMessage loads the message whose packets f hands over, which is nearly
// always the one that those belong to that are sent and acknowledged, and where it
// will do so what that needs.
func (e *Endpoint) touchMessage(id uint16, f *flow) (sum int64) {
	if i := f.messages.head; i != 0 {
		h := Handle(i - 1)
		sum = int64(e.sender.Touch(h))
		if f.ahead <= submitLow+touchSoon {
			sum += e.messages[i-1].left + int64(e.sender.TouchNext(h)) + int64(e.pds.TouchSubmit(id))
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
