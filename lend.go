package uetcc

import (
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

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

// lender returns the message whose source is read by the request in hand, 0 if that reads
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
	if rec.readID != e.request.MessageID {
		rec.readID = e.request.MessageID
		e.sender.Reread(h)
	}
	return h
}

// readOn notes the PDC on which a rendezvous send is read.
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

// repaid notes that data of a rendezvous send has reached its reader, unless the reader has
// begun again since.
func (e *Endpoint) repaid(now int64, id AnswerID) {
	if a := e.answers.find(id); a != nil && a.lender != 0 && e.message(a.lender).readID == a.reply.ReadRequestID {
		e.hasRead(now, a.lender, a.length)
	}
}

// hasRead counts bytes of a rendezvous send that have reached its peer.
func (e *Endpoint) hasRead(now int64, h Handle, n uint32) {
	var ev ses.Event
	if e.sender.Lent(now, h, n, &ev) == nil {
		e.conclude(now, h, &ev)
	}
}

// denied ends the send whose source the request in hand wanted to read, if that was
// refused for good: nobody else tells its initiator.
func (e *Endpoint) denied(now int64) {
	if e.request.Opcode != ses.OpcodeRead || passing(e.decision.Response.ReturnCode) {
		return
	}
	if h := e.lender(); h != 0 {
		_ = e.Cancel(now, h)
	}
}
