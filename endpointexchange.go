package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Exchange takes a packet in and gives what may be sent then: it is [Endpoint.Receive],
// and after it [Endpoint.TransmitBatch], whose count it returns. It costs less than both
// where an acknowledgement lets the next packet of its PDC go, as all do while the window
// is what limits a message: where both packets are in the middle of it.
func (e *Endpoint) Exchange(now int64, in, reply *Datagram, r *Received, out []Datagram) (n int) {
	const length = pds.AckCCLen + ses.ResponseLen
	b := in.Packet
	if len(b) < length || in.Trimmed != 0 || cap(reply.Packet) < HeaderMax || e.credit != nil || e.pds.HasEvents() || e.starved.head != 0 {
		return e.receiveTransmit(now, in, reply, r, out)
	}
	a := (*pds.AckCCView)(b)
	id := int(a.DPDCID())
	if !a.Plain() || !a.Cumulative() || id >= len(e.flows) {
		return e.receiveTransmit(now, in, reply, r, out)
	}
	if e.touched--; e.touched < 0 {
		e.touchACK(b)
	}
	f := &e.flows[id]
	y := e.sender.Passing(Handle(f.sends), (*[ses.ResponseLen]byte)(b[pds.AckCCLen:]))
	most := roomy(out[:min(len(out), max(int(f.ahead)-submitLow, 0))])
	if y != nil && most > 0 && !f.refused && f.answers.head == 0 {
		first, end := y.Range()
		run := &e.run
		if p, acked := e.pds.Exchange(now, a, in.Src, uint64(first), uint64(end), most, run); p != nil {
			y.Confirmed(acked)
			*r = Received{}
			r.PDC, r.Payload = p.Handle(), length
			reply.Packet = reply.Packet[:0]
			reply.Payload = Payload{}
			n = int(run.N)
			e.describeMiddles(out[:n], p, 0, y, uint32(run.Handle-uint64(first))*uint32(e.mtu))
			if f.sent(n) {
				e.pump(now, f)
			}
			if n < len(out) {
				n += e.TransmitBatch(now, out[n:])
			}
			return n
		}
	}
	e.touched++ // Receive counts it
	return e.receiveTransmit(now, in, reply, r, out)
}

// receiveTransmit is Exchange in general.
func (e *Endpoint) receiveTransmit(now int64, in, reply *Datagram, r *Received, out []Datagram) int {
	e.Receive(now, in, reply, r)
	return e.TransmitBatch(now, out)
}
