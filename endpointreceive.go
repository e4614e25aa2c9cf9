package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// Which way a packet goes through [Endpoint.Receive]. There are several, since the general
// one decodes each header, looks every name up, judges the request and asks what to answer,
// and nearly all packets need a small part of that. A shorter way does for the packets
// named here what the general one would. A packet that turns out not to be one of them has
// changed nothing so far and goes to a later way; the tests send the same packets through
// both.
//
//	way                takes                                     without
//	Receive            plain requests in the middle of a         decoding and judging: an earlier packet of
//	                   message, new on an open PDC               the message was (ses.Target.Follow)
//	receiveEdge        plain requests that begin or end one,     decoding, and what no write or send is
//	                   or that Follow does not know              asked (ses.Target.Expect)
//	receiveByHeader    no packet itself: chooses among those below, by type and PDC
//	receiveExpected    any request that is new on an open PDC    another look of the manager: its Expect
//	                   where no answer is owed                   has had one
//	receiveACK         plain ACK_CCs of the lowest packets in    decoding, and an event for each packet
//	                   flight, or of one                         (pdc.Manager.TakeACK)
//	receiveGeneralACK  any other ACK_CC                          what only other packets need: no answer
//	receiveGeneral     the rest: opening and closing, NACKs,     nothing: receiveByVerdict asks the manager
//	                   control, repeated, trimmed, RUDI, UUD     what the packet is

// Received is what the caller has to do with a packet. Placing the payload comes
// before sending the reply.
type Received struct {
	Err error // why the packet was dropped; it changed nothing, but may have a reply

	// Action says what to do with memory: ActionPlace to copy Length bytes, which
	// begin at Payload of the packet; ActionAtomic to apply the operation of the request
	// to Length bytes at Address, whose operands begin at Payload, but those of a compare and
	// swap are in the header, and a read or an invalidate has none; ActionRead to bring the
	// bytes, see Answer; ActionAbort to forget the message whose bytes were placed with
	// this Cookie.
	Action  ses.Action
	Check   ses.Check      // why a request was refused
	Code    ses.ReturnCode // the answer to it
	Form    ses.Form       // of the request, which [ses.Request.Decode] reads from Header on; FormNone: it was none
	Message Handle         // ours that the data is for: its place is Offset; 0: it goes to Address
	Cookie  uint64         // of the region, receive buffer or message of ours
	Address uint64         // of the first byte, in the numbers of the region
	Offset  uint32         // of the first byte, within its message
	Length  uint32         // bytes; may be 0
	Header  int            // where the semantic header begins, with Form
	Payload int            // where the packet's data begins

	// Answer, if not 0, is to be passed to Endpoint.Answer with Length bytes.
	Answer AnswerID

	Complete bool // with this packet a message of a peer is whole
	HasData  bool // with Complete: HeaderData is for this side's completion

	// Buffer, if not 0, says that the packet has to wait for its turn: the caller is to keep
	// it under this number, up to Memory.Buffers of the Config, for Endpoint.Replay.
	Buffer uint16

	HeaderData uint64

	PDC pdc.Handle // that the packet came on, if it was one
}

// standardCCLen is the length of the headers of a request with a credit target.
const standardCCLen = pds.RequestCCLen + ses.StandardLen

