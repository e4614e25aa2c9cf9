// SPDX-License-Identifier: Apache-2.0

// Package timerwheel keeps one deadline for each of a fixed number of indices.
//
// A [Wheel] is a hierarchical hashed timing wheel (Varghese and Lauck, 1987):
// six levels of 64 slots, each slot a ring of links through an array of nodes.
// Arming and cancelling touch at most three nodes and one word of occupancy bits;
// nothing allocates after [New] and nothing is a pointer.
package timerwheel

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
)

const (
	levels    = 6
	slotBits  = 6
	slots     = 1 << slotBits
	slotMask  = slots - 1
	dueList   = levels * slots // the list of what may be popped now
	listCount = dueList + 1
)

// A Wheel holds at most one deadline for each index 0..n-1.
//
// Single writer. Times are nanoseconds of the caller's monotonic clock; a time before the
// last given time is read as the last. A deadline never expires early and at most one tick
// late.
type Wheel struct {
	shift uint
	round uint64             // a tick less 1 ns
	cur   uint64             // ticks; everything at or before it is in the due list
	occ   [levels + 1]uint64 // bit s of occ[l] is 0: slot s of level l is empty, its list's node maybe not written yet
	node  []node             // first the lists, then the indices
}

// A node is always in a ring: in a list's, beginning at the list's own node, or alone if
// the list is empty or the index not armed. Unlinking is then always the same two stores,
// also for unarmed nodes, cheaper than asking first.
type node struct {
	next, prev uint32
	at         uint64 // ticks
}

// New returns a wheel for indices 0..n-1 that starts at time now, at most
// [deadline.End]. The tick is the largest power of two of nanoseconds not above
// tick, and at least 1 ns; deadlines beyond 2^36 ticks are kept and only cost a look now
// and then.
func New(n int, tick, now int64) *Wheel {
	w := &Wheel{node: make([]node, listCount+n), shift: uint(bits.Len64(uint64(max(tick, 1))) - 1)}
	w.round = 1<<w.shift - 1
	w.cur = w.floor(min(now, deadline.End))
	for i := uint(dueList); i < uint(len(w.node)); i++ { // other lists wait for their first node, as most never have any
		w.alone(i)
	}
	return w
}

// floor and ceil give the tick of a time, rounded down and up; negative times count as zero.
func (w *Wheel) floor(t int64) uint64 { return uint64(max(t, 0)) >> (w.shift & 63) }
func (w *Wheel) ceil(t int64) uint64  { return (uint64(max(t, 0)) + w.round) >> (w.shift & 63) }

// Armed reports whether id has a deadline.
//
//uetcc:hot inlines
func (w *Wheel) Armed(id uint32) bool {
	return w.node[listCount+uint(id)].next != listCount+id
}

// Arm gives id the deadline at, in place of any earlier deadline, and panics if id is not
// below the n of [New].
//
//uetcc:hot inlines
func (w *Wheel) Arm(id uint32, at int64) { w.link(listCount+uint(id), w.ceil(at)) }

// Cancel takes the deadline of id away, if any.
//
//uetcc:hot inlines
func (w *Wheel) Cancel(id uint32) {
	w.unlink(listCount + uint(id))
	w.alone(listCount + uint(id))
}

// list returns the list a deadline belongs to, seen from cur. The level is the highest
// differing digit of the two, base 64.
func (w *Wheel) list(at uint64) uint {
	if at <= w.cur {
		return dueList
	}
	level := uint(levelOf[(bits.Len64(at^w.cur|1)-1)&63])
	if level >= levels {
		// The top level goes round: a deadline beyond the last slot waits there for a
		// further turn.
		const top = (levels - 1) * slotBits
		return (levels-1)*slots + uint(min(at>>top, w.cur>>top+slotMask)&slotMask)
	}
	return level*slots + uint(at>>(level*slotBits)&slotMask)
}

// levelOf holds bit / slotBits: a load is cheaper than the multiplication.
var levelOf = func() (l [64]uint8) {
	for bit := range l {
		l[bit] = uint8(bit / slotBits)
	}
	return l
}()

// link puts node i into the list of the tick at, and takes the node out of any other.
//
//uetcc:hot
func (w *Wheel) link(i uint, at uint64) {
	w.unlink(i)
	nodes, l := w.node, w.list(at)
	if bit := uint64(1) << (l & slotMask); w.occ[l>>slotBits]&bit == 0 {
		w.occ[l>>slotBits] |= bit
		w.alone(l)
	}
	n, h := &nodes[i], &nodes[l]
	next := h.next
	n.next, n.prev, n.at = next, uint32(l), at
	h.next = uint32(i)
	nodes[next].prev = uint32(i)
}

// unlink takes node i out of the ring. The occupancy bit of an emptied list stays:
// nextSlot, called more rarely, clears the bit.
//
//uetcc:hot inlines
func (w *Wheel) unlink(i uint) {
	nodes := w.node
	next, prev := nodes[i].next, nodes[i].prev
	nodes[next].prev = prev
	nodes[prev].next = next
}

// alone makes a ring of node i alone.
func (w *Wheel) alone(i uint) { w.node[i].next, w.node[i].prev = uint32(i), uint32(i) }
