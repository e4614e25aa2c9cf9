// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The ways of a packet through [Endpoint.Receive]. The general way decodes every header,
// looks up every name, judges the request, and asks the manager for the answer. Nearly all
// packets need only a small part, and have shorter ways with exactly the same results. A
// packet foreign to a way has changed nothing yet, and goes on to the next. The tests send
// the same packets through both.
//
//	way                takes                                     leaves out
//	Receive            plain requests in the middle of a         decoding and judging: an earlier packet of
//	                   message, new on an open PDC               the message went through (msg.Target.Recent)
//	receiveEdge        plain requests that begin or end one,     decoding, and most of judging
//	                   or of no message judged before            (msg.Target.Expect)
//	receiveByHeader    nothing: chooses among those below, by type and PDC
//	receiveACK         plain ACK_CCs of the lowest packets in    decoding, and an event for each packet
//	                   flight, or of one                         (pdc.FastPath.Exchange)
//	receiveGeneralACK  any other ACK_CC                          what concerns answers: it has none
//	receiveGeneral     the rest: opening and closing, NACKs,     nothing: the manager says what the packet
//	                   control, repeated, trimmed, RUDI, UUD     is, and what to do

// Received is the caller's work for a packet. The payload has to be placed before the reply
// is sent.
type Received struct {
	// Err is the reason for dropping the packet; nothing changed, but a reply is possible.
	// Some errors are normal on a lossy network: pdc.ErrDuplicate, ErrStale, ErrOrder,
	// ErrTrimmed. With pdc.ErrShortBuffer the packet was ignored, and may be received again.
	Err error

	// Action is the work in memory.
	// ActionPlace: copy Length bytes, from Payload on in the packet.
	// ActionAtomic: apply the operation of the request to Length bytes at Address. The
	// operands begin at Payload; the operands of a compare and swap are in the header, and a
	// read or an invalidate has none.
	// ActionRead: bring the bytes, see Answer.
	// ActionAbort: forget the message whose bytes were placed with the same Cookie.
	Action  ses.Action
	Check   ses.Check      // why a request was refused
	Code    ses.ReturnCode // the code of the answer
	Form    pds.NextHdr    // of the request, for [ses.Request.Decode] from Header on; NextNone: no request
	Message ses.Handle     // the local message for the data, at Offset; 0: the data goes to Address
	Cookie  uint64         // of the region, the receive buffer, or the message
	Address uint64         // of the first byte, in the numbers of the region
	Offset  uint32         // of the first byte, within the message
	Length  uint32         // bytes; may be 0
	Header  int            // where the semantic header begins, with Form
	Payload int            // where the packet's data begins

	// Answer, if not 0, has to be passed to Endpoint.Answer with Length bytes.
	Answer AnswerID

	// Complete marks the packet that makes a peer's message whole. Length, initiator and tag
	// are in the header of each of the message's packets, see Form.
	Complete bool
	HasData  bool // with Complete: HeaderData is for the local completion

	// Buffer, if not 0, means a packet waiting for a turn: the caller keeps the packet under
	// the number Buffer, at most Memory.Buffers of the Config, for Endpoint.Replay. If the
	// PDC ends first, the packet is never mentioned again, and the number comes with a later
	// packet.
	Buffer uint16

	HeaderData uint64

	PDC pdc.Handle // on which the packet came; 0: on none
}

// standardCCLen is the length of the headers of a request with a credit target.
const standardCCLen = pds.RequestCCLen + ses.StandardLen

// A plainRequest is a request as seen by Receive.
type plainRequest struct {
	t  *pdc.Taken
	v  *msg.StandardView
	p  *pdc.PDC // named by the packet
	at int      // where v is in the packet
}

