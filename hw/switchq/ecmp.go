// SPDX-License-Identifier: Apache-2.0

package switchq

// Uplink is the link of n equal-cost links over which a switch sends a packet of
// flow, a hash of addresses and protocol, with the given entropy: 0 to n-1, or 0 if n is 0. The same inputs give
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
