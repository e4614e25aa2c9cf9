// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/table"

// Answers to packets with no PDC: a source gets so many at once, and one
// more each limiterRefill ns.
const (
	limiterBuckets = 256
	limiterBurst   = 32
	limiterRefill  = 10_000
)

// limiter is a token bucket for each of a number of hashed sources, so nobody can make
// the endpoint flood a victim with answers, or starve other sources of answers, all or
// a single one: the hash is keyed, so nobody knows the sharers of a bucket.
type limiter struct {
	hasher table.Hasher
	bucket [limiterBuckets]struct {
		at   int64 // when the bucket was last full, in effect
		used bool
	}
}

// allow takes a token of a, if any.
func (l *limiter) allow(now int64, a Addr) bool {
	b := &l.bucket[l.hasher.Sum(&table.Key{a.Hi, a.Lo})%limiterBuckets]
	full := now - limiterBurst*limiterRefill
	if !b.used || b.at < full {
		b.at, b.used = full, true
	}
	if b.at > now-limiterRefill {
		return false
	}
	b.at += limiterRefill
	return true
}
