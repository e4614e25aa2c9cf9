// SPDX-License-Identifier: Apache-2.0

// Package link tells how long an idle network takes: serialisation,
// propagation, cut-through switching and forward error correction, and from the
// sum the base round-trip time and the bandwidth-delay product at the start of
// congestion control.
//
// All functions here are pure and safe for concurrent use. Source of the delay
// components: UET congestion chapters, figure 6-7.
package link

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/uetcc/uetcc/internal/check"
)

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
	Bits     int64 // in all, parity included
	DataBits int64
}

// RS544 is RS(544,514), the code of 100 to 800 Gb/s lanes, whose symbols have 10 bits.
var RS544 = Codeword{Bits: 544 * 10, DataBits: 514 * 10}

// Accumulation is the time one codeword takes to arrive on a link of
// bitsPerSecond. A real hop adds more (lane distribution, decoder): see
// [FECHopDelay], a configured figure.
func (c Codeword) Accumulation(bitsPerSecond int64) Ps {
	return Ps(mulDivUp(c.Bits, int64(Second), bitsPerSecond))
}

// FECHopDelay is the latency of an RS(544,514) link as configured in the UET
// congestion chapters for 400 Gb/s hops.
const FECHopDelay = 150 * Nanosecond

// ErrConfig is wrapped by the errors of [Path.Validate].
var ErrConfig = errors.New("link: invalid configuration")

// A Path is the way from one host to another through an idle network. The zero
// Path has no delay. Paths are values; methods do not change a Path. Sums saturate at
// the largest [Ps].
type Path struct {
	FrameBytes    int64 // largest frame, headers included
	HeaderBytes   int64 // what comes back as an acknowledgement; 0: not counted
	BitsPerSecond int64 // of every link on the way
	FiberMetres   int64 // of all links together
	Switches      int64 // on the way; links are one more
	SwitchDelay   Ps    // head in to head out, per switch
	FECDelay      Ps    // per link

	// StoreForward switches take in a whole frame before sending the first bit:
	// serialisation counts once a link instead of once a path.
	StoreForward bool
}

// Validate reports the first senseless field, as an error that wraps
// [ErrConfig].
func (p Path) Validate() error {
	return cmp.Or(
		check.AtLeast(ErrConfig, "FrameBytes", p.FrameBytes, 1),
		check.Range(ErrConfig, "HeaderBytes", p.HeaderBytes, 0, p.FrameBytes),
		check.AtLeast(ErrConfig, "BitsPerSecond", p.BitsPerSecond, 1),
		check.AtLeast(ErrConfig, "FiberMetres", p.FiberMetres, 0),
		check.AtLeast(ErrConfig, "Switches", p.Switches, 0),
		check.AtLeast(ErrConfig, "SwitchDelay", p.SwitchDelay, 0),
		check.AtLeast(ErrConfig, "FECDelay", p.FECDelay, 0),
	)
}

// links is the number of links on the way: Switches + 1.
func (p Path) links() int64 { return add(p.Switches, 1) }

// OneWay is the time from the first bit out of the sender to the last bit into
// the receiver.
func (p Path) OneWay() Ps { return add(p.fixed(), p.serialization(p.FrameBytes)) }

// BaseRTT is the round trip. Without HeaderBytes both directions count a full
// frame, as figure 6-7 does; otherwise the way back carries an acknowledgement of
// HeaderBytes.
func (p Path) BaseRTT() Ps {
	if p.HeaderBytes == 0 {
		return add(p.OneWay(), p.OneWay())
	}
	return add(p.OneWay(), add(p.fixed(), p.serialization(p.HeaderBytes)))
}

func (p Path) fixed() Ps {
	return add(Propagation(p.FiberMetres), add(p.SwitchDelay.times(p.Switches), p.FECDelay.times(p.links())))
}

func (p Path) serialization(bytes int64) Ps {
	s := Serialization(bytes, p.BitsPerSecond)
	if p.StoreForward {
		s = s.times(p.links())
	}
	return s
}

// Ps is a duration in picoseconds. One byte lasts 80 ps at 100 Gb/s and 10 ps
// at 800 Gb/s, so a nanosecond would be too coarse to add up a path; an int64
// of picoseconds spans 106 days.
type Ps int64

// The units a [Ps] is written in.
const (
	Nanosecond  Ps = 1_000
	Microsecond Ps = 1_000_000
	Second      Ps = 1_000_000_000_000
)

// Nanoseconds rounds up, because a delay told too short makes a queueing delay
// of nothing.
func (d Ps) Nanoseconds() int64 {
	return int64(d.RoundUp(Nanosecond) / Nanosecond)
}

// RoundUp is the least multiple of step not below d, or the largest Ps if the
// multiple overflows. A step of zero or less leaves d as it is.
func (d Ps) RoundUp(step Ps) Ps {
	if step <= 0 {
		return d
	}
	r := d % step
	if r <= 0 {
		return d - r
	}
	return add(d-r, step)
}

// String writes nanoseconds with as many decimals as are not zero.
func (d Ps) String() string {
	sign, n := "", uint64(d)
	if d < 0 {
		sign, n = "-", -n
	}
	s := fmt.Sprintf("%s%d.%03d", sign, n/1000, n%1000)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + " ns"
}

// times is n durations d, neither below 0; saturating.
func (d Ps) times(n int64) Ps { return Ps(mulDivUp(int64(d), n, 1)) }

// add is a + b, neither below 0; saturating.
func add[T ~int64](a, b T) T { return T(min(uint64(a)+uint64(b), math.MaxInt64)) }

// mulDivUp is ceil(a*b/c) for a, b >= 0 and c > 0; the result saturates at the
// largest int64, and arguments outside the ranges count as zero.
func mulDivUp(a, b, c int64) int64 {
	if a <= 0 || b <= 0 || c <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c)-1, 0)
	hi += carry
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}
