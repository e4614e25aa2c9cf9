// SPDX-License-Identifier: Apache-2.0

// Package cc has the yardstick for a window update.
package cc

// Shape is a window controller with the size and the kinds of branches in
// network-signalled control: four cases by mark and delay, increases applied
// once in a while with one division, and a decrease at most once a round trip.
// Shape stands for the cost of such a controller without being a controller.
type Shape struct {
	Cwnd, maxCwnd, minCwnd      int64
	incr, received, _           int64
	target, baseRTT, avg        int64
	lastAdjust, lastDec, qaEnd  int64
	achieved, fastCount         int64
	alpha, fair, eta            int64
	adjBytes, adjTime, InFlight int64
	fast                        bool
	gain                        float64
}

// NewShape is a context for 100 Gb/s and a base round trip of 12 us (in ns).
func NewShape() Shape {
	return Shape{
		Cwnd: 150_000, maxCwnd: 225_000, minCwnd: 4096, target: 9_000, baseRTT: 12_000,
		alpha: 3, fair: 5 * 4096, eta: 614, adjBytes: 8 * 4096, adjTime: 12_000, gain: 0.8,
	}
}

// OnAck takes an acknowledgement in.
func (s *Shape) OnAck(now, delay, bytes int64, mark bool) {
	s.InFlight -= bytes
	s.achieved += bytes
	s.received += bytes
	s.avg += (delay - s.avg) >> 6
	if now > s.qaEnd {
		s.adapt(now, delay)
	}
	switch {
	case !mark && delay >= s.target:
		s.incr += s.fair * bytes
	case !mark:
		s.grow(delay, bytes)
	case delay >= s.target:
		s.shrink(now)
	}
	s.clamp()
	if s.received > s.adjBytes || now-s.lastAdjust > s.adjTime {
		s.settle(now)
	}
}

func (s *Shape) adapt(now, delay int64) {
	if delay > 4*s.target && s.achieved < s.maxCwnd>>3 {
		s.Cwnd = max(s.achieved, s.minCwnd)
		s.incr, s.received = 0, 0
	}
	s.achieved = 0
	s.qaEnd = now + s.baseRTT + s.target
}

func (s *Shape) grow(delay, bytes int64) {
	if delay < 1000 {
		if s.fastCount += bytes; s.fastCount > s.Cwnd || s.fast {
			s.Cwnd += bytes >> 2
			s.fast = true
			return
		}
	} else {
		s.fastCount = 0
	}
	s.fast = false
	s.incr += s.alpha * bytes * (s.target - delay)
}

func (s *Shape) shrink(now int64) {
	s.fast, s.fastCount = false, 0
	if s.avg > s.target && now-s.lastDec > s.baseRTT {
		factor := max(1-s.gain*float64(s.avg-s.target)/float64(s.avg), 0.5)
		s.Cwnd = max(int64(float64(s.Cwnd)*factor), s.minCwnd)
		s.lastDec = now
	}
}

func (s *Shape) settle(now int64) {
	s.Cwnd += s.incr / s.Cwnd
	if now-s.lastAdjust > s.adjTime {
		s.Cwnd += s.eta
		s.lastAdjust = now
	}
	s.incr, s.received = 0, 0
	s.clamp()
}

func (s *Shape) clamp() { s.Cwnd = min(max(s.Cwnd, s.minCwnd), s.maxCwnd) }

// Touch loads a word of each of s's lines.
func (s *Shape) Touch() int64 { return s.Cwnd + s.lastAdjust + s.InFlight }
