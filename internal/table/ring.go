// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"
	"sync/atomic"
)

// A ring is a lock-free FIFO of ids for any number of producers and consumers. A
// ring has at least as many cells as the pool has ids, and an id is in at most a
// single ring, so no ring is ever full.
//
// Unlike in the usual ring (first CAS a position, then fill the cell) the CAS on
// the cell is the push or the pop, and moving tail or head on is housekeeping open
// to anybody: a goroutine stopped between the two holds up nobody.
type ring struct {
	head atomic.Uint64 // ticket of the oldest id, or a bit behind; moved by consumers
	_    [cacheLine - 8]byte
	tail atomic.Uint64 // ticket of the next push, or a bit behind; moved by producers
	_    [cacheLine - 8]byte

	mask  uint64
	cells []atomic.Uint64
}

// A cell is {turn 48, id 16}. Turn t waits for the push with ticket t, turn t+1
// holds the id, and the pop leaves turn t+len(cells). Turns wrap after 325 days of
// ten million a second, harmlessly: only their differences count.
const turnUnit = 1 << 16

func newRing(n int) *ring {
	size := 1 << bits.Len(uint(max(n, 2)-1))
	r := &ring{mask: uint64(size - 1), cells: make([]atomic.Uint64, size)}
	for i := range r.cells {
		r.cells[i].Store(uint64(i) * turnUnit)
	}
	return r
}

// push appends id.
func (r *ring) push(id uint16) {
	for {
		step()
		t := r.tail.Load()
		c := &r.cells[t&r.mask]
		step()
		w := c.Load()
		step()
		switch n := ahead(w, t); {
		case n == 0 && c.CompareAndSwap(w, (t+1)*turnUnit|uint64(id)):
			step()
			r.tail.CompareAndSwap(t, t+1)
			return
		case n > 0: // pushed, tail not yet moved
			r.tail.CompareAndSwap(t, t+1)
		}
	}
}

// ahead is by how many turns a cell is past ticket t.
func ahead(word, t uint64) int64 { return int64(word-t*turnUnit) >> 16 }

// An item is the front of a ring as seen by one goroutine.
type item struct{ ticket, word uint64 }

func (i item) id() uint16 { return uint16(i.word) }

// front returns the oldest id without removal.
func (r *ring) front() (item, bool) {
	for {
		step()
		t := r.head.Load()
		step()
		w := r.cells[t&r.mask].Load()
		switch n := ahead(w, t); {
		case n == 1:
			return item{t, w}, true
		case n == 0:
			return item{}, false
		case n > 1: // popped, head not yet moved
			step()
			r.head.CompareAndSwap(t, t+1)
		}
	}
}

// take removes the item returned by front; false if already taken.
func (r *ring) take(i item) bool {
	step()
	if !r.cells[i.ticket&r.mask].CompareAndSwap(i.word, (i.ticket+r.mask+1)*turnUnit) {
		return false
	}
	step()
	r.head.CompareAndSwap(i.ticket, i.ticket+1)
	return true
}

// holds reports whether i is still in the ring.
func (r *ring) holds(i item) bool { return r.cells[i.ticket&r.mask].Load() == i.word }

// pop removes the oldest id.
func (r *ring) pop() (uint16, bool) {
	for {
		i, ok := r.front()
		if !ok || r.take(i) {
			return i.id(), ok
		}
	}
}

// len is the number of ids in the ring, roughly while other goroutines change the
// ring.
func (r *ring) len() int {
	head := r.head.Load()
	return int(min(r.tail.Load()-head, r.mask+1))
}
