// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"slices"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// endpointOwed is an answer that the host has not given yet.
type endpointOwed struct {
	at     int64 // in the time of the network
	id     uetcc.AnswerID
	pdc    pdc.Handle
	data   [16]byte
	length uint32
	n      uint64 // the message
	refuse bool
}

// arrive gives a packet to the endpoint and does what it says.
func (e *endpointEnd) arrive(p *faultnet.Packet) {
	w := e.w
	now := e.clock.read(w.net.Now)
	n := copy(e.buf[:], p.Head)
	in := uetcc.Datagram{Packet: e.buf[:max(p.Len, n)], Src: pdc.AddrFrom(faultAddr(p.From)), Dst: pdc.AddrFrom(faultAddr(e.place)), CE: p.CE, Trimmed: p.Trim}
	if t, err := pds.PeekType(p.Head); err == nil && p.Trim != 0 {
		in.Packet = e.buf[:min(n, t.HeaderLen())]
	}
	if !p.Fabled && e.hold(&in) {
		return
	}
	var r uetcc.Received
	e.reply.Packet = e.replyRoom[:0]
	refused := e.e.Stats().Refused
	sent := e.receive(now, &in, &r)
	w.trouble[troubleNoAnswer] += e.e.Stats().Refused - refused
	k := endpointKept{p.From, !p.Fabled && !w.weak(p.From, e.place) && p.From != w.drop}
	if r.Buffer != 0 {
		e.keep(&in, &r, k)
	}
	e.obey(&in, &r, k)
	e.asksWhether(in.Packet, &r)
	for i := range sent {
		e.transmit(&e.outs[i], int(e.outs[i].Dst.Lo&0xff)-1)
	}
	e.replay()
}

// hold puts some acknowledgements without data aside, to be received together with the
// next packet.
func (e *endpointEnd) hold(in *uetcc.Datagram) bool {
	if len(in.Packet) < pds.AckCCLen || e.held == len(e.heldRoom) || len(in.Packet) > len(e.heldRoom[0]) || e.chance()%8 > 2 {
		return false
	}
	if q := (*view.Request)(in.Packet); q.Type() != pds.TypeACKCC || q.Next() != pds.NextResponse {
		return false
	}
	e.batch[e.held] = *in
	e.batch[e.held].Packet = append(e.heldRoom[e.held][:0], in.Packet...)
	e.held++
	return true
}

// chance is as good as random.
func (e *endpointEnd) chance() int { return int(e.w.net.Now >> 4 & 0xffff) }

// receive takes a packet in, with acknowledgements that were put aside, and of
// acknowledgements some with the packets that may be sent then, and returns how many these
// are.
func (e *endpointEnd) receive(now int64, in *uetcc.Datagram, r *uetcc.Received) (sent int) {
	for i := range e.outs {
		e.outs[i].Packet = e.outsRoom[i][:0]
	}
	k, most := e.held, e.chance()%(2*len(e.outs))
	if e.held = 0; k == 0 {
		if t, err := pds.PeekType(in.Packet); err != nil || t != pds.TypeACKCC || most > len(e.outs) {
			e.e.Receive(now, in, &e.reply, r)
			return 0
		}
		return e.e.Exchange(now, in, &e.reply, r, e.outs[:most])
	}
	var got [len(e.batch)]uetcc.Received
	for i := range k {
		e.replies[i].Packet = e.repliesRoom[i][:0]
	}
	e.batch[k], e.replies[k] = *in, e.reply
	sent = e.e.ExchangeBatch(now, e.batch[:k+1], e.replies[:], got[:], e.outs[:most%(len(e.outs)+1)])
	*r, e.reply = got[k], e.replies[k]
	for i := range k {
		e.noted(&got[i])
		if len(e.replies[i].Packet) > 0 {
			e.transmit(&e.replies[i], int(e.batch[i].Src.Lo&0xff)-1)
		}
	}
	return sent
}

// noted counts what the endpoint was short of.
func (e *endpointEnd) noted(r *uetcc.Received) {
	w := e.w
	w.net.Note(uint64(r.Action)<<32 | uint64(r.Length)<<8 | uint64(r.Code))
	switch {
	case r.Err == pdc.ErrEvents:
		w.failf("events were not drained")
	case r.Err == pdc.ErrNoStore:
		w.net.Counts[faultnet.NoStore]++
	case r.Err == pdc.ErrNoBuffer:
		w.trouble[troubleNoBuffer]++
	case r.Check == step.Record:
		w.trouble[troubleNoSlot]++
	}
}

