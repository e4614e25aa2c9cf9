// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"net/netip"

	"github.com/cespare/xxhash/v2"
)

// Flow hashes the common fields of a flow's packets for [Uplink]: the addresses,
// of either family, and the protocol. The entropy value (UDP source port or
// entropy header) is left out.
func Flow(src, dst netip.Addr, protocol uint8) uint32 {
	var b [33]byte
	s, d := src.As16(), dst.As16()
	copy(b[:], s[:])
	copy(b[16:], d[:])
	b[32] = protocol
	return uint32(xxhash.Sum64(b[:]))
}

// Uplink is the link of n equal-cost links over which a switch sends a packet of
// flow with the given entropy: 0 to n-1, or 0 if n is 0. The same inputs give
// the same link; a new entropy or salt draws again. Give each switch a private
// salt, or the tiers choose alike and leave links idle.
//
// The hash is a 32-bit finaliser with full avalanche, of the family in htsim;
// real switches hash as the vendor chose.
//
//uetcc:hot inlines nobounds
func Uplink(salt, flow uint32, entropy uint16, n int) int {
	h := mix(flow ^ mix(uint32(entropy)^salt))
	return int(uint64(h) * uint64(n) >> 32)
}

func mix(h uint32) uint32 {
	h += 0x9e3779b9
	h ^= h >> 16
	h *= 0x21f0aaad
	h ^= h >> 15
	h *= 0x735a2d97
	return h ^ h>>15
}
