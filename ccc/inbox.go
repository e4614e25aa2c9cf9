// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/prefetch"
	"github.com/uetcc/uetcc/internal/slab"
)

// An inbox is a bounded queue of events with many writers and one reader at a time.
//
// A writer takes tickets for all cells of a batch of events at once. The cells belong to
// the writer until the store of the first cell's turn, the ticket plus one: then to the
// reader, who hands cells back by storing head. Words changed by several cores are stored
// once a batch, and never between the cells: stores leave a core in order, so later cells
// would wait until the word's cache line has come from the reader.
//
// The turns of cells in the middle of a batch keep the tickets of an earlier lap, never
// mistaken for present tickets by the reader.
//
// Invariant: head <= next <= end <= tail <= head + len(cells).
type inbox struct {
	_     [cacheLine]byte
	cells []cell
	turns []turn  // a turn for two cells, as no batch is shorter
	views []*View // of eventShow, for two cells: at the event's second cell
	_     [cacheLine]byte
	tail  atomic.Uint64 // next ticket; moved by writers
	seen  atomic.Uint64 // a head seen by a writer
	_     [cacheLine - 16]byte
	head  atomic.Uint64 // ticket of the oldest cell that is not free; stored by the reader
	next  uint64        // ticket to read, the reader's
	end   uint64        // of the batch being read, the reader's
	_     [cacheLine - 24]byte
}

// A turn belongs to the writer of a batch until ticket is the first cell's plus one, and
// then to the reader.
type turn struct {
	ticket atomic.Uint64
	cells  uint64 // of the batch
}

// Batches of more than fewCells are prefetched, as far as mostCells. A shorter batch is
// written before a prefetch helps, and several writers would only take lines from each
// other.
const (
	fewCells  = 16
	mostCells = 128
)

// newInbox has room for n events of any kind.
func newInbox(n int) inbox {
	n *= maxCells
	return inbox{cells: slab.Make[cell](n), turns: slab.Make[turn](n / 2), views: make([]*View, n/2)}
}

// push puts in all events or none, and reports whether the inbox had room.
//
//uetcc:hot
func (q *inbox) push(events []Event) bool {
	if len(events) == 0 {
		return true
	}
	n := cellsOf(events)
	t, ok := q.reserve(n)
	if !ok {
		return false
	}
	pair := q.pair(t)
	if n > fewCells {
		prefetch.Own(q.turns[pair : pair+1])
		prefetch.Own(q.start(t, n))
	}
	q.fill(t, events)
	first := &q.turns[pair] // not before: a reader that waits would take the line again
	first.cells = n
	first.ticket.Store(t + 1)
	return true
}

// fill writes events to the cells from a ticket on.
//
//uetcc:hot
func (q *inbox) fill(at uint64, events []Event) {
	cells, mask, now := q.cells, q.mask(), events[0].Now
	cells[at&mask] = cell{cellTime, now}
	at++
	for i := range events {
		e := &events[i]
		if e.Now != now {
			now = e.Now
			cells[at&mask] = cell{cellTime, now}
			at++
		}
		c, head := &cells[at&mask], uint64(e.PDC)|uint64(e.Kind)<<kindShift
		switch e.Kind {
		case EventNewData, EventCredit:
			c.head, c.word = head, e.Size
		case EventSend:
			c.head, c.word = head|flags(e.Sent.Rtx, e.Sent.Reserved), e.Sent.Size
			at++
			cells[at&mask].head = e.Sent.Seq
		case EventACK:
			a := &e.Ack
			c.head = head | flags(a.ECN, a.Restore) | uint64(a.Entropy)<<entropyShift |
				uint64(min(a.Kind, sampleMask))<<sampleShift | uint64(a.Pend)<<smallShift
			c.word = a.Bytes
			cells[(at+1)&mask] = cell{uint64(a.RTT), int64(a.Packets)}
			at += 2
			cells[at&mask] = cell{uint64(a.RtxPackets), a.RtxBytes}
		case EventNACK:
			n := &e.Nack
			c.head = head | flags(n.CE, n.NoPDC) | uint64(n.Entropy)<<entropyShift | uint64(n.Reason)<<smallShift
			c.word = n.Size
			at++
			cells[at&mask] = cell{uint64(n.RTT), int64(n.Packets)}
		case EventLoss:
			c.head, c.word = head|flags(false, e.Loss.NoPDC)|uint64(e.Loss.Entropy)<<entropyShift, e.Loss.Size
		case eventShow:
			c.head = head
			at++
			q.views[q.pair(at)] = e.view
		default:
			c.head = cellNone
		}
		at++
	}
}

// reserve returns the first of n consecutive tickets.
//
//uetcc:hot nobounds
func (q *inbox) reserve(n uint64) (uint64, bool) {
	size := int64(len(q.cells))
	for {
		t := q.tail.Load()
		if int64(t+n-q.seen.Load()) > size {
			head := q.head.Load()
			if int64(t+n-head) > size { // negative when other writers have moved both on
				return 0, false
			}
			q.seen.Store(head)
		}
		if q.tail.CompareAndSwap(t, t+n) {
			return t, true
		}
	}
}

// ready reports whether there is a batch to read. No batch is ready while the writer of the
// oldest is not done: the writer looks again when done.
func (q *inbox) ready() bool {
	if q.next-q.head.Load() >= uint64(len(q.cells)/4) {
		q.release()
	}
	first := q.turn(q.next)
	if first.ticket.Load() != q.next+1 {
		return false
	}
	q.end = q.next + first.cells
	if first.cells > fewCells {
		q.ahead()
	}
	return true
}

// ahead prefetches the next batch behind the batch about to be read, if any. A reader of
// single events does not look: the next writer may be about to store the turn, and would
// have to take the line back.
func (q *inbox) ahead() {
	if t := q.turn(q.end); t.ticket.Load() == q.end+1 {
		prefetch.Load(q.start(q.end, t.cells))
	}
}

// take returns the next cell of the batch, unchanged until the batch ends.
//
//uetcc:hot inlines
func (q *inbox) take() *cell {
	q.next++
	return q.cell(q.next - 1)
}

// view is the view of the event whose second cell is next.
func (q *inbox) view() *View {
	at := q.pair(q.next)
	v := q.views[at]
	q.views[at] = nil
	q.next++
	return v
}

// release hands back the cells read.
//
//uetcc:hot inlines
func (q *inbox) release() {
	if q.head.Load() != q.next {
		q.head.Store(q.next)
	}
}

// waiting reports whether there is something to read. If the reader moves on
// meanwhile the answer may be wrong, but then the reader asks again later.
func (q *inbox) waiting() bool {
	t := q.head.Load()
	return q.turn(t).ticket.Load() == t+1
}

// start is the cells to prefetch of a batch of n cells, as far as contiguous.
func (q *inbox) start(ticket, n uint64) []cell {
	at := ticket & q.mask()
	return q.cells[at:min(at+n, at+mostCells, uint64(len(q.cells)))]
}

//uetcc:hot inlines
func (q *inbox) turn(ticket uint64) *turn { return &q.turns[q.pair(ticket)] }

// pair is the number of the pair of cells with a ticket's cell.
func (q *inbox) pair(ticket uint64) uint64 { return (ticket & q.mask()) / 2 }

func (q *inbox) mask() uint64 { return uint64(len(q.cells) - 1) }

func (q *inbox) cell(ticket uint64) *cell { return &q.cells[ticket&q.mask()] }
