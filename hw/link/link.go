// Package link tells how long an idle network takes: serialisation,
// propagation, cut-through switching and forward error correction, and from
// them the base round-trip time and the bandwidth-delay product that congestion
// control starts from.
//
// Everything here is a pure function of its arguments and safe for concurrent
// use. Source of the delay components: UET congestion chapters, figure 6-7.
package link

// FiberDelay is what light needs for one metre of fibre.
const FiberDelay = 5 * Nanosecond

// Serialization is the time that bytes occupy a link of bitsPerSecond, rounded
// up to a picosecond. It is 0 if either is not positive.
func Serialization(bytes, bitsPerSecond int64) Ps {
	return Ps(mulDivUp(bytes, 8*int64(Second), bitsPerSecond))
}

// Propagation is the time that light needs for metres of fibre, 0 if those are not
// positive.
func Propagation(metres int64) Ps { return FiberDelay.times(metres) }

// BDP is the bandwidth-delay product in bytes, rounded up: what must be on the
// way to keep the slower of both ends busy for one round trip (figure 6-7).
func BDP(senderBitsPerSecond, receiverBitsPerSecond int64, baseRTT Ps) int64 {
	return mulDivUp(min(senderBitsPerSecond, receiverBitsPerSecond), int64(baseRTT), 8*int64(Second))
}

// MaxWindow is the ceiling of a congestion window for a bandwidth-delay product
// of bdp bytes (>= 0): 1.5 times it, cut to whole bytes.
func MaxWindow(bdp int64) int64 { return add(bdp, bdp/2) }
