// SPDX-License-Identifier: Apache-2.0

package rccc

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
