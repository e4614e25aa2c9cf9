// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

func slotOf(h ses.Handle) uint32 { return uint32(h) & 0xffff }

// maxSlots is the range of a handle's index.
const maxSlots = 1 << 16

// slots hands out the indices of a slab, last freed first.
type slots struct {
	gen  []uint16 // odd: live
	next []uint32 // free list, index + 1
	free uint32   // index + 1, 0 for none
	live int
}

func newSlots(n int) slots {
	s := slots{gen: make([]uint16, n), next: make([]uint32, n)}
	for i := n; i > 0; i-- {
		s.next[i-1], s.free = s.free, uint32(i)
	}
	return s
}

// take returns a free index.
func (s *slots) take() (i uint32, ok bool) {
	if s.free == 0 {
		return 0, false
	}
	i = s.free - 1
	s.free = s.next[i]
	s.gen[i]++
	s.live++
	return i, true
}

func (s *slots) release(i uint32) {
	s.gen[i]++
	s.next[i], s.free = s.free, i+1
	s.live--
}

// spare is how many indices are free.
func (s *slots) spare() int { return len(s.gen) - s.live }

func (s *slots) handle(i uint32) ses.Handle { return ses.Handle(s.gen[i])<<16 | ses.Handle(i) }

// at returns the index of a live handle.
func (s *slots) at(h ses.Handle) (i uint32, ok bool) {
	i = slotOf(h)
	return i, int(i) < len(s.gen) && s.gen[i] == uint16(h>>16) && s.gen[i]&1 == 1
}
