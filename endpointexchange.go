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
	if e.touched--; e.touched < 0 {
		e.touchACK(in.Packet)
	}
	b := in.Packet
	if len(b) < length || in.Trimmed != 0 || cap(reply.Packet) < HeaderMax || e.credit != nil || e.pds.HasEvents() || e.starved.head != 0 {
		return e.receiveTransmit(now, in, reply, r, out)
	}
	a := (*pds.AckCCView)(b)
	id := int(a.DPDCID())
	if !a.Plain() || !a.Cumulative() || id >= len(e.flows) {
		return e.receiveTransmit(now, in, reply, r, out)
	}
	f := &e.flows[id]
	y := e.sender.Passing(Handle(f.sends), (*[ses.ResponseLen]byte)(b[pds.AckCCLen:]))
	most := roomy(out[:min(len(out), max(int(f.ahead)-submitLow, 0))])
	if y == nil || most == 0 || f.refused || f.answers.head != 0 {
		return e.receiveTransmit(now, in, reply, r, out)
	}
	first, end := y.Range()
	run := &e.run
	p, acked := e.pds.Exchange(now, a, in.Src, uint64(first), uint64(end), most, run)
	if p == nil {
		return e.receiveTransmit(now, in, reply, r, out)
	}
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

// receiveTransmit is Exchange in general.
func (e *Endpoint) receiveTransmit(now int64, in, reply *Datagram, r *Received, out []Datagram) int {
	e.touched++ // it is still to come
	e.Receive(now, in, reply, r)
	if len(out) == 1 {
		if e.Transmit(now, &out[0]) {
			return 1
		}
		return 0
	}
	return e.TransmitBatch(now, out)
}
