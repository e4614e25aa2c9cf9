// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"errors"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/slab"
)

// maxSenders is the largest capacity of an active sender table.
const maxSenders = 1 << 16

// Handle names a sender of a table: a generation in the upper 16 bits, odd
// while the sender is in the table, and a slot in the lower. A handle outlives
// the sender without harm, up to the 32,768th sender after it in the slot; the zero
// Handle never names a sender.
type Handle uint32

// Slot is a place in the active sender table, for a [GrantPolicy].
type Slot uint16

// Slot returns the slot of h.
func (h Handle) Slot() Slot { return Slot(h) }

func (h Handle) generation() uint16 { return uint16(h >> 16) }

// handle returns the handle of s in slot i.
func (s *sender) handle(i Slot) Handle { return Handle(s.generation)<<16 | Handle(i) }

// List is the queue a sender is in. A sender is in exactly one.
type List uint8

// The lists of an active sender table.
const (
	ListNone   List = iota // entitled to nothing now
	ListActive             // demand is not satisfied, or an answer is owed
	ListIdle               // demand is satisfied; spare credit may follow
)

var listNames = [...]string{"none", "active", "idle"}

// String returns the name of l.
func (l List) String() string { return enum.Name(listNames[:], l) }

// ErrFull means a full table.
var ErrFull = errors.New("rccc: active sender table is full")

// sender is what an arriving packet and a grant touch of a sender: a cache line.
type sender struct {
	cum, target int64 // bytes, cumulative; active with demand iff target > cum
	seen        int64 // when anything arrived last, ns
	spent       int64 // cum taken as used by the sender, bytes
	spentAt     int64 // time of setting spent, ns
	weight      uint16
	turn        uint16 // grants left in the present turn, 1 to weight
	stamp       uint32 // last time slice that served the sender
	generation  uint16 // odd while in use
	list        List
	reach       uint8 // how often maxAhead is doubled, see [Receiver.OnArrival]
	_           [4]byte
	grown       int64 // cum at the last doubling, bytes
}

// A link is the neighbours in a sender's list, or in the free list. Links lie apart from the
// senders, so that the neighbours of a sender that moves are in a cache: all links take no more
// than 256 KB.
type link struct{ next, prev Slot }

// Senders is a destination's active sender table: a slab of values linked into
// lists by index, so no operation depends on how many senders there are.
//
// Single writer. Made by [NewReceiver]; a [GrantPolicy] works on Senders.
type Senders struct {
	slab  []sender
	links []link

	active, idle, free ring
	weight             int64 // sum over the active list
	hand               int   // next slot that Expire looks at
}

func (t *Senders) init(capacity int) {
	t.slab, t.links = slab.Make[sender](capacity), slab.Make[link](capacity)
	for i := range t.slab {
		t.pushBack(&t.free, Slot(i))
	}
}

// Len returns how many senders l holds.
func (t *Senders) Len(l List) int {
	switch l {
	case ListActive:
		return t.active.n
	case ListIdle:
		return t.idle.n
	}
	return t.Count() - t.active.n - t.idle.n
}

// Count returns how many senders the table holds.
func (t *Senders) Count() int { return len(t.slab) - t.free.n }

// Head returns the first sender of the active or the idle list.
func (t *Senders) Head(l List) (Slot, bool) {
	r := t.ring(l)
	if r == nil || r.n == 0 {
		return 0, false
	}
	return r.head, true
}

// Move takes a sender out of the old list and to the end of l, maybe the same
// list.
func (t *Senders) Move(i Slot, l List) {
	s := &t.slab[i]
	if from := t.ring(s.list); from != nil {
		t.unlink(from, i)
	}
	t.weight += weightIn(l, s) - weightIn(s.list, s)
	s.list = l
	if to := t.ring(l); to != nil {
		t.pushBack(to, i)
	}
}

func weightIn(l List, s *sender) int64 {
	if l == ListActive {
		return int64(s.weight)
	}
	return 0
}

func (t *Senders) ring(l List) *ring {
	switch l {
	case ListActive:
		return &t.active
	case ListIdle:
		return &t.idle
	}
	return nil
}

// List returns the list of i.
func (t *Senders) List(i Slot) List { return t.slab[i].list }

// Demand returns target minus cumulative credit, in bytes; negative when the
// sender's credit is beyond the target.
func (t *Senders) Demand(i Slot) int64 { return t.slab[i].target - t.slab[i].cum }

// Weight returns the relative share of i, 1 or more.
func (t *Senders) Weight(i Slot) int64 { return int64(t.slab[i].weight) }

// Grant adds n bytes to the cumulative credit of i and returns the message for
// the sender; the pacer rests for wait picoseconds afterwards.
func (t *Senders) Grant(i Slot, n, wait int64) Grant {
	s := &t.slab[i]
	s.cum += n
	return Grant{Sender: s.handle(i), Bytes: n, Cum: s.cum, Wait: wait}
}

// find returns the sender named h, nil when gone.
func (t *Senders) find(h Handle) *sender {
	if int(h.Slot()) >= len(t.slab) {
		return nil
	}
	s := &t.slab[h.Slot()]
	if s.generation != h.generation() || s.generation&1 == 0 {
		return nil
	}
	return s
}

// add puts a sender in the table, in no list.
func (t *Senders) add(now int64, weight uint16, start int64) (Handle, error) {
	if t.free.n == 0 {
		return 0, ErrFull
	}
	i := t.free.head
	t.unlink(&t.free, i)
	s := &t.slab[i]
	*s = sender{
		cum: start, target: start, seen: now, spent: start, spentAt: now, grown: start,
		weight: weight, turn: weight, generation: s.generation + 1,
	}
	return s.handle(i), nil
}

// remove frees a live sender's slot. The slot goes to the end of the free list,
// so a stale handle stays recognisable for long.
func (t *Senders) remove(i Slot) {
	t.Move(i, ListNone)
	t.slab[i].generation++
	t.pushBack(&t.free, i)
}

// ring is a circular list of slots, linked through [Senders].links. The
// head is served next, and the slot before the head is the tail: moving the head
// on makes the served slot the tail, without touching a neighbour.
type ring struct {
	head Slot
	n    int
}

// pushBack appends i, which is in no ring.
//
//uetcc:hot inlines
func (t *Senders) pushBack(r *ring, i Slot) {
	s := &t.links[i]
	if r.n == 0 {
		s.next, s.prev, r.head = i, i, i
	} else {
		h := &t.links[r.head]
		s.next, s.prev = r.head, h.prev
		t.links[h.prev].next = i
		h.prev = i
	}
	r.n++
}

// unlink takes i out of r.
//
//uetcc:hot inlines
func (t *Senders) unlink(r *ring, i Slot) {
	s := t.links[i]
	t.links[s.prev].next = s.next
	t.links[s.next].prev = s.prev
	if r.head == i {
		r.head = s.next
	}
	r.n--
}