// Receive takes a packet in. r holds the work to do. reply is the packet to send back, and
// needs the capacity [Endpoint.ReplyMax]; reply.Packet is empty if nothing is to be sent.
// reply.Payload is set only for the data of a RUDI read. reply.Entropy is left to the caller:
// any path will do.
//
//uetcc:hot
func (e *Endpoint) Receive(now int64, in, reply *Datagram, r *Received) {
	if !e.clock.even(now) {
		e.receiveOdd(now, in, reply, r)
		return
	}
	if len(in.Packet) < standardCCLen { // no request, or a request with three bytes of data at most
		if len(in.Packet) > 0 && pds.Type(in.Packet[0]>>3) == pds.TypeACKCC {
			e.receiveACK(now, in, reply, r)
		} else {
			e.recv.receiveGeneral(now, in, reply, r)
		}
		return
	}
	b, at := (*[standardCCLen]byte)(in.Packet), pds.RequestLen
	q, v := (*view.Request)(b[:]), (*msg.StandardView)(b[pds.RequestLen:])
	if !q.Plain() {
		if !q.PlainCC() || e.credit != nil && e.credit.cells != nil {
			e.receiveByHeader(now, in, reply, r)
			return
		}
		v, at = (*msg.StandardView)(b[pds.RequestCCLen:]), pds.RequestCCLen
		if e.credit != nil {
			if e.loader.requested--; e.loader.requested < 0 {
				e.loader.prefetchOne(q.DPDCID())
			}
		}
	}
	p := e.pds.Fast().Named(q)
	if p == nil || in.Trimmed != 0 || cap(reply.Packet) < HeaderMax {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	payload := len(in.Packet) - at - ses.StandardLen
	out := (*[HeaderMax]byte)(reply.Packet[:HeaderMax])
	t := &pdc.Taken{Request: q, Src: &in.Src, State: &in.State, Size: in.nominal(), Payload: uint32(payload), CE: in.CE}
	if e.recv.tells && e.pds.Fast().MayAnswer(p, t) {
		e.recv.in.State = e.recv.creditState(in.State, p.Handle())
		t.State = &e.recv.in.State
	}
	if v.IsEdge() {
		e.receiveEdge(now, in, reply, r, plainRequest{t, v, p, at})
		return
	}
	m, off, length := e.target.Recent(uint16(q.DPDCID())), v.MessageOffset(), uint32(v.PayloadLength())
	if !m.Repeats(v, uint64(p.Handle())) || !e.target.Continues(m, v, off, length, payload) {
		e.receiveEdge(now, in, reply, r, plainRequest{t, v, p, at})
		return
	}
	// Before the packet is taken, or more would have to outlive the call. Field by field: a literal would be
	// built on the stack and copied.
	r.Action, r.Check, r.Code, r.Form, r.Message = ses.ActionPlace, step.None, ses.RCOK, pds.NextRequestStd, 0
	r.Offset, r.Length = off, length
	r.Address, r.Cookie = m.At(off)
	r.PDC, r.Header, r.Payload = p.Handle(), at, at+ses.StandardLen
	r.Answer, r.Complete, r.HasData, r.Buffer, r.HeaderData = 0, false, false, 0, 0
	if r.Err != nil { // a store would have to ask for the collector
		r.Err = nil
	}
	reply.Payload = Payload{}
	n, ok := e.pds.Fast().Take(now, p, t, (*[pds.AckCCLen]byte)(out[:]))
	if !ok {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	if m.Place(r.Length); n == 0 {
		reply.Packet = reply.Packet[:0]
	} else {
		msg.PutDefault((*[ses.ResponseLen]byte)(out[n&63:]), v) // the mask changes nothing and saves a bounds check
		e.recv.control(reply, n+ses.ResponseLen, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.recv.demandNext(now, in, r.PDC)
	}
	e.source.followUp(now)
}

// receiveEdge takes a plain request in that is not in the middle of a message, or completes
// the message.
//
//uetcc:hot
func (e *Endpoint) receiveEdge(now int64, in, reply *Datagram, r *Received, x plainRequest) {
	d, a := &e.recv.expected, msg.Arrival{Peer: uint64(x.p.Handle()), Payload: int(x.t.Payload)}
	if !e.target.Expect(x.v, uint16(x.t.Request.DPDCID()), a, d) {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	out := (*[HeaderMax]byte)(reply.Packet[:HeaderMax])
	n, ok := e.pds.Fast().Take(now, x.p, x.t, (*[pds.AckCCLen]byte)(out[:]))
	if !ok {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	e.target.Take(x.v, a, d)
	r.Action, r.Check, r.Code, r.Form, r.Message = ses.ActionPlace, step.None, ses.RCOK, pds.NextRequestStd, 0
	r.Address, r.Cookie, r.Offset, r.Length = d.Address, d.Cookie, d.Offset, d.Length
	r.PDC, r.Header, r.Payload = x.p.Handle(), x.at, x.at+ses.StandardLen
	r.Answer, r.Complete, r.HasData, r.Buffer, r.HeaderData, r.Err = 0, d.Complete, d.HasData, 0, d.HeaderData, nil
	reply.Payload = Payload{}
	if n == 0 {
		reply.Packet = reply.Packet[:0]
	} else {
		msg.PutDefault((*[ses.ResponseLen]byte)(out[n&63:]), x.v)
		e.recv.control(reply, n+ses.ResponseLen, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.recv.demandNext(now, in, r.PDC)
	}
	e.source.followUp(now)
}

// receiveByHeader chooses the way of a packet with the length of a request that is not a plain request, or
// not taken as such by any PDC or message.
//
//uetcc:hot
func (e *Endpoint) receiveByHeader(now int64, in, reply *Datagram, r *Received) {
	if pds.Type(in.Packet[0]>>3) == pds.TypeACKCC { // with data
		e.receiveACK(now, in, reply, r)
		return
	}
	e.recv.receiveGeneral(now, in, reply, r)
}

// receiveGeneral is Receive for any packet.
//
//uetcc:hot
func (x *receiver) receiveGeneral(now int64, in, reply *Datagram, r *Received) {
	if !prepare(reply, r) {
		return
	}
	buf := reply.Packet[:cap(reply.Packet)]
	x.pds.Receive(now, x.presented(in), buf, &x.res)
	n := x.res.Reply // the length of the answer in buf
	r.Err, r.PDC, r.Buffer = x.res.Err, x.res.ID.PDC, x.res.Buffer
	switch x.res.Verdict {
	case pdc.VerdictRequest:
		if x.credit != nil && x.credit.cells != nil {
			n = x.onCelled(now, in, buf, r)
			break
		}
		n = x.onRequest(now, in, buf, r)
	case pdc.VerdictResponse, pdc.VerdictRUDIResponse:
		x.onResponse(now, in.Packet, r)
	case pdc.VerdictRUDIRequest:
		n = x.onRUDI(now, in, reply, buf, r)
	case pdc.VerdictDatagram:
		x.judge(now, in.Packet, ses.ModeUUD, r)
	case pdc.VerdictDone:
		if x.credit == nil && x.res.Demand.Valid {
			*x.source.wanting(in.Src) = in.Src
		}
		x.refused(now)
	}
	if x.credit != nil && x.credit.cells == nil && x.res.Demand.Valid && x.res.ID.PDC != 0 {
		x.demand(now, in)
	}
	if n > 0 {
		x.control(reply, n, in.Dst, in.Src)
		reply.Size += int64(reply.Payload.Length)
	}
	x.source.followUp(now)
}

// prepare clears the results of Receive. False if reply has too little room.
//
//uetcc:hot
func prepare(reply *Datagram, r *Received) bool {
	*r = Received{}
	reply.Packet = reply.Packet[:0]
	reply.Payload = Payload{}
	if cap(reply.Packet) < HeaderMax {
		r.Err = pdc.ErrShortBuffer
		return false
	}
	return true
}

// arrived is a packet as told to the manager.
//
//uetcc:hot inlines
func (x *receiver) arrived(in *Datagram) *pdc.In {
	// Field by field: a literal would be built on the stack and copied in wider pieces than
	// written, stalling the loads.
	p := &x.in
	p.Packet, p.Src, p.Dst, p.CE, p.Trimmed, p.State = in.Packet, in.Src, in.Dst, in.CE, in.Trimmed, in.State
	p.Size = in.nominal()
	return p
}

// presented is arrived with what an acknowledgement tells besides.
func (x *receiver) presented(in *Datagram) *pdc.In {
	p := x.arrived(in)
	if x.tells {
		p.State = x.ackState(in)
	}
	return p
}

// followUp handles a packet's consequences elsewhere: the manager's events, and flows that
// waited for memory.
//
//uetcc:hot inlines
func (s *source) followUp(now int64) {
	if s.pds.HasEvents() || s.starves != 0 {
		s.drain(now)
	}
}

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
