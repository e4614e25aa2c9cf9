// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/uetcc/uetcc/internal/check"
)

// ZTRParams are the parameters of [ZTR]. Get them from [DefaultZTRParams] and
// check changes with [ZTRParams.Validate]. Read-only while flows use it.
type ZTRParams struct {
	Alpha     uint32 // fxp16, how much deeper a queue slow flows may see: 0..65,536
	MaxDec    uint32 // fxp16, strongest regular decrease: 52,429..65,536
	AI        Rate   // step of an increase: 1..[LineRate]
	HAI       Rate   // extra step after each calm period: 0..[LineRate]
	HAIPeriod uint32 // ns without a decrease: >= 1
	Threshold uint32 // ns above the minimum that the delay may have at line rate: >= 1
	MaxDelay  uint32 // ns, round trip that counts as severe: >= 1
	First     Rate   // rate after the first congestion: MinRate..[LineRate]
	MinRate   Rate   // 1..[LineRate]
	NewFlow   Rate   // MinRate..[LineRate]
	MinWindow uint32 // ns that a minimum is remembered at least: >= 1
}

// DefaultZTRParams returns defaults after the published Spectrum-X profiles.
func DefaultZTRParams() ZTRParams {
	return ZTRParams{
		Alpha: 6553, MaxDec: 63570, AI: 96, HAI: 1700, HAIPeriod: 200000,
		Threshold: 13000, MaxDelay: 250000, First: LineRate / 2,
		MinRate: 64, NewFlow: LineRate, MinWindow: 10_000_000,
	}
}

// minMaxDec keeps five regular decreases at once from reaching zero.
const minMaxDec = one - one/5

// Validate reports the first parameter out of its range; the error wraps [ErrConfig].
func (p *ZTRParams) Validate() error {
	return cmp.Or(
		check.Range(ErrConfig, "Alpha", p.Alpha, 0, one),
		check.Range(ErrConfig, "MaxDec", p.MaxDec, minMaxDec, one),
		check.Range(ErrConfig, "AI", p.AI, 1, LineRate),
		check.Range(ErrConfig, "HAI", p.HAI, 0, LineRate),
		check.AtLeast(ErrConfig, "HAIPeriod", p.HAIPeriod, 1),
		check.AtLeast(ErrConfig, "Threshold", p.Threshold, 1),
		check.AtLeast(ErrConfig, "MaxDelay", p.MaxDelay, 1),
		check.AtLeast(ErrConfig, "MinWindow", p.MinWindow, 1),
		check.Range(ErrConfig, "MinRate", p.MinRate, 1, LineRate),
		check.Range(ErrConfig, "First", p.First, p.MinRate, LineRate),
		check.Range(ErrConfig, "NewFlow", p.NewFlow, p.MinRate, LineRate),
	)
}

// ZTR is a flow's context under our ZTR-RTT. The zero value is a flow never
// seen; the fields are for reading. Single writer.
type ZTR struct {
	Rate   Rate   // 0: never seen
	RTT    uint32 // ns, last sample, network's share
	MinRTT uint32 // ns, smallest sample of the present and the last window
	fresh  uint32 // ns, smallest sample of the present window
	window uint32 // begin of the present window of the minimum
	calm   uint32 // since when there has been no decrease
	active uint32 // last burst
	Probe
	nack, cnp bool
	seen      bool // congestion was seen since the flow was last idle
}

// OnEvent takes an event and returns the flow's rate. The first event ever, of
// whatever type, only starts the flow.
//
//uetcc:hot nobounds
func (f *ZTR) OnEvent(p *ZTRParams, e *Event) Decision {
	if f.Rate == 0 {
		*f = ZTR{
			Rate: p.NewFlow, MinRTT: math.MaxUint32, fresh: math.MaxUint32,
			window: e.Time, calm: e.Time, active: e.Time, Probe: Probe{SentAt: e.Time, Wait: 1},
		}
		return Decision{f.Rate, true}
	}
	switch e.Type {
	case EventTX:
		f.seen = f.seen && e.Time-f.active <= p.MaxDelay
		f.active = e.Time
		ask := f.onTX(e, e.Time-f.SentAt)
		f.Backoff = min(f.Backoff, 13) // beyond 13 the shift loses bits
		return Decision{f.Rate, ask}
	case EventRTT:
		f.onRTT(p, e)
		return Decision{f.Rate, true}
	case EventCNP:
		f.cnp = true
	case EventNACK:
		f.nack = true
	}
	return Decision{Rate: f.Rate}
}

// onRTT takes a sample and moves the rate one step.
//
//uetcc:hot nobounds
func (f *ZTR) onRTT(p *ZTRParams, e *Event) {
	f.onAnswer()
	f.RTT = e.Network(e.Time)
	f.learn(p, e.Time)
	rate := f.next(p, e.Time)
	if rate < f.Rate {
		f.calm = e.Time
	}
	f.Rate = min(max(rate, p.MinRate), LineRate)
	f.cnp = false
}

// learn keeps the smallest sample of the present and the last window of time.
func (f *ZTR) learn(p *ZTRParams, now uint32) {
	if now-f.window >= p.MinWindow {
		f.MinRTT, f.fresh, f.window = f.fresh, math.MaxUint32, now
	}
	f.fresh = min(f.fresh, f.RTT)
	f.MinRTT = min(f.MinRTT, f.fresh)
}

// next returns the rate that follows from the last sample, before clamping.
//
//uetcc:hot nobounds
func (f *ZTR) next(p *ZTRParams, now uint32) Rate {
	expected := f.expected(p)
	severe, late := f.RTT >= p.MaxDelay, f.RTT > expected
	step := fxp16(one - p.MaxDec)
	switch {
	case (late || f.cnp) && !f.seen:
		f.seen = true
		if f.Rate > p.First {
			return p.First
		}
		return f.Rate.mul(fxp16(p.MaxDec))
	case f.nack && severe:
		f.nack = false
		return f.Rate.mul(one - 5*step)
	case f.cnp || severe:
		return f.Rate.mul(one - 2*step)
	case late: // as a window would: the rate falls as the round trip grows
		return f.Rate.mul(max(fxp16(p.MaxDec), fxp16(uint64(expected)<<16/uint64(f.RTT))))
	}
	rate := f.Rate + p.AI
	if now-f.calm >= p.HAIPeriod {
		f.calm = now
		rate += p.HAI
	}
	return rate
}

// expected returns the round trip in nanoseconds up to which the network counts
// as uncongested at the current rate. Slow flows may see a deeper queue, in
// proportion to 1/sqrt(rate), so many flows share fairly.
//
//uetcc:hot inlines nobounds
func (f *ZTR) expected(p *ZTRParams) uint32 {
	root := uint64(math.Sqrt(float64(uint64(f.Rate) << 12))) // 65,536 at line rate
	inverse := uint64(1) << 32 / root                        // fxp16
	extra, _ := bits.Mul64(uint64(p.Threshold)*uint64(p.Alpha), (inverse-one)<<32)
	return uint32(min(uint64(p.MaxDelay), uint64(f.MinRTT)+uint64(p.Threshold)+extra))
}
