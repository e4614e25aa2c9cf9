package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// Replay takes in the next packet that was buffered and whose turn has come: with
// PDS.BufferROD of the [Config] one of an ordered PDC waits while those before it are missing.
// buffers are the packets that wait, by Buffer of what [Received] said of them: each the
// Datagram that was received, in memory of the caller's. Replay returns the number of the
// one that it has taken, with reply and r as [Endpoint.Receive] would have; its buffer may
// be used again when what r says is done. 0 says that there is none, or that none can be
// judged now, for want of what the caller is to free.
//
// Call it until it returns 0: after each Receive, and after Poll and Answer too where it may
// have wanted what they free. What comes behind a packet that waits here waits as
// well, so a call that is late does not change the order.
func (e *Endpoint) Replay(now int64, buffers []Datagram, reply *Datagram, r *Received) (buffer int) {
	if !prepare(reply, r) {
		return 0
	}
	for first := pdc.Handle(0); ; { // of those that cannot be judged now
		id, n := e.pds.Replay()
		if n == 0 || id.PDC == first {
			return 0
		}
		waiting := e.pds.Buffered()
		if k := e.replay(now, id, &buffers[n], reply.Packet[:cap(reply.Packet)], r); k > 0 {
			e.control(reply, k, buffers[n].Dst, buffers[n].Src)
		}
		if e.pds.Buffered() != waiting {
			e.followUp(now)
			return int(n)
		}
		*r = Received{}
		if first == 0 {
			first = id.PDC
		}
	}
}

// replay judges a packet that was buffered, and returns the length of the answer in buf.
func (e *Endpoint) replay(now int64, id pdc.RxID, in *Datagram, buf []byte, r *Received) int {
	var q pds.Request
	_, _ = q.Decode(in.Packet) // as it was when it came
	e.arrived(in)
	e.res = pdc.Result{Verdict: pdc.VerdictRequest, ID: id, Next: q.Next, Header: q.Len()}
	r.PDC = id.PDC
	return e.onRequest(now, in, buf, r)
}
