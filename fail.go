// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

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
		return e.failOdd(now, in, reply, r)
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
