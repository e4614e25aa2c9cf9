// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"
	"sync/atomic"
)

// A Quota bounds how much each of an unknown number of sources may hold, in fixed
// memory: a count-min sketch of two rows under a keyed hash. Any goroutine may
// call any method, without waiting.
//
// A source never gets more than the limit, and maybe less if both counters of the
// source are shared with heavy sources, a case no attacker can arrange without
// the seed: with one heavy source among 2^16 counters a row the chance is 2^-32.
type Quota struct {
	limit  uint32
	total  atomic.Int32
	hasher Hasher
	rows   [2][]atomic.Uint32
}

// A Source is the hashed identity of one holder.
type Source uint64

// NewQuota makes a quota with limit for each source and counters for about n
// units held in all. Seed 0 draws a random seed.
func NewQuota(n int, limit uint32, seed uint64) *Quota {
	size := 1 << bits.Len(uint(max(n, 1)-1))
	q := &Quota{limit: limit, hasher: NewHasher(seed)}
	for i := range q.rows {
		q.rows[i] = make([]atomic.Uint32, size)
	}
	return q
}

// Source hashes an address given as two words, see [AddrWords].
func (q *Quota) Source(hi, lo uint64) Source {
	return Source(q.hasher.Sum(&Key{hi, lo}))
}

// Take charges s with one unit unless the source may already hold the limit.
func (q *Quota) Take(s Source) bool {
	a, b := q.counters(s)
	q.total.Add(1)
	// Count first, look after: two goroutines looking first could both see the
	// last unit.
	x, y := a.Add(1), b.Add(1)
	if min(x, y) > q.limit {
		q.Give(s)
		return false
	}
	return true
}

// Give returns a unit granted to s by Take.
func (q *Quota) Give(s Source) {
	a, b := q.counters(s)
	a.Add(^uint32(0))
	b.Add(^uint32(0))
	q.total.Add(-1)
}

// Total is the sum held by all sources.
func (q *Quota) Total() int { return int(q.total.Load()) }

// Held is the number held by s, or more if the counters are shared.
func (q *Quota) Held(s Source) int {
	a, b := q.counters(s)
	return int(min(a.Load(), b.Load()))
}

func (q *Quota) counters(s Source) (a, b *atomic.Uint32) {
	n := uint64(len(q.rows[0]))
	return &q.rows[0][uint64(s)&(n-1)], &q.rows[1][uint64(s)>>32&(n-1)]
}
