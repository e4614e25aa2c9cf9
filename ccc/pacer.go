// SPDX-License-Identifier: Apache-2.0

package ccc

import "math"

// Pacer is an [Algorithm] that spreads a window over the round trip, to avoid a burst. The
// rate is Gain percent of a window each base round trip: each packet makes the next wait for
// the packet's time at the rate. One packet is allowed at a time, and idle time is not made
// up for.
//
// Single writer; one Pacer for each context. The zero value is ready.
type Pacer struct {
	// Gain is the rate in percent of a window each base round trip; 0 means 125, so the
	// window and not the pacer limits in the long run.
	Gain int64

	next   int64 // when the next packet may go, ns
	rest   int64 // the division's remainder, byte-ns
	window int64 // bytes, as of the last event
	rtt    int64 // ns
}

const defaultGain = 125

// OnSend makes the next packet wait for the present packet.
func (p *Pacer) OnSend(now, size int64, _ bool) {
	gain := p.Gain
	if gain == 0 {
		gain = defaultGain
	}
	rate := p.window * gain // percent of bytes a round trip
	if rate <= 0 || p.rtt <= 0 || size > math.MaxInt64/200/p.rtt {
		return
	}
	owed := size*100*p.rtt + p.rest
	p.next = max(p.next, now) + owed/rate
	p.rest = owed % rate
}

// OnACK does nothing: the rate follows the window.
func (p *Pacer) OnACK(int64, Ack) {}

// OnNACK does nothing.
func (p *Pacer) OnNACK(int64, Nack) {}

// OnInferredLoss does nothing.
func (p *Pacer) OnInferredLoss(int64, Loss) {}

// Allow lets a packet go when due.
func (p *Pacer) Allow(_ int64, s Standing) (bytes, notBefore int64) {
	p.window, p.rtt = s.Cwnd, s.BaseRTT
	return s.MTU, p.next
}
