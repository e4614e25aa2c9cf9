package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// Replay takes in the next buffered packet whose turn has come. With PDS.BufferROD of the
// [Config] a packet of an ordered PDC waits while those before it are missing. buffers are
// the waiting packets, each the Datagram that was received, at the index that
// [Received].Buffer said; the memory is the caller's. Replay returns the index of the one
// it has taken, with reply and r as [Endpoint.Receive] would set them; the buffer is free
// when what r says is done. 0 means that there is none, or none that can be judged before
// the caller frees something.
//
// Call it until it returns 0: after each Receive, and also after Poll and Answer, which
// free what it may have lacked. Whatever comes behind a packet that waits here waits too,
// so a late call does not change the order.
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
