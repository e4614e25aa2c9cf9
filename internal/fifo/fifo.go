// SPDX-License-Identifier: Apache-2.0

// Package fifo has queues that allocate nothing once made.
package fifo

import "math/bits"

// A Queue is a first-in-first-out queue with room for a fixed number of values. Single writer. Head and
// Tail are for comparing, where a call of Len would be too much for the compiler to inline.
type Queue[T any] struct {
	at         []T    // a power of two
	Head, Tail uint32 // Tail - Head waits; both 0 when nothing does, so that few values share few cache lines
}

// Size is the smallest power of two not below n, 0 for 0.
func Size(n int) int { return 1 << bits.Len(uint(n-1)) }

// Make returns an empty queue with room for n values, or more.
func Make[T any](n int) Queue[T] { return Queue[T]{at: make([]T, Size(n))} }

// Len is how many values wait.
func (q *Queue[T]) Len() int { return int(q.Tail - q.Head) }

// Free is how many values there is still room for.
func (q *Queue[T]) Free() int { return len(q.at) - q.Len() }

// Push returns the place of another value, which holds an old one. There has to be room.
func (q *Queue[T]) Push() *T {
	v := &q.at[q.Tail&uint32(len(q.at)-1)]
	q.Tail++
	return v
}

// First returns the oldest value, nil if there is none.
func (q *Queue[T]) First() *T {
	if q.Head == q.Tail {
		return nil
	}
	return &q.at[q.Head&uint32(len(q.at)-1)]
}

// Drop forgets the oldest value.
func (q *Queue[T]) Drop() {
	if q.Head++; q.Head == q.Tail {
		q.Head, q.Tail = 0, 0
	}
}
