// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"cmp"
	"math"

	"github.com/uetcc/uetcc/rccc/tfc"
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

// A cellGate is transport flow control of one context, as an [Algorithm] beside what
// [Control] names: a packet goes when the buffer of the destination has room for all of it.
type cellGate struct {
	p      *tfc.Params
	mtu    int64
	src    tfc.Source
	marked int64 // bytes to send again, whose cells are charged already
}

func (g *cellGate) init(p *Params) {
	*g = cellGate{p: &p.cells, mtu: p.mtu}
	g.src.Init(g.p)
}

func (g *cellGate) OnSend(_, size int64, rtx bool) {
	if rtx {
		g.marked -= size
	} else {
		g.src.OnSend(g.p, size)
	}
}

func (g *cellGate) OnACK(_ int64, a Ack)           { g.marked -= a.RtxBytes }
func (g *cellGate) OnNACK(_ int64, n Nack)         { g.marked += n.Size }
func (g *cellGate) OnInferredLoss(_ int64, l Loss) { g.marked += l.Size }

// Allow lets one packet go at a time: small ones fill more cells than their bytes.
func (g *cellGate) Allow(_ int64, s Standing) (bytes, notBefore int64) {
	g.src.OnCreditUpdate(g.p, s.CreditTotal/cellUnit)
	if g.marked > 0 || g.src.CanSend(g.p, g.mtu) {
		return g.mtu, 0
	}
	return 0, 0
}

// abandon gives back what a PDC had charged and nobody will acknowledge, each packet as a full one:
// what is too much comes off when the destination has freed all that came.
func (g *cellGate) abandon(l Left) {
	g.marked -= l.RtxBacklog
	for range l.InflightPackets + l.WaitingRtx {
		g.src.OnAbandon(g.p, g.mtu)
	}
}

// cellUnit is how many bytes a credit counts for that counts cells, since the field of
// receiver credit counts units of so many.
const cellUnit = 256
