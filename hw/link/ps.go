// SPDX-License-Identifier: Apache-2.0

package link

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

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
