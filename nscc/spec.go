// SPDX-License-Identifier: Apache-2.0

package nscc

import "github.com/uetcc/uetcc/internal/enum"

// The quadrants of mark and delay, as indices. The quadrants of a held increase follow.
const (
	quadProportional = 0 // unmarked, below target
	quadFair         = 1 // unmarked, at or above target
	quadHold         = 2 // marked, below target
	quadDecrease     = 3 // marked, at or above target
	quadHeld         = 4 // unmarked and held, below target
	quadHeldLong     = 5 // unmarked and held, at or above target
	quadrants        = 8 // a power of two: the two bits and the delay cannot be out of range
)

// quadrantOf classifies one sample. A delay equal to the target counts as long.
func quadrantOf(b ackBits, qdelay, target int64) int {
	long := 0
	if qdelay >= target {
		long = quadFair
	}
	return int(b&(markBit|heldBit)) | long
}

// A quadrant is the effect of one combination of mark and delay on the delay average, the
// increase accumulator and the fast-increase count. A table of quadrants, indexed by
// quadrantOf, spares the step of an acknowledgement unpredictable branches. A quadrant is
// one cache line.
type quadrant struct {
	slope      float64 // accumulator += bytes x (slope x (target - delay) + level)
	level      float64
	clearAt    int64 // a delay from here on ends fast increase
	countMask  int64 // all ones where near-zero delay counts towards fast increase
	drainAbove int64 // a delay above this averages as base RTT / 4
	marked     bool
	outcome
	_ [21]byte
}

// quadrants is the table of the six; the last two indices are never used.
func (c *Config) quadrants(k Constants) [quadrants]quadrant {
	drain := int64(never)
	if !c.ForgettingFilter {
		drain = k.TargetQdelay
	}
	hold := quadrant{clearAt: never, drainAbove: drain, outcome: outcome{action: ActionHold}}
	return [quadrants]quadrant{
		quadProportional: {
			slope: k.alpha, clearAt: k.FastDelay, countMask: -1, drainAbove: drain,
			outcome: outcome{action: ActionProportional},
		},
		quadFair:     {level: k.FairIncrease, clearAt: never, drainAbove: drain, outcome: outcome{action: ActionFair}},
		quadHold:     {clearAt: never, drainAbove: never, marked: true, outcome: outcome{action: ActionHold}},
		quadDecrease: {drainAbove: never, marked: true, outcome: outcome{action: ActionConsidered}},
		quadHeld:     hold,
		quadHeldLong: hold,
	}
}

// sample is the delay entered into the average: q, or draining where the queue behind is
// going away. No branch: see [Window.streak].
//
//uetcc:hot inlines nobounds
func (d *quadrant) sample(q, draining int64) int64 {
	if q <= d.drainAbove {
		draining = q
	}
	return draining
}

// average moves the average by a fixed share of the sample.
//
//uetcc:hot inlines nobounds
func (w *Window) average(p *Params, sample int64) float64 {
	w.avg = float64(p.gain*float64(sample)) + float64(p.keep*w.avg)
	return w.avg
}

// forget moves the average by the share of a base round trip passed.
func (w *Window) forget(now, q int64) {
	share := 1.0
	if since := now - w.lastSample; since < w.base {
		share = float64(max(since, 0)) / float64(w.base)
	}
	w.lastSample = now
	w.avg += float64(share * (float64(q) - w.avg))
}

// skip deals with a mark from before a quick adapt.
func (w *Window) skip() {
	w.did(ActionIgnore)
	w.incr, w.received = 0, 0
}

// quickAdapt sets the window to the bytes acknowledged in the period that ends
// now, unless the period is the first or much was acknowledged, and reports
// whether.
//
//uetcc:hot inlines nobounds
func (w *Window) quickAdapt(p *Params) bool {
	if w.qaEnd == 0 || w.achieved >= int64(w.maxWnd)>>p.qaGate {
		return false
	}
	w.cwnd = max(w.achieved, p.mtu)
	w.ignore, w.ignored = small(w.inflight), 0
	w.trigger = false
	w.did(ActionQuickAdapt)
	w.incr, w.received = 0, 0
	return true
}

