// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// Replay takes in the next buffered packet whose turn has come. With PDS.BufferROD of the
// [Config] a packet of an ordered PDC waits while earlier packets are missing. buffers are
// the waiting packets, each the Datagram received, at the index that [Received].Buffer
// said; the memory is the caller's. Replay returns the index of the packet taken, with
// reply and r as from [Endpoint.Receive]; the buffer is free once the work of r is done. 0
// means no packet, or none to be judged before the caller frees something, or too little
// room in reply.
//
// Call Replay until 0: after each Receive, and also after Poll and Answer, which free
// resources. Packets behind a waiting packet wait too, so a late call does not change the
// order.
func (e *Endpoint) Replay(now int64, buffers []Datagram, reply *Datagram, r *Received) (buffer int) {
	if !e.clock.even(now) {
		return e.replayOdd(now, buffers, reply, r)
	}
	if !prepare(reply, r) {
		return 0
	}
	for first := pdc.Handle(0); ; { // the first PDC whose packet cannot be judged now: when the PDC comes again, all were tried
		id, n := e.pds.Replay()
		if n == 0 || id.PDC == first {
			return 0
		}
		in, waiting := &buffers[n], e.pds.Buffered()
		e.recv.present(id, in)
		r.PDC = id.PDC
		if k := e.recv.onRequest(now, in, reply.Packet[:cap(reply.Packet)], r); k > 0 {
			e.recv.control(reply, k, in.Dst, in.Src)
		}
		if e.pds.Buffered() != waiting {
			e.source.followUp(now)
			return int(n)
		}
		*r = Received{}
		if first == 0 {
			first = id.PDC
		}
	}
}

// present has a buffered request in hand as if just received.
func (x *receiver) present(id pdc.RxID, in *Datagram) {
	var q pds.Request
	_, _ = q.Decode(in.Packet) // as received
	x.presented(in)
	x.res = pdc.Result{Verdict: pdc.VerdictRequest, ID: id, Next: q.Next, Header: q.Len()}
}
