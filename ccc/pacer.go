// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"cmp"
	"math"
)

// NewPacer returns an [Algorithm] for one context that spreads a window over the round trip, to
// avoid a burst. gain is the rate in percent of a window each base round trip; 0 means 125, so
// the window and not the pacer limits in the long run. Each packet makes the next wait for the
// packet's time at the rate. One packet is allowed at a time, and idle time is not made up for.
func NewPacer(gain int64) Algorithm { return &pacer{gain: cmp.Or(gain, defaultGain)} }

const defaultGain = 125

type pacer struct {
	gain   int64
	next   int64 // when the next packet may go, ns
	rest   int64 // the division's remainder, byte-ns
	window int64 // bytes, as of the last event
	rtt    int64 // ns
}

// OnSend makes the next packet wait for the present packet.
func (p *pacer) OnSend(now, size int64, _ bool) {
	rate := p.window * p.gain // percent of bytes a round trip
	if rate <= 0 || p.rtt <= 0 || size > math.MaxInt64/200/p.rtt {
		return
	}
	owed := size*100*p.rtt + p.rest
	p.next = max(p.next, now) + owed/rate
	p.rest = owed % rate
}

// OnACK does nothing: the rate follows the window.
func (p *pacer) OnACK(int64, Ack) {}

// OnNACK does nothing.
func (p *pacer) OnNACK(int64, Nack) {}

// OnInferredLoss does nothing.
func (p *pacer) OnInferredLoss(int64, Loss) {}

// Allow lets a packet go when due.
func (p *pacer) Allow(_ int64, s Standing) (bytes, notBefore int64) {
	p.window, p.rtt = s.Cwnd, s.BaseRTT
	return s.MTU, p.next
}
