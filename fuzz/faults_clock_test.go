// SPDX-License-Identifier: Apache-2.0

package fuzz

import "github.com/uetcc/uetcc/fuzz/internal/faultnet"

const us = int64(1000)

// faultClock is the clock of one end. It follows the time of the network, but it may
// jump ahead, or stand still for a while.
type faultClock struct {
	now    int64
	offset int64
	until  int64 // it stands still before this time of the network
	back   bool  // it goes back the next time
}

// read moves the clock to where it is when the network has the given time.
func (c *faultClock) read(net int64) int64 {
	if t := net + c.offset; net >= c.until && (t > c.now || c.back) {
		c.now, c.back = max(t, 0), false
	}
	return c.now
}

// when is the time of the network at which the clock shows at.
func (c *faultClock) when(at int64) int64 { return max(at-c.offset, c.until) }

// goBack makes it go back by up to most.
func (c *faultClock) goBack(n *faultnet.Net, most int64) {
	c.offset -= min(n.Rand.Int64N(most), max(c.now, 0))
	c.back = true
}

// upset makes it jump by up to leap, or stand still for up to rest.
func (c *faultClock) upset(n *faultnet.Net, leap, rest int64) {
	if n.Chance(.5) {
		c.offset += n.Rand.Int64N(leap)
		n.Counts[faultnet.ClockJump]++
	} else {
		c.until = n.Now + n.Rand.Int64N(rest)
		n.Counts[faultnet.ClockStill]++
	}
}
