// SPDX-License-Identifier: Apache-2.0

package uetcc

// A clock turns the caller's times into times that never go back: after a step back the clock goes
// on from the last time at the caller's pace, so no timer waits until the caller's clock has
// caught up.
type clock struct {
	last   int64 // ns; the latest time given out
	skew   int64 // the difference added, ns
	tapped bool  // the endpoint has a Config.Tap
	odd    bool  // no time stands for itself without a closer look: skew is not 0, or tapped
}

// even reports whether now stands for itself and nobody has to see the packets of the call: one
// test for both, so that a tap costs nothing where there is none. Otherwise the call goes on
// between begin and end.
func (c *clock) even(now int64) bool {
	if c.odd || now < c.last {
		return false
	}
	c.last = now
	return true
}

// begin returns the time that now stands for. Until end the calls of the endpoint for one another
// are even.
func (c *clock) begin(now int64) int64 {
	now = c.readOdd(now)
	c.odd = false
	return now
}

// end ends what begin began.
func (c *clock) end() { c.odd = c.tapped || c.skew != 0 }

// read returns the time meant by now.
func (c *clock) read(now int64) int64 {
	if c.even(now) {
		return now
	}
	return c.readOdd(now)
}

// readOdd is read for a clock that has gone back, now or before.
func (c *clock) readOdd(now int64) int64 {
	t := now + c.skew
	if t < c.last { // the clock has gone back, or beyond the end of time
		t, c.skew = c.last, c.last-max(now, 0)
		c.end()
	}
	c.last = t
	return t
}
