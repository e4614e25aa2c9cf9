// SPDX-License-Identifier: Apache-2.0

// Package splitmix draws random numbers from eight bytes of state: SplitMix64 (Steele, Lea,
// Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). Not for secrets.
package splitmix

// Next advances a state, of any value, and returns the next number.
func Next(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	return Mix(*state)
}

// Mix maps z to a number; a change of any bit of z changes half of the number's bits.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