// askedByStranger serves requests that nothing is known about: they may be for anything that peers
// were let at, and for nothing else.
func (e *endpointEnd) askedByStranger(in *uetcc.Datagram, r *uetcc.Received) {
	end, length, carried := r.Address+uint64(r.Length), uint64(r.Length), uint64(max(len(in.Packet)-r.Payload, 0))
	memory := end <= 1<<43
	switch r.Action {
	case ses.ActionPlace:
		if length > carried || !memory && (r.Address < endpointBuffers || !e.takes(r)) {
			e.w.failf("E6: %d bytes of a packet of %d go to %#x, buffer %d", length, carried, r.Address, r.Cookie)
		}
	case ses.ActionRead:
		if !memory || length > endpointMTU {
			e.w.failf("E6: a read of %d at %#x", length, r.Address)
		}
	case ses.ActionAtomic:
		if r.Address < endpointCells || end > endpointCells+8*endpointCellCount {
			e.w.failf("E6: an atomic at %#x", r.Address)
		}
	}
	if r.Answer != 0 {
		e.owe(endpointOwed{id: r.Answer, pdc: r.PDC, length: r.Length, n: noMessage})
	}
}

// asked follows a request of a peer.
func (e *endpointEnd) asked(in *uetcc.Datagram, r *uetcc.Received) {
	w := e.w
	var q ses.Request
	if _, err := q.Decode(r.Form, in.Packet[r.Header:]); err != nil {
		w.failf("a request that cannot be read: %v", err)
	}
	n := uint64(q.Initiator)
	if n >= uint64(len(w.messages)) {
		w.failf("E6: a request of message %d, which there is not", n)
	}
	m := &w.messages[n]
	if int(m.to) != e.place {
		w.failf("E6: message %d for %d came to %d", n, m.to, e.place)
	}
	first := !m.met
	w.meet(m, e.life, q.MessageID)
	if m.mode() == ses.ModeROD {
		e.inOrder(in, r, n, first)
	}
	if r.Code != ses.RCOK && r.Code != ses.RCNull {
		e.refused(m, r)
	}
	if (r.Action == ses.ActionPlace || r.Action == ses.ActionAtomic && r.Answer == 0) && w.net.Chance(w.s.fail) {
		e.fail(n, in, r)
	}
	switch r.Action {
	case ses.ActionPlace:
		e.placed(n, in, r)
	case ses.ActionAtomic:
		e.execute(n, &q, r)
	case ses.ActionRead:
		e.read(n, r)
	case ses.ActionAbort:
		e.dropBuffer(r.Cookie)
	case ses.ActionNone:
		if q.Opcode == ses.OpcodeRead && r.Check == step.None {
			w.place(n, r.Offset, asksFor(&q, r.Offset))
		}
	}
	if r.Complete {
		w.complete(n, r.HasData, r.HeaderData)
		e.finishBuffer(m)
	}
}

// fail does not take the data, after all.
func (e *endpointEnd) fail(n uint64, in *uetcc.Datagram, r *uetcc.Received) {
	w := e.w
	m := &w.messages[n]
	if m.queued() {
		e.match(n, r)
	}
	w.trouble[troubleFail]++
	r.Code = ses.RCHostPoisoned
	m.refused |= 1 << r.Code
	err := e.e.Fail(e.clock.now, in, &e.reply, r)
	if _, alive := e.e.PDS().PDC(r.PDC); err != nil && (alive || !m.reliable()) {
		w.failf("Fail of a packet of message %d: %v", n, err)
	}
	if m.op() == opDatagram {
		e.dropBuffer(r.Cookie)
	}
}

// refused notes why the target says no.
func (e *endpointEnd) refused(m *endpointMessage, r *uetcc.Received) {
	m.refused |= 1 << r.Code
	switch r.Code {
	case ses.RCNoMatch:
		e.w.trouble[troubleNoMatch]++
	case ses.RCBadGeneration:
		e.w.trouble[troubleRenew]++
	case ses.RCBadMKey:
		e.w.trouble[troubleWithdraw]++
	case ses.RCOpViolation: // the packets are too long: all come again in shorter ones, and the buffer waits again
		if m.buffer != 0 && r.Action == ses.ActionNone {
			b := &e.buffers[m.buffer-1]
			b.posted, b.user, m.buffer = true, 0, 0
			e.stock[b.kind]++
		}
	}
}

