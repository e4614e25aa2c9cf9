// SPDX-License-Identifier: Apache-2.0

// Package siphash is a keyed hash that reveals nothing of the key: peers see sums, and may not
// learn from their own the sums of others. Hash tables use a faster hash, whose sums stay
// inside.
//
// Source: J.-P. Aumasson and D. J. Bernstein, SipHash: a fast short-input PRF, 2012.
package siphash

import "math/bits"

// A Key is a secret of 128 bits.
type Key [2]uint64

// Sum is SipHash-2-4 of the words, the bytes of each from the lowest on.
func (k *Key) Sum(words ...uint64) uint64 {
	s := state{
		k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d, k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573,
	}
	for _, w := range words {
		s.compress(w)
	}
	s.compress(uint64(len(words)) << 59) // the length in bytes, in the last byte of a block
	s.v2 ^= 0xff
	for range 4 {
		s.round()
	}
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3
}

type state struct{ v0, v1, v2, v3 uint64 }

func (s *state) compress(w uint64) {
	s.v3 ^= w
	s.round()
	s.round()
	s.v0 ^= w
}

func (s *state) round() {
	s.v0 += s.v1
	s.v2 += s.v3
	s.v1 = bits.RotateLeft64(s.v1, 13) ^ s.v0
	s.v3 = bits.RotateLeft64(s.v3, 16) ^ s.v2
	s.v0 = bits.RotateLeft64(s.v0, 32) + s.v3
	s.v2 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 17) ^ s.v2
	s.v3 = bits.RotateLeft64(s.v3, 21) ^ s.v0
	s.v2 = bits.RotateLeft64(s.v2, 32)
}
