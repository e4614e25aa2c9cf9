// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// FabricConfig describes a [FabricRate]. Zero fields have the defaults their
// comments name.
type FabricConfig struct {
	Oversubscription float64 // capacity into the fabric over capacity out of it, 1 or more; required
	RTT              int64   // unloaded round trip, ns; required
	Target           float64 // marked fraction to hold, up to 1; default 0.3
	Increase         float64 // step upwards, up to 1, default 0.01 of the full rate
	Decrease         float64 // part of the excess taken off by a step down, up to 1; default 0.5
	Gain             float64 // weight of a new sample, up to 1; default 0.5
	MinRate          float64 // 0.001 to 1; default 0.9 / Oversubscription, at least 0.01
}

// FabricRate slows a receiver's credit where the fabric, not the last hop, is
// the bottleneck and no window reacts: an additive-increase,
// multiplicative-decrease controller fed with the marks and trims of arrivals.
// Pass [FabricRate.Step]'s result to [Receiver.SetFactor].
//
// Single writer. Source: the oversubscription controller of htsim.
type FabricRate struct {
	c      FabricConfig
	rate   float64 // in [MinRate, 1]
	marked float64 // smoothed fraction
	rises  int     // consecutive steps upwards

	packets, ecn, lastHop, elsewhere int64 // of the present interval
}

// NewFabricRate validates c; the rate is 1. Errors wrap [ErrConfig].
func NewFabricRate(c FabricConfig) (FabricRate, error) {
	c.Target = cmp.Or(c.Target, 0.3)
	c.Increase = cmp.Or(c.Increase, 0.01)
	c.Decrease = cmp.Or(c.Decrease, 0.5)
	c.Gain = cmp.Or(c.Gain, 0.5)
	if c.Oversubscription > 0 {
		c.MinRate = cmp.Or(c.MinRate, max(0.9/c.Oversubscription, 0.01))
	}
	err := cmp.Or(
		check.Range(ErrConfig, "Oversubscription", c.Oversubscription, 1, 1e6),
		check.Range(ErrConfig, "RTT", c.RTT, 1, maxTime),
		check.Range(ErrConfig, "Target", c.Target, 0, 1),
		check.Range(ErrConfig, "Increase", c.Increase, 0, 1),
		check.Range(ErrConfig, "Decrease", c.Decrease, 0, 1),
		check.Range(ErrConfig, "Gain", c.Gain, 0, 1),
		check.Range(ErrConfig, "MinRate", c.MinRate, minFactor, 1),
	)
	if err != nil {
		return FabricRate{}, err
	}
	return FabricRate{c: c, rate: 1}, nil
}

// OnArrival counts a whole packet, marked or not: the marked fraction is over whole packets.
func (f *FabricRate) OnArrival(ecn bool) {
	f.packets++
	if ecn {
		f.ecn++
	}
}

// OnTrim counts a packet whose payload was cut: at the last hop, the pacer's own business, or
// inside the fabric.
func (f *FabricRate) OnTrim(lastHop bool) {
	f.packets++
	if lastHop {
		f.lastHop++
	} else {
		f.elsewhere++
	}
}

// Step ends an interval and returns the new rate factor.
func (f *FabricRate) Step() float64 {
	frac := 0.0
	if whole := f.packets - f.lastHop - f.elsewhere; whole != 0 {
		frac = float64(f.ecn) / float64(whole)
	}
	down := f.elsewhere > 0
	if down {
		f.rate -= float64(f.elsewhere) / float64(f.packets)
	}
	f.marked = (1-f.c.Gain)*f.marked + f.c.Gain*frac
	if f.marked > f.c.Target {
		f.rate *= 1 - (f.marked-f.c.Target)*f.c.Decrease
		down = true
	}
	if down {
		f.rises = 0
	} else {
		step := f.c.Increase
		if f.ecn == 0 { // doubled while the fabric stays clean, as far as a shift goes
			step *= float64(int64(1) << min(f.rises, 62))
		}
		f.rate += step
		f.rises = max(f.rises, f.rises+1) // 32 bits are full after some hours
	}
	f.rate = min(max(f.rate, f.c.MinRate), 1)
	f.packets, f.ecn, f.lastHop, f.elsewhere = 0, 0, 0, 0
	return f.rate
}

// Trend returns the smoothed fraction of marked packets and how many steps
// upwards there were in a row.
func (f *FabricRate) Trend() (marked float64, rises int) { return f.marked, f.rises }

// Interval returns the length of the next interval in nanoseconds: 1.5 RTT times
// a factor from 0.75 to 1.25 selected by draw, a uniform random number, so
// receivers do not step together.
func (f *FabricRate) Interval(draw uint32) int64 {
	u := 0.75 + 0.5*float64(draw)/(1<<32)
	return max(1, int64(1.5*float64(f.c.RTT)*u))
}
