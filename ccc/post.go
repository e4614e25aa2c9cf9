package ccc

import "github.com/uetcc/uetcc/internal/enum"

// EventKind says which method of the [Manager] an [Event] stands for.
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
	eventNone  = EventKind(eventKinds + 2) // likewise: what is of no kind
)

var eventNames = [eventKinds]string{"new data", "send", "ack", "nack", "loss", "credit"}

// String returns the kind's name in lower case.
func (k EventKind) String() string { return enum.Name(eventNames[:], k) }

// Event is an event that happened on a core that does not own the manager. Only
// the fields of its kind count.
type Event struct {
	Kind EventKind
	PDC  Handle
	Now  int64 // when it happened, ns
	Size int64
	Sent Sent
	Ack  Ack
	Nack Nack
	Loss Loss

	view *View // of eventShow
}

// Post hands events to whoever owns the manager, and owns it for the moment if nobody
// does (flat combining), for the events of others too. It never waits for an owner.
// It returns false if they and those that wait are more than the inbox holds; none of
// them was taken then, and all are still the caller's.
//
// No event that was taken is lost: an owner lets go and then looks into the inbox, and
// whoever posts puts events in and then looks for an owner. Atomic operations have
// one order that all goroutines agree on, so if the poster still sees an owner, that
// owner lets go later in it, and looks later still.
//
// Events of one goroutine are handled in the order in which it posted them, those of one
// call with none of another's in between. A call costs two atomic operations besides its
// events, and waits for cache lines on their way between cores: post together what came
// together.
func (m *Manager) Post(events ...Event) bool {
	taken := m.inbox.push(events)
	// The owner's word comes first: it changes seldom, and what waiting reads belongs
	// to the owner's core while that works.
	if m.owner.Load() == 0 && m.inbox.waiting() && m.TryOwn() {
		m.Disown()
	}
	return taken
}

// TryOwn makes the caller the owner if there is none. It never waits. The owner
// may call every method, and ends with [Manager.Disown].
func (m *Manager) TryOwn() bool { return m.owner.CompareAndSwap(0, 1) }

// Disown handles what was posted and lets go.
func (m *Manager) Disown() {
	m.Drain()
	m.letGo()
}

// letGo ends the ownership, and takes it up again for what was posted after the
// owner's last look into the inbox: its poster found the manager owned.
func (m *Manager) letGo() {
	for m.owner.Store(0); m.inbox.waiting() && m.TryOwn(); m.owner.Store(0) {
		m.Drain()
	}
}

// Drain handles what was posted. An owner that stays calls it now and then.
func (m *Manager) Drain() {
	q := &m.inbox
	for q.ready() {
		m.apply(q)
	}
	q.release()
}

// apply handles the events of a batch.
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
