// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// waiter is a message waiting for a PDC.
type waiter struct {
	key    InitiatorKey
	ticket uint64
	until  int64
}

// waitQueue is a queue of fixed length of messages waiting for an id of one pool. Every
// message waits equally long, so the first is always the first to give up.
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

// waitsFor is the queue of messages waiting for an id of k's pool.
func (l *life) waitsFor(k *InitiatorKey) *waitQueue {
	if k.Reserved {
		return &l.waiting[1]
	}
	return &l.waiting[0]
}

// Waiting returns how many messages wait for a PDC.
func (m *Manager) Waiting() int { return m.life.waits() }

func (l *life) waits() int { return l.waiting[0].len() + l.waiting[1].len() }

// arm keeps the deadline of waiting work in the manager: messages for a PDC (the time-out of
// the first, an id leaving quarantine, or a new look for idle PDCs, without any other signal)
// and RUDI packets.
//
//uetcc:hot
func (l *life) arm(now int64) {
	at, until := l.rudi.nextDue, int64(never)
	for i := range l.waiting {
		if l.waiting[i].len() > 0 {
			until = min(until, l.waiting[i].first().until)
		}
	}
	if l.waits() > 0 {
		waited := l.p.c.PendTimeout - max(until-now, 0) // the longer, the less is to be expected
		at = min(at, until, deadline.After(now, max(l.p.c.RTOInit, waited/8)))
		// An id free by now is no help: the messages have just looked.
		if reap, ok := l.table.NextReap(); ok && reap > now {
			at = min(at, reap)
		}
	}
	if l.deferred {
		at = min(at, l.spareAt)
	}
	if at != never {
		l.timer.wheel.Arm(l.ownTimer(), at)
	}
}

// own is the manager's own timer.
func (m *Manager) own(now int64) {
	m.life.deferred = false
	m.life.serve(now)
	m.life.relieve(now, 0)
	m.rudi.expire(m, now)
	m.life.arm(now)
}

// serve opens PDCs for waiting messages, in the order of each pool, and gives up messages that
// have waited too long.
func (l *life) serve(now int64) {
	for i := range l.waiting {
		l.serveQueue(now, &l.waiting[i])
	}
}

func (l *life) serveQueue(now int64, q *waitQueue) {
	for q.len() > 0 && l.mem.events.free() > l.mem.reserve {
		w := q.first()
		e := Event{Kind: EventMessage, Handle: w.ticket, PDC: l.usable(now, &w.key)}
		if e.PDC == 0 {
			h, err := l.openInitiator(now, &w.key)
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
		l.mem.events.push(e)
	}
}
