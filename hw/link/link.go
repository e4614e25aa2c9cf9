// SPDX-License-Identifier: Apache-2.0

// Package link tells how long an idle network takes: serialisation,
// propagation, cut-through switching and forward error correction, and from the
// sum the base round-trip time and the bandwidth-delay product at the start of
// congestion control.
//
// All functions here are pure and safe for concurrent use. Source of the delay
// components: UET congestion chapters, figure 6-7.
package link

// Serialization is the time of bytes on a link of bitsPerSecond, rounded up to a
// picosecond; 0 unless both are positive.
func Serialization(bytes, bitsPerSecond int64) Ps {
	return Ps(mulDivUp(bytes, 8*int64(Second), bitsPerSecond))
}

// Propagation is the delay of light in metres of fibre, 5 ns each, 0 unless metres is
// positive.
func Propagation(metres int64) Ps { return (5 * Nanosecond).times(metres) }

// BDP is the bandwidth-delay product in bytes, rounded up: the least in flight to
// keep the slower end busy for one round trip (figure 6-7).
func BDP(senderBitsPerSecond, receiverBitsPerSecond int64, baseRTT Ps) int64 {
	return mulDivUp(min(senderBitsPerSecond, receiverBitsPerSecond), int64(baseRTT), 8*int64(Second))
}

// MaxWindow is the ceiling of a congestion window for a bandwidth-delay product
// of bdp bytes (>= 0): 1.5 bdp, cut to whole bytes.
func MaxWindow(bdp int64) int64 { return add(bdp, bdp/2) }
