// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/splitmix"
)

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
