// SPDX-License-Identifier: Apache-2.0

package timerwheel

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
)

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
