// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The layer above of a pdcEnd, as initiator and as target.

// faultMessages is how many messages of one end are under way at most.
const faultMessages = 5

// begin starts new messages while there is something to do.
func (e *pdcEnd) begin() {
	s, r := e.w.s, e.w.net.Rand
	for e.budget > 0 && len(e.messages) < faultMessages && !e.w.net.Healed() {
		e.tickets++
		m := &faultMessage{ticket: e.tickets, to: r.IntN(len(e.w.parties) - 1), job: uint32(r.IntN(2)), packets: 1 + r.IntN(2*s.perMessage),
			read: e.w.net.Chance(s.read)}
		if m.to >= e.place {
			m.to++
		}
		e.budget -= m.packets
		e.messages = append(e.messages, m)
		if r.IntN(2) == 0 {
			return // the rest a little later
		}
	}
}

// push brings m as far as its PDC allows.
func (e *pdcEnd) push(m *faultMessage) {
	if m.waiting || m.next == m.packets || m.pdc == 0 && !e.open(m) {
		return
	}
	for _, o := range e.messages {
		if o == m {
			break
		}
		if o.pdc == m.pdc && o.next < o.packets {
			return // messages do not interleave
		}
	}
	if !m.begun {
		if e.m.Begin(m.pdc) != nil {
			m.pdc, m.again = 0, true // it closes: another one next time, of which nobody else tells
			return
		}
		m.again = false
		e.opened(m)
	}
	for m.next < m.packets && e.submit(m) {
		m.next++
		m.until = e.clock.now + 300_000*us
	}
}

// open finds a PDC for m.
func (e *pdcEnd) open(m *faultMessage) bool {
	w := e.w
	k := pdc.InitiatorKey{Source: e.addr, Destination: faultAddr(m.to), JobID: m.job, Ordered: w.s.ordered}
	h, err := e.m.Open(e.clock.now, &k, m.ticket)
	switch err {
	case nil:
		m.pdc = h
	case pdc.ErrWaiting:
		m.waiting = true
		w.net.Counts[faultnet.NoPDC]++
	case pdc.ErrPaused:
		w.net.Counts[faultnet.NoPDC]++
	default:
		w.failf("Open: %v", err)
	}
	return err == nil
}

// opened follows the Begin of a message.
func (e *pdcEnd) opened(m *faultMessage) {
	w := e.w
	m.begun = true
	// Only the first life of an id: later ones have to begin far from the last PSN,
	// since the peer may not have forgotten it.
	if e.life == 0 && !e.used[m.pdc.ID()] && w.net.Chance(.7) {
		start := faultStarts[w.net.Rand.IntN(len(faultStarts))] + pds.PSN(w.net.Rand.IntN(16))
		if e.m.SetStartPSN(m.pdc, start) {
			w.net.Counts[faultnet.WrapStart]++
		}
	}
	if m.read {
		if e.m.Lock(m.pdc) == nil {
			m.locked = true
		}
	}
	if w.net.Chance(.3) && e.m.Announce(e.clock.now, m.pdc, int64(m.packets)*100) == nil {
		m.left = int64(m.packets) * 1000
	}
}

// placed is the word that a waiting message has a PDC.
func (e *pdcEnd) placed(ticket uint64, h pdc.Handle) {
	for _, m := range e.messages {
		if m.ticket == ticket {
			m.waiting, m.pdc = false, h
		}
	}
}

func (e *pdcEnd) dropTicket(ticket uint64) {
	for _, m := range e.messages {
		if m.ticket == ticket {
			m.waiting, m.next = false, m.packets
		}
	}
}

// submit hands the next packet of m down. It reports false if it cannot now, or
// never: then the message is over.
func (e *pdcEnd) submit(m *faultMessage) bool {
	w := e.w
	size := uint16(100 + w.net.Rand.IntN(3900))
	rec := faultRecord{src: int8(e.place), to: int8(m.to), life: e.life, msg: m, size: size, read: m.read}
	switch e.queue(m.pdc, rec, pds.NextRequestStd, m.next+1 == m.packets) {
	case nil:
		m.left = max(m.left-int64(size), 0)
		return true
	case pdc.ErrNoMemory:
		w.net.Counts[faultnet.NoMemory]++
		return false
	case pdc.ErrWindowFull:
		return false
	}
	e.m.EndMessage(e.clock.now, m.pdc, m.left)
	m.packets = m.next // the PDC failed
	return false
}

// queue submits a packet with a new handle.
func (e *pdcEnd) queue(h pdc.Handle, rec faultRecord, next pds.NextHdr, eom bool) error {
	w := e.w
	l := &e.tx[h.ID()]
	if l.h != h {
		l.h, l.stream = h, int32(len(w.streams))
		w.streams = append(w.streams, faultStream{})
	}
	st := &w.streams[l.stream]
	rec.stream, rec.index = l.stream, st.sent
	handle := uint64(len(w.recs) + 1)
	_, err := e.m.Submit(e.clock.now, h, pdc.Packet{Handle: handle, Size: rec.size, Next: next, EOM: eom, AR: w.net.Rand.IntN(8) == 0})
	if err == nil {
		st.sent++
		w.recs = append(w.recs, rec)
	}
	return err
}

