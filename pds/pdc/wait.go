package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// waiter is a message that waits for a PDC.
type waiter struct {
	key    InitiatorKey
	ticket uint64
	until  int64
}

// waitQueue is a queue of fixed length. Every message waits equally long, so the
// first one is always the first to give up.
type waitQueue struct {
	ring       []waiter
	head, tail int // of the whole life
	limit      int64
}

func (q *waitQueue) init(n int, limit int64) { q.ring, q.limit = make([]waiter, n), limit }

func (q *waitQueue) len() int { return q.tail - q.head }

func (q *waitQueue) push(w waiter) bool {
	if q.len() == len(q.ring) {
		return false
	}
	q.ring[q.tail%len(q.ring)] = w
	q.tail++
	return true
}

func (q *waitQueue) first() *waiter { return &q.ring[q.head%len(q.ring)] }

// Waiting returns how many messages wait for a PDC.
func (m *Manager) Waiting() int { return m.waiting.len() }

// arm keeps the deadline of what waits in the manager itself: messages for a PDC (the
// time-out of the first, an id that leaves quarantine, or another look for a PDC that has
// become idle, which nothing else tells of) and RUDI packets.
func (m *Manager) arm(now int64) {
	at := m.rudi.next()
	if m.waiting.len() > 0 {
		at = min(at, m.waiting.first().until, deadline.After(now, m.p.c.RTOInit))
		// An id that is free by now is not what they wait for: they have just looked.
		if reap, ok := m.table.NextReap(); ok && reap > now {
			at = min(at, reap)
		}
	}
	if at != never {
		m.wheel.Arm(m.ownTimer(), at)
	}
}

// own is the manager's own timer.
func (m *Manager) own(now int64) {
	m.serve(now)
	m.relieve(now, 0)
	m.rudi.expire(m, now)
	m.arm(now)
}

// serve opens PDCs for the messages that wait, in their order, and gives up on
// those that have waited too long.
func (m *Manager) serve(now int64) {
	for m.waiting.len() > 0 && m.mem.events.free() > eventReserve {
		w := m.waiting.first()
		e := Event{Kind: EventMessage, Handle: w.ticket, PDC: m.usable(now, &w.key)}
		if e.PDC == 0 {
			h, err := m.openInitiator(now, &w.key)
			switch {
			case err == nil:
				e.PDC = h
			case w.until <= now:
				e.Kind, e.Cause = EventError, CausePending
			default:
				return
			}
		}
		m.waiting.head++
		m.mem.events.push(e)
	}
}

// idleLook is how many PDCs one search for one to close looks at.
const idleLook = 256

// relieve closes a PDC when messages wait for one or more than Close_Thresh are open: of
// the next few the one that has been idle longest, or else the busy one that was
// active least recently, but for those that are locked. What has begun on it ends on it.
// One that a peer has opened is closed for Close_Thresh alone, and by its initiator. but,
// unless 0, stays: somebody has just been told that it takes messages.
//
// For those that wait a busy one is closed only if its id can be used again before they
// give up, and if none is on its way already: overload would take all PDCs out of use.
//
// Source: UE Specification 1.0.x section 3.5, PDS manager: Close_Thresh.
func (m *Manager) relieve(now int64, but Handle) {
	over := m.open > m.p.c.CloseThresh
	if m.waiting.len() == 0 && !over || m.mem.events.free() < eventReserve {
		return
	}
	var idle, busy *PDC
	coming := false
	for range min(idleLook, len(m.pdc)-1) {
		switch p := m.look(); {
		case p.handle == but || !p.is(flagInitiator) && !over || p.state == StateClosed || p.state == StatePending || p.state == StateCloseWait:
		case p.state == StateQuarantine:
			coming = coming || p.is(flagInitiator) && m.table.rests(p.handle.ID(), now)
		case p.state >= StateQuiesce:
			coming = true
		case p.locks != 0 || p.promised(now, m.p.c.RTOInit):
		case p.idle():
			idle = older(idle, p)
		default:
			busy = older(busy, p)
		}
	}
	if idle == nil && (over || !coming && m.table.quarantine < m.waiting.limit) {
		idle = busy
	}
	switch {
	case idle == nil:
	case idle.is(flagInitiator):
		m.startClose(now, idle)
	default:
		m.askClose(now, idle)
	}
}

// promised reports whether p was opened a moment ago for a message that has yet to begin
// on it. Closing it then helps nobody: of two messages that wait for one id each would
// lose it to the other for ever.
func (p *PDC) promised(now, moment int64) bool {
	return p.state == StateCreating && p.openMsgs == 0 && p.tx.tail == 0 && now < deadline.After(p.activeAt, moment)
}

// older returns the one that was active less recently. a may be nil.
func older(a, b *PDC) *PDC {
	if a == nil || b.activeAt < a.activeAt {
		return b
	}
	return a
}
