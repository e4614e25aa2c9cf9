package ses

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/slab"
)

// A Handle names an object of a [Target] or [Initiator]: 16 bits of generation
// above 16 bits of index. A handle whose object is gone is refused, until its
// slot has been used another 32768 times. No live object has handle 0.
type Handle uint32

func (h Handle) slot() uint32 { return uint32(h) & 0xffff }

// maxSlots is what the index of a handle can name.
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

func (s *slots) handle(i uint32) Handle { return Handle(s.gen[i])<<16 | Handle(i) }

// at returns the index of a live handle.
func (s *slots) at(h Handle) (i uint32, ok bool) {
	i = h.slot()
	return i, int(i) < len(s.gen) && s.gen[i] == uint16(h>>16) && s.gen[i]&1 == 1
}

// A pair is the key of an index.
type pair struct{ a, b uint64 }

// An index finds a slot by a 128-bit key: open addressing at no more than half
// load, linear probing, and removal that closes the gap, so that nothing is left
// behind. The seed keeps peers from choosing keys that collide.
type index struct {
	cells []cell
	mask  uint32
	seed  uint64
	used  int
}

type cell struct {
	key pair
	val uint32 // slot + 1, 0 for empty
}

// newIndex makes room for n keys.
func newIndex(n int, seed uint64) index {
	size := 4
	for size < 2*n {
		size *= 2
	}
	return index{cells: slab.Make[cell](size), mask: uint32(size - 1), seed: seed}
}

func (x *index) home(k pair) uint32 {
	hi, lo := bits.Mul64(k.a^x.seed^0x9e3779b97f4a7c15, k.b^bits.RotateLeft64(x.seed, 32)^0xd6e8feb86659fd93)
	return uint32((hi^lo)*0x9e3779b97f4a7c15>>32) & x.mask
}

func (x *index) find(k pair) (slot uint32, ok bool) {
	for i := x.home(k); ; i = (i + 1) & x.mask {
		c := &x.cells[i]
		if c.val == 0 {
			return 0, false
		}
		if c.key == k {
			return c.val - 1, true
		}
	}
}

// insert adds a key that is not there yet. The caller bounds the number of keys
// to what newIndex was given.
func (x *index) insert(k pair, slot uint32) {
	i := x.home(k)
	for x.cells[i].val != 0 {
		i = (i + 1) & x.mask
	}
	x.cells[i] = cell{k, slot + 1}
	x.used++
}

// remove deletes a key and moves later keys of the run up, so that each stays
// reachable from its home.
func (x *index) remove(k pair) {
	i := x.home(k)
	for x.cells[i].key != k || x.cells[i].val == 0 {
		if x.cells[i].val == 0 {
			return
		}
		i = (i + 1) & x.mask
	}
	x.used--
	for j := (i + 1) & x.mask; x.cells[j].val != 0; j = (j + 1) & x.mask {
		if d := x.home(x.cells[j].key); (j-d)&x.mask >= (j-i)&x.mask {
			x.cells[i] = x.cells[j]
			i = j
		}
	}
	x.cells[i] = cell{}
}
