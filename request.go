// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// onRequest judges a new request and writes the answer, if any.
func (x *receiver) onRequest(now int64, in *Datagram, buf []byte, r *Received) int {
	form := x.res.Next
	if form == pds.NextResponseData || form == pds.NextResponseDataSmall {
		if !x.readData(now, in.Packet, form, r) {
			return x.refuse(now, buf, r)
		}
		n := x.respond(now, pdc.RespondDefault, x.dataTaken(buf), buf)
		x.source.refill(now, x.res.ID.PDC) // others may be asked for
		return n
	}
	x.judge(now, in.Packet, modeOf(in.Packet), r)
	return x.answer(now, buf, r)
}

// dataTaken is the default response to the packet of data in e.ack: an acknowledgement of a
// packet names the message, for any kind of packet.
func (x *receiver) dataTaken(buf []byte) []byte {
	h := ses.Response{
		Verdict:   ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK},
		MessageID: x.ack.MessageID, JobID: x.ack.JobID, ModifiedLength: x.ack.ModifiedLength,
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

// answer writes the answer, if any, to a judged request.
func (x *receiver) answer(now int64, buf []byte, r *Received) int {
	d := &x.decision
	kind := pdc.RespondDefault
	switch {
	case d.NACK:
		return x.refuse(now, buf, r)
	case d.Action == ses.ActionRead, d.Action == ses.ActionAtomic && x.request.Opcode.IsFetch():
		return x.promise(now, buf, r)
	case d.Guaranteed:
		kind = pdc.RespondGuaranteed
	case d.Action == ses.ActionRestart:
		return x.onRestart(now, buf, r)
	}
	n := x.respond(now, kind, d.Response.AppendTo(buf[:pds.AckCCLen])[pds.AckCCLen:], buf) // in place, nothing is copied
	if x.source.lending != 0 {
		x.denied(now)
	}
	return n
}

// judge decides about the request behind the PDS header: in e.decision, and r. If there
// would be no room for an answer, the decision is a NACK, and nothing has changed.
func (x *receiver) judge(now int64, b []byte, mode ses.Mode, r *Received) {
	d := &x.decision
	n, err := x.request.Decode(x.res.Next, b[x.res.Header:])
	if err != nil {
		x.request, n = ses.Request{}, 0 // of no form: UNSUPPORTED_OP
	}
	if mode <= ses.ModeROD && (x.request.Opcode.IsFetch() && !x.source.answers.shares(now, x.res.ID.PDC) || !x.source.events.room() || x.doubts()) {
		x.stats.Refused++
		*d = msg.Decision{NACK: true}
		return
	}
	r.Payload = x.res.Header + n
	x.decide(msg.Arrival{Peer: uint64(x.res.ID.PDC), Mode: mode, Payload: len(b) - r.Payload})
	r.Action, r.Check, r.Code = d.Action, d.Check, d.Response.ReturnCode
	r.Address, r.Cookie, r.Offset, r.Length = d.Address, d.Cookie, d.Offset, d.Length
	r.Complete, r.HasData, r.HeaderData = d.Complete, d.HasData, d.HeaderData
	r.Form, r.Header = x.request.Form, x.res.Header
}

// unprovenData is the bytes of read data sent to a peer that has yet to show it receives: as
// many as an acknowledgement holds by default.
const unprovenData = 16

// errandPaid is the least size of the packet of a rendezvous or deferrable send that pays, at
// three for one, for packets to a stranger's address: the first packets of a read, resends
// included.
const errandPaid = 4000

// doubts reports whether the request in hand asks for more than the peer may have before
// showing that it receives: data to be read by the endpoint, or separate packets with no
// answers to spare. Otherwise the packets wait, behind a NOOP, for the peer to show itself.
func (x *receiver) doubts() bool {
	switch q := &x.request; {
	case q.Opcode == ses.OpcodeRead && q.RequestLength > unprovenData:
		doubts, first := x.pds.Doubts(x.res.ID.PDC)
		s := &x.source.answers // strangers asking for data in others' names take no more than a quarter
		return doubts && first && s.live >= len(s.slot)/4
	case q.Opcode.IsRendezvous(), q.Opcode.IsDeferrable():
		doubts, _ := x.pds.Doubts(x.res.ID.PDC)
		return doubts && len(x.in.Packet) < errandPaid
	}
	return false
}

// decide asks the target, unless the needed room is kept for another packet, and refuses
// requests impossible to answer.
func (x *receiver) decide(a msg.Arrival) {
	q, d := &x.request, &x.decision
	if x.target.Scarce(a.Peer) && x.target.Opens(q, a) && x.isAhead() {
		*d = msg.Decision{Check: step.Record, NACK: true}
		return
	}
	x.target.Receive(q, a, d)
	switch {
	case d.Action == ses.ActionRead && int64(d.Length) > x.mtu:
		x.target.Fail(q, a, ses.RCOpViolation, d)
		d.Response.ModifiedLength = uint32(x.mtu)
	case d.Action == ses.ActionAtomic && q.Opcode.IsFetch() && d.Length > x.ackData:
		x.target.Fail(q, a, ses.RCAMOUnsupportedSize, d)
	}
}

// isAhead reports whether a packet is missing before the request in hand, on the same PDC.
func (x *receiver) isAhead() bool {
	info, _ := x.pds.PDC(x.res.ID.PDC)
	return x.res.ID.PSN.After(info.Contiguous + 1)
}

// respond gives the manager the answer to the request in hand.
func (x *receiver) respond(now int64, kind pdc.ResponseKind, b []byte, buf []byte) int {
	x.response = pdc.Response{Kind: kind, Bytes: b}
	if len(b) > 0 {
		x.response.Next = pds.NextResponse
	}
	n, err := x.pds.Respond(now, x.res.ID, &x.response, buf)
	if err != nil {
		return 0
	}
	return n
}

// refuse asks the initiator to send the request again later.
func (x *receiver) refuse(now int64, buf []byte, r *Received) int {
	r.Action, r.Form, r.Header = ses.ActionNone, pds.NextNone, 0
	x.response = pdc.Response{Kind: pdc.RespondRefuse, Code: pds.NackNoSESMsgAvail}
	if x.doubts() {
		x.response.Code = pds.NackNewStartPSN
	}
	n, _ := x.pds.Respond(now, x.res.ID, &x.response, buf)
	return n
}

// promise answers a request for data. A few bytes go in the acknowledgement, brought by the
// caller; more go in a separate packet in the return direction.
func (x *receiver) promise(now int64, buf []byte, r *Received) int {
	d := &x.decision
	a, id := x.source.answers.take(x.res.ID)
	a.address, a.cookie, a.length = d.Address, d.Cookie, d.Length
	y := x.dataReply(uint32(x.res.ID.PSN))
	y.Generation = d.Response.Generation
	a.say(&y)
	a.lender = 0
	if x.source.lending != 0 {
		a.lender = x.lender()
	}
	// Lent data goes in separate packets, whose acknowledgements confirm the read.
	if a.owed = a.lender == 0 && d.Length <= x.ackData; a.owed {
		x.response = pdc.Response{Kind: pdc.RespondLater, Room: uint16(a.size) + uint16(d.Length)}
		n, err := x.pds.Respond(now, x.res.ID, &x.response, buf)
		if err == nil {
			r.Answer = id
			return n
		}
		a.owed = false // no room to keep so much; for an atomic there always is
	}
	n := x.respond(now, pdc.RespondDefault, d.Response.AppendTo(x.bytes[:0]), buf)
	r.Action, r.Length = ses.ActionNone, 0 // the bytes are asked for when they are sent
	f := x.source.belong(x.res.ID.PDC.ID(), x.res.ID.PDC)
	x.source.answers.push(&f.answers, uint16(id))
	x.source.pumpAnswers(now, f)
	return n
}

// onRUDI answers a RUDI request, maybe repeated later.
func (x *receiver) onRUDI(now int64, in, reply *Datagram, buf []byte, r *Received) int {
	x.judge(now, in.Packet, ses.ModeRUDI, r)
	var q pds.RUDI
	_, _ = q.Decode(in.Packet)
	d := &x.decision
	x.response = pdc.Response{Kind: pdc.RespondGuaranteed, Next: pds.NextResponse}
	y := x.dataReply(q.PktID)
	switch {
	case d.Action == ses.ActionRead && x.isTooMuch(in, &y):
		x.response = pdc.Response{Kind: pdc.RespondRefuse, Code: pds.NackNoPDCAvail}
		*r = Received{}
		x.stats.Refused++
	case d.Action == ses.ActionRead:
		x.response.Next, x.response.Bytes = y.Form, y.AppendTo(x.bytes[:0])
		reply.Payload = Payload{Length: d.Length, Offset: d.Offset, Cookie: d.Cookie, Address: d.Address}
		r.Action, r.Length = ses.ActionNone, 0
	default:
		x.response.Bytes = d.Response.AppendTo(x.bytes[:0])
	}
	return x.respondRUDI(in, buf)
}

// isTooMuch reports whether the data asked for by a RUDI packet is more than three times as
// long, and the source address is not proven to receive. The refusal asks for a PDC, for the
// proof.
func (x *receiver) isTooMuch(in *Datagram, y *ses.Reply) bool {
	const ip = 20 + udpLen
	answer := int64(ip+pds.RUDILen+y.Len()) + int64(x.decision.Length)
	return answer > 3*int64(ip+len(in.Packet)) && x.pds.DoubtsSource(in.Src)
}

// respondRUDI answers a RUDI request with e.response.
func (x *receiver) respondRUDI(in *Datagram, buf []byte) int {
	var h pds.RUDI
	_, _ = h.Decode(in.Packet)
	n, _ := x.pds.RespondRUDI(&h, &x.response, buf)
	return n
}

// dataReply is the header of the data asked for, in the form of the request: a peer reads the
// forms it writes. number is the request's PSN or pkt_id.
func (x *receiver) dataReply(number uint32) ses.Reply {
	if x.request.Form == pds.NextRequestStd {
		return x.decision.DataReply()
	}
	return x.decision.SmallDataReply(number)
}
