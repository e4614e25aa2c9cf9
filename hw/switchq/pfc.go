// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
)

// PFCConfig holds the thresholds of priority flow control for one class of one
// ingress port. UET assumes that fabrics run without priority flow control; the
// model exists to show why.
type PFCConfig struct {
	XOff  int64 // bytes above which the upstream is told to stop
	XOn   int64 // bytes below which the upstream may go on; less than XOff; 0: not before the end of the pause
	Pause int64 // nanoseconds that one pause frame lasts
}

// Validate reports the first senseless field; the error wraps [ErrConfig].
func (c *PFCConfig) Validate() error {
	return cmp.Or(
		check.AtLeast(ErrConfig, "XOff", c.XOff, 1),
		check.Range(ErrConfig, "XOn", c.XOn, 0, c.XOff-1),
		check.AtLeast(ErrConfig, "Pause", c.Pause, 1),
	)
}

// MaxPause is the longest pause a frame can carry: 65,535 quanta of 512
// bit times, in whole nanoseconds, for a link of bitsPerSecond, above 0.
func MaxPause(bitsPerSecond int64) int64 {
	return int64(65_535 * 512 * 1e9 / float64(bitsPerSecond))
}

// Headroom is the free bytes above xOFF for a pause without loss: those on the
// cable in both directions, those sent by the upstream before the reaction, and
// a packet at either end that cannot be interrupted. Times are nanoseconds, at
// most 10 ms together at 1.6 Tb/s. A part of a byte counts as one.
func Headroom(bitsPerSecond, cableNs, reactionNs, mtu int64) int64 {
	return ((bitsPerSecond+7)/8*(2*cableNs+reactionNs)+1e9-1)/1e9 + 2*mtu
}

// An Ingress counts the bytes of one input port and class still waiting in the
// switch: the downstream side of priority flow control. Single writer; the zero
// Ingress is empty and lets the upstream send.
type Ingress struct {
	Bytes  int64 // waiting; to read
	until  int64 // end of the last pause sent
	paused bool  // a pause was sent, and no resume after
}

// Arrive counts size bytes in at time now. Arrive asks for a frame that stops the upstream for
// [PFCConfig].Pause above xOFF, and again once half of the last pause is over, for packets that still come or with
// a size of 0. A port that stands still for longer than a pause needs a call with 0 in the
// second half of each pause: the upstream goes on at the end, and nothing but [Headroom] is free.
//
//uetcc:hot inlines nobounds
func (i *Ingress) Arrive(c *PFCConfig, now, size int64) (pause bool) {
	i.Bytes += size
	if i.Bytes <= c.XOff || i.paused && i.until-now > c.Pause/2 {
		return false
	}
	i.until, i.paused = deadline.After(now, c.Pause), true
	return true
}

// Leave counts size bytes out. Leave asks for a resume, a frame with a pause of 0, once below xON.
//
//uetcc:hot inlines nobounds
func (i *Ingress) Leave(c *PFCConfig, size int64) (resume bool) {
	i.Bytes -= size
	if i.Bytes >= c.XOn || !i.paused {
		return false
	}
	i.paused = false
	return true
}

// A Pauser is the upstream side: the stopped classes of an egress port, and the
// ends of the pauses. Single writer; the zero Pauser stops nothing.
type Pauser struct {
	until  [numClasses]int64 // ends of the pauses in paused
	paused ClassSet          // by a frame; the pause may be over
}

// On takes in a frame for class c: a pause of so many nanoseconds, or with 0 a resume.
func (g *Pauser) On(c Class, now, pause int64) {
	if g.paused = g.paused.without(c); pause > 0 {
		g.until[c], g.paused = deadline.After(now, pause), g.paused.with(c)
	}
}

// Paused is the set of classes forbidden to send at time now, with the earliest
// end of a pause (0 if the set is empty): a timer that ends the pause even if no
// resume ever comes.
func (g *Pauser) Paused(now int64) (s ClassSet, next int64) {
	for c, until := range g.until {
		if !g.paused.Has(Class(c)) || until <= now {
			continue
		}
		if s == 0 || until < next {
			next = until
		}
		s = s.with(Class(c))
	}
	return s, next
}
