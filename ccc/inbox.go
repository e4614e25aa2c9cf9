package ccc

import "sync/atomic"

// An inbox is a bounded queue of events with many writers and one reader at a
// time, after Vyukov's array queue. A cell belongs to the writer of ticket t when
// its turn is t, and to the reader when it is t + 1; both then own the event in it
// alone, and pass it on by storing the turn.
type inbox struct {
	cells []cell
	mask  uint64
	_     [cacheLine]byte
	tail  atomic.Uint64 // next ticket; moved by writers
	_     [cacheLine - 8]byte
	head  atomic.Uint64 // next ticket to read; stored by the reader alone
	_     [cacheLine - 8]byte
}

// A cell fills three cache lines: what the reader takes and what writers put next
// to it have none in common.
type cell struct {
	turn  atomic.Uint64
	event Event
	_     [24]byte
}

func newInbox(n int) inbox {
	cells := make([]cell, n)
	for i := range cells {
		cells[i].turn.Store(uint64(i))
	}
	return inbox{cells: cells, mask: uint64(n - 1)}
}

// push reports whether there was room.
func (q *inbox) push(e *Event) bool {
	for {
		t := q.tail.Load()
		c := &q.cells[t&q.mask]
		turn := c.turn.Load()
		switch {
		case turn == t && q.tail.CompareAndSwap(t, t+1):
			c.event = *e
			c.turn.Store(t + 1)
			return true
		case int64(turn-t) < 0:
			return false
		}
	}
}

// pop moves the oldest event to e. It returns false also while the writer of the
// oldest is not done: that writer looks again when it is.
func (q *inbox) pop(e *Event) bool {
	t := q.head.Load()
	c := &q.cells[t&q.mask]
	if c.turn.Load() != t+1 {
		return false
	}
	*e = c.event
	c.event.view = nil
	c.turn.Store(t + uint64(len(q.cells)))
	q.head.Store(t + 1)
	return true
}

// waiting reports whether there is something to pop. If the reader moves on
// meanwhile the answer may be wrong, but then the reader asks again later.
func (q *inbox) waiting() bool {
	t := q.head.Load()
	return q.cells[t&q.mask].turn.Load() == t+1
}
