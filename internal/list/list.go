// SPDX-License-Identifier: Apache-2.0

// Package list links the slots of slabs into lists.
package list

import "github.com/uetcc/uetcc/internal/slab"

// An Entry names what may be in a list, by its slot or the slot plus 1: 0 is the end of a list.
type Entry interface{ ~uint16 | ~uint32 }

// A List is the first and the last entry of a list. The zero value is an empty list.
type List[E Entry] struct{ Head, Tail E }

// Links are the neighbours of entries, by entry, for any number of lists: an entry is in one list at most, and
// any entry goes in constant time. Single writer.
type Links[E Entry] []struct{ prev, next E }

// Make returns the links of the entries 1 to n, in no list.
func Make[E Entry](n int) Links[E] { return slab.Make[struct{ prev, next E }](n + 1) }

// Next returns the entry behind i, 0 at the end.
func (s Links[E]) Next(i E) E { return s[i].next }

// Prev returns the entry before i, 0 at the end.
func (s Links[E]) Prev(i E) E { return s[i].prev }

// Push puts i, in no list, last in l.
func (s Links[E]) Push(l *List[E], i E) { s.Insert(l, l.Tail, i) }

// Insert puts i, in no list, behind an entry of l, or first behind 0.
func (s Links[E]) Insert(l *List[E], after, i E) {
	next, prev := &l.Head, &l.Tail
	if after != 0 {
		next = &s[after].next
	}
	if *next != 0 {
		prev = &s[*next].prev
	}
	s[i].prev, s[i].next = after, *next
	*next, *prev = i, i
}

// Remove takes i out of l, if i is there.
func (s Links[E]) Remove(l *List[E], i E) {
	p, next, prev := &s[i], &l.Head, &l.Tail
	if p.prev != 0 {
		next = &s[p.prev].next
	}
	if *next != i {
		return
	}
	if p.next != 0 {
		prev = &s[p.next].prev
	}
	*next, *prev = p.next, p.prev
	p.prev, p.next = 0, 0
}
