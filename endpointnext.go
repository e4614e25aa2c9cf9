package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// nextLen is the least length of a packet that may follow another: a request with
// congestion state, or one without and some bytes of data.
const nextLen = pds.RequestCCLen + ses.StandardLen

// receiveRequest takes a request in: in a short way if it is as most are when it
// matters, in the middle of a message, on a PDC where all is well. That way does what
// the general one would, with everything left out that such a packet does not need.
func (e *Endpoint) receiveRequest(now int64, in, reply *Datagram, r *Received) {
	if len(in.Packet) < nextLen || in.Trimmed != 0 || cap(reply.Packet) < HeaderMax {
		e.receiveOther(now, in, reply, r)
		return
	}
	b, at := (*[nextLen]byte)(in.Packet), pds.RequestLen
	q, v := (*pds.RequestView)(b[:]), (*ses.StandardView)(b[pds.RequestLen:])
	if q.HasCC() {
		v, at = (*ses.StandardView)(b[pds.RequestCCLen:]), pds.RequestCCLen
	}
	p := e.pds.Named(q)
	if p == nil {
		e.receiveOther(now, in, reply, r)
		return
	}
	h, payload := p.Handle(), len(in.Packet)-at-ses.StandardLen
	m := e.target.Follow(v, uint16(q.DPDCID()), ses.Arrival{Peer: uint64(h), Payload: payload})
	if m == nil {
		e.receiveOther(now, in, reply, r)
		return
	}
	out := (*[HeaderMax]byte)(reply.Packet[:HeaderMax])
	n, ok := e.pds.TakeNext(now, p, &pdc.Taken{
		Request: q, Src: &in.Src, State: &in.State, Size: in.nominal(), Payload: uint32(payload), CE: in.CE,
	}, (*[pds.AckCCLen]byte)(out[:]))
	if !ok {
		e.receiveOther(now, in, reply, r)
		return
	}
	// Every field by itself: a literal would be built elsewhere and copied.
	r.Action, r.Check, r.Code, r.Form, r.Message = ses.ActionPlace, ses.CheckNone, ses.RCOK, ses.FormStandard, 0
	r.Offset, r.Length = v.MessageOffset(), uint32(v.PayloadLength())
	r.Address, r.Cookie = m.Place(r.Offset, r.Length)
	r.PDC, r.Header, r.Payload = h, at, at+ses.StandardLen
	r.Answer, r.Complete, r.HasData, r.HeaderData, r.Err = 0, false, false, 0, nil
	reply.Packet = reply.Packet[:0]
	reply.Payload = Payload{}
	if n > 0 {
		ses.PutDefault((*[ses.ResponseLen]byte)(out[n&63:]), v) // nothing to check with a mask, which does nothing
		e.control(reply, n+ses.ResponseLen, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.demandNext(now, in, h)
	}
	e.followUp(now)
}

// receiveOther takes any request in. One whose PDC expects it needs to be judged, but
// not to be looked at again.
func (e *Endpoint) receiveOther(now int64, in, reply *Datagram, r *Received) {
	if len(in.Packet) >= pds.RequestCCLen && in.Trimmed == 0 {
		q := (*pds.RequestView)(in.Packet)
		if next := q.Next(); next-pds.NextRequestSmall <= pds.NextRequestStd-pds.NextRequestSmall {
			if p := e.pds.Expect(q, in.Src); p != nil {
				e.receiveExpected(now, in, reply, r, p)
				return
			}
		}
	}
	e.receiveRest(now, in, reply, r)
}

// receiveExpected takes in a request that p expects.
func (e *Endpoint) receiveExpected(now int64, in, reply *Datagram, r *Received, p *pdc.PDC) {
	if e.pds.HasEvents() || !prepare(reply, r) { // events are for the manager to object to
		e.receiveRest(now, in, reply, r)
		return
	}
	q, buf := (*pds.RequestView)(in.Packet), reply.Packet[:HeaderMax]
	e.res.ID, e.res.Next, e.res.Header = pdc.RxID{PDC: p.Handle(), PSN: q.PSN()}, q.Next(), q.Type().HeaderLen()
	r.PDC = p.Handle()
	judged := e.judge(in.Packet, modeOf(in.Packet), r)
	n := 0
	if d := &e.decision; judged && d.IsDefault() && e.request.Opcode.IsPlain() {
		n = e.pds.Take(now, p, &pdc.Taken{
			Request: q, State: &in.State, Size: in.nominal(), Payload: uint32(len(in.Packet) - r.Payload), CE: in.CE,
		}, (*[pds.AckCCLen]byte)(buf))
		if n > 0 {
			n = len(d.Response.AppendTo(buf[:n]))
		}
	} else {
		e.pds.Await(now, p, e.arrived(in))
		n = e.answer(now, judged, buf, r)
	}
	if n > 0 {
		e.control(reply, n, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.demandNext(now, in, p.Handle())
	}
	e.followUp(now)
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