// Receive takes a packet in. What to do with it is in r; the packet to send back,
// if there is one, in reply, whose Packet is empty otherwise and must have the capacity
// [Endpoint.ReplyMax]. Data follows it if its Payload says so: that of a RUDI read.
// Its Entropy is left to the caller: any path will do.
func (e *Endpoint) Receive(now int64, in, reply *Datagram, r *Received) {
	if len(in.Packet) < standardCCLen { // no request, or one with three bytes of data at most
		if len(in.Packet) > 0 && pds.Type(in.Packet[0]>>3) == pds.TypeACKCC {
			e.receiveACK(now, in, reply, r)
		} else {
			e.receiveByHeader(now, in, reply, r)
		}
		return
	}
	// A request has a short way if it is as most are when it matters, in the middle of a
	// message or all of one, on a PDC where all is well. That way does what the general
	// one would, with everything left out that such a packet does not need.
	b, at := (*[standardCCLen]byte)(in.Packet), pds.RequestLen
	q, v := (*pds.RequestView)(b[:]), (*ses.StandardView)(b[pds.RequestLen:])
	if !q.Plain() {
		if !q.PlainCC() {
			e.receiveByHeader(now, in, reply, r)
			return
		}
		v, at = (*ses.StandardView)(b[pds.RequestCCLen:]), pds.RequestCCLen
	}
	p := e.pds.Named(q)
	if p == nil || in.Trimmed != 0 || cap(reply.Packet) < HeaderMax {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	payload := len(in.Packet) - at - ses.StandardLen
	out := (*[HeaderMax]byte)(reply.Packet[:HeaderMax])
	t := &pdc.Taken{Request: q, Src: &in.Src, State: &in.State, Size: in.nominal(), Payload: uint32(payload), CE: in.CE}
	if v.IsEdge() {
		e.receiveEdge(now, in, reply, r, plainRequest{t, v, p, at})
		return
	}
	h := p.Handle()
	m := e.target.Follow(v, uint16(q.DPDCID()), ses.Arrival{Peer: uint64(h), Payload: payload})
	if m == nil {
		e.receiveEdge(now, in, reply, r, plainRequest{t, v, p, at})
		return
	}
	n, ok := e.pds.Take(now, p, t, (*[pds.AckCCLen]byte)(out[:]))
	if !ok {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	// Every field by itself: a literal would be built elsewhere and copied.
	r.Action, r.Check, r.Code, r.Form, r.Message = ses.ActionPlace, ses.CheckNone, ses.RCOK, ses.FormStandard, 0
	r.Offset, r.Length = v.MessageOffset(), uint32(v.PayloadLength())
	r.Address, r.Cookie = m.Place(r.Offset, r.Length)
	r.PDC, r.Header, r.Payload = h, at, at+ses.StandardLen
	r.Answer, r.Complete, r.HasData, r.Buffer, r.HeaderData, r.Err = 0, false, false, 0, 0, nil
	reply.Payload = Payload{}
	if n == 0 {
		reply.Packet = reply.Packet[:0]
	} else {
		ses.PutDefault((*[ses.ResponseLen]byte)(out[n&63:]), v) // nothing to check with a mask, which does nothing
		e.control(reply, n+ses.ResponseLen, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.demandNext(now, in, h)
	}
	e.followUp(now)
}

// prepare makes room for what Receive says. It reports false if that is too little.
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

// receiveGeneral is Receive for any packet.
func (e *Endpoint) receiveGeneral(now int64, in, reply *Datagram, r *Received) {
	if !prepare(reply, r) {
		return
	}
	if n := e.receiveByVerdict(now, in, reply, reply.Packet[:cap(reply.Packet)], r); n > 0 {
		e.control(reply, n, in.Dst, in.Src)
	}
	e.followUp(now)
}

// followUp sees to what a packet has caused besides.
func (e *Endpoint) followUp(now int64) {
	if e.pds.HasEvents() || e.starved.head != 0 {
		e.drain(now)
	}
}

// receiveByVerdict takes any packet in by what the manager says of it, and returns the
// length of the answer in buf.
func (e *Endpoint) receiveByVerdict(now int64, in, reply *Datagram, buf []byte, r *Received) (n int) {
	e.pds.Receive(now, e.arrived(in), buf, &e.res)
	n = e.res.Reply
	r.Err, r.PDC, r.Buffer = e.res.Err, e.res.ID.PDC, e.res.Buffer
	switch e.res.Verdict {
	case pdc.VerdictRequest:
		n = e.onRequest(now, in, buf, r)
	case pdc.VerdictResponse, pdc.VerdictRUDIResponse:
		e.onResponse(now, in.Packet, r)
	case pdc.VerdictRUDIRequest:
		n = e.onRUDI(in, reply, buf, r)
	case pdc.VerdictDatagram:
		e.onDatagram(in, r)
	}
	if e.credit != nil && e.res.Demand.Valid && e.res.ID.PDC != 0 {
		e.demand(now, in)
	}
	return n
}

// arrived is what the manager is told of a packet.
func (e *Endpoint) arrived(in *Datagram) *pdc.In {
	// Field by field: a literal would be built elsewhere and copied in wider pieces
	// than it was written in, which stalls.
	p := &e.in
	p.Packet, p.Src, p.Dst, p.CE, p.Trimmed, p.State = in.Packet, in.Src, in.Dst, in.CE, in.Trimmed, in.State
	p.Size = in.nominal()
	return p
}

// onResponse takes the response that follows the PDS header, and with it the one
// outcome of the packet that it answers.
func (e *Endpoint) onResponse(now int64, b []byte, r *Received) {
	at, h := e.res.Header, e.res.Handle
	r.Payload = at
	if h>>48 == 0 { // to data of ours
		if e.lending != 0 {
			e.repaid(now, AnswerID(h))
		}
		e.answers.release(h)
		e.refill(now, e.res.ID.PDC)
		return
	}
	p := ses.PacketHandle(h)
	var ev ses.Event
	n, err := e.sender.RxRsp(now, p, ses.Form(e.res.Next), b[at:], &ev)
	if err == nil {
		r.Payload += n
		if ev.DataLength != 0 {
			e.place(r, p.Message(), &ev)
		}
		if ev.Kind != ses.EventNone {
			e.conclude(now, p.Message(), &ev)
		}
	}
	e.refill(now, e.res.ID.PDC)
}

// place tells the caller where data for a message of ours belongs.
func (e *Endpoint) place(r *Received, h Handle, ev *ses.Event) {
	r.Action, r.Message, r.Cookie, r.Offset, r.Length = ses.ActionPlace, h, ev.Cookie, ev.DataOffset, ev.DataLength
	if e.message(h).flags&msgErrand != 0 {
		e.aim(r)
	}
}

// onRequest judges a new request and writes what there is to answer.
func (e *Endpoint) onRequest(now int64, in *Datagram, buf []byte, r *Received) int {
	form := ses.Form(e.res.Next)
	if form == ses.FormResponseData || form == ses.FormResponseDataSmall {
		e.readData(now, in.Packet, form, r)
		return e.respond(now, pdc.RespondDefault, nil, buf)
	}
	return e.answer(now, e.judge(in.Packet, modeOf(in.Packet), r), buf, r)
}

// modes are the delivery modes of requests by their packet type.
var modes = [32]ses.Mode{
	pds.TypeRUDReq: ses.ModeRUD, pds.TypeRUDCCReq: ses.ModeRUD, pds.TypeRODReq: ses.ModeROD, pds.TypeRODCCReq: ses.ModeROD,
	pds.TypeRUDIReq: ses.ModeRUDI, pds.TypeUUDReq: ses.ModeUUD,
}

// modeOf is the delivery mode of a request.
func modeOf(b []byte) ses.Mode { return modes[b[0]>>3] }

// answer writes what there is to answer to a request that has been judged.
func (e *Endpoint) answer(now int64, judged bool, buf []byte, r *Received) int {
	if !judged {
		e.stats.Refused++
		return e.refuse(now, buf, r)
	}
	d := &e.decision
	kind := pdc.RespondDefault
	switch {
	case d.NACK:
		return e.refuse(now, buf, r)
	case d.Action == ses.ActionRead, d.Action == ses.ActionAtomic && e.request.Opcode.IsFetch():
		return e.promise(now, buf, r)
	case d.Guaranteed:
		kind = pdc.RespondGuaranteed
	case d.Action == ses.ActionRestart:
		return e.onRestart(now, buf, r)
	}
	n := e.respond(now, kind, d.Response.AppendTo(buf[:pds.AckCCLen])[pds.AckCCLen:], buf) // where it will be sent from
	if e.lending != 0 && d.Check != ses.CheckNone {
		e.denied(now)
	}
	return n
}

// judge has the target decide about the request that follows the PDS header. It
// reports false if an answer to it would find no room; nothing has changed then.
func (e *Endpoint) judge(b []byte, mode ses.Mode, r *Received) bool {
	n, err := e.request.Decode(ses.Form(e.res.Next), b[e.res.Header:])
	if err != nil {
		e.request, n = ses.Request{}, 0 // of no form: UNSUPPORTED_OP
	}
	if mode <= ses.ModeROD && (e.answers.free == 0 && e.request.Opcode.IsFetch() || !e.events.room()) {
		return false
	}
	d := &e.decision
	r.Payload = e.res.Header + n
	a := ses.Arrival{Peer: uint64(e.res.ID.PDC), Mode: mode, Payload: len(b) - r.Payload}
	if e.target.Scarce() && e.target.Opens(&e.request, a) && e.isAhead() {
		*d = ses.Decision{Check: ses.CheckRecord, NACK: true}
	} else {
		e.target.Receive(&e.request, a, d)
	}
	switch {
	case d.Action == ses.ActionRead && int64(d.Length) > e.mtu:
		e.target.Fail(&e.request, a, ses.RCOpViolation, d)
	case d.Action == ses.ActionAtomic && e.request.Opcode.IsFetch() && d.Length > e.ackData:
		e.target.Fail(&e.request, a, ses.RCAMOUnsupportedSize, d)
	}
	r.Action, r.Check, r.Code = d.Action, d.Check, d.Response.ReturnCode
	r.Address, r.Cookie, r.Offset, r.Length = d.Address, d.Cookie, d.Offset, d.Length
	r.Complete, r.HasData, r.HeaderData = d.Complete, d.HasData, d.HeaderData
	r.Form, r.Header = e.request.Form, e.res.Header
	return true
}

// isAhead reports whether a packet is missing before the request in hand, on its PDC.
func (e *Endpoint) isAhead() bool {
	info, _ := e.pds.PDC(e.res.ID.PDC)
	return e.res.ID.PSN.After(info.Contiguous + 1)
}

// respond gives the manager the answer to the request that has just arrived.
func (e *Endpoint) respond(now int64, kind pdc.ResponseKind, b []byte, buf []byte) int {
	e.response = pdc.Response{Kind: kind, Bytes: b}
	if len(b) > 0 {
		e.response.Next = pds.NextResponse
	}
	n, err := e.pds.Respond(now, e.res.ID, &e.response, buf)
	if err != nil {
		return 0
	}
	return n
}

// refuse asks the initiator to send the request again later.
func (e *Endpoint) refuse(now int64, buf []byte, r *Received) int {
	r.Action, r.Form, r.Header = ses.ActionNone, ses.FormNone, 0
	e.response = pdc.Response{Kind: pdc.RespondRefuse, Code: pds.NackNoSESMsgAvail}
	n, _ := e.pds.Respond(now, e.res.ID, &e.response, buf)
	return n
}

// promise answers a request for data. Few bytes ride in the acknowledgement, and
// the caller brings them; more go in a packet of their own on the return
// direction.
func (e *Endpoint) promise(now int64, buf []byte, r *Received) int {
	d := &e.decision
	a, id := e.answers.take()
	a.rx, a.address, a.cookie, a.length = e.res.ID, d.Address, d.Cookie, d.Length
	if a.reply = d.DataReply(); e.request.MessageID == 0 {
		a.reply = d.SmallDataReply(uint32(e.res.ID.PSN))
	}
	a.reply.Generation = d.Response.Generation // for Refuse
	a.lender = 0
	if e.lending != 0 {
		a.lender = e.lender()
	}
	// What is lent goes in packets of their own, whose acknowledgements say that it has been read.
	if a.owed = a.lender == 0 && d.Length <= e.ackData; a.owed {
		e.response = pdc.Response{Kind: pdc.RespondLater, Room: uint16(a.reply.Len()) + uint16(d.Length)}
		n, err := e.pds.Respond(now, e.res.ID, &e.response, buf)
		if err == nil {
			r.Answer = id
			return n
		}
		a.owed = false // no room for so much; there always is for an atomic
	}
	n := e.respond(now, pdc.RespondDefault, d.Response.AppendTo(e.bytes[:0]), buf)
	r.Action, r.Length = ses.ActionNone, 0 // the bytes are asked for when they are sent
	f := &e.flows[e.res.ID.PDC.ID()]
	f.belong(e.res.ID.PDC)
	e.answers.push(&f.answers, id)
	e.pumpAnswers(now, f)
	return n
}

// readData takes a packet of data for a read of ours. It must come from where the
// request went.
func (e *Endpoint) readData(now int64, b []byte, form ses.Form, r *Received) {
	n, err := e.ack.Decode(form, b[e.res.Header:])
	r.Payload = e.res.Header + n
	h := e.sender.Find(e.ack.ReadRequestID)
	if err != nil || h == 0 || e.message(h).pdc != e.res.ID.PDC || int(e.ack.PayloadLength) > len(b)-r.Payload {
		e.stats.StrayData++
		return
	}
	var ev ses.Event
	if e.sender.RxData(now, &e.ack, &ev) != nil {
		e.stats.StrayData++
		return
	}
	if ev.DataLength != 0 {
		e.place(r, h, &ev)
	}
	e.conclude(now, h, &ev)
}

// onRUDI answers a request that may come again.
func (e *Endpoint) onRUDI(in, reply *Datagram, buf []byte, r *Received) int {
	e.judge(in.Packet, ses.ModeRUDI, r)
	d := &e.decision
	e.response = pdc.Response{Kind: pdc.RespondGuaranteed, Next: pds.NextResponse}
	if d.NACK {
		e.response = pdc.Response{Kind: pdc.RespondRefuse, Code: pds.NackNoSESMsgAvail}
	} else if d.Action == ses.ActionRead {
		y := d.DataReply()
		e.response.Next, e.response.Bytes = pds.NextResponseData, y.AppendTo(e.bytes[:0])
		reply.Payload = Payload{Length: d.Length, Offset: d.Offset, Cookie: d.Cookie, Address: d.Address}
		r.Action, r.Length = ses.ActionNone, 0
	} else {
		e.response.Bytes = d.Response.AppendTo(e.bytes[:0])
	}
	return e.respondRUDI(in, buf)
}

// respondRUDI answers a RUDI request with e.response.
func (e *Endpoint) respondRUDI(in *Datagram, buf []byte) int {
	var h pds.RUDI
	_, _ = h.Decode(in.Packet)
	n, _ := e.pds.RespondRUDI(h.PktID, h.Flags&pds.FlagRetx != 0, &e.response, buf)
	return n
}

func (e *Endpoint) onDatagram(in *Datagram, r *Received) {
	e.judge(in.Packet, ses.ModeUUD, r)
}
