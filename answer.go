// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// An AnswerID names a request whose answer the caller owes, see [Endpoint.Answer]. The zero
// AnswerID is none.
type AnswerID uint32

// isAnswer reports whether a packet's handle in the manager is an AnswerID. Other handles are
// ses.PacketHandles, with the message's generation, never 0, in the upper bits.
func isAnswer(h uint64) bool { return h < answersEnd }

// answersEnd is above all handles of answers, and below all others.
const answersEnd = 1 << 48

// answer is data under way to the asking peer: a packet of read data, or an
// acknowledgement for which the caller brings the bytes. One cache line.
type answer struct {
	rx         pdc.RxID
	address    uint64
	cookie     uint64
	lender     ses.Handle // the rendezvous send being read
	length     uint32
	offset     uint32         // of the data in the range asked for
	gen        uint16         // odd: in use
	next       uint16         // in the answer's chain, slot + 1
	owed       bool           // by the caller
	generation ses.Generation // of the resource index, for Refuse
	form       pds.NextHdr
	size       uint8        // of the header
	header     answerHeader // of the data
}

// An answerHeader is any header of data.
type answerHeader [20]byte

// reply is the header of the data.
func (a *answer) reply() (y ses.Reply) {
	_, _ = y.Decode(a.form, a.header[:])
	y.Generation = a.generation
	return y
}

// say makes y the header of the data.
func (a *answer) say(y *ses.Reply) {
	a.form, a.generation, a.offset = y.Form, y.Generation, y.MessageOffset
	a.size = uint8(len(y.AppendTo(a.header[:0])))
}

// id is the AnswerID of a in slot i.
func (a *answer) id(i uint16) AnswerID { return AnswerID(a.gen)<<16 | AnswerID(i) }

// answers is the slab of answers.
type answers struct {
	slot []answer
	held []uint16 // by PDCID: number of answers to requests on the PDC
	free chain    // of the free slots: the oldest first, so that the handles of answers in a row count up
	live int

	pause int64      // NACK_Retx_Time
	next  pdc.Handle // a PDC refused without any answer; 0: none
	since int64      // the time of that
}

func (s *answers) init(n, pdcs int, pause int64) {
	s.slot, s.held, s.pause = make([]answer, n), make([]uint16, pdcs+1), pause
	for i := range n {
		s.push(&s.free, uint16(i))
	}
}

// shares reports whether a PDC may have one more answer: more are free than the PDC has. So a
// peer reading without acknowledging leaves half of the slab to others.
//
// A PDC that has none and is refused asks again a NACK_Retx_Time later, when those that have some would long
// have taken each free slot again. So then a slot is left free, for the first such PDC.
func (s *answers) shares(now int64, h pdc.Handle) bool {
	held, free, waited := int(s.held[h.ID()]), len(s.slot)-s.live, now-s.since
	switch {
	case s.next == 0:
	case h == s.next || waited > 2*s.pause:
		s.next = 0
	case waited > s.pause-s.pause/8:
		free--
	}
	if held < free {
		return true
	}
	if held == 0 && s.next == 0 {
		s.next, s.since = h, now
	}
	return false
}

// A chain is a queue of answers by their slot plus 1, 0 at the end, linked by answer.next.
type chain struct{ head, tail uint16 }

// take returns an unused slot for the answer to a request; the caller has checked for room.
func (s *answers) take(rx pdc.RxID) (*answer, AnswerID) {
	i := s.free.head - 1
	a := &s.slot[i]
	s.pop(&s.free)
	a.rx = rx
	s.held[rx.PDC.ID()]++
	a.gen++
	s.live++
	return a, a.id(i)
}

// find returns the answer that id names, nil if over.
func (s *answers) find(id AnswerID) *answer {
	if i := int(id & 0xffff); i < len(s.slot) && s.slot[i].gen == uint16(id>>16) && s.slot[i].gen&1 == 1 {
		return &s.slot[i]
	}
	return nil
}

// release frees the slots of n answers from id on, all to requests on one PDC, those that are not over.
//
//uetcc:hot
func (s *answers) release(id AnswerID, n uint32) {
	var freed uint16
	slot, gen, c, on := s.slot, uint16(id>>16), &s.free, pdc.Handle(0)
	link, tail := &c.head, c.tail
	if c.head != 0 {
		link = &slot[tail-1].next
	}
	for i, end := uint32(id&0xffff), uint32(id&0xffff)+n; i < end && i < uint32(len(slot)); i++ {
		a := &slot[i]
		if a.gen != gen || gen&1 == 0 {
			continue
		}
		a.gen, on = gen+1, a.rx.PDC
		freed++
		tail = uint16(i) + 1
		*link, link = tail, &a.next
	}
	*link, c.tail = 0, tail
	s.live -= int(freed)
	s.held[on.ID()] -= freed
}

// delivered ends n answers from id on, whose data has reached the peer.
//
//uetcc:hot
func (s *source) delivered(now int64, id AnswerID, n uint32) {
	if s.lending != 0 {
		for i := range AnswerID(n) {
			s.repaid(now, id+i)
		}
	}
	s.answers.release(id, n)
}

