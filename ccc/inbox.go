package ccc

import (
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/slab"
)

// An inbox is a bounded queue of events with many writers and one reader at a time.
//
// A writer takes tickets for all cells of a batch of events at once. The cells are its
// own until it stores the turn of the first ticket: then they are the reader's, which
// hands cells back by storing head. What several cores change is stored once a batch, and
// a writer stores nothing else between the cells: a store waits for those before it, and
// one to a line that the reader has had for that line.
//
// Turns in the middle of a batch stay those of an earlier lap, which no reader takes for
// its own.
//
// Invariant: head <= next <= end <= tail <= head + len(cells).
type inbox struct {
	_     [cacheLine]byte
	cells []cell
	turns []turn  // of batches that begin at a cell
	views []*View // of eventShow, by cell
	_     [cacheLine]byte
	tail  atomic.Uint64 // next ticket; moved by writers
	seen  atomic.Uint64 // a head that a writer saw
	_     [cacheLine - 16]byte
	head  atomic.Uint64 // ticket of the oldest cell that is not free; stored by the reader
	next  uint64        // ticket to read, the reader's
	end   uint64        // of the batch that is being read, the reader's
	_     [cacheLine - 24]byte
}

// A turn belongs to the writer of its cell's ticket until ticket is that plus one, and
// then to the reader.
type turn struct {
	ticket atomic.Uint64
	cells  uint64 // of the batch
}

// newInbox has room for n events of any kind.
func newInbox(n int) inbox {
	n *= maxCells
	return inbox{cells: slab.Make[cell](n), turns: slab.Make[turn](n), views: make([]*View, n)}
}

// push puts in all events or none, and reports whether there was room.
func (q *inbox) push(events []Event) bool {
	n := uint64(len(events))
	for i := range events {
		if events[i].Kind == EventACK {
			n++
		}
	}
	t, ok := q.reserve(n)
	if !ok || n == 0 {
		return ok
	}
	q.fill(t, events)
	first := &q.turns[t&q.mask()]
	first.cells = n
	first.ticket.Store(t + 1)
	return true
}

// fill writes events to the cells from a ticket on.
func (q *inbox) fill(at uint64, events []Event) {
	cells, mask := q.cells, q.mask()
	for i := range events {
		e, c := &events[i], &cells[at&mask]
		c.pdc, c.now = e.PDC, e.Now
		switch k := uint8(e.Kind); e.Kind {
		case EventSend:
			s := &e.Sent
			c.kind, c.size, c.more = k|flags(s.Rtx, s.Reserved), s.Size, int64(s.Seq)
		case EventACK:
			a := &e.Ack
			c.kind, c.size, c.more, c.small, c.entropy = k|flags(a.ECN, a.Restore), a.Bytes, a.RTT, a.Pend, a.Entropy
			at++
			c = &cells[at&mask]
			c.kind, c.size, c.more, c.now = uint8(a.Kind), int64(a.Packets), int64(a.RtxPackets), a.RtxBytes
		case EventNACK:
			n := &e.Nack
			c.kind, c.size, c.more, c.small, c.entropy = k|flags(n.CE, n.NoPDC), n.Size, n.RTT, uint8(n.Reason), n.Entropy
		case EventLoss:
			l := &e.Loss
			c.kind, c.size, c.entropy = k|flags(false, l.NoPDC), l.Size, l.Entropy
		case eventShow:
			c.kind, q.views[at&mask] = k, e.view
		default:
			c.kind, c.size = min(k, kindMask), e.Size
		}
		at++
	}
}

// reserve returns the first of n consecutive tickets.
func (q *inbox) reserve(n uint64) (uint64, bool) {
	size := uint64(len(q.cells))
	for {
		t := q.tail.Load()
		if t+n-q.seen.Load() > size {
			head := q.head.Load()
			if t+n-head > size {
				return 0, false
			}
			q.seen.Store(head)
		}
		if q.tail.CompareAndSwap(t, t+n) {
			return t, true
		}
	}
}

// ready reports whether there is a batch to read. There is none also while the writer of
// the oldest is not done: that writer looks again when it is.
func (q *inbox) ready() bool {
	if q.next-q.head.Load() >= uint64(len(q.cells)/4) {
		q.release()
	}
	first := &q.turns[q.next&q.mask()]
	if first.ticket.Load() != q.next+1 {
		return false
	}
	q.end = q.next + first.cells
	return true
}

// take returns the next cell of the batch, which stays as it is until the batch ends.
func (q *inbox) take() *cell {
	q.next++
	return q.cell(q.next - 1)
}

// view is that of the event whose last cell was taken last.
func (q *inbox) view() *View {
	at := (q.next - 1) & q.mask()
	v := q.views[at]
	q.views[at] = nil
	return v
}

// release hands back what has been read.
func (q *inbox) release() {
	if q.head.Load() != q.next {
		q.head.Store(q.next)
	}
}

// waiting reports whether there is something to read. If the reader moves on
// meanwhile the answer may be wrong, but then the reader asks again later.
func (q *inbox) waiting() bool {
	t := q.head.Load()
	return q.turns[t&q.mask()].ticket.Load() == t+1
}

func (q *inbox) mask() uint64 { return uint64(len(q.cells) - 1) }

func (q *inbox) cell(ticket uint64) *cell { return &q.cells[ticket&q.mask()] }
