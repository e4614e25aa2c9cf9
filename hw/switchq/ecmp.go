package switchq

// Uplink is the one of n equal-cost links that a switch sends a packet of flow
// with this entropy over: 0 to n-1, or 0 if n is less than 2. The same inputs
// give the same link; another entropy or another salt draws again. Give each
// switch a salt of its own, or the tiers choose alike and leave links idle.
//
// The hash is a 32-bit finaliser with full avalanche, of the family that htsim
// uses; which one is a switch vendor's choice.
func Uplink(salt, flow uint32, entropy uint16, n int) int {
	if n < 2 {
		return 0
	}
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
