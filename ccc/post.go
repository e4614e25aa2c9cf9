// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/internal/enum"

// EventKind is the method of the [Manager] meant by an [Event].
type EventKind uint8

const (
	EventNewData EventKind = iota // Size bytes of unsent data
	EventSend                     // Sent
	EventACK                      // Ack
	EventNACK                     // Nack
	EventLoss                     // Loss
	EventCredit                   // a cumulative credit of Size bytes

	eventKinds = iota
	eventShow  = EventKind(eventKinds)     // of Refresh: PDC is a context
	eventTime  = EventKind(eventKinds + 1) // in an inbox only: of the events behind it
	eventNone  = EventKind(eventKinds + 2) // likewise: an event of no kind
)

var eventNames = [eventKinds]string{"new data", "send", "ack", "nack", "loss", "credit"}

// String returns the kind's name in lower case.
func (k EventKind) String() string { return enum.Name(eventNames[:], k) }

// Event is an event on a core that does not own the manager. Only the fields of the kind
// count.
type Event struct {
	Kind EventKind
	PDC  Handle
	Now  int64 // time of the event, ns
	Size int64
	Sent Sent
	Ack  Ack
	Nack Nack
	Loss Loss

	view *View // of eventShow
}

// Post hands events to the owner of the manager; without an owner Post owns the manager
// for the moment (flat combining), for the events of others too. Post never waits for an
// owner. False means that the inbox has no room for all; no event was taken then, and
// all are still the caller's.
//
// No event taken is lost: an owner lets go and then looks into the inbox, and a poster
// puts events in and then looks for an owner. Atomic operations have a single order for
// all goroutines, so if the poster still sees an owner, the owner lets go later in the
// order, and looks later still.
//
// Events of a goroutine are handled in the order of posting, and the events of a call
// without others in between. A call costs two atomic operations besides the events, and
// waits for cache lines under way between cores: post events together that came
// together.
//
//uetcc:hot
func (m *Manager) Post(events ...Event) bool {
	taken := m.inbox.push(events)
	// The owner's word comes first: the word changes seldom, and the words read by
	// waiting belong to the working owner's core.
	if m.owner.Load() == 0 && m.inbox.waiting() && m.TryOwn() {
		m.Disown()
	}
	return taken
}

// TryOwn makes the caller the owner if the manager has none, without waiting. The owner
// may call every method, and ends with [Manager.Disown].
func (m *Manager) TryOwn() bool { return m.owner.CompareAndSwap(0, 1) }

// Disown handles posted events and lets go.
func (m *Manager) Disown() {
	m.Drain()
	m.letGo()
}

// letGo ends the ownership, and takes it up again for events posted after the owner's
// last look into the inbox: their poster found the manager owned.
func (m *Manager) letGo() {
	for m.owner.Store(0); m.inbox.waiting() && m.TryOwn(); m.owner.Store(0) {
		m.Drain()
	}
}

// Drain handles posted events. An owner that stays calls Drain now and then.
//
//uetcc:hot
func (m *Manager) Drain() {
	q := &m.inbox
	for q.ready() {
		m.apply(q)
	}
	q.release()
}

// apply handles the events of a batch.
//
//uetcc:hot
func (m *Manager) apply(q *inbox) {
	for q.next != q.end {
		c := q.take()
		switch pdc := c.pdc(); c.kind() {
		case eventTime:
			m.clock = max(m.clock, c.word)
		case EventNewData:
			m.OnNewData(pdc, m.clock, c.word)
		case EventSend:
			m.OnSend(pdc, m.clock, c.sent(q.take()))
		case EventACK:
			a := c.ack(q.take(), q.take())
			m.OnACK(pdc, m.clock, &a)
		case EventNACK:
			m.OnNACK(pdc, m.clock, c.nack(q.take()))
		case EventLoss:
			m.OnInferredLoss(pdc, m.clock, c.loss())
		case EventCredit:
			m.OnCreditUpdate(pdc, m.clock, c.word)
		case eventShow:
			if v := q.view(); v != nil {
				m.show(pdc, v)
			}
		}
	}
}