// endpointOrder is how far an ordered PDC has come.
type endpointOrder struct {
	h    pdc.Handle
	psn  pds.PSN
	last uint64    // message, plus 1
	asks []pds.PSN // of NOOPs that have come and are not handed up
}

// asksWhether notes a control packet with a PSN of its own, such as the NOOP of a PDC that waits
// for this end.
func (e *endpointEnd) asksWhether(b []byte, r *uetcc.Received) {
	var c pds.Control
	if _, err := c.Decode(b); err != nil || r.Err != nil || r.PDC == 0 || !c.Ctl.ConsumesPSN() {
		return
	}
	if o := &e.order[r.PDC.ID()]; o.h == r.PDC && c.PSN.After(o.psn) && !slices.Contains(o.asks, c.PSN) {
		o.asks = append(o.asks, c.PSN)
	}
}

// inOrder holds that an ordered PDC hands up its packets in order and without a gap,
// and its messages in the order in which they were started.
func (e *endpointEnd) inOrder(in *uetcc.Datagram, r *uetcc.Received, n uint64, first bool) {
	var q pds.Request
	if _, err := q.Decode(in.Packet); err != nil {
		e.w.failf("%v", err)
	}
	o := &e.order[r.PDC.ID()]
	if o.h != r.PDC {
		*o = endpointOrder{h: r.PDC, psn: q.PSN - 1}
	}
	for i := slices.Index(o.asks, o.psn+1); i >= 0; i = slices.Index(o.asks, o.psn+1) {
		o.asks = slices.Delete(o.asks, i, i+1)
		o.psn++
	}
	if q.PSN != o.psn+1 {
		e.w.failf("E2: PDC %#x hands up PSN %#x after %#x", uint32(r.PDC), uint32(q.PSN), uint32(o.psn))
	}
	o.psn = q.PSN
	if first && e.w.s.waiting == 0 { // those that wait for a PDC start later
		if n+1 < o.last {
			e.w.failf("E2: message %d comes before %d on ordered PDC %#x", o.last-1, n, uint32(r.PDC))
		}
		o.last = n + 1
	}
}

// asksFor is how many bytes a packet of a read asks for.
func asksFor(q *ses.Request, off uint32) uint32 {
	switch {
	case q.Flags&ses.FlagEOM != 0:
		return q.RequestLength - off
	case q.Flags&ses.FlagSOM == 0:
		return uint32(q.PayloadLength)
	case q.Flags&ses.FlagHD == 0:
		return uint32(q.HeaderData >> 32)
	}
	return endpointMTU
}

// placed follows bytes that go to memory of this end.
func (e *endpointEnd) placed(n uint64, in *uetcc.Datagram, r *uetcc.Received) {
	w := e.w
	m := &w.messages[n]
	want := w.part(m, r.Offset, uint32(len(in.Packet)-r.Payload))
	carried := want
	if m.queued() {
		b := e.match(n, r)
		want = min(want, b.length-min(r.Offset, b.length))
	} else if r.Address != n*endpointSlot+uint64(r.Offset) {
		w.failf("E6: message %d goes to %#x", n, r.Address)
	}
	if r.Length != want || !hasPattern(e.buf[r.Payload:], n, r.Offset, min(want, 16)) {
		w.failf("message %d of %d bytes: %d bytes at %d, want %d: %x", n, m.length, r.Length, r.Offset, want, e.buf[r.Payload:][:16])
	}
	w.place(n, r.Offset, carried)
}

// read answers a short read; a long one is answered when its data is sent.
func (e *endpointEnd) read(n uint64, r *uetcc.Received) {
	w := e.w
	m := &w.messages[n]
	if r.Answer == 0 || r.Address != n*endpointSlot+uint64(r.Offset) || r.Length != w.part(m, r.Offset, r.Length) {
		w.failf("message %d of %d bytes: read %d at %d", n, m.length, r.Length, r.Offset)
	}
	w.place(n, r.Offset, r.Length)
	e.owe(endpointOwed{id: r.Answer, pdc: r.PDC, data: pattern(n, r.Offset), length: r.Length, n: n})
}

