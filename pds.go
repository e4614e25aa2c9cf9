// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// drain takes the events of the manager.
//
//uetcc:hot
func (s *source) drain(now int64) {
	var ev pdc.Event
	for s.pds.Event(&ev) {
		switch ev.Kind {
		case pdc.EventResponse, pdc.EventImplicit, pdc.EventError:
			s.settled(now, &ev)
		case pdc.EventMessage:
			s.served(now, &ev)
		case pdc.EventRoom:
			s.refill(now, ev.PDC)
		case pdc.EventClosing:
			if ev.Cause != pdc.CauseNone {
				s.abandon(now, &ev)
			}
		case pdc.EventClosed:
			s.abandon(now, &ev)
			s.target.ClosePeer(uint64(ev.PDC), func(cookie uint64) { s.broken(cookie, &ev) })
		}
	}
	if s.starves != 0 {
		s.feed(now)
	}
}

// settled takes the outcome of a local packet, or of several in a row, without a response.
//
//uetcc:hot
func (s *source) settled(now int64, ev *pdc.Event) {
	switch {
	case isAnswer(ev.Handle):
		if n := uint32(ev.More) + 1; ev.Kind != pdc.EventError {
			s.delivered(now, AnswerID(ev.Handle), n)
		} else {
			s.answers.release(AnswerID(ev.Handle), n)
		}
	case ev.Handle&ticketBit != 0:
		s.unserved(now, msg.PacketHandle(ev.Handle).Message(), ev.Cause)
		return
	default:
		s.outcome(now, msg.PacketHandle(ev.Handle), ev)
	}
	s.refill(now, ev.PDC)
}

// outcome tells the initiator the outcome of a packet, or of several in a row.
func (s *source) outcome(now int64, p msg.PacketHandle, ev *pdc.Event) {
	var news msg.Event
	var err error
	if ev.Kind == pdc.EventError {
		rec := s.message(p.Message())
		if rec.handle == p.Message() {
			rec.blame(s.causeOf(rec.peer, ev.Cause), ev.Nack)
		}
		err = s.sender.Error(now, p, uint8(ev.Cause), ev.Cause == pdc.CauseNack && ev.Nack.IsShortage(), &news)
	} else {
		err = s.sender.RxAck(now, p, uint32(ev.More)+1, &news)
	}
	if err == nil {
		s.conclude(now, p.Message(), &news)
	}
}

// causeOf is the cause of a failure: a peer that has gone after it asked for credit in vain, on whichever PDC, had data
// or requests waiting.
func (s *source) causeOf(peer pdc.Addr, c pdc.Cause) pdc.Cause {
	if (c == pdc.Cause(pds.NackInvDPDCID) || c == pdc.Cause(pds.NackClosingInErr)) && *s.wanting(peer) == peer {
		return pdc.CauseNoCredit
	}
	return c
}

// wanting is the place of a peer among those that have asked for credit, which nobody gives here: the last of each hash.
func (s *source) wanting(peer pdc.Addr) *pdc.Addr { return &s.want[peer.Lo%uint64(len(s.want))] }

// refill goes on with a flow without room in the window before, or whose next message stood
// behind a failed message. Flows waiting for memory get memory in turn, see feed.
func (s *source) refill(now int64, h pdc.Handle) {
	f := &s.flows[h.ID()]
	if f.pdc == h && (f.waits == 0 || f.answers.head != 0) && s.leads[h.ID()].ahead <= submitLow {
		s.goOn(now, f)
	}
}

// served puts a waiting message on the new PDC.
func (s *source) served(now int64, ev *pdc.Event) {
	s.unpause()
	h := ses.Handle(ev.Handle >> 32)
	rec := s.message(h)
	if rec.handle != h || rec.flags&msgWaiting == 0 {
		return // given up meanwhile
	}
	if s.attach(now, rec, ev.PDC) != nil {
		s.again(now, rec)
	}
}

// unserved fails a message for which no PDC became free.
func (s *source) unserved(now int64, h ses.Handle, c pdc.Cause) {
	s.unpause()
	rec := s.message(h)
	if rec.handle != h || rec.flags&msgWaiting == 0 {
		return
	}
	rec.cause = c
	_ = s.cancel(now, h)
}

// abandon fails the queue of an ended PDC.
func (s *source) abandon(now int64, ev *pdc.Event) {
	h, c := ev.PDC, ev.Cause
	s.creditClosed(h)
	f := &s.flows[h.ID()]
	if f.pdc == h {
		if c == pdc.CauseNone {
			c = pdc.CauseClosed
		}
		s.leads[h.ID()].ahead = s.submitAhead // so that nothing more is handed over
		for f.messages.Head != 0 {
			rec := &s.messages[f.messages.Head-1]
			if n := s.sender.Next(now, rec.handle, &s.tx); n == 0 {
				break
			}
			s.failNext(now, rec, c, ev.Nack)
		}
		for a := &s.answers; f.answers.head != 0; {
			i := f.answers.head - 1
			a.pop(&f.answers)
			a.release(a.slot[i].id(i), 1)
		}
		s.giveUp(now, s.fetching, &f.fetches, c, ev.Nack)
		for c == pdc.CauseClosed && f.readers.Head != 0 { // a peer closing in order has read all the data wanted
			s.readOn(&s.messages[f.readers.Head-1], 0)
		}
		s.giveUp(now, s.reading, &f.readers, c, ev.Nack)
		s.belong(h.ID(), 0)
	}
}

// broken ends a message of a peer whose PDC has ended.
func (s *source) broken(cookie uint64, ev *pdc.Event) {
	s.stats.Broken++
	info, _ := s.pds.PDC(ev.PDC)
	*s.events.Push() = completion{
		received: true, cookie: cookie, peer: info.Peer, cause: ev.Cause, nack: ev.Nack,
		outcome: ses.Outcome{Status: ses.StatusPDS, Cause: uint8(ev.Cause)},
	}
}
