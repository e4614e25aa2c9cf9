package uetcc

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A plainRequest is a request that Receive has looked at.
type plainRequest struct {
	t  *pdc.Taken
	v  *ses.StandardView
	p  *pdc.PDC // that the packet names
	at int      // where v is in the packet
}

// receiveEdge takes a plain request in that is not in the middle of a message, or makes
// it whole.
func (e *Endpoint) receiveEdge(now int64, in, reply *Datagram, r *Received, x plainRequest) {
	d, a := &e.expected, ses.Arrival{Peer: uint64(x.p.Handle()), Payload: int(x.t.Payload)}
	if !e.target.Expect(x.v, uint16(x.t.Request.DPDCID()), a, d) {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	out := (*[HeaderMax]byte)(reply.Packet[:HeaderMax])
	n, ok := e.pds.Take(now, x.p, x.t, (*[pds.AckCCLen]byte)(out[:]))
	if !ok {
		e.receiveByHeader(now, in, reply, r)
		return
	}
	e.target.Take(x.v, a, d)
	r.Action, r.Check, r.Code, r.Form, r.Message = ses.ActionPlace, ses.CheckNone, ses.RCOK, ses.FormStandard, 0
	r.Address, r.Cookie, r.Offset, r.Length = d.Address, d.Cookie, d.Offset, d.Length
	r.PDC, r.Header, r.Payload = x.p.Handle(), x.at, x.at+ses.StandardLen
	r.Answer, r.Complete, r.HasData, r.Buffer, r.HeaderData, r.Err = 0, d.Complete, d.HasData, 0, d.HeaderData, nil
	reply.Payload = Payload{}
	if n == 0 {
		reply.Packet = reply.Packet[:0]
	} else {
		ses.PutDefault((*[ses.ResponseLen]byte)(out[n&63:]), x.v)
		e.control(reply, n+ses.ResponseLen, in.Dst, in.Src)
	}
	if e.credit != nil {
		e.demandNext(now, in, r.PDC)
	}
	e.followUp(now)
}

// receiveByHeader chooses the way of a packet that is no plain request, or that no PDC or
// message takes as one. A request that its PDC expects needs to be judged, but not to be
// looked at again.
func (e *Endpoint) receiveByHeader(now int64, in, reply *Datagram, r *Received) {
	if len(in.Packet) >= pds.RequestCCLen && in.Trimmed == 0 {
		q := (*pds.RequestView)(in.Packet)
		if q.Type() == pds.TypeACKCC { // with data
			e.receiveACK(now, in, reply, r)
			return
		}
		if next := q.Next(); q.Type().IsRequest() && next-pds.NextRequestSmall <= pds.NextRequestStd-pds.NextRequestSmall {
			if p := e.pds.Expect(q, in.Src); p != nil {
				e.receiveExpected(now, in, reply, r, p)
				return
			}
		}
	}
	e.receiveGeneral(now, in, reply, r)
}

// receiveExpected takes in a request that p expects.
func (e *Endpoint) receiveExpected(now int64, in, reply *Datagram, r *Received, p *pdc.PDC) {
	if e.pds.HasEvents() || !prepare(reply, r) { // events are for the manager to object to
		e.receiveGeneral(now, in, reply, r)
		return
	}
	q, buf := (*pds.RequestView)(in.Packet), reply.Packet[:HeaderMax]
	e.res.ID, e.res.Next, e.res.Header = pdc.RxID{PDC: p.Handle(), PSN: q.PSN()}, q.Next(), q.Type().HeaderLen()
	r.PDC = p.Handle()
	judged := e.judge(in.Packet, modeOf(in.Packet), r)
	n := 0
	if d := &e.decision; judged && d.IsDefault() && e.request.Opcode.IsPlain() {
		n, _ = e.pds.Take(now, p, &pdc.Taken{
			Request: q, Src: &in.Src, State: &in.State, Size: in.nominal(), Payload: uint32(len(in.Packet) - r.Payload), CE: in.CE,
		}, (*[pds.AckCCLen]byte)(buf))
		switch {
		case n == 0:
		case r.Form == ses.FormStandard:
			ses.PutDefault((*[ses.ResponseLen]byte)(buf[n:]), (*ses.StandardView)(in.Packet[r.Header:]))
			n += ses.ResponseLen
		default:
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
