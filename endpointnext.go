package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// nextLen is the least length of a packet that receiveNext looks at: a request with
// congestion state, or one without and some bytes of data.
const nextLen = pds.RequestCCLen + ses.StandardLen

// receiveNext takes a request in that is as most are when it matters: in the middle of
// a message, on a PDC where all is well. It does what the general way would, with
// everything left out that such a packet does not need. It reports false, and has
// changed nothing, if this is another packet.
func (e *Endpoint) receiveNext(now int64, in, reply *Datagram, r *Received) bool {
	if len(in.Packet) < nextLen || in.Trimmed != 0 {
		return false
	}
	b, at := (*[nextLen]byte)(in.Packet), pds.RequestLen
	q, v := (*pds.RequestView)(b[:]), (*ses.StandardView)(b[pds.RequestLen:])
	if q.HasCC() {
		v, at = (*ses.StandardView)(b[pds.RequestCCLen:]), pds.RequestCCLen
	}
	if q.Next() != pds.NextRequestStd {
		return false
	}
	p := e.pds.Expect(q, in.Src)
	if p == nil {
		return false
	}
	h, payload := p.Handle(), len(in.Packet)-at-ses.StandardLen
	address, cookie, ok := e.target.Follow(v, ses.Arrival{Peer: uint64(h), Payload: payload})
	if !ok {
		return false
	}
	r.Action, r.Code, r.Form = ses.ActionPlace, ses.RCOK, ses.FormStandard
	r.PDC, r.Header, r.Payload = h, at, at+ses.StandardLen
	r.Address, r.Cookie, r.Offset, r.Length = address, cookie, v.MessageOffset(), uint32(v.PayloadLength())
	buf := (*[pdc.ReplyMax]byte)(reply.Packet[:pdc.ReplyMax])
	ses.PutDefault((*[ses.ResponseLen]byte)(buf[pds.AckCCLen:]), v)
	var t pdc.Taken // field by field: a literal would be built elsewhere and copied
	t.Request, t.State, t.Next, t.Response = q, &in.State, pds.NextResponse, ses.ResponseLen
	t.Payload, t.Size, t.CE = uint32(payload), in.nominal(), in.CE
	if n := e.pds.Take(now, p, &t, buf); n > 0 {
		e.control(reply, n, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.demandNext(now, in, h)
	}
	return true
}

// demandNext takes in what the request of a PDC asks for.
func (e *Endpoint) demandNext(now int64, in *Datagram, h pdc.Handle) {
	var q pds.Request
	if at, _ := q.Decode(in.Packet); q.HasCC() {
		e.res = pdc.Result{Verdict: pdc.VerdictRequest, Header: at, ID: pdc.RxID{PDC: h, PSN: q.PSN},
			Demand: pdc.Demand{Target: q.CreditTarget, CCCID: q.CCCID, Valid: true}}
		e.demand(now, in)
	}
}
