// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc"
)

// endpointKept says where a packet came from that waits for its turn, and whether all is
// known of it.
type endpointKept struct {
	from int
	safe bool
}

// keep buffers a packet.
func (e *endpointEnd) keep(in *uetcc.Datagram, r *uetcc.Received, k endpointKept) {
	w := e.w
	if int(r.Buffer) > e.limits.Memory.Buffers {
		w.failf("memory: buffer %d of %d", r.Buffer, e.limits.Memory.Buffers)
	}
	w.trouble[troubleBuffered]++
	d := &e.kept[r.Buffer]
	packet := d.Packet[:0]
	*d = *in
	d.Packet = append(packet, in.Packet...)
	e.keptOf[r.Buffer] = k
}

// replay takes the packets whose turn has come, or some of them, and the others later.
func (e *endpointEnd) replay() {
	w := e.w
	if w.net.Now < e.waits {
		return
	}
	e.waits = 0
	for e.e.Usage().Buffered > 0 {
		if !w.net.Healed() && w.net.Chance(.05) {
			e.waits = w.net.Now + w.net.Rand.Int64N(100*us) + 1
			return
		}
		var r uetcc.Received
		e.reply.Packet = e.replyRoom[:0]
		refused := e.e.Stats().Refused
		k := e.e.Replay(e.clock.now, e.kept, &e.reply, &r)
		if e.e.Stats().Refused != refused {
			w.trouble[troubleNoAnswer]++
			e.waits = w.net.Now + 20*us
		}
		if k == 0 {
			return
		}
		in := e.kept[k]
		in.Packet = e.buf[:copy(e.buf[:], in.Packet)]
		e.obey(&in, &r, e.keptOf[k])
	}
}

// obey does what the endpoint says of a packet.
func (e *endpointEnd) obey(in *uetcc.Datagram, r *uetcc.Received, k endpointKept) {
	e.noted(r)
	switch {
	case r.Message != 0:
		e.fetched(r, k.safe)
	case r.Form.IsRequest() && k.safe:
		e.asked(in, r)
	case r.Form.IsRequest():
		e.askedByStranger(in, r)
	}
	if len(e.reply.Packet) > 0 {
		e.transmit(&e.reply, k.from)
	}
}

// forgetKept gives e buffers of its own, empty.
func (e *endpointEnd) forgetKept() {
	n := 1
	if e.limits.PDS.BufferROD {
		n += e.limits.Memory.Buffers
	}
	e.kept, e.keptOf, e.waits = make([]uetcc.Datagram, n), make([]endpointKept, n), 0
}
