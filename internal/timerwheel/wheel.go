// Package timerwheel keeps one deadline for each of a fixed number of indices.
//
// A [Wheel] is a hierarchical hashed timing wheel (Varghese and Lauck, 1987):
// six levels of 64 slots, each slot a doubly linked list threaded through an
// array of nodes. Arming and cancelling touch at most three nodes and one word
// of occupancy bits; nothing allocates after [New] and nothing is a pointer.
package timerwheel

import "math/bits"

const (
	levels    = 6
	slotBits  = 6
	slots     = 1 << slotBits
	slotMask  = slots - 1
	none      = -1
	dueList   = levels * slots // the list of what may be popped now
	listCount = dueList + 1
	unarmed   = -listCount - 1
)

// A Wheel holds at most one deadline for each index 0..n-1.
//
// Single writer. Times are nanoseconds of the caller's monotonic clock; a time
// before the last one given is read as the last one. A deadline never expires
// early and at most one tick late.
type Wheel struct {
	shift uint
	cur   uint64             // ticks; everything at or before it is in the due list
	occ   [levels + 1]uint64 // bit s of occ[l] is 0: slot s of level l is empty
	head  [listCount]int32
	node  []node
}

// A node is linked into the list of its slot. prev < 0 says that it is the
// first of list -prev-1, or that it is not armed.
type node struct {
	next, prev int32
	at         uint64 // ticks
}

// New returns a wheel for indices 0..n-1 that starts at time now. The tick is
// the largest power of two of nanoseconds that is not above tick, and at least
// 1 ns; deadlines beyond 2^36 ticks are kept and only cost a look now and then.
func New(n int, tick, now int64) *Wheel {
	w := &Wheel{node: make([]node, n)}
	if tick > 1 {
		w.shift = uint(bits.Len64(uint64(tick)) - 1)
	}
	w.cur = w.floor(now)
	for i := range w.head {
		w.head[i] = none
	}
	for i := range w.node {
		w.node[i].prev = unarmed
	}
	return w
}

// floor and ceil give the tick of a time; negative times count as zero.
func (w *Wheel) floor(t int64) uint64 { return uint64(max(t, 0)) >> w.shift }

func (w *Wheel) ceil(t int64) uint64 {
	u := uint64(max(t, 0))
	return (u + 1<<w.shift - 1) >> w.shift
}

// Armed reports whether id has a deadline.
func (w *Wheel) Armed(id uint32) bool { return w.node[id].prev != unarmed }

// Arm gives id the deadline at, in place of the one it may have had. It panics
// if id is not below the n of [New].
func (w *Wheel) Arm(id uint32, at int64) {
	if w.node[id].prev != unarmed {
		w.unlink(id)
	}
	w.node[id].at = w.ceil(at)
	w.link(id)
}

// Cancel takes the deadline of id away, if it has one.
func (w *Wheel) Cancel(id uint32) {
	if w.node[id].prev != unarmed {
		w.unlink(id)
		w.node[id].prev = unarmed
	}
}

// list returns the list that a deadline belongs to, seen from cur. The level is
// that of the highest digit, base 64, in which the two differ.
func (w *Wheel) list(at uint64) uint {
	if at <= w.cur {
		return dueList
	}
	level := uint(bits.Len64(at^w.cur)-1) / slotBits
	if level >= levels {
		// The top level goes round: what is further away than its last slot waits
		// there for another turn.
		const top = (levels - 1) * slotBits
		return (levels-1)*slots + uint(min(at>>top, w.cur>>top+slotMask)&slotMask)
	}
	return level*slots + uint(at>>(level*slotBits)&slotMask)
}

func (w *Wheel) link(id uint32) {
	n := &w.node[id]
	l := w.list(n.at)
	h := w.head[l]
	n.next, n.prev = h, -int32(l)-1
	if h >= 0 {
		w.node[h].prev = int32(id)
	}
	w.head[l] = int32(id)
	if bit := uint64(1) << (l & slotMask); w.occ[l>>slotBits]&bit == 0 {
		w.occ[l>>slotBits] |= bit
	}
}

// unlink leaves the occupancy bit of a list that it empties: nextSlot clears it
// when it comes across, which is rarer.
func (w *Wheel) unlink(id uint32) {
	n := w.node[id]
	if n.next >= 0 {
		w.node[n.next].prev = n.prev
	}
	if n.prev >= 0 {
		w.node[n.prev].next = n.next
	} else {
		w.head[-n.prev-1] = n.next
	}
}
