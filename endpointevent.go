package uetcc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// An Event is the end of a message that this endpoint started. There is exactly
// one for each.
//
// With Unpaused it says that a message may begin again after [pdc.ErrPaused], and nothing
// else.
//
// With Received it is the end of a message of a peer that [Received] tells no more of,
// and Cookie that of its receive buffer or region: of a rendezvous send, of which a part
// had to be read, Outcome.Length being what is in the buffer; or of any message whose
// PDC went before it was whole, with ses.StatusPDS.
type Event struct {
	Message Handle // 0 with Received
	Cookie  uint64
	Outcome ses.Outcome
	Cause   pdc.Cause // with ses.StatusPDS: why; with Received CauseNone, if the peer closed the PDC

	Unpaused   bool
	Received   bool
	HasData    bool // with Received: HeaderData is for this side's completion
	HeaderData uint64
}

// Poll takes the oldest completion, false if there is none. When all are taken, one more
// Event says that a pause is over, if one is.
func (e *Endpoint) Poll() (Event, bool) {
	if ev, ok := e.events.pop(); ok || e.pause != pauseOver {
		return ev, ok
	}
	e.pause = pauseNone
	return Event{Unpaused: true}, true
}

// pause says whether messages are kept from beginning because too many wait for a PDC:
// pds_pause of specification table 3-27.
type pause uint8

const (
	pauseNone pause = iota
	pauseOn         // a message was refused
	pauseOver       // and now it would not be: Poll is to tell
)

// unpause takes it that one message less waits for a PDC.
func (e *Endpoint) unpause() {
	if e.pause == pauseOn {
		e.pause = pauseOver
	}
}

// completions is a ring of fixed length, twice that of all messages that can be in
// progress, of both sides. A message begins only while it is at most half full, so
// there is room for the end of each.
type completions struct {
	ring       []Event
	head, tail uint32 // of the whole life
}

func (r *completions) init(messages int) {
	size := 1
	for size < 2*messages {
		size *= 2
	}
	r.ring = make([]Event, size)
}

func (r *completions) len() int   { return int(r.tail - r.head) }
func (r *completions) room() bool { return r.len() < len(r.ring)/2 }

func (r *completions) push(ev Event) {
	r.ring[r.tail&uint32(len(r.ring)-1)] = ev
	r.tail++
}

func (r *completions) pop() (Event, bool) {
	if r.head == r.tail {
		return Event{}, false
	}
	ev := r.ring[r.head&uint32(len(r.ring)-1)]
	r.head++
	return ev, true
}

// conclude does what follows from news about a message.
func (e *Endpoint) conclude(now int64, h Handle, ev *ses.Event) {
	switch ev.Kind {
	case ses.EventDone:
		e.finish(now, h, ev)
	case ses.EventReady:
		rec := e.message(h)
		switch {
		case rec.flags&msgQueued != 0 && rec.mode != ses.ModeRUDI: // the notice that no more packets come
			e.pump(now, e.flowOf(rec))
		case ev.At > now:
			e.leave(now, rec)
			e.retries.Arm(uint32(h&0xffff), ev.At)
		default:
			e.again(now, rec)
		}
	}
}

// finish ends a message.
func (e *Endpoint) finish(now int64, h Handle, ev *ses.Event) {
	rec := e.message(h)
	out := Event{Message: h, Cookie: ev.Cookie, Outcome: ev.Outcome}
	if rec.cause != pdc.CauseNone && ev.Outcome.Status != ses.StatusOK {
		out.Outcome.Status, out.Cause = ses.StatusPDS, rec.cause
	}
	e.leave(now, rec)
	e.retries.Cancel(uint32(h & 0xffff))
	if rec.lent != 0 {
		e.takeBack(rec)
	}
	errand := rec.flags&msgErrand != 0
	*rec = message{}
	if errand {
		e.errandDone(now, ses.Handle(out.Cookie), &out)
		return
	}
	e.events.push(out)
}

// retryPause is the wait before a message is tried again that found no PDC, ns.
const retryPause = 1_000_000

// again starts another attempt of a message.
func (e *Endpoint) again(now int64, rec *message) {
	e.leave(now, rec)
	if e.dispatch(now, rec) != nil {
		e.retryLater(now, rec)
	}
}

