// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/splitmix"
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

// Key is a [Map]'s search key: two 16-byte addresses and 64 further bits that
// identify the context. Unused parts are zero.
type Key [5]uint64

// Set makes k the key of two addresses and 64 bits more. IPv4 addresses take their
// IPv4-mapped IPv6 form, so both forms of an address have the same key; zones are
// ignored.
//
//uetcc:hot
func (k *Key) Set(a, b netip.Addr, rest uint64) {
	k[0], k[1] = AddrWords(a)
	k[2], k[3] = AddrWords(b)
	k[4] = rest
}

// AddrWords is the 16-byte form of an address as two words. The zero Addr gives
// zeros, as does the IPv6 address "::".
func AddrWords(a netip.Addr) (hi, lo uint64) {
	if a.Is4() {
		b := a.As4() // 3 ns; the 16-byte form waits 11 for its own stores
		return 0, 0xffff<<32 | uint64(binary.BigEndian.Uint32(b[:]))
	}
	return addrWords16(a)
}

func addrWords16(a netip.Addr) (hi, lo uint64) {
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
}

// A Hasher is a keyed hash of 40 bytes. Source addresses are chosen by senders, so
// with fixed constants an attacker could aim all contexts at a single bucket; every
// table draws fresh secret words.
//
// The mix is three folded 64x64-bit multiplications, two of the three independent:
// 2.5 ns where a byte-oriented hash of the same 40 bytes takes 5 to 18, and the
// hash is the longest chain of dependent work in a look-up that hits the cache.
type Hasher struct{ s [5]uint64 }

// NewHasher expands a seed into a hasher. Equal seeds give equal hashers; seed 0,
// right for a table facing a network, draws a seed from crypto/rand.
func NewHasher(seed uint64) Hasher {
	seed = random.Seed(seed)
	var h Hasher
	for i := range h.s {
		h.s[i] = splitmix.Next(&seed)
	}
	return h
}

// Sum hashes k. In any longer form the compiler would not inline Sum.
//
//uetcc:hot inlines nobounds
func (h *Hasher) Sum(k *Key) uint64 {
	a, b := bits.Mul64(k[0]^h.s[0], k[1]^h.s[1])
	c, d := bits.Mul64(k[2]^h.s[2], k[3]^h.s[3])
	a, b = bits.Mul64(a^b^k[4], c^d^h.s[4])
	return a ^ b
}
