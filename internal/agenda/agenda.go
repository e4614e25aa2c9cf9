// SPDX-License-Identifier: Apache-2.0

// Package agenda is a priority queue by time, for simulations.
package agenda

// An Agenda is a queue by time: the first due entry comes out first, and of entries due at
// the same time the first pushed, so a run can be repeated. The zero Agenda is empty.
// Single writer.
type Agenda[T any] struct {
	heap []entry[T] // each before the two at 2i+1 and 2i+2
	seq  uint64
}

type entry[T any] struct {
	at  int64
	seq uint64
	v   T
}

func (e *entry[T]) before(o *entry[T]) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// Len returns how many things wait.
func (a *Agenda[T]) Len() int { return len(a.heap) }

// Next returns the time of the first entry, and false if nothing waits.
func (a *Agenda[T]) Next() (at int64, ok bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].at, true
}

// Push adds v, due at any time, even before the last entry handed out.
func (a *Agenda[T]) Push(at int64, v T) {
	a.seq++
	a.heap = append(a.heap, entry[T]{at, a.seq, v})
	h := a.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].before(&h[i]) {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// Pop takes out the first entry, with the time. Never call Pop on an empty Agenda.
func (a *Agenda[T]) Pop() (at int64, v T) {
	h := a.heap
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], entry[T]{}
	h = h[:last]
	a.heap = h
	for i := 0; ; {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < last && h[down].before(&h[least]) {
				least = down
			}
		}
		if least == i {
			return first.at, first.v
		}
		h[least], h[i] = h[i], h[least]
		i = least
	}
}
