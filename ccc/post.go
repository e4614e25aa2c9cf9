// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
)

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

// A cell is an event in an inbox, or a part of one; four fill a cache line, so few
// lines travel to the owner's core. Times have separate cells, since events posted
// together mostly share a time: a time cell precedes the first event of a batch, and
// each event whose time differs from the last event's.
//
//	         word   small   a, b           second cell    third cell
//	time     time
//	send     Size           Rtx, Reserved  Seq
//	ack      Bytes  Pend    ECN, Restore   RTT, Packets   RtxPackets, RtxBytes
//	nack     Size   Reason  CE, NoPDC      RTT
//	show                                   (for its view)
//	others   Size           -, NoPDC
type cell struct {
	head uint64 // pdc[31:0] entropy[47:32] small[55:48] a[56] b[57] sample[59:58] kind[63:60]
	word int64
}

// Bits of a cell's head.
const (
	entropyShift = 32
	smallShift   = 48
	aShift       = 56
	bShift       = 57
	sampleShift  = 58
	kindShift    = 60

	sampleMask = 3

	cellTime = uint64(eventTime) << kindShift
	cellNone = uint64(eventNone) << kindShift
)

// maxCells is the most cells of an event, with the time.
const maxCells = 4

// moreCells is the number of cells of an event of a kind besides the first.
var moreCells = [1 << 8]uint8{EventSend: 1, EventACK: 2, EventNACK: 1, eventShow: 1}

// cellsOf is the number of cells of a batch, with times.
//
//uetcc:hot inlines
func cellsOf(events []Event) (n uint64) {
	now := events[0].Now
	for i := range events {
		e := &events[i]
		n += uint64(moreCells[e.Kind])
		if e.Now != now {
			n++
		}
		now = e.Now
	}
	return n + uint64(len(events)) + 1
}

// flags are the bits a and b.
func flags(a, b bool) uint64 { return bit(a)<<aShift | bit(b)<<bShift }

func bit(b bool) (n uint64) {
	if b {
		n = 1
	}
	return n
}

func (c *cell) pdc() Handle     { return Handle(c.head) }
func (c *cell) entropy() uint16 { return uint16(c.head >> entropyShift) }
func (c *cell) kind() EventKind { return EventKind(c.head >> kindShift) }
func (c *cell) small() uint8    { return uint8(c.head >> smallShift) }
func (c *cell) a() bool         { return c.head>>aShift&1 != 0 }
func (c *cell) b() bool         { return c.head>>bShift&1 != 0 }

func (c *cell) sent(second *cell) Sent {
	return Sent{Size: c.word, Rtx: c.a(), Reserved: c.b(), Seq: second.head}
}

func (c *cell) ack(second, third *cell) Ack {
	return Ack{
		Ack: nscc.Ack{
			Bytes: c.word, RTT: int64(second.head), ECN: c.a(), Restore: c.b(), Pend: c.small(),
			Kind: nscc.SampleKind(c.head >> sampleShift & sampleMask),
		},
		Packets: int(second.word), RtxPackets: int(third.head), RtxBytes: third.word, Entropy: c.entropy(),
	}
}

func (c *cell) nack(second *cell) Nack {
	return Nack{
		nscc.Nack{Size: c.word, RTT: int64(second.head), Reason: nscc.NackReason(c.small())},
		c.entropy(), c.a(), c.b(), int32(second.word),
	}
}

func (c *cell) loss() Loss { return Loss{c.word, c.entropy(), c.b()} }
