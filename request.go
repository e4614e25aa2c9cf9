package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// onRequest judges a new request and writes what there is to answer.
func (e *Endpoint) onRequest(now int64, in *Datagram, buf []byte, r *Received) int {
	form := ses.Form(e.res.Next)
	if form == ses.FormResponseData || form == ses.FormResponseDataSmall {
		if !e.readData(now, in.Packet, form, r) {
			return e.refuse(now, buf, r)
		}
		n := e.respond(now, pdc.RespondDefault, e.dataTaken(buf), buf)
		e.refill(now, e.res.ID.PDC) // others may be asked for
		return n
	}
	e.judge(in.Packet, modeOf(in.Packet), r)
	return e.answer(now, buf, r)
}

// dataTaken is the default response to the packet of data in e.ack: an acknowledgement that
// names a packet says to which message, whatever the packet was.
func (e *Endpoint) dataTaken(buf []byte) []byte {
	h := ses.Response{
		Verdict:   ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK},
		MessageID: e.ack.MessageID, JobID: e.ack.JobID, ModifiedLength: e.ack.ModifiedLength,
	}
	return h.AppendTo(buf[:pds.AckCCLen])[pds.AckCCLen:] // in place, nothing is copied
}

// modes are the delivery modes of requests by their packet type.
var modes = [32]ses.Mode{
	pds.TypeRUDReq: ses.ModeRUD, pds.TypeRUDCCReq: ses.ModeRUD,
	pds.TypeRODReq: ses.ModeROD, pds.TypeRODCCReq: ses.ModeROD,
	pds.TypeRUDIReq: ses.ModeRUDI, pds.TypeUUDReq: ses.ModeUUD,
}

// modeOf is the delivery mode of a request.
func modeOf(b []byte) ses.Mode { return modes[b[0]>>3] }

// answer writes what there is to answer to a request that has been judged.
func (e *Endpoint) answer(now int64, buf []byte, r *Received) int {
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
	n := e.respond(now, kind, d.Response.AppendTo(buf[:pds.AckCCLen])[pds.AckCCLen:], buf) // in place, nothing is copied
	if e.lending != 0 {
		e.denied(now)
	}
	return n
}

// judge decides about the request behind the PDS header: in e.decision, and r. If there
// would be no room for an answer, the decision is a NACK, and nothing has changed.
func (e *Endpoint) judge(b []byte, mode ses.Mode, r *Received) {
	d := &e.decision
	n, err := e.request.Decode(ses.Form(e.res.Next), b[e.res.Header:])
	if err != nil {
		e.request, n = ses.Request{}, 0 // of no form: UNSUPPORTED_OP
	}
	if mode <= ses.ModeROD && (e.request.Opcode.IsFetch() && !e.answers.shares(e.res.ID.PDC) || !e.events.room() || e.doubts()) {
		e.stats.Refused++
		*d = ses.Decision{NACK: true}
		return
	}
	r.Payload = e.res.Header + n
	e.decide(ses.Arrival{Peer: uint64(e.res.ID.PDC), Mode: mode, Payload: len(b) - r.Payload})
	r.Action, r.Check, r.Code = d.Action, d.Check, d.Response.ReturnCode
	r.Address, r.Cookie, r.Offset, r.Length = d.Address, d.Cookie, d.Offset, d.Length
	r.Complete, r.HasData, r.HeaderData = d.Complete, d.HasData, d.HeaderData
	r.Form, r.Header = e.request.Form, e.res.Header
}

// unprovenData is how many bytes of read data go to a peer that has yet to show that it receives:
// as many as an acknowledgement holds by default.
const unprovenData = 16

// errandPaid is how many bytes the packet of a rendezvous or deferrable send has to have to pay, at three for one,
// for what this side asks the address of a stranger with: the first packets of a read, resends
// included.
const errandPaid = 4000

// doubts reports whether the request in hand asks for more than its peer may have before it has
// shown that it receives what is sent to it: data to be read by this side, or packets of its own
// for which nothing is spare. Otherwise those wait, behind a NOOP, for the peer to show itself.
func (e *Endpoint) doubts() bool {
	switch q := &e.request; {
	case q.Opcode == ses.OpcodeRead && q.RequestLength > unprovenData:
		doubts, first := e.pds.Doubts(e.res.ID.PDC)
		return doubts && first && !e.answers.spares()
	case q.Opcode.IsRendezvous(), q.Opcode.IsDeferrable():
		doubts, _ := e.pds.Doubts(e.res.ID.PDC)
		return doubts && len(e.in.Packet) < errandPaid
	}
	return false
}

