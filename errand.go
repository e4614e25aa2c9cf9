// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// mayRunErrand reports whether a pending send of a peer has an errand due (a read of the
// rest, ready to restart), with room to run it.
func (s *source) mayRunErrand() bool {
	return s.target.HasErrand() && s.errands < s.errandRoom && s.events.room()
}

// runErrands starts errands as far as possible, and reports whether any ran.
func (s *source) runErrands(now int64) (ran bool) {
	for s.mayRunErrand() && s.target.Errand(&s.errand) {
		ran = true
		info, live := s.pds.PDC(pdc.Handle(s.errand.Peer))
		if !live && s.errand.Operation.Opcode == ses.OpcodeDeferrableRTR {
			s.target.ErrandDone(s.errand.Handle, ses.StatusFailed) // nobody is left to ask again
			continue
		}
		if !live {
			over := completion{peer: info.Peer, outcome: ses.Outcome{Status: ses.StatusPDS}, cause: pdc.CauseClosed}
			s.errandDone(now, s.errand.Handle, &over)
			continue
		}
		s.op = s.errand.Operation
		rec, err := s.begin(info.Peer, s.answerTC)
		if err != nil { // no place for the errand: the target has refused reads impossible to express
			s.errandDone(now, s.errand.Handle, &completion{peer: info.Peer, outcome: ses.Outcome{Status: ses.StatusFailed}})
			continue
		}
		rec.flags |= msgErrand
		s.errands++
		if s.dispatch(now, rec, 0) != nil {
			s.retryLater(now, rec)
		}
	}
	return ran
}

// errandDone ends an errand; the end of a read ends the message read. No packet can tell
// the sender the read was not delivered, or will not be tried again. So the PDC of the
// send is given up, noticed by the sender on probing the PDC. A read refused by the
// sender for good ends the send, see denied.
func (s *source) errandDone(now int64, h ses.Handle, out *completion) {
	p, ok := s.target.PullOf(h)
	if ok {
		c := *out
		c.message, c.received, c.cookie, c.hasData, c.headerData = 0, true, p.Cookie, p.HasData, p.HeaderData
		if c.outcome.Status == ses.StatusOK {
			c.outcome.Length = p.Placed
			if p.Placed < p.Length {
				c.outcome.Status = ses.StatusTruncated
			}
		}
		*s.events.Push() = c
	}
	o := &out.outcome
	if o.Status == ses.StatusPDS || o.Status == ses.StatusFailed && passing(o.Code) {
		_ = s.pds.Abort(now, pdc.Handle(p.Peer))
	}
	s.target.ErrandDone(h, o.Status)
}

// passing reports whether a request that was refused with c may succeed when sent again:
// after a moment, or in packets that ask for less, as the target's MTU has it.
func passing(c ses.ReturnCode) bool {
	return c == ses.RCBadGeneration || c == ses.RCDisabledGen || c == ses.RCOpViolation
}

// aim says where the data an errand has read belongs: nowhere if the buffer was
// withdrawn.
func (s *source) aim(r *Received) {
	p, ok := s.target.PullOf(ses.Handle(r.Cookie))
	r.Message = 0
	if !ok {
		r.Action, r.Length = ses.ActionNone, 0
		return
	}
	r.Cookie, r.Address, r.Offset = p.Cookie, p.Address+uint64(r.Offset), p.Eager+r.Offset
}

// onRestart takes ready to restart for a local send.
func (x *receiver) onRestart(now int64, buf []byte, r *Received) int {
	d := &x.decision
	h := ses.Handle(x.request.Token.Initiator)
	err := ses.ErrStale
	var ev msg.Event
	if i := int(h & 0xffff); i < len(x.source.messages) && x.source.messages[i].peer == x.in.Src {
		err = x.source.sender.Restart(now, &x.request, &ev)
	}
	kind := pdc.RespondDefault
	if err != nil {
		x.target.Fail(&x.request, msg.Arrival{}, ses.RCNoMatch, d)
		r.Check, r.Code, kind = d.Check, d.Response.ReturnCode, pdc.RespondGuaranteed
	}
	r.Action = ses.ActionNone
	n := x.respond(now, kind, d.Response.AppendTo(x.bytes[:0]), buf)
	if err == nil {
		x.source.conclude(now, h, &ev)
	}
	return n
}

// lend opens the source of a rendezvous send.
func (s *source) lend(rec *message, m *Message) error {
	if m.Eager == m.Length {
		return nil
	}
	x, h, err := s.target.Lend(m.Source.Process, m.Source.Index, m.To.Absolute, ses.Region{
		Base: m.Source.Base, Length: uint64(m.Length), Key: s.lendTag<<32 | uint64(rec.handle), Cookie: m.Cookie,
		Job: m.To.Job, Rights: ses.RightRead,
	})
	if err != nil {
		return err
	}
	rec.lent = h
	s.lending++
	return s.sender.SetSource(rec.handle, x)
}

// takeBack closes the source of a rendezvous send.
func (s *source) takeBack(rec *message) {
	_ = s.target.Withdraw(rec.lent)
	s.readOn(rec, 0)
	rec.lent = 0
	s.lending--
}

// lender returns the message whose source is read by the request in hand, 0 if another
// region is read.
func (x *receiver) lender() ses.Handle {
	h := ses.Handle(x.request.Key)
	if i := int(h & 0xffff); x.request.Key>>32 != x.source.lendTag || i >= len(x.source.messages) {
		return 0
	}
	rec := x.source.message(h)
	if rec.handle != h || rec.lent == 0 || rec.peer != x.in.Src {
		return 0
	}
	x.source.readOn(rec, x.res.ID.PDC)
	if rec.readID != x.request.MessageID {
		rec.readID = x.request.MessageID
		x.source.sender.Reread(h)
	}
	return h
}

// readOn notes the PDC of the read of a rendezvous send.
func (s *source) readOn(rec *message, h pdc.Handle) {
	if rec.reader == h {
		return
	}
	if rec.reader != 0 {
		s.reading.Remove(&s.flows[rec.reader.ID()].readers, rec.entry())
	}
	if rec.reader = h; h != 0 {
		s.reading.Push(&s.belong(h.ID(), h).readers, rec.entry())
	}
}

// repaid notes that data of a rendezvous send has reached the reader, unless the reader has
// begun again since.
func (s *source) repaid(now int64, id AnswerID) {
	a := s.answers.find(id)
	if a == nil || a.lender == 0 || s.message(a.lender).readID != a.reply().ReadRequestID {
		return
	}
	var ev msg.Event
	if s.sender.Lent(now, a.lender, a.length, &ev) == nil {
		s.conclude(now, a.lender, &ev)
	}
}

// denied ends the send whose source the request in hand wanted to read, if refused for
// good: nobody else tells the initiator.
func (x *receiver) denied(now int64) {
	if x.request.Opcode != ses.OpcodeRead || passing(x.decision.Response.ReturnCode) {
		return
	}
	if h := x.lender(); h != 0 {
		_ = x.source.deny(now, h, x.decision.Response.ReturnCode)
	}
}