// settle takes the messages out that are over.
func (e *pdcEnd) settle() {
	k := 0
	for _, m := range e.messages {
		if e.over(m) {
			if !e.w.net.Healed() && m.pdc != 0 && e.w.net.Chance(e.w.s.closing) {
				e.m.Close(e.clock.now, m.pdc)
			}
			continue
		}
		e.messages[k] = m
		k++
	}
	e.messages = e.messages[:k]
}

func (e *pdcEnd) over(m *faultMessage) bool {
	if m.waiting || m.next < m.packets {
		return false
	}
	if !m.locked {
		return true
	}
	_, alive := e.m.PDC(m.pdc)
	if m.got < m.packets && e.clock.now < m.until && alive {
		return false
	}
	e.m.Unlock(e.clock.now, m.pdc)
	return true
}

// judge is the target's answer to a request.
func (e *pdcEnd) judge(p *faultnet.Packet, id pdc.RxID, body []byte, out []byte) int {
	w := e.w
	a := pdc.Response{Kind: pdc.RespondDefault}
	handle, err := faultHandle(body)
	late := w.net.Chance(w.s.late) || w.s.ordered && e.pending(id.PDC)
	switch {
	case err != nil || int(handle) > len(w.recs):
		if !w.s.weak && p.From != w.drop {
			w.failf("a request of nobody: %x", body[:faultHeaderBytes])
		}
		a.Kind, a.Next, a.Bytes = pdc.RespondGuaranteed, pds.NextResponse, body[:faultHeaderBytes]
	case !w.net.Healed() && w.net.Chance(w.s.refuse):
		w.net.Counts[faultnet.NoSlot]++
		a.Kind, a.Code = pdc.RespondRefuse, pds.NackNoSESMsgAvail
	case late:
		w.net.Counts[faultnet.LateAnswer]++
		a.Kind = pdc.RespondLater
		e.accept(p.From, id, handle)
		e.late = append(e.late, faultAnswer{at: e.clock.now + w.net.Rand.Int64N(500*us), id: id, handle: handle})
	default:
		e.accept(p.From, id, handle)
		e.answer(id, handle, &a)
	}
	n, err := e.m.Respond(e.clock.now, id, &a, out)
	if err != nil {
		w.failf("Respond to %+v: %v", id, err)
	}
	return n
}

func (e *pdcEnd) pending(h pdc.Handle) bool {
	for i := range e.late {
		if e.late[i].id.PDC == h {
			return true
		}
	}
	return false
}

func faultHandle(body []byte) (uint64, error) {
	h := binary.BigEndian.Uint64(body)
	if h == 0 || binary.BigEndian.Uint64(body[8:]) != faultCheck(h) {
		return 0, errFaultGarbage
	}
	return h, nil
}

// accept is the delivery of a packet to the layer above: once, on one PDC, and in
// order where that is promised.
func (e *pdcEnd) accept(from int, id pdc.RxID, handle uint64) {
	w := e.w
	if w.s.weak || from == w.drop {
		return
	}
	r := &w.recs[handle-1]
	if int(r.to) != e.place {
		w.failf("E6: packet %d for %d came to %d", handle, r.to, e.place)
	}
	if r.rxLife != e.life {
		r.rxLife, r.execs, r.guaranteed = e.life, 0, false
	}
	r.execs++
	r.ever++
	if r.execs > 1 {
		w.failf("E2: packet %d delivered twice", handle)
	}
	e.onStream(handle, r, id.PDC)
}

// onStream holds that a PDC carries one stream, a stream one PDC, and an ordered one
// its packets in order without a gap.
func (e *pdcEnd) onStream(handle uint64, r *faultRecord, h pdc.Handle) {
	w := e.w
	st, l := &w.streams[r.stream], &e.rx[h.ID()]
	if l.h != h {
		l.h, l.stream = h, r.stream
	}
	if st.rx == 0 || st.rxLife != e.life {
		st.rx, st.rxLife, st.rxNext = h, e.life, 0
	}
	if l.stream != r.stream || st.rx != h {
		w.failf("P2: packet %d of stream %d came on PDC %#x, which carries stream %d; the stream is on %#x",
			handle, r.stream, uint32(h), l.stream, uint32(st.rx))
	}
	if w.s.ordered && r.index != st.rxNext {
		w.failf("E2: packet %d of the stream is delivered, not %d", r.index, st.rxNext)
	}
	st.rxNext++
}

