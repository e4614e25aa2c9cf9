package ccc

import "math"

// Pacer is an [Algorithm] that spreads a window over its round trip, so that it does not
// leave as one burst. It sends at Gain percent of a window each base round trip: each packet
// makes the next wait for as long as it takes at that rate. It allows one packet at a time,
// and time in which there is nothing to send is not made up for.
//
// Single writer; one Pacer for one context. The zero value is ready.
type Pacer struct {
	// Gain is the rate in percent of a window each base round trip; 0 means 125, so
	// that the window and not the pacer is what limits in the long run.
	Gain int64

	next   int64 // when the next packet may go, ns
	rest   int64 // what the division left, byte-ns
	window int64 // bytes, as of the last event
	rtt    int64 // ns
}

const defaultGain = 125

// OnSend makes the next packet wait for this one.
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

// Allow lets one packet go when its time has come.
func (p *Pacer) Allow(_ int64, s Standing) (bytes, notBefore int64) {
	p.window, p.rtt = s.Cwnd, s.BaseRTT
	return s.MTU, p.next
}
