package uetcc

import (
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A Source is where the receiver of a rendezvous send reads what does not come with
// it: out of a region of this endpoint that is open for as long as the message goes
// on.
type Source struct {
	Process ses.Handle        // of the own target, of the message's job and addressed in the same way
	Index   ses.ResourceIndex // of memory; the endpoint chooses the key
	Base    uint64            // address of the message's first byte
}

// opcode is what kind of send m is.
func (m *Message) opcode() ses.Opcode {
	switch {
	case m.Mode == ses.ModeUUD:
		return ses.OpcodeDatagramSend
	case m.Rendezvous && m.Tagged:
		return ses.OpcodeRendezvousTSend
	case m.Rendezvous:
		return ses.OpcodeRendezvousSend
	case m.Deferrable && m.Tagged:
		return ses.OpcodeDeferrableTSend
	case m.Deferrable:
		return ses.OpcodeDeferrableSend
	case m.Tagged:
		return ses.OpcodeTaggedSend
	}
	return ses.OpcodeSend
}

// lend opens the source of a rendezvous send.
func (e *Endpoint) lend(rec *message, m *Message) error {
	if m.Eager == m.Length {
		return nil
	}
	x, h, err := e.target.Lend(m.Source.Process, m.Source.Index, m.To.Absolute, ses.Region{
		Base: m.Source.Base, Length: uint64(m.Length), Key: e.lendTag<<32 | uint64(rec.handle), Cookie: m.Cookie,
		Job: m.To.Job, Rights: ses.RightRead,
	})
	if err != nil {
		return err
	}
	rec.lent = h
	e.lending++
	return e.sender.SetSource(rec.handle, x)
}

// takeBack closes the source of a rendezvous send.
func (e *Endpoint) takeBack(rec *message) {
	_ = e.target.Withdraw(rec.lent)
	e.readOn(rec, 0)
	rec.lent = 0
	e.lending--
}

// lender returns the message whose source the request in hand reads, 0 if it is
// another region.
func (e *Endpoint) lender() Handle {
	h := Handle(e.request.Key)
	if i := int(h & 0xffff); e.request.Key>>32 != e.lendTag || i >= len(e.messages) {
		return 0
	}
	rec := e.message(h)
	if rec.handle != h || rec.lent == 0 || rec.peer != e.in.Src {
		return 0
	}
	e.readOn(rec, e.res.ID.PDC)
	return h
}

// readOn notes the PDC that a rendezvous send is read on.
func (e *Endpoint) readOn(rec *message, h pdc.Handle) {
	if rec.reader == h {
		return
	}
	if rec.reader != 0 {
		e.reading.strike(&e.flows[rec.reader.ID()].readers, rec.entry())
	}
	if rec.reader = h; h != 0 {
		f := &e.flows[h.ID()]
		f.belong(h)
		e.reading.enter(&f.readers, rec.entry())
	}
}

// repaid takes it that data has reached its reader.
func (e *Endpoint) repaid(now int64, id AnswerID) {
	if a := e.answers.find(id); a != nil && a.lender != 0 {
		e.read(now, a.lender, a.length)
	}
}

// read counts bytes of a rendezvous send that its peer has got.
func (e *Endpoint) read(now int64, h Handle, n uint32) {
	var ev ses.Event
	if e.sender.Lent(now, h, n, &ev) == nil {
		e.conclude(now, h, &ev)
	}
}

// runErrands starts what this side is to do for sends that it comes back to, as long
// as there is room. It reports whether anything was started.
func (e *Endpoint) runErrands(now int64) (any bool) {
	for e.events.room() && e.sender.Messages() < len(e.messages) && e.target.Errand(&e.errand) {
		any = true
		info, live := e.pds.PDC(pdc.Handle(e.errand.Peer))
		if !live {
			over := Event{Outcome: ses.Outcome{Status: ses.StatusPDS}, Cause: pdc.CauseClosed}
			e.errandDone(now, e.errand.Handle, &over)
			e.target.ErrandDone(e.errand.Handle, ses.StatusFailed) // nobody is there to be asked again
			continue
		}
		e.op = e.errand.Operation
		rec, err := e.begin(info.Peer, e.answerTC)
		if err != nil { // not for anything that a header can say
			e.errandDone(now, e.errand.Handle, &Event{Outcome: ses.Outcome{Status: ses.StatusFailed}})
			continue
		}
		rec.flags |= msgErrand
		if e.dispatch(now, rec) != nil {
			e.retryLater(now, rec)
		}
	}
	return any
}

// errandDone ends an errand. That of a read is the end of the message that was read.
// No packet tells its sender that the read could not be delivered, or will not be tried
// again: the PDC that the send came on is given up, which the sender finds out when it asks
// after it. A read that it refuses for good ends its send, see denied.
func (e *Endpoint) errandDone(now int64, h ses.Handle, out *Event) {
	p, ok := e.target.PullOf(h)
	if ok {
		ev := Event{
			Received: true, Cookie: p.Cookie, Outcome: out.Outcome, Cause: out.Cause, HasData: p.HasData, HeaderData: p.HeaderData,
		}
		if ev.Outcome.Status == ses.StatusOK {
			ev.Outcome.Length = p.Placed
			if p.Placed < p.Length {
				ev.Outcome.Status = ses.StatusTruncated
			}
		}
		e.events.push(ev)
	}
	o := &out.Outcome
	if p.Peer != 0 && (o.Status == ses.StatusPDS || o.Status == ses.StatusFailed && passing(o.Code)) {
		_ = e.pds.Abort(now, pdc.Handle(p.Peer))
	}
	e.target.ErrandDone(h, o.Status)
}

// passing reports whether what a request was refused with may be cured by sending it again.
func passing(c ses.ReturnCode) bool { return c == ses.RCBadGeneration || c == ses.RCDisabledGen }

// denied ends the send whose source the request in hand would read, if it was refused for
// good: nobody else tells its initiator.
func (e *Endpoint) denied(now int64) {
	if e.request.Opcode != ses.OpcodeRead || passing(e.decision.Response.ReturnCode) {
		return
	}
	if h := e.lender(); h != 0 {
		_ = e.Cancel(now, h)
	}
}

// aim says where data belongs that an errand has read. It goes nowhere if the buffer
// was withdrawn.
func (e *Endpoint) aim(r *Received) {
	p, ok := e.target.PullOf(ses.Handle(r.Cookie))
	r.Message = 0
	if !ok {
		r.Action, r.Length = ses.ActionNone, 0
		return
	}
	r.Cookie, r.Address, r.Offset = p.Cookie, p.Address+uint64(r.Offset), p.Eager+r.Offset
}

// onRestart takes ready to restart for a send of ours.
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
