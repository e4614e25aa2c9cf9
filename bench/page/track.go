// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"
	"slices"
)

// A Clock divides the time of a run into steps, no more than Steps: a step becomes twice as long
// when time outgrows the steps. Tracks and sums of one clock have the same steps. The unit of
// time is the caller's.
type Clock struct {
	Steps int  // at least 2
	Shift uint // a step is 1<<Shift long
}

// step is the step a time, 0 or later, is in.
func (c *Clock) step(at int64) int {
	for at>>c.Shift >= int64(c.Steps) {
		c.Shift++
	}
	return int(at >> c.Shift)
}

// Step is how long a step is.
func (c *Clock) Step() int64 { return 1 << c.Shift }

// A Track is the least and the largest value in each step of a quantity that is constant between
// changes. The zero Track is empty.
type Track struct {
	lo, hi []int64
	first  int  // step of lo[0]
	shift  uint // of the clock, when last looked at
	now    int64
}

// Set notes the value is v from a time on, never before the time of the last call.
func (t *Track) Set(c *Clock, at, v int64) {
	if len(t.lo) == 0 {
		t.now = v
	}
	t.reach(c, at)
	i := len(t.lo) - 1
	t.lo[i], t.hi[i] = min(t.lo[i], v), max(t.hi[i], v)
	t.now = v
}

// reach makes a step for a time, with the values unchanged until then.
func (t *Track) reach(c *Clock, at int64) {
	step := c.step(at)
	t.widen(c)
	if len(t.lo) == 0 {
		t.first = step
	}
	for t.first+len(t.lo) <= step {
		t.lo, t.hi = append(t.lo, t.now), append(t.hi, t.now)
	}
}

// widen gives t the steps of the clock.
func (t *Track) widen(c *Clock) {
	for ; t.shift < c.Shift; t.shift++ {
		n := 0
		for i := range t.lo {
			if at := (t.first+i)>>1 - t.first>>1; at < n {
				t.lo[at], t.hi[at] = min(t.lo[at], t.lo[i]), max(t.hi[at], t.hi[i])
			} else {
				t.lo[at], t.hi[at] = t.lo[i], t.hi[i]
				n++
			}
		}
		t.lo, t.hi, t.first = t.lo[:n], t.hi[:n], t.first>>1
	}
}

// Series returns t up to a time, with times in units of the clock's; nothing if t is empty.
func (t *Track) Series(c *Clock, until int64, unit float64) (s Series) {
	if len(t.lo) == 0 {
		return s
	}
	t.reach(c, until)
	same := true
	for i := range min(len(t.lo), max(0, c.step(until)+1-t.first)) {
		s.Lo, s.Hi = append(s.Lo, float64(t.lo[i])), append(s.Hi, float64(t.hi[i]))
		same = same && t.lo[i] == t.hi[i]
	}
	if same {
		s.Hi = nil
	}
	s.Begin, s.Step = float64(t.first)*float64(c.Step())/unit, float64(c.Step())/unit
	return s
}

// A Sum is how much there was in each step of a clock. The zero Sum is empty.
type Sum struct {
	n     []int64
	shift uint
	total int64
}

// Add notes an amount at a time, not before the time of the last call.
func (s *Sum) Add(c *Clock, at, n int64) {
	step := c.step(at)
	s.widen(c)
	for len(s.n) <= step {
		s.n = append(s.n, 0)
	}
	s.n[step] += n
	s.total += n
}

// Total is the sum of all amounts.
func (s *Sum) Total() int64 { return s.total }

func (s *Sum) widen(c *Clock) {
	for ; s.shift < c.Shift; s.shift++ {
		n := (len(s.n) + 1) / 2
		for i := range s.n {
			v := s.n[i]
			s.n[i] = 0
			s.n[i/2] += v
		}
		s.n = s.n[:n]
	}
}

// At is the amount in a step of the clock.
func (s *Sum) At(c *Clock, step int) int64 {
	if s.widen(c); step < len(s.n) {
		return s.n[step]
	}
	return 0
}

// Used is how many steps there are up to a time.
func (c *Clock) Used(until int64) int { return c.step(until) + 1 }

// Middle is the band of the values between the 10th and the 90th percentile of tracks in each
// step, by the largest value of each track, and the median.
func Middle(tracks []Series) (band, median Series) {
	band.Band = true
	end := 0
	at := func(s *Series) int { return int(math.Round(s.Begin / s.Step)) }
	for i := range tracks {
		band.Step = max(band.Step, tracks[i].Step)
	}
	for i := range tracks {
		if len(tracks[i].Lo) > 0 {
			end = max(end, at(&tracks[i])+len(tracks[i].Lo))
		}
	}
	median.Step = band.Step
	for step := range end {
		var v []float64
		for i := range tracks {
			s := &tracks[i]
			if len(s.Lo) == 0 || step < at(s) || step >= at(s)+len(s.Lo) {
				continue
			}
			v = append(v, s.top(step-at(s)))
		}
		low, mid, high := quantiles(v)
		band.Lo, band.Hi, median.Lo = append(band.Lo, low), append(band.Hi, high), append(median.Lo, mid)
	}
	return band, median
}

// quantiles are the 10th, 50th and 90th percentile of v, sorted in place.
func quantiles(v []float64) (low, mid, high float64) {
	if len(v) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	slices.Sort(v)
	return v[len(v)/10], v[len(v)/2], v[len(v)*9/10]
}

// top is the largest value in a step.
func (s *Series) top(i int) float64 {
	if s.Hi != nil {
		return s.Hi[i]
	}
	return s.Lo[i]
}
