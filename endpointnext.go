package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// receiveNext takes a packet in that is as most are when it matters: in the middle of
// a message, on a PDC where all is well. It does what the general way would, with
// everything left out that such a packet does not need; n is the length of the
// acknowledgement in buf. It reports false, and has changed nothing, if this is
// another packet.
func (e *Endpoint) receiveNext(now int64, in *Datagram, buf []byte, r *Received) (n int, ok bool) {
	var q pds.Request
	at, err := q.Decode(in.Packet)
	if err != nil || q.Next != pds.NextRequestStd || in.Trimmed != 0 {
		return 0, false
	}
	p, b := e.pds.Expect(&q, in.Src), in.Packet[at:]
	if p == nil || len(b) < ses.StandardLen || !ses.Opcode(b[0]&0x3f).IsPlain() {
		return 0, false
	}
	e.request.Form = ses.FormStandard
	_, _ = e.request.Standard.Decode(b)
	h, payload := p.Handle(), len(b)-ses.StandardLen
	address, cookie, ok := e.target.Follow(&e.request, ses.Arrival{Peer: uint64(h), Payload: payload})
	if !ok {
		return 0, false
	}
	var t pdc.Taken // field by field: a literal would be built elsewhere and copied
	t.Request, t.State, t.Next = &q, &in.State, pds.NextResponse
	t.Payload, t.Size, t.CE = uint32(payload), in.nominal(), in.CE
	if n = e.pds.Take(now, p, &t, (*[pdc.ReplyMax]byte)(buf)); n > 0 {
		ses.PutDefault((*[ses.ResponseLen]byte)(buf[n:]), &e.request)
		n += ses.ResponseLen
	}
	r.PDC, r.Request, r.Payload = h, &e.request, at+ses.StandardLen
	r.Action, r.Code, r.Address, r.Cookie = ses.ActionPlace, ses.RCOK, address, cookie
	r.Offset, r.Length = e.request.MessageOffset, uint32(e.request.PayloadLength)
	if e.credit != nil && q.HasCC() {
		e.res = pdc.Result{Verdict: pdc.VerdictRequest, Header: at, ID: pdc.RxID{PDC: h, PSN: q.PSN},
			Demand: pdc.Demand{Target: q.CreditTarget, CCCID: q.CCCID, Valid: true}}
		e.demand(now, in)
	}
	return n, true
}
