// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

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
func (x *receiver) lender() Handle {
	h := Handle(x.request.Key)
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
		s.reading.strike(&s.flows[rec.reader.ID()].readers, rec.entry())
	}
	if rec.reader = h; h != 0 {
		s.reading.enter(&s.belong(h.ID(), h).readers, rec.entry())
	}
}

// repaid notes that data of a rendezvous send has reached the reader, unless the reader has
// begun again since.
func (s *source) repaid(now int64, id AnswerID) {
	if a := s.answers.find(id); a != nil && a.lender != 0 && s.message(a.lender).readID == a.reply().ReadRequestID {
		s.hasRead(now, a.lender, a.length)
	}
}

// hasRead counts bytes of a rendezvous send that have reached the peer.
func (s *source) hasRead(now int64, h Handle, n uint32) {
	var ev msg.Event
	if s.sender.Lent(now, h, n, &ev) == nil {
		s.conclude(now, h, &ev)
	}
}

// denied ends the send whose source the request in hand wanted to read, if refused for
// good: nobody else tells the initiator.
func (x *receiver) denied(now int64) {
	if x.request.Opcode != ses.OpcodeRead || passing(x.decision.Response.ReturnCode) {
		return
	}
	if h := x.lender(); h != 0 {
		_ = x.source.cancel(now, h)
	}
}
