// SPDX-License-Identifier: Apache-2.0

// Package grant shares a receiver's rate among its active senders, one grant at
// a time.
package grant

import "math/bits"

// Quantum is the bytes of a grant: 1 us at 100 Gb/s.
const Quantum = 12_500

// Floor is round robin over a set of two levels of bits, with a bucket of
// tokens filled by time.
type Floor struct {
	credit  []uint32 // cumulative
	backlog []int64
	active  []uint64 // a bit for each sender
	summary []uint64 // a bit for each word of active that is not zero
	next    uint32
	tokens  int64
	last    int64
}

// NewFloor makes a table of n senders, a multiple of 64.
func NewFloor(n int) *Floor {
	w := n / 64
	return &Floor{
		credit: make([]uint32, n), backlog: make([]int64, n),
		active: make([]uint64, w), summary: make([]uint64, (w+63)/64),
	}
}

// Demand adds to the demand of sender i.
func (f *Floor) Demand(i uint32, n int64) {
	f.backlog[i] += n
	f.active[i/64] |= 1 << (i % 64)
	f.summary[i/4096] |= 1 << (i / 64 % 64)
}

// scan gives the first active sender from i on, or -1.
func (f *Floor) scan(i uint32) int {
	w := i / 64
	if int(w) >= len(f.active) {
		return -1
	}
	if m := f.active[w] >> (i % 64); m != 0 {
		return int(i) + bits.TrailingZeros64(m)
	}
	w++
	mask := ^uint64(0) << (w % 64)
	for s := w / 64; int(s) < len(f.summary); s++ {
		if m := f.summary[s] & mask; m != 0 {
			k := s*64 + uint32(bits.TrailingZeros64(m))
			return int(k*64) + bits.TrailingZeros64(f.active[k])
		}
		mask = ^uint64(0)
	}
	return -1
}

// Grant serves the next sender if tokens suffice; otherwise sender is -1.
func (f *Floor) Grant(now int64) (sender int, credit uint32) {
	if d := now - f.last; d > 0 {
		f.tokens = min(f.tokens+d*Quantum/1000, 8*Quantum)
		f.last = now
	}
	if f.tokens < Quantum {
		return -1, 0
	}
	i := f.scan(f.next)
	if i < 0 {
		if i = f.scan(0); i < 0 {
			return -1, 0
		}
	}
	g := min(int64(Quantum), f.backlog[i])
	f.tokens -= g
	f.credit[i] += uint32(g)
	if f.backlog[i] -= g; f.backlog[i] == 0 {
		if f.active[i/64] &^= 1 << (i % 64); f.active[i/64] == 0 {
			f.summary[i/4096] &^= 1 << (i / 64 % 64)
		}
	}
	f.next = uint32(i) + 1
	return i, f.credit[i]
}
