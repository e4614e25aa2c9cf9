// Package splitmix draws random numbers from eight bytes of state: SplitMix64 (Steele, Lea,
// Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). They are not for
// secrets.
package splitmix

// Next advances a state, which may be any, and returns its number.
func Next(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	return Mix(*state)
}

// Mix makes a number of z that changes in half of its bits with any bit of z.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