// decide asks the target, unless what it would take is kept for another packet, and
// refuses what this endpoint cannot answer.
func (e *Endpoint) decide(a ses.Arrival) {
	q, d := &e.request, &e.decision
	if e.target.Scarce(a.Peer) && e.target.Opens(q, a) && e.isAhead() {
		*d = ses.Decision{Check: ses.CheckRecord, NACK: true}
		return
	}
	e.target.Receive(q, a, d)
	switch {
	case d.Action == ses.ActionRead && int64(d.Length) > e.mtu:
		e.target.Fail(q, a, ses.RCOpViolation, d)
		d.Response.ModifiedLength = uint32(e.mtu)
	case d.Action == ses.ActionAtomic && q.Opcode.IsFetch() && d.Length > e.ackData:
		e.target.Fail(q, a, ses.RCAMOUnsupportedSize, d)
	}
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
	if e.doubts() {
		e.response.Code = pds.NackNewStartPSN
	}
	n, _ := e.pds.Respond(now, e.res.ID, &e.response, buf)
	return n
}

// promise answers a request for data. A few bytes go in the acknowledgement, and the caller
// brings them; more go in a packet of their own in the return direction.
func (e *Endpoint) promise(now int64, buf []byte, r *Received) int {
	d := &e.decision
	a, id := e.answers.take(e.res.ID)
	a.address, a.cookie, a.length = d.Address, d.Cookie, d.Length
	a.reply = e.dataReply(uint32(e.res.ID.PSN))
	a.reply.Generation = d.Response.Generation // for Refuse
	a.lender = 0
	if e.lending != 0 {
		a.lender = e.lender()
	}
	// What is lent goes in packets of its own, whose acknowledgements say that it was read.
	if a.owed = a.lender == 0 && d.Length <= e.ackData; a.owed {
		e.response = pdc.Response{Kind: pdc.RespondLater, Room: uint16(a.reply.Len()) + uint16(d.Length)}
		n, err := e.pds.Respond(now, e.res.ID, &e.response, buf)
		if err == nil {
			r.Answer = id
			return n
		}
		a.owed = false // no room to keep so much; for an atomic there always is
	}
	n := e.respond(now, pdc.RespondDefault, d.Response.AppendTo(e.bytes[:0]), buf)
	r.Action, r.Length = ses.ActionNone, 0 // the bytes are asked for when they are sent
	f := &e.flows[e.res.ID.PDC.ID()]
	f.belong(e.res.ID.PDC)
	e.answers.push(&f.answers, id)
	e.pumpAnswers(now, f)
	return n
}

// onRUDI answers a RUDI request, which may come again.
func (e *Endpoint) onRUDI(in, reply *Datagram, buf []byte, r *Received) int {
	e.judge(in.Packet, ses.ModeRUDI, r)
	var q pds.RUDI
	_, _ = q.Decode(in.Packet)
	d := &e.decision
	e.response = pdc.Response{Kind: pdc.RespondGuaranteed, Next: pds.NextResponse}
	y := e.dataReply(q.PktID)
	switch {
	case d.Action == ses.ActionRead && e.isTooMuch(in, &y):
		e.response = pdc.Response{Kind: pdc.RespondRefuse, Code: pds.NackNoPDCAvail}
		r.Action, r.Form, r.Header, r.Length = ses.ActionNone, ses.FormNone, 0, 0
		e.stats.Refused++
	case d.Action == ses.ActionRead:
		e.response.Next, e.response.Bytes = pds.NextHdr(y.Form), y.AppendTo(e.bytes[:0])
		reply.Payload = Payload{Length: d.Length, Offset: d.Offset, Cookie: d.Cookie, Address: d.Address}
		r.Action, r.Length = ses.ActionNone, 0
	default:
		e.response.Bytes = d.Response.AppendTo(e.bytes[:0])
	}
	return e.respondRUDI(in, buf)
}

// isTooMuch reports whether the data that a RUDI packet asks for is more than three times as long,
// and nobody has shown that he receives at the address that it comes from. The refusal asks for a
// PDC, on which that is shown.
func (e *Endpoint) isTooMuch(in *Datagram, y *ses.Reply) bool {
	const ip = 20 + udpLen
	answer := int64(ip+pds.RUDILen+y.Len()) + int64(e.decision.Length)
	return answer > 3*int64(ip+len(in.Packet)) && e.pds.DoubtsSource(in.Src)
}

// respondRUDI answers a RUDI request with e.response.
func (e *Endpoint) respondRUDI(in *Datagram, buf []byte) int {
	var h pds.RUDI
	_, _ = h.Decode(in.Packet)
	n, _ := e.pds.RespondRUDI(&h, &e.response, buf)
	return n
}

// dataReply is the header of the data that a request asks for, of the form that the request
// has: a peer reads what it writes. number is the request's PSN or pkt_id.
func (e *Endpoint) dataReply(number uint32) ses.Reply {
	if e.request.Form == ses.FormStandard {
		return e.decision.DataReply()
	}
	return e.decision.SmallDataReply(number)
}
