// SPDX-License-Identifier: Apache-2.0

// Package atomics measures the cost of sharing: a word changed by several cores,
// admission against a shared limit, and a hand-over of work between goroutines.
package atomics

import "sync/atomic"

const (
	line     = 64
	ringSize = 1024
	batch    = 32
)

// wide is as much as an event of 32 bytes.
type wide [4]uint64

// ring is the floor for a hand-over: one producer, one consumer, with indices on
// separate lines, and up to 32 values for one store of an index.
type ring[T uint64 | wide] struct {
	head atomic.Uint64
	_    [line - 8]byte
	tail atomic.Uint64
	_    [line - 8]byte
	seen uint64 // the producer's copy of head
	_    [line - 8]byte
	buf  [ringSize]T
}

// push puts all of v in, or nothing.
func (q *ring[T]) push(v []T) bool {
	t := q.tail.Load()
	if t+uint64(len(v))-q.seen > ringSize {
		if q.seen = q.head.Load(); t+uint64(len(v))-q.seen > ringSize {
			return false
		}
	}
	for i := range v {
		q.buf[(t+uint64(i))%ringSize] = v[i]
	}
	q.tail.Store(t + uint64(len(v)))
	return true
}

// pop takes out waiting values, at most len(v).
func (q *ring[T]) pop(v []T) int {
	h := q.head.Load()
	n := min(q.tail.Load()-h, uint64(len(v)))
	if n == 0 {
		return 0
	}
	for i := range n {
		v[i] = q.buf[(h+i)%ringSize]
	}
	q.head.Store(h + n)
	return int(n)
}
