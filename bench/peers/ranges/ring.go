// SPDX-License-Identifier: Apache-2.0

// Package ranges keeps track of arrived packets.
package ranges

import "math/bits"

const (
	words = 16

	// Window is the packets of the ring; 64 are kept free, so a bit behind the
	// edge is never read as a bit ahead.
	Window = 64 * words
)

// Ring is the floor: it drops duplicates, moves the cumulative edge, and gives
// any 64 bits.
type Ring struct {
	Base uint32 // first packet that has not arrived
	bits [words]uint64
}

// Add marks a packet and reports whether the packet was new and inside the
// window.
func (r *Ring) Add(psn uint32) bool {
	d := psn - r.Base
	if d >= Window-64 {
		return false
	}
	w, m := &r.bits[psn/64%words], uint64(1)<<(psn%64)
	if *w&m != 0 {
		return false
	}
	*w |= m
	if d == 0 {
		r.advance()
	}
	return true
}

func (r *Ring) advance() {
	for {
		w := &r.bits[r.Base/64%words]
		n := min(uint32(bits.TrailingZeros64(^(*w >> (r.Base % 64)))), 64-r.Base%64)
		r.Base += n
		if r.Base%64 != 0 || n == 0 {
			return
		}
		*w = 0
		if r.bits[r.Base/64%words]&1 == 0 {
			return
		}
	}
}

// Sack gives the 64 bits that start at psn.
func (r *Ring) Sack(psn uint32) uint64 {
	i, s := psn/64%words, psn%64
	return r.bits[i]>>s | r.bits[(i+1)%words]<<(64-s)
}

// Merge marks the packets of 64 bits that start at psn, clears the bits beyond
// in the last word, and counts the new packets.
func (r *Ring) Merge(psn uint32, m uint64) int {
	k, s := psn/64%words, psn%64
	lo, hi := &r.bits[k], &r.bits[(k+1)%words]
	a, c := m<<s, m>>(64-s)
	n := bits.OnesCount64(a&^*lo) + bits.OnesCount64(c&^*hi)
	*lo |= a
	*hi = *hi&^(^uint64(0)>>s<<s) | c
	return n
}

// Touch loads the word of the edge.
func (r *Ring) Touch() uint32 { return uint32(r.bits[r.Base/64%words]) }
