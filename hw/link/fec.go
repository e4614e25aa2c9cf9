// SPDX-License-Identifier: Apache-2.0

package link

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
