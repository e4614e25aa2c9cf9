// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"math"

	"github.com/uetcc/uetcc/ccc"
)

// Constants of RFC 9438: the decrease, and how fast the window returns, packets a second cubed.
const (
	cubicBeta  = 0.7
	cubicScale = 0.4
)

// Cubic is RFC 9438. A mark is worth a loss (RFC 3168), and slow start also ends when the round
// trips of one round are an eighth above the shortest, as in HyStart.
type Cubic struct {
	InitialCwnd int64 // bytes; 0: 10 packets

	window
	epoch    epoch
	wMax     float64 // packets
	prior    float64 // window before the last decrease, packets
	rtt      int64   // of the last sample, ns
	shortest int64   // of all, ns
	round    int64   // the shortest of this round trip, ns
	end      int64   // of it: when so much has left the flight
}

// An epoch is the time since growth began after a decrease.
type epoch struct {
	running bool
	begin   int64   // ns
	k       float64 // seconds to wMax
	origin  float64 // wMax, or the window if that was larger, packets
	reno    float64 // what Reno's window would be, packets
}

// OnACK is for [ccc.Algorithm].
func (c *Cubic) OnACK(now int64, a ccc.Ack) {
	used := c.leave(outgoing(&a))
	if a.RTT > 0 {
		c.sample(a.RTT)
	}
	switch packets := float64(a.Bytes) / c.mtu; {
	case c.mtu == 0 || a.ECN && c.decrease():
	case !used:
	case c.slowStart():
		c.grow(float64(a.Bytes))
		if c.round > c.shortest+c.shortest/8 {
			c.ssthresh = c.cwnd
		}
	default:
		c.avoid(now, packets)
	}
}

// sample takes in a round trip.
func (c *Cubic) sample(rtt int64) {
	if c.left >= c.end {
		c.end, c.round = c.sent+1, rtt
	}
	if c.shortest == 0 {
		c.shortest = rtt
	}
	c.rtt, c.shortest, c.round = rtt, min(c.shortest, rtt), min(c.round, rtt)
}

// avoid is congestion avoidance by so many acknowledged packets (RFC 9438 section 4.2 to 4.5).
func (c *Cubic) avoid(now int64, packets float64) {
	w := c.cwnd / c.mtu
	e := &c.epoch
	if !e.running {
		*e = epoch{running: true, begin: now, origin: max(c.wMax, w), reno: w}
		e.k = math.Cbrt((e.origin - w) / cubicScale)
	}
	t := float64(now-e.begin) / 1e9
	target := min(max(e.window(t+float64(c.rtt)/1e9), w), 1.5*w)
	gain := 3 * (1 - cubicBeta) / (1 + cubicBeta)
	if e.reno >= c.prior {
		gain = 1
	}
	e.reno += gain * packets / w
	if e.window(t) < e.reno {
		w = max(w, e.reno)
	} else {
		w += (target - w) / w * packets
	}
	c.cwnd = w * c.mtu
}

// window is W_cubic after t seconds, packets.
func (e *epoch) window(t float64) float64 { return cubicScale*math.Pow(t-e.k, 3) + e.origin }

// decrease is section 4.6 and, for wMax, 4.7: a flow below the last maximum makes room.
func (c *Cubic) decrease() bool {
	before := c.cwnd
	if !c.reduce(cubicBeta) {
		return false
	}
	w, last := before/c.mtu, c.wMax
	c.prior, c.wMax, c.epoch.running = w, w, false
	if w < last {
		c.wMax = w * (1 + cubicBeta) / 2
	}
	return true
}

// OnNACK is for [ccc.Algorithm].
func (c *Cubic) OnNACK(_ int64, n ccc.Nack) { c.lost(n.Size) }

// OnInferredLoss is for [ccc.Algorithm].
func (c *Cubic) OnInferredLoss(_ int64, l ccc.Loss) { c.lost(l.Size) }

func (c *Cubic) lost(size int64) {
	c.leave(size)
	c.decrease()
}

// Allow is for [ccc.Algorithm].
func (c *Cubic) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	c.begin(s, c.InitialCwnd)
	return c.room(s), 0
}
