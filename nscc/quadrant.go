// SPDX-License-Identifier: Apache-2.0

package nscc

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
