package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// nextLen is the least length of a packet that the short way looks at: a request with
// congestion state, or one without and some bytes of data.
const nextLen = pds.RequestCCLen + ses.StandardLen

// receiveRequest takes a request in: in a short way if it is as most are when it
// matters, in the middle of a message, on a PDC where all is well. That way does what
// the general one would, with everything left out that such a packet does not need.
func (e *Endpoint) receiveRequest(now int64, in, reply *Datagram, r *Received) {
	if len(in.Packet) < nextLen || in.Trimmed != 0 || cap(reply.Packet) < HeaderMax {
		e.receiveRest(now, in, reply, r)
		return
	}
	b, at := (*[nextLen]byte)(in.Packet), pds.RequestLen
	q, v := (*pds.RequestView)(b[:]), (*ses.StandardView)(b[pds.RequestLen:])
	if q.HasCC() {
		v, at = (*ses.StandardView)(b[pds.RequestCCLen:]), pds.RequestCCLen
	}
	p := e.pds.Expect(q, in.Src)
	if p == nil || q.Next() != pds.NextRequestStd {
		e.receiveRest(now, in, reply, r)
		return
	}
	h, payload := p.Handle(), len(in.Packet)-at-ses.StandardLen
	address, cookie, ok := e.target.Follow(v, ses.Arrival{Peer: uint64(h), Payload: payload})
	if !ok {
		e.receiveRest(now, in, reply, r)
		return
	}
	// Every field by itself: a literal would be built elsewhere and copied.
	r.Err, r.Action, r.Check, r.Code, r.Form = nil, ses.ActionPlace, ses.CheckNone, ses.RCOK, ses.FormStandard
	r.PDC, r.Header, r.Payload, r.Message, r.Answer = h, at, at+ses.StandardLen, 0, 0
	r.Address, r.Cookie, r.Offset, r.Length = address, cookie, v.MessageOffset(), uint32(v.PayloadLength())
	r.Complete, r.HasData, r.HeaderData = false, false, 0
	out := (*[HeaderMax]byte)(reply.Packet[:HeaderMax])
	ses.PutDefault((*[ses.ResponseLen]byte)(out[pds.AckCCLen:]), v)
	var t pdc.Taken
	t.Request, t.State, t.Next, t.Response = q, &in.State, pds.NextResponse, ses.ResponseLen
	t.Payload, t.Size, t.CE = uint32(payload), in.nominal(), in.CE
	reply.Packet = reply.Packet[:0]
	reply.Payload = Payload{}
	if n := e.pds.Take(now, p, &t, (*[pdc.ReplyMax]byte)(out[:])); n > 0 {
		e.control(reply, n+ses.ResponseLen, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.demandNext(now, in, h)
	}
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
