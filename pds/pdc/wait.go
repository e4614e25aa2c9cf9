package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// waiter is a message that waits for a PDC.
type waiter struct {
	key    InitiatorKey
	ticket uint64
	until  int64
}

// waitQueue is a queue of fixed length of those that wait for an id of one pool. Every message
// waits equally long, so the first one is always the first to give up.
type waitQueue struct {
	ring       []waiter
	head, tail int // of the whole life
}

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

// waitsFor is the queue of those that wait for an id of the pool of k.
func (m *Manager) waitsFor(k *InitiatorKey) *waitQueue {
	if k.Reserved {
		return &m.waiting[1]
	}
	return &m.waiting[0]
}

// Waiting returns how many messages wait for a PDC.
func (m *Manager) Waiting() int { return m.waiting[0].len() + m.waiting[1].len() }

// arm keeps the deadline of what waits in the manager itself: messages for a PDC (the
// time-out of the first ones, an id that leaves quarantine, or another look for a PDC that has
// become idle, which nothing else tells of) and RUDI packets.
func (m *Manager) arm(now int64) {
	at, until := m.rudi.nextDue, int64(never)
	for i := range m.waiting {
		if m.waiting[i].len() > 0 {
			until = min(until, m.waiting[i].first().until)
		}
	}
	if m.Waiting() > 0 {
		waited := m.p.c.PendTimeout - max(until-now, 0) // the longer, the less is to be expected
		at = min(at, until, deadline.After(now, max(m.p.c.RTOInit, waited/8)))
		// An id that is free by now is not what they wait for: they have just looked.
		if reap, ok := m.table.NextReap(); ok && reap > now {
			at = min(at, reap)
		}
	}
	if m.deferred {
		at = min(at, m.spareAt)
	}
	if at != never {
		m.wheel.Arm(m.ownTimer(), at)
	}
}

// own is the manager's own timer.
func (m *Manager) own(now int64) {
	m.deferred = false
	m.serve(now)
	m.relieve(now, 0)
	m.rudi.expire(m, now)
	m.arm(now)
}

// serve opens PDCs for the messages that wait, in the order of each pool, and gives up on
// those that have waited too long.
func (m *Manager) serve(now int64) {
	for i := range m.waiting {
		m.serveQueue(now, &m.waiting[i])
	}
}

func (m *Manager) serveQueue(now int64, q *waitQueue) {
	for q.len() > 0 && m.mem.events.free() > m.mem.reserve {
		w := q.first()
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
		q.head++
		m.mem.events.push(e)
	}
}
