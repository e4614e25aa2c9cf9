package link

// A Codeword is the block that a Reed-Solomon forward error correction works
// on; the receiver needs all of it before it can release the first bit.
type Codeword struct {
	Symbols     int64 // in all, parity included
	DataSymbols int64
	SymbolBits  int64
}

// RS544 is RS(544,514), the code of 100 to 800 Gb/s lanes.
var RS544 = Codeword{Symbols: 544, DataSymbols: 514, SymbolBits: 10}

// Bits is the length of the whole codeword.
func (c Codeword) Bits() int64 { return c.Symbols * c.SymbolBits }

// DataBits is how many of them carry data.
func (c Codeword) DataBits() int64 { return c.DataSymbols * c.SymbolBits }

// ParityBits is how many of them were added.
func (c Codeword) ParityBits() int64 { return c.Bits() - c.DataBits() }

// Accumulation is the time that one codeword needs to arrive on a link of
// bitsPerSecond. What a hop really adds is larger (lane distribution, the
// decoder itself): that is [FECHopDelay], a configured figure.
func (c Codeword) Accumulation(bitsPerSecond int64) Ps {
	return Ps(mulDivUp(c.Bits(), int64(Second), bitsPerSecond))
}

// FECHopDelay is the latency that one RS(544,514) link adds, as the UET
// congestion chapters configure it for 400 Gb/s hops.
const FECHopDelay = 150 * Nanosecond
