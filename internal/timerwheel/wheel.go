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

// Next returns the time to call [Wheel.Expire], and false if nothing is armed. The time is
// never after the earliest deadline rounded up to a tick, and maybe before a deadline still
// far away: then Expire finds nothing due, and Next moves closer, at most five times for a
// deadline.
//
//uetcc:hot
func (w *Wheel) Next() (int64, bool) {
	if !w.empty(dueList) {
		return int64(w.cur << w.shift), true
	}
	_, _, at, ok := w.nextSlot()
	return w.nanos(at), ok
}

// Now is now, or the last time given to Expire if later: the time to give to Expire and to
// judge the result by. Judged by an earlier time an index would not be due, be armed again,
// and come back at once, for ever. Now is at most [deadline.End], so an index armed for the
// last time of all never comes.
func (w *Wheel) Now(now int64) int64 { return max(min(now, deadline.End), w.nanos(w.cur)) }

// nanos is the time of a tick, or the last time there is.
func (w *Wheel) nanos(tick uint64) int64 {
	if tick > uint64(1<<63-1)>>w.shift {
		return 1<<63 - 1
	}
	return int64(tick << w.shift)
}

// nextSlot finds the occupied slot that begins first. The slot is in the lowest level in use:
// a level's slots begin after all slots of the levels below.
func (w *Wheel) nextSlot() (level, slot uint, at uint64, ok bool) {
	for l := range uint(levels) {
		pos := w.cur >> (l * slotBits)
		for w.occ[l] != 0 {
			ahead := uint64(bits.TrailingZeros64(bits.RotateLeft64(w.occ[l], -int(pos))))
			s := uint(pos+ahead) & slotMask
			if !w.empty(l*slots + s) {
				return l, s, (pos + ahead) << (l * slotBits), true
			}
			w.occ[l] &^= 1 << s
		}
	}
	return 0, 0, 0, false
}

// empty reports whether nothing is in list l.
func (w *Wheel) empty(l uint) bool { return w.node[l].next == uint32(l) }

// Expire takes one index out whose deadline is not after now and returns the index, or false
// when none is left. Indices with deadlines in the same tick, or after a leap of now by 2^44
// ticks, come in an unspecified but deterministic order.
//
//uetcc:hot
func (w *Wheel) Expire(now int64) (id uint32, ok bool) {
	limit := max(w.floor(now), w.cur)
	for w.empty(dueList) {
		level, slot, at, ok := w.nextSlot()
		if !ok || at > limit {
			w.cur = limit
			return 0, false
		}
		if (limit-w.cur)>>leapBits != 0 {
			w.leap(limit)
			continue
		}
		w.cur = at
		w.cascade(level*slots + slot)
	}
	id = w.node[dueList].next - listCount
	w.Cancel(id)
	return id, true
}

// cascade links the nodes of list l again, one level further down or as due.
//
//uetcc:hot
func (w *Wheel) cascade(l uint) {
	i := uint(w.node[l].next)
	w.alone(l)
	w.occ[l>>slotBits] &^= 1 << (l & slotMask)
	for i != l {
		n := w.node[i]
		w.alone(i)
		w.link(i, n.at)
		i = uint(n.next)
	}
}

// leapBits is the log2 of the ticks, 256 turns of the wheel, from which on Expire leaps.
const leapBits = levels*slotBits + 8

// leap moves to limit in one step. Otherwise a deadline beyond the wheel's reach would go
// round in the top level up to 2^26 times.
func (w *Wheel) leap(limit uint64) {
	w.cur = limit
	for l := range uint(dueList) {
		if w.occ[l>>slotBits]>>(l&slotMask)&1 != 0 {
			w.cascade(l)
		}
	}
}
