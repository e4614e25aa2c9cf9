package hw

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"
)

// TSC is a nanosecond clock over the processor's time stamp counter, where that
// runs at one rate in all power states. A reading costs about a third of
// time.Now. The zero value is not usable. Safe for concurrent use.
type TSC struct {
	start uint64 // counter when calibration began
	base  int64  // reference then
	mult  uint64 // nanoseconds a count, 2^-32
}

// NewTSC calibrates the counter against a reference clock in nanoseconds, for
// which it reads ref until at least settle nanoseconds have passed: the relative
// error is about twice the time of a reading divided by settle, which is less than
// two seconds. The error is [ErrClock] if there is no invariant counter, if it does not
// advance, if the reference stands still or steps back, or if the counter disagrees
// with the rate that the processor reports by more than an eighth (one that a
// hypervisor scales or traps); inject a clock then.
func NewTSC(ref func() int64, settle int64) (TSC, error) {
	if !cpuid.CPU.Has(cpuid.RDTSCP) || !invariantTSC() || settle > 2e9 {
		return TSC{}, ErrClock
	}
	base := ref()
	start := readTSC()
	patience := uint64(max(settle, 1))*mostCounts + standstill
	now := base
	for now-base < max(settle, 1) {
		last := now
		if now = ref(); now < last || readTSC()-start > patience {
			return TSC{}, ErrClock
		}
	}
	counts := readTSC() - start
	if counts == 0 || counts >= 1<<62 || now-base >= 1<<31 {
		return TSC{}, ErrClock
	}
	if hz := cpuid.CPU.Hz; hz > 0 {
		if expected := hz / 1000 * (now - base) / 1_000_000; abs(expected-int64(counts)) > expected/8 {
			return TSC{}, ErrClock
		}
	}
	hi, lo := bits.Mul64(uint64(now-base), 1<<32)
	if hi >= counts {
		return TSC{}, ErrClock
	}
	mult, _ := bits.Div64(hi, lo, counts)
	return TSC{start, base, mult}, nil
}

const (
	mostCounts = 16      // a nanosecond, of any processor
	standstill = 1 << 30 // counts for which a coarse reference may stand still
)

// Now returns nanoseconds on the reference's time line.
func (c *TSC) Now() int64 {
	hi, lo := bits.Mul64(readTSC()-c.start, c.mult)
	return c.base + int64(hi<<32|lo>>32)
}

// Ticks returns the time in units of 128 ns, as UET stamps have it.
func (c *TSC) Ticks() uint64 { return uint64(c.Now()) >> 7 }

func abs(v int64) int64 { return max(v, -v) }
