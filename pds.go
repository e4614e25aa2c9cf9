package uetcc

import (
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// drain takes the events of the manager.
func (e *Endpoint) drain(now int64) {
	var ev pdc.Event
	for e.pds.Event(&ev) {
		switch ev.Kind {
		case pdc.EventResponse, pdc.EventImplicit, pdc.EventError:
			e.settled(now, &ev)
		case pdc.EventMessage:
			e.served(now, &ev)
		case pdc.EventRoom:
			e.refill(now, ev.PDC)
		case pdc.EventClosing:
			if ev.Cause != pdc.CauseNone {
				e.abandon(now, &ev)
			}
		case pdc.EventClosed:
			e.abandon(now, &ev)
			e.target.ClosePeer(uint64(ev.PDC), func(cookie uint64) { e.broken(cookie, &ev) })
		}
	}
	if e.starved.head != 0 {
		e.feed(now)
	}
}

// settled takes the outcome of one of this side's packets, or of several in a row, that came
// without a response.
func (e *Endpoint) settled(now int64, ev *pdc.Event) {
	switch {
	case isAnswer(ev.Handle):
		for i := range uint64(ev.More) + 1 {
			if e.lending != 0 && ev.Kind != pdc.EventError {
				e.repaid(now, AnswerID(ev.Handle+i))
			}
			e.answers.release(AnswerID(ev.Handle + i))
		}
	case ev.Handle&ticketBit != 0:
		e.unserved(now, ses.PacketHandle(ev.Handle).Message(), ev.Cause)
		return
	default:
		e.outcome(now, ses.PacketHandle(ev.Handle), ev)
	}
	e.refill(now, ev.PDC)
}

// outcome tells the initiator what became of one of its packets, or of several in a row.
func (e *Endpoint) outcome(now int64, p ses.PacketHandle, ev *pdc.Event) {
	var news ses.Event
	var err error
	if ev.Kind == pdc.EventError {
		rec := e.message(p.Message())
		if rec.handle == p.Message() {
			rec.blame(ev.Cause, ev.Nack)
		}
		if ev.Cause == pdc.CauseNack && ev.Nack.IsShortage() {
			err = e.sender.Refused(now, p, uint8(ev.Cause), &news)
		} else {
			err = e.sender.Error(now, p, uint8(ev.Cause), &news)
		}
	} else {
		err = e.sender.RxAck(now, p, uint32(ev.More)+1, &news)
	}
	if err == nil {
		e.conclude(now, p.Message(), &news)
	}
}

// refill goes on with a flow for which the window had no room, or whose next message stood
// behind one that failed. Flows that wait for memory get theirs in turn, see feed.
func (e *Endpoint) refill(now int64, h pdc.Handle) {
	f := &e.flows[h.ID()]
	if f.pdc == h && !f.waits && f.ahead <= submitLow && (f.answers.head != 0 || f.messages.head != 0) {
		e.pump(now, f)
	}
}

// served puts a message on the PDC that it has waited for.
func (e *Endpoint) served(now int64, ev *pdc.Event) {
	e.unpause()
	h := Handle(ev.Handle >> 32)
	rec := e.message(h)
	if rec.handle != h || rec.flags&msgWaiting == 0 {
		return // given up meanwhile
	}
	if e.attach(now, rec, ev.PDC) != nil {
		e.again(now, rec)
	}
}

// unserved fails a message for which no PDC became free.
func (e *Endpoint) unserved(now int64, h Handle, c pdc.Cause) {
	e.unpause()
	rec := e.message(h)
	if rec.handle != h || rec.flags&msgWaiting == 0 {
		return
	}
	rec.cause = c
	_ = e.Cancel(now, h)
}

// abandon fails what is queued for a PDC that has ended.
func (e *Endpoint) abandon(now int64, ev *pdc.Event) {
	h, c := ev.PDC, ev.Cause
	e.creditClosed(h)
	f := &e.flows[h.ID()]
	if f.pdc == h {
		if c == pdc.CauseNone {
			c = pdc.CauseClosed
		}
		f.ahead = e.submitAhead // so that nothing more is handed over
		for f.messages.head != 0 {
			rec := &e.messages[f.messages.head-1]
			if n, _ := e.sender.Next(now, rec.handle, &e.tx); n == 0 {
				break
			}
			e.failNext(now, rec, c, ev.Nack)
		}
		e.answers.releaseAll(&f.answers)
		e.giveUp(now, e.fetching, &f.fetches, c, ev.Nack)
		for c == pdc.CauseClosed && f.readers.head != 0 { // who closes in order has read all that it wants
			e.readOn(&e.messages[f.readers.head-1], 0)
		}
		e.giveUp(now, e.reading, &f.readers, c, ev.Nack)
		f.belong(0)
	}
}

// broken ends a message of a peer whose PDC has ended.
func (e *Endpoint) broken(cookie uint64, ev *pdc.Event) {
	e.stats.Broken++
	info, _ := e.pds.PDC(ev.PDC)
	e.events.push(completion{
		received: true, cookie: cookie, peer: info.Peer, cause: ev.Cause, nack: ev.Nack,
		outcome: ses.Outcome{Status: ses.StatusPDS, Cause: uint8(ev.Cause)},
	})
}
