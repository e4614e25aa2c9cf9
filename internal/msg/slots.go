// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/ses"
)

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

// A finder finds a slot by a 128-bit key: open addressing at no more than half
// load, linear probing, and removal closing the gap, so nothing is left
// behind. The seed keeps peers from choosing keys that collide.
type finder struct {
	cells []cell
	mask  uint32
	seed  uint64
	used  int
}

// A pair is the key of a finder.
type pair struct{ a, b uint64 }

type cell struct {
	key pair
	val uint32 // slot + 1, 0 for empty
}

// newFinder makes room for n keys.
func newFinder(n int, seed uint64) finder {
	size := max(buckets(2*n), 4)
	return finder{cells: slab.Make[cell](size), mask: uint32(size - 1), seed: seed}
}

func (x *finder) home(k pair) uint32 { return x.hash(k) & x.mask }

// hash is a number for a key that peers cannot foresee.
func (x *finder) hash(k pair) uint32 {
	hi, lo := bits.Mul64(k.a^x.seed^0x9e3779b97f4a7c15, k.b^bits.RotateLeft64(x.seed, 32)^0xd6e8feb86659fd93)
	return uint32((hi ^ lo) * 0x9e3779b97f4a7c15 >> 32)
}

func (x *finder) find(k pair) (slot uint32, ok bool) {
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

// insert adds an absent key. The caller bounds the number of keys by
// newFinder's argument.
func (x *finder) insert(k pair, slot uint32) {
	i := x.home(k)
	for x.cells[i].val != 0 {
		i = (i + 1) & x.mask
	}
	x.cells[i] = cell{k, slot + 1}
	x.used++
}

// remove deletes a key and moves later keys of the run up, so each stays
// reachable from the home slot.
func (x *finder) remove(k pair) {
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

// A peerList is the list of records or pending sends of the peers with the same low bits,
// the newest first, by slot + 1.
type peerList struct {
	list.List[uint32]
	n uint32
}

// peerLists finds the list of a peer, for a table of n slots.
type peerLists struct {
	lists []peerList
	links list.Links[uint32]
}

func newPeerLists(n int) peerLists {
	return peerLists{lists: make([]peerList, buckets(n)), links: list.Make[uint32](n)}
}

func (l *peerLists) of(peer uint64) *peerList { return &l.lists[peer&uint64(len(l.lists)-1)] }

// push puts slot i into the list of a peer.
func (l *peerLists) push(peer uint64, i uint32) {
	x := l.of(peer)
	l.links.Insert(&x.List, 0, i+1)
	x.n++
}

// remove takes slot i out of the list of a peer.
func (l *peerLists) remove(peer uint64, i uint32) {
	x := l.of(peer)
	l.links.Remove(&x.List, i+1)
	x.n--
}

// shares reports whether the peers of l may have one more slot: only while more slots are
// free than the peers have. So a peer giving none back leaves half of the slots to the
// rest.
func (l *peerList) shares(s *slots) bool { return int(l.n) < s.spare() }