// push puts a slot last in a chain.
func (s *answers) push(c *chain, slot uint16) {
	s.slot[slot].next = 0
	if c.head == 0 {
		c.head = slot + 1
	} else {
		s.slot[c.tail-1].next = slot + 1
	}
	c.tail = slot + 1
}

// pop takes the first answer out of a chain.
func (s *answers) pop(c *chain) { c.head = s.slot[c.head-1].next }

// alike returns the number of answers from slot i on, at most most, in one run: of the same
// size, with handles counting up.
func (s *answers) alike(i uint16, most int) (n int) {
	a := &s.slot[i]
	behind, next := s.slot[int(i)+1:], a.next // 0 behind the slot 65534
	for n = 1; n < most && n <= len(behind) && int(next) == int(i)+n+1; n++ {
		b := &behind[n-1]
		if b.gen != a.gen || b.length != a.length || b.form != a.form {
			break
		}
		next = b.next
	}
	return n
}

// pumpAnswers hands read data of f to the manager while the manager takes some. Each packet
// asks for an acknowledgement: a PDC with data outstanding cannot be closed in order, and
// nobody knows whether a further request follows.
func (s *source) pumpAnswers(now int64, f *flow) {
	for s.lead(f).ahead < s.submitAhead && f.answers.head != 0 {
		i := f.answers.head - 1
		a := &s.answers.slot[i]
		id := a.id(i)
		n, err := s.pds.SubmitRun(now, f.pdc, &pdc.Packet{
			Handle: uint64(id), Size: uint16(s.overhead + int64(a.size) + int64(a.length)), Next: a.form,
			AR: true,
		}, s.answers.alike(i, int(s.submitAhead)))
		s.lead(f).ahead += int16(n)
		if n != 0 {
			f.answers.head = s.answers.slot[int(i)+n-1].next
		}
		switch {
		case err == nil, n != 0 && err == pdc.ErrNoMemory: // the error comes again with the next answer, if any
		case err == pdc.ErrWindowFull:
			return
		case err == pdc.ErrNoMemory:
			s.starve(f, starvedAnswers)
			return
		case n == 0:
			s.answers.pop(&f.answers)
			s.answers.release(id, 1)
		}
	}
}

// Answer brings the data asked for by [Received]: the value of a fetching atomic, or
// the bytes of a short read, Received.Length of them. reply becomes the acknowledgement,
// and needs the capacity [Endpoint.ReplyMax]; its State, set by the caller, goes into the
// acknowledgement for congestion control, with the time since the request as service_time unless
// set. The acknowledgement of a request waits for the answer, as long as the answers before came within
// PDS.TargetQDelay. On an ordered PDC the answers have to come in the order of the requests.
//
// Errors: ses.ErrStale when nothing waits for the answer, or the PDC has ended; ses.ErrRange
// when data has the wrong length; pdc.ErrShortBuffer.
func (e *Endpoint) Answer(now int64, id AnswerID, data []byte, reply *Datagram) error {
	if !e.clock.even(now) {
		return e.replyOdd(now, reply, func(now int64) error { return e.Answer(now, id, data, reply) })
	}
	a := e.source.answers.find(id)
	switch {
	case a == nil || !a.owed:
		return ses.ErrStale
	case len(data) != int(a.length):
		return ses.ErrRange
	}
	at := pds.AckCCLen // written where Respond sends it from, nothing is copied
	if cap(reply.Packet) < at+int(a.size)+len(data) {
		return pdc.ErrShortBuffer
	}
	b := append(append(reply.Packet[:at], a.header[:a.size]...), data...)
	e.recv.response = pdc.Response{Next: a.form, Bytes: b[at:]}
	return e.recv.reply(now, id, reply)
}

// Refuse is [Endpoint.Answer] for a host that cannot bring the data: code is the reason. With
// the id of a [Payload].Answer, reply is the packet from [Endpoint.Transmit], and then brings
// the reason in place of the data. A rendezvous send from here whose rest the data is ends with code, too.
// Errors as from Answer; [ses.ErrRange] means that code is no failure, or wider than 6 bits.
func (e *Endpoint) Refuse(now int64, id AnswerID, code ses.ReturnCode, reply *Datagram) error {
	if !e.clock.even(now) {
		return e.replyOdd(now, reply, func(now int64) error { return e.Refuse(now, id, code, reply) })
	}
	a := e.source.answers.find(id)
	if a == nil || !a.owed && reply.Payload.Answer != id {
		return ses.ErrStale
	}
	if code <= ses.RCOK || code.IsReserved() {
		return ses.ErrRange
	}
	if a.lender != 0 {
		_ = e.source.deny(now, a.lender, code)
	}
	y := a.reply()
	if !a.owed { // the packet, and each repetition, reports missing data
		y.ReturnCode, y.PayloadLength, a.length = code, 0, 0
		a.say(&y)
		reply.Packet, reply.Payload = y.AppendTo(reply.Packet[:len(reply.Packet)-int(a.size)]), Payload{}
		return nil
	}
	h := ses.Response{
		Verdict:    ses.Verdict{Opcode: ses.ResponseExplicit, ReturnCode: code},
		Generation: y.Generation, MessageID: y.ReadRequestID, JobID: y.JobID,
	}
	e.recv.response = pdc.Response{Next: pds.NextResponse, Bytes: h.AppendTo(e.recv.bytes[:0])}
	return e.recv.reply(now, id, reply)
}