// execute applies an atomic operation to a cell.
func (e *endpointEnd) execute(n uint64, q *ses.Request, r *uetcc.Received) {
	w := e.w
	m := &w.messages[n]
	cell := &e.cells[m.cell]
	if r.Address != endpointCells+8*uint64(m.cell) {
		w.failf("E6: atomic %d at %#x", n, r.Address)
	}
	w.place(n, 0, 8)
	m.before = *cell
	if q := &q.Swap; q.Opcode == ses.AtomicSwapEqual {
		if q.Swap.Lo != n+1 {
			w.failf("atomic %d swaps %d", n, q.Swap.Lo)
		}
		if *cell == q.Compare.Lo {
			*cell = q.Swap.Lo
		}
	} else {
		if v := binary.BigEndian.Uint64(e.buf[r.Payload:]); v != n+1 {
			w.failf("atomic %d adds %d", n, v)
		}
		*cell += n + 1
	}
	if r.Answer != 0 {
		o := endpointOwed{id: r.Answer, pdc: r.PDC, length: r.Length, n: n}
		binary.BigEndian.PutUint64(o.data[:], m.before)
		e.owe(o)
	}
}

// noMessage is the number of none.
const noMessage = ^uint64(0)

// owe gives an answer now or later.
func (e *endpointEnd) owe(o endpointOwed) {
	w := e.w
	if o.n != noMessage && w.messages[o.n].op() == opRead {
		o.refuse = w.net.Chance(w.s.fail * 4)
	}
	if !w.net.Chance(w.s.late) {
		e.answer(o, &e.reply)
		return
	}
	w.net.Counts[faultnet.LateAnswer]++
	o.at = w.net.Now + w.net.Rand.Int64N(500*us)
	e.owed = append(e.owed, o)
}

// answer brings what was asked for.
func (e *endpointEnd) answer(o endpointOwed, reply *uetcc.Datagram) {
	w := e.w
	_, alive := e.e.PDS().PDC(o.pdc)
	var err error
	if o.refuse {
		w.trouble[troubleFail]++
		w.messages[o.n].refused |= 1 << ses.RCHostUnsuccessCmpl
		err = e.e.Refuse(e.clock.now, o.id, ses.RCHostUnsuccessCmpl, reply)
	} else {
		copy(e.data[:], o.data[:])
		err = e.e.Answer(e.clock.now, o.id, e.data[:o.length], reply)
	}
	if alive != (err == nil) {
		w.failf("Answer of message %d: %v, PDC alive %v", o.n, err, alive)
	}
}

// answerLate gives the answers whose time has come.
func (e *endpointEnd) answerLate() {
	k := 0
	for _, o := range e.owed {
		if o.at > e.w.net.Now {
			e.owed[k] = o
			k++
			continue
		}
		e.reply.Packet = e.replyRoom[:0]
		if e.answer(o, &e.reply); len(e.reply.Packet) > 0 {
			e.transmit(&e.reply, int(e.reply.Dst.Lo&0xff)-1)
		}
	}
	e.owed = e.owed[:k]
}

// fetched follows data that comes for a message of this end.
func (e *endpointEnd) fetched(r *uetcc.Received, safe bool) {
	w, n := e.w, r.Cookie
	if n >= uint64(len(w.messages)) {
		w.failf("E6: data for message %d, which there is not", n)
	}
	m := &w.messages[n]
	if int(m.from) != e.place || m.life != e.life || !m.fetches() {
		w.failf("E6: data for message %d (%v) of %d.%d came to %d.%d", n, endpointKinds[m.kind], m.from, m.life, e.place, e.life)
	}
	if r.Offset+r.Length > m.length {
		w.failf("message %d of %d bytes: data for %d at %d", n, m.length, r.Length, r.Offset)
	}
	if !safe || int(m.to) == w.drop {
		return
	}
	b := e.buf[r.Payload:]
	if m.op() == opRead && !hasPattern(b, n, r.Offset, r.Length) || r.Length != w.part(m, r.Offset, r.Length) {
		w.failf("message %d of %d bytes: fetched %d bytes at %d: %x", n, m.length, r.Length, r.Offset, b[:16])
	}
	if m.op() != opRead && m.rxLife == m.toLife && binary.BigEndian.Uint64(b) != m.before {
		w.failf("atomic %d found %d and brings back %x", n, m.before, b[:8])
	}
	for i := r.Offset / endpointMTU; i <= (r.Offset+max(r.Length, 1)-1)/endpointMTU; i++ {
		m.fetched[i] = min(m.fetched[i]+1, 200)
	}
}
