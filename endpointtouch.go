package uetcc

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/ccc"
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
	for len(in) > 0 {
		n := min(len(in), touchBatch)
		for i := range in[:n] {
			sum += e.touchFirst(in[i].Packet)
		}
		next := e.pds.Upcoming(n)
		for _, id := range next {
			sum += int64(e.pds.TouchNext(id)) + int64(e.flows[id].ahead) + int64(e.cc.TouchPDC(int(id)))
		}
		for i := range in[:n] {
			sum += e.touchSecond(in[i].Packet)
		}
		for _, id := range next {
			f := &e.flows[id]
			member := [1]ccc.Handle{ccc.Handle(f.pdc)}
			sum += int64(e.pds.TouchUnsent(id)) + e.cc.Touch(member[:]) + e.touchMessage(f)
		}
		in = in[n:]
	}
	return sum
}

// touchFirst loads what the header of a packet tells the place of.
func (e *Endpoint) touchFirst(b []byte) int64 {
	id, request := named(b)
	sum := int64(e.pds.Touch(b, request))
	switch {
	case request:
		sum += int64(e.target.Touch(id))
	case int(id) < len(e.flows):
		sum += int64(e.flows[id].ahead) + int64(e.cc.TouchPDC(int(id)))
	}
	return sum
}

// touchSecond loads what lies where the first pass has found out.
func (e *Endpoint) touchSecond(b []byte) int64 {
	id, request := named(b)
	if request {
		return int64(e.target.TouchMessage(id))
	}
	sum := int64(e.pds.TouchSent(b))
	if id < uint64(len(e.flows)) {
		f := &e.flows[id]
		member := [1]ccc.Handle{ccc.Handle(f.pdc)}
		sum += e.cc.Touch(member[:]) + e.touchMessage(f)
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

// named reads the dpdcid of a request or an acknowledgement, which it is the low
// half of a target's peer, and whether it is a request.
func named(b []byte) (id uint64, request bool) {
	if len(b) < pds.RequestLen {
		return 0, false
	}
	return uint64(binary.BigEndian.Uint16(b[10:])), pds.Type(b[0] >> 3).IsRequest()
}