// reply sends e.response as the answer owed to a request.
func (x *receiver) reply(now int64, id AnswerID, reply *Datagram) error {
	buf := reply.Packet[:cap(reply.Packet)]
	state := reply.State
	if len(buf) < HeaderMax {
		return pdc.ErrShortBuffer
	}
	*reply = Datagram{Packet: buf[:0]}
	rx := x.source.answers.find(id).rx
	x.source.answers.release(id, 1)
	info, ok := x.pds.PDC(rx.PDC)
	if !ok {
		return ses.ErrStale
	}
	x.response.Kind, x.response.State = pdc.RespondGuaranteed, x.creditState(state, rx.PDC)
	n, err := x.pds.Respond(now, rx, &x.response, buf)
	if err != nil {
		return ses.ErrStale
	}
	x.control(reply, n, info.Local, info.Peer)
	return nil
}

// control describes a control packet or acknowledgement of n bytes.
//
//uetcc:hot inlines
func (x *receiver) control(d *Datagram, n int, src, dst pdc.Addr) {
	d.Packet = d.Packet[:n]
	d.Src, d.Dst, d.TC = src, dst, x.controlTC
	d.Size = pds.NominalSize(udpLen + n)
}

// Fail takes back the answer that [Endpoint.Receive] has just given to a request, because the
// bytes could not be placed or the operation not applied. in, reply and r are from the same
// call, but r.Code now gives the reason: ses.RCHostPoisoned, ses.RCHostUnsuccessCmpl, or one
// of the ses.RCAT and ses.RCAMO codes. The whole message fails, at both ends. Afterwards reply
// is the answer of failure, and r the action: ses.ActionAbort, or nothing for a datagram and
// for a message reported broken by an [Event], since the packet was the last on the PDC. For a
// RUDI read the data of the reply cannot be had.
//
// Call Fail before the reply is sent, and before anything else is received or answered on
// r.PDC: a later acknowledgement would report success. Other calls, and packets of other PDCs,
// may come in between. Where r.Answer is set call [Endpoint.Refuse] instead, and for data of a
// local message [Endpoint.Cancel].
//
// Errors: ses.ErrStale when nothing asked for by r can fail, ses.ErrRange when r.Code is not
// such a reason, pdc.ErrShortBuffer; then nothing has changed. With pdc.ErrUnknown and
// pdc.ErrStale the initiator does not hear of the failure, since the PDC has ended or the call
// came too late.
func (e *Endpoint) Fail(now int64, in, reply *Datagram, r *Received) error {
	if !e.clock.even(now) {
		return e.replyOdd(now, reply, func(now int64) error { return e.Fail(now, in, reply, r) })
	}
	switch {
	case r.Action != ses.ActionPlace && r.Action != ses.ActionAtomic && reply.Payload.Length == 0 || r.Answer != 0:
		return ses.ErrStale
	case r.Code < ses.RCATInvalid || r.Code > ses.RCAMOFPInexact:
		return ses.ErrRange
	case cap(reply.Packet) < HeaderMax:
		return pdc.ErrShortBuffer
	}
	if _, err := e.recv.request.Decode(r.Form, in.Packet[r.Header:]); err != nil {
		return ses.ErrStale
	}
	mode, d := modeOf(in.Packet), &e.recv.decision
	e.target.Fail(&e.recv.request, msg.Arrival{Peer: uint64(r.PDC), Mode: mode}, r.Code, d)
	if _, live := e.pds.PDC(r.PDC); !live && mode <= ses.ModeROD && !r.Complete && !e.recv.request.Flags.Has(ses.FlagSOM|ses.FlagEOM) {
		d.Action = ses.ActionNone
	}
	r.Action, r.Check, r.Length, r.Complete, r.HasData = d.Action, d.Check, 0, false, false
	reply.Packet, reply.Payload = reply.Packet[:0], Payload{}
	if mode == ses.ModeUUD {
		return nil
	}
	buf := reply.Packet[:cap(reply.Packet)]
	e.recv.response = pdc.Response{
		Kind: pdc.RespondGuaranteed, Next: pds.NextResponse, Bytes: d.Response.AppendTo(e.recv.bytes[:0]),
	}
	if mode == ses.ModeRUDI {
		e.recv.control(reply, e.recv.respondRUDI(in, buf), in.Dst, in.Src)
		return nil
	}
	n, err := e.pds.Amend(now, r.PDC, e.recv.presented(in), &e.recv.response, buf)
	if err == nil {
		e.recv.control(reply, n, in.Dst, in.Src)
	}
	return err
}
