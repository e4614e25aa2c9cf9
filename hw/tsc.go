package hw

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"
)

// TSC is a nanosecond clock over the processor's time stamp counter, where the counter runs
// at the same rate in all power states. A reading costs about a third of time.Now. The zero
// value is not usable. Safe for concurrent use.
type TSC struct {
	start uint64 // counter when calibration began
	base  int64  // reference then
	mult  uint64 // nanoseconds a count, 2^-32
}

// NewTSC calibrates the counter against a reference clock in nanoseconds. NewTSC reads ref
// until at least settle nanoseconds have passed, up to two seconds; the relative error is
// about twice the time of a reading divided by settle. The error is [ErrClock], and the
// caller has to use another clock, if the processor has no invariant counter, if the counter
// does not advance, if the reference stands still or steps back, or if the counter is off by
// more than an eighth from the rate the processor reports, as under a hypervisor that scales
// or traps the counter.
func NewTSC(ref func() int64, settle int64) (TSC, error) {
	if !cpuid.CPU.Has(cpuid.RDTSCP) || !invariantTSC() || settle > 2e9 {
		return TSC{}, ErrClock
	}
	base := ref()
	start := readTSC()
	ns, ok := wait(ref, base, start, max(settle, 1))
	counts := readTSC() - start
	hi, lo := bits.Mul64(uint64(ns), 1<<32)
	if !ok || ns >= 1<<31 || hi >= counts || !believable(counts, ns) {
		return TSC{}, ErrClock
	}
	mult, _ := bits.Div64(hi, lo, counts)
	return TSC{start, base, mult}, nil
}

const (
	mostCounts = 16      // a nanosecond, of any processor
	standstill = 1 << 30 // counts for which a coarse reference may stand still
)

// wait reads ref until ns after base, and returns the time passed. ok is false if ref
// steps back or stands still.
func wait(ref func() int64, base int64, start uint64, ns int64) (passed int64, ok bool) {
	for patience := uint64(ns)*mostCounts + standstill; passed < ns; {
		last := passed
		if passed = ref() - base; passed < last || readTSC()-start > patience {
			return passed, false
		}
	}
	return passed, true
}

// believable reports whether counts in ns nanoseconds agree with the rate reported by the
// processor, within an eighth. A processor without a reported rate is believed.
func believable(counts uint64, ns int64) bool {
	hz := cpuid.CPU.Hz
	expected := hz / 1000 * ns / 1_000_000
	off := expected - int64(counts)
	return counts < 1<<62 && (hz <= 0 || max(off, -off) <= expected/8)
}

// Now returns nanoseconds on the reference's time line.
func (c *TSC) Now() int64 {
	hi, lo := bits.Mul64(readTSC()-c.start, c.mult)
	return c.base + int64(hi<<32|lo>>32)
}