// openPeriod begins a quick-adapt period: one base round trip and one target
// delay.
//
//uetcc:hot inlines nobounds
func (w *Window) openPeriod(p *Params, now int64) {
	w.achieved = 0
	w.qaEnd = now + w.base + p.target
}

// pendMask is the width of rcv_cwnd_pend.
const pendMask = 0x7f

// penalise takes pend/128 of n newly acknowledged bytes, still counted as in flight, off the
// window. pend = 0, from the restore flag, brings back the window saved by the first
// penalty. See [Config.PenaltyShareOnly].
//
//uetcc:hot inlines nobounds
func (w *Window) penalise(p *Params, n, pend int64) {
	if pend == 0 {
		if w.saved != 0 {
			// The ceiling may have come down since the window was saved.
			w.cwnd = int64(min(w.saved, w.maxWnd))
			w.saved = 0
		}
		return
	}
	if w.saved == 0 {
		w.saved = uint32(w.cwnd)
	}
	if !p.shareOnly {
		w.cwnd = min(w.cwnd, w.inflight-n)
	}
	w.cwnd = max(w.cwnd-pend*n>>7, p.mtu)
}

// usual is above the byte counts, the delays and the bits of any ordinary acknowledgement, so
// a single comparison of all three together tells.
const usual = 1 << 32

// unusual handles the cases left out by onACK: other profiles, numbers out of range, a
// penalty or its end, no sample, a new base round trip, Config.ForgettingFilter, an increase to
// hold. The rtt of s is the excess over the base round trip. The result is an ordinary signal
// for onACK to go on with, or false if nothing is left to do.
//
//uetcc:hot nobounds
func (w *Window) unusual(p *Params, now int64, s signal) (signal, bool) {
	s.rtt += w.base
	if p.profile != ProfileSpec {
		if p.profile == ProfileAdaptive {
			w.ackAdaptive(p, now, s)
		} else {
			w.ackHTSim(p, now, s)
		}
		return s, false
	}
	s.bytes = clampBytes(s.bytes)
	if s.bits&(restoreBit|pendMask<<pendShift) != 0 {
		w.penalise(p, s.bytes, s.bits.pend())
	}
	if s.rtt <= 0 {
		w.count(s.bytes)
		w.did(ActionNone)
		return s, false
	}
	w.SampleBase(p, s.rtt)
	s.rtt = min(s.rtt, never) - w.base
	if p.forgets {
		w.forget(now, s.rtt)
	}
	if !s.bits.marked() && w.held(p, s.bits) {
		s.bits |= heldBit
	}
	return s, true
}

// held reports whether an increase has to wait: the destination penalises, or the
// window is not full, before the bytes of the acknowledgement are out of flight.
//
//uetcc:hot inlines nobounds
func (w *Window) held(p *Params, b ackBits) bool {
	return b.pend() != 0 || p.onlyFull && w.inflight+p.mtu <= w.cwnd
}

// Action is an event's effect on the window, for observers.
type Action uint8

// The actions. The actions of the four cases of mark and delay follow in the
// order of the cases.
const (
	ActionNone         Action = iota // nothing, or counters only
	ActionProportional               // increase in proportion to the delay's slack
	ActionFair                       // constant increase
	ActionHold                       // marked at low delay, or increase held: penalty, unused window
	ActionConsidered                 // decrease considered, not due
	ActionDecrease                   // multiplicative decrease
	ActionFast                       // fast increase
	ActionQuickAdapt                 // window set to the bytes acknowledged
	ActionIgnore                     // mark from before a quick adapt
	ActionReduce                     // window reduced by a lost or trimmed packet
)

var actionNames = [...]string{"none", "proportional", "fair", "hold", "considered", "decrease", "fast",
	"quick-adapt", "ignore", "reduce"}

// String is a word, such as fair or quick-adapt.
func (a Action) String() string { return enum.Name(actionNames[:], a) }
