// Package atomics measures what sharing costs: a word that several cores change,
// admission against a shared limit, and handing work to another goroutine.
package atomics

import "sync/atomic"

const (
	line     = 64
	ringSize = 1024
	batch    = 32
)

// ring is the floor for a hand-over: one producer, one consumer, their indices
// on lines of their own, and up to 32 values for one store of an index.
type ring struct {
	head atomic.Uint64
	_    [line - 8]byte
	tail atomic.Uint64
	_    [line - 8]byte
	seen uint64 // the producer's copy of head
	_    [line - 8]byte
	buf  [ringSize]uint64
}

// push puts all of v in, or nothing.
func (q *ring) push(v []uint64) bool {
	t := q.tail.Load()
	if t+uint64(len(v))-q.seen > ringSize {
		if q.seen = q.head.Load(); t+uint64(len(v))-q.seen > ringSize {
			return false
		}
	}
	for i, x := range v {
		q.buf[(t+uint64(i))%ringSize] = x
	}
	q.tail.Store(t + uint64(len(v)))
	return true
}

// pop takes out what is there, at most what fits into v.
func (q *ring) pop(v []uint64) int {
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

// wideRing is ring with values of 32 bytes.
type wideRing struct {
	head atomic.Uint64
	_    [line - 8]byte
	tail atomic.Uint64
	_    [line - 8]byte
	seen uint64 // the producer's copy of head
	_    [line - 8]byte
	buf  [ringSize]wide
}

type wide [4]uint64

func (q *wideRing) push(v []wide) bool {
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

func (q *wideRing) pop(v []wide) int {
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
