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

// A Codeword is the block a Reed-Solomon forward error correction works
// on; the receiver needs the whole codeword before the first bit is released.
type Codeword struct {
	Symbols     int64 // in all, parity included
	DataSymbols int64
	SymbolBits  int64
}

// RS544 is RS(544,514), the code of 100 to 800 Gb/s lanes.
var RS544 = Codeword{Symbols: 544, DataSymbols: 514, SymbolBits: 10}

// Bits is the length of the whole codeword.
func (c Codeword) Bits() int64 { return c.Symbols * c.SymbolBits }

// DataBits is the number of data bits.
func (c Codeword) DataBits() int64 { return c.DataSymbols * c.SymbolBits }

// Accumulation is the time one codeword takes to arrive on a link of
// bitsPerSecond. A real hop adds more (lane distribution, decoder): see
// [FECHopDelay], a configured figure.
func (c Codeword) Accumulation(bitsPerSecond int64) Ps {
	return Ps(mulDivUp(c.Bits(), int64(Second), bitsPerSecond))
}

// FECHopDelay is the latency of an RS(544,514) link as configured in the UET
// congestion chapters for 400 Gb/s hops.
const FECHopDelay = 150 * Nanosecond