// answer decides the response to a request that is executed, and begins the return
// of what it reads.
func (e *pdcEnd) answer(id pdc.RxID, handle uint64, a *pdc.Response) {
	w := e.w
	r := &w.recs[handle-1]
	if r.data { // read data at its initiator
		if m := r.msg; m != nil {
			m.got++
		}
		return
	}
	if r.read {
		e.returns = append(e.returns, faultReturn{id.PDC, handle})
	}
	if w.net.Chance(w.s.guaranteed) {
		r.guaranteed = true
		a.Kind, a.Next = pdc.RespondGuaranteed, pds.NextResponse
		a.Bytes = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, handle^0xffff), faultCheck(handle))
	}
}

// answerLate gives the answers whose time has come, of ordered PDCs in their order.
func (e *pdcEnd) answerLate() {
	w := e.w
	k := 0
	for i := range e.late {
		l := e.late[i]
		if l.at > e.clock.now || w.s.ordered && k > 0 {
			e.late[k] = l
			k++
			continue
		}
		e.answerNow(l)
	}
	e.late = e.late[:k]
}

func (e *pdcEnd) answerNow(l faultAnswer) {
	w := e.w
	var a pdc.Response
	e.answer(l.id, l.handle, &a)
	info, alive := e.m.PDC(l.id.PDC)
	var out [pdc.ReplyMax]byte
	n, err := e.m.Respond(e.clock.now, l.id, &a, out[:])
	e.delayed++
	if alive && err != nil || !alive && err != pdc.ErrUnknown {
		w.failf("late Respond to %+v: %v, PDC alive %v", l.id, err, alive)
	}
	if n > 0 {
		e.reply(e.placeOf(info.Peer), out[:n])
	}
	e.drain()
}

// keep buffers a request of an ordered PDC that has come too early.
func (e *pdcEnd) keep(id pdc.RxID, buffer uint16, body []byte) {
	if len(e.held) == 0 {
		e.held = make([]faultKept, pdc.MaxRange+1)
	}
	e.held[buffer] = faultKept{id, [faultHeaderBytes]byte(body)}
}

// replay hands up the buffered requests whose turn has come, or some of them, and the
// others a while later.
func (e *pdcEnd) replay() {
	w := e.w
	if e.clock.now < e.waits {
		return
	}
	e.waits = 0
	var out [pdc.ReplyMax]byte
	for {
		id, buffer := e.m.Replay()
		if buffer == 0 {
			return
		}
		l, left := &e.held[buffer], e.m.Buffered()
		if l.id != id {
			w.failf("replay of %+v, and in its buffer is %+v", id, l.id)
		}
		if !w.net.Healed() && w.net.Chance(.1) {
			e.waits = e.clock.now + w.net.Rand.Int64N(100*us) + 1
			return
		}
		info, _ := e.m.PDC(id.PDC)
		from := e.placeOf(info.Peer)
		if n := e.judge(&faultnet.Packet{From: from}, id, l.body[:], out[:]); n > 0 {
			e.reply(from, out[:n])
		}
		e.drain()
		if e.m.Buffered() == left { // refused
			e.waits = e.clock.now + 10*us
			return
		}
	}
}

// giveReturns submits read data as far as there is room.
func (e *pdcEnd) giveReturns() {
	w := e.w
	k := 0
	for _, x := range e.returns {
		q := w.recs[x.handle-1]
		rec := faultRecord{src: int8(e.place), to: q.src, life: e.life, msg: q.msg, size: q.size, data: true}
		err := e.queue(x.pdc, rec, pds.NextResponseData, false)
		if err == pdc.ErrNoMemory || err == pdc.ErrWindowFull {
			e.returns[k] = x
			k++
		}
	}
	e.returns = e.returns[:k]
}

// response is a guaranteed response that has arrived at the initiator.
func (e *pdcEnd) response(handle uint64, body []byte, fabled bool) {
	w := e.w
	if handle == 0 || int(handle) > len(w.recs) {
		w.failf("a response to packet %d, which there is not", handle)
	}
	r := &w.recs[handle-1]
	if r.seen && !w.s.weak {
		w.failf("E3: second response to packet %d", handle)
	}
	r.seen = true
	if w.s.weak || fabled || int(r.to) == w.drop {
		return
	}
	if len(body) < faultHeaderBytes || binary.BigEndian.Uint64(body) != handle^0xffff || binary.BigEndian.Uint64(body[8:]) != faultCheck(handle) {
		w.failf("E3: response to packet %d altered: %x", handle, body)
	}
}

// isNullResponse reports whether an answer is the default response that the PDS makes itself
// where it has kept none: nothing but, maybe, whose it is. Those of the layer above are longer.
func isNullResponse(b []byte) bool {
	return len(b) == ses.ResponseLen && b[0]|b[1]|b[4] == 0 && binary.BigEndian.Uint32(b[8:]) == 0
}