// retryLater has a message tried again, but not at the end of time, for which there is no
// later.
func (e *Endpoint) retryLater(now int64, rec *message) {
	e.retries.Arm(uint32(rec.handle&0xffff), deadline.After(now, retryPause))
}

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
				e.abandon(now, ev.PDC, ev.Cause)
			}
		case pdc.EventClosed:
			e.abandon(now, ev.PDC, ev.Cause)
			e.lostFor = ev.Cause
			e.target.ClosePeer(uint64(ev.PDC), e.lost)
		}
	}
	if e.starved.head != 0 {
		e.feed(now)
	}
}

// settled takes the one outcome of a packet, or of several in a row, but for what
// came with a response.
func (e *Endpoint) settled(now int64, ev *pdc.Event) {
	switch {
	case ev.Handle>>48 == 0:
		for i := range uint64(ev.More) + 1 {
			if e.lending != 0 && ev.Kind != pdc.EventError {
				e.repaid(now, AnswerID(ev.Handle+i))
			}
			e.answers.release(ev.Handle + i)
		}
	case ev.Handle&ticketBit != 0:
		e.unserved(now, ses.PacketHandle(ev.Handle).Message(), ev.Cause)
		return
	default:
		e.outcome(now, ses.PacketHandle(ev.Handle), ev)
	}
	e.refill(now, ev.PDC)
}

// refill goes on with a flow that the manager had no room for in its window, or whose
// next message was behind one that failed. Those that wait for memory have their turn.
func (e *Endpoint) refill(now int64, h pdc.Handle) {
	f := &e.flows[h.ID()]
	if f.pdc == h && !f.waits && (f.refused || f.answers.head != 0 || f.messages.head != 0 && f.ahead <= submitLow) {
		e.pump(now, f)
	}
}

// broken ends a message of a peer whose PDC has gone.
func (e *Endpoint) broken(cookie uint64) {
	e.stats.Broken++
	outcome := ses.Outcome{Status: ses.StatusPDS, Cause: uint8(e.lostFor)}
	e.events.push(Event{Received: true, Cookie: cookie, Outcome: outcome, Cause: e.lostFor})
}

// outcome tells the initiator what became of a packet of its own, or of several in
// a row.
func (e *Endpoint) outcome(now int64, p ses.PacketHandle, ev *pdc.Event) {
	var news ses.Event
	var err error
	if ev.Kind == pdc.EventError {
		rec := e.message(p.Message())
		if rec.handle == p.Message() && rec.cause == pdc.CauseNone {
			rec.cause = ev.Cause
		}
		err = e.sender.Error(now, p, uint8(ev.Cause), &news)
	} else {
		err = e.sender.RxAck(now, p, uint32(ev.More)+1, &news)
	}
	if err == nil && news.Kind != ses.EventNone {
		e.conclude(now, p.Message(), &news)
	}
}

// served gives a PDC to a message that waited for one.
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

// unserved fails a message that no PDC became free for.
func (e *Endpoint) unserved(now int64, h Handle, c pdc.Cause) {
	e.unpause()
	rec := e.message(h)
	if rec.handle != h || rec.flags&msgWaiting == 0 {
		return
	}
	rec.cause = c
	_ = e.Cancel(now, h)
}

// abandon fails what is queued for a PDC that is gone.
func (e *Endpoint) abandon(now int64, h pdc.Handle, c pdc.Cause) {
	e.closed(h)
	f := &e.flows[h.ID()]
	if f.pdc == h {
		if c == pdc.CauseNone {
			c = pdc.CauseClosed
		}
		f.ahead = e.submitAhead // nothing more is handed over
		for f.messages.head != 0 {
			rec := &e.messages[f.messages.head-1]
			if n, _ := e.sender.Next(now, rec.handle, &e.tx); n == 0 {
				break
			}
			e.fail(now, rec, c)
		}
		e.answers.releaseAll(&f.answers)
		e.giveUp(now, e.fetching, &f.fetches, c)
		e.giveUp(now, e.reading, &f.readers, c)
		f.belong(0)
	}
}
