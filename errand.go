package uetcc

import (
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// mayRunErrand reports whether this side has something to do for sends of peers that it comes
// back to (a read of the rest, ready to restart), and room for it.
func (e *Endpoint) mayRunErrand() bool {
	return e.target.HasErrand() && e.errands < e.errandRoom && e.events.room()
}

// runErrands starts what may be. It reports whether there was any.
func (e *Endpoint) runErrands(now int64) (ran bool) {
	for e.mayRunErrand() && e.target.Errand(&e.errand) {
		ran = true
		info, live := e.pds.PDC(pdc.Handle(e.errand.Peer))
		if !live && e.errand.Operation.Opcode == ses.OpcodeDeferrableRTR {
			e.target.ErrandDone(e.errand.Handle, ses.StatusFailed) // nobody is left to ask again
			continue
		}
		if !live {
			over := completion{peer: info.Peer, outcome: ses.Outcome{Status: ses.StatusPDS}, cause: pdc.CauseClosed}
			e.errandDone(now, e.errand.Handle, &over)
			continue
		}
		e.op = e.errand.Operation
		rec, err := e.begin(info.Peer, e.answerTC)
		if err != nil { // no place for it: what no read can say the target has refused
			e.errandDone(now, e.errand.Handle, &completion{peer: info.Peer, outcome: ses.Outcome{Status: ses.StatusFailed}})
			continue
		}
		rec.flags |= msgErrand
		e.errands++
		if e.dispatch(now, rec) != nil {
			e.retryLater(now, rec)
		}
	}
	return ran
}

// errandDone ends an errand; if it was a read, the message that was read ends with it.
// No packet can tell the sender that the read was not delivered, or will not be tried
// again. So the PDC that the send came on is given up, which the sender learns when it
// probes it. A read that the sender refuses for good ends its send, see denied.
func (e *Endpoint) errandDone(now int64, h ses.Handle, out *completion) {
	p, ok := e.target.PullOf(h)
	if ok {
		c := *out
		c.message, c.received, c.cookie, c.hasData, c.headerData = 0, true, p.Cookie, p.HasData, p.HeaderData
		if c.outcome.Status == ses.StatusOK {
			c.outcome.Length = p.Placed
			if p.Placed < p.Length {
				c.outcome.Status = ses.StatusTruncated
			}
		}
		e.events.push(c)
	}
	o := &out.outcome
	if o.Status == ses.StatusPDS || o.Status == ses.StatusFailed && passing(o.Code) {
		_ = e.pds.Abort(now, pdc.Handle(p.Peer))
	}
	e.target.ErrandDone(h, o.Status)
}

// passing reports whether a request that was refused with c may succeed when it is sent
// again.
func passing(c ses.ReturnCode) bool { return c == ses.RCBadGeneration || c == ses.RCDisabledGen }

// aim says where the data that an errand has read belongs: nowhere if the buffer was
// withdrawn.
func (e *Endpoint) aim(r *Received) {
	p, ok := e.target.PullOf(ses.Handle(r.Cookie))
	r.Message = 0
	if !ok {
		r.Action, r.Length = ses.ActionNone, 0
		return
	}
	r.Cookie, r.Address, r.Offset = p.Cookie, p.Address+uint64(r.Offset), p.Eager+r.Offset
}

// onRestart takes ready to restart for a send of this side.
func (e *Endpoint) onRestart(now int64, buf []byte, r *Received) int {
	d := &e.decision
	h := Handle(e.request.Token.Initiator)
	err := ses.ErrStale
	var ev ses.Event
	if i := int(h & 0xffff); i < len(e.messages) && e.messages[i].peer == e.in.Src {
		err = e.sender.Restart(now, &e.request, &ev)
	}
	kind := pdc.RespondDefault
	if err != nil {
		e.target.Fail(&e.request, ses.Arrival{}, ses.RCNoMatch, d)
		r.Check, r.Code, kind = d.Check, d.Response.ReturnCode, pdc.RespondGuaranteed
	}
	r.Action = ses.ActionNone
	n := e.respond(now, kind, d.Response.AppendTo(e.bytes[:0]), buf)
	if err == nil {
		e.conclude(now, h, &ev)
	}
	return n
}
