// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"cmp"
	"fmt"
	"math"

	"github.com/uetcc/uetcc/rccc/tfc"
)

// An Algorithm is a congestion control of the user's own, for one context. It runs beside the
// algorithms of [Control], all of whose consent is needed, or alone, with ControlNone.
// [Manager.SetAlgorithm] plugs an Algorithm in, and the manager makes all calls; for a [Context]
// without a manager, [Context.Consult] calls Allow and the remaining calls are the caller's.
// Calls come one at a time, from the context's owner, and must not call back into the [Manager].
//
// The feedback methods are called after NSCC and RCCC have seen the same event.
type Algorithm interface {
	// OnSend is called for each packet sent, of size nominal bytes; rtx says it had been marked
	// for retransmission. The packet is counted in flight already.
	OnSend(now, size int64, rtx bool)

	// OnACK is called for each acknowledgement, also without news. Of a.Bytes all but a.RtxBytes
	// leave the flight: the RtxBytes left when taken for lost.
	OnACK(now int64, a Ack)

	// OnNACK is called for each refused packet in flight, once for all n.Packets refused
	// together.
	OnNACK(now int64, n Nack)

	// OnInferredLoss is called for each packet in flight taken for lost.
	OnInferredLoss(now int64, l Loss)

	// Allow returns the bytes that may go beyond those in flight (0 or less: none), and the
	// earliest time (0: at once). Allow is called when everything else would let data go: at the
	// end of a run of acknowledgements, of any other event that sends nothing, and at the last
	// notBefore. Sent bytes are taken off the answer, and Allow is called again when less than an
	// MTU is left; an answer with a time is for one packet. A packet larger than the rest waits,
	// though the context is READY with a single byte. With a [Gate], open to any goroutine at any
	// time, Allow is called at the end of every event. To be asked out of turn, call
	// [Manager.SetAlgorithm] again.
	Allow(now int64, s Standing) (bytes, notBefore int64)
}

// Standing is a context's state as told to an [Algorithm]. Sizes in bytes,
// times in ns.
type Standing struct {
	Inflight int64
	Waiting  int64 // unsent and marked for retransmission
	Cwnd     int64 // NSCC's window; constant at the first value where NSCC is not in Control
	Credit   int64 // RCCC's balance; 0 where RCCC is not in Control
	BaseRTT  int64
	MTU      int64

	// CreditTotal is the cumulative credit of the last ACK_CC or CREDIT, where RCCC is not in
	// Control: 256 times the field, even if the field's unit is not 256 B. 0 before the first.
	// With RCCC in Control, the newest valid credit.
	CreditTotal int64
}

// Consult asks a user's algorithm for its present limits. The answer holds until the next
// Consult, so call Consult after each event of c, and at the time named by [Context.Decide] with
// ReasonPacing. A [Manager] does so unasked.
func (c *Context) Consult(p *Params, now int64, a Algorithm) {
	c.consult(p, now, a)
	c.evaluate(p, now)
}

// consult is Consult without the consequences.
func (c *Context) consult(p *Params, now int64, a Algorithm) {
	bytes, notBefore := a.Allow(now, Standing{
		Inflight: c.window.Inflight(), Waiting: c.waits, Cwnd: c.window.Cwnd(),
		Credit: c.credit.Credit(), BaseRTT: c.window.BaseRTT(), MTU: p.mtu, CreditTotal: c.credit.Cum(),
	})
	c.allow, c.notBefore, c.bounded = max(bytes, -unlimited), notBefore, true
}

// ask asks the user's algorithm of c, which is up to date, if all else lets data go.
//
//uetcc:hot
func (m *Manager) ask(c *Context, now int64) bool {
	switch {
	case m.gates != nil:
		c.Consult(m.p, now, m.algOf(c))
	case c.waits != 0 && c.refusal(m.p) == ReasonBacklog:
		c.consult(m.p, now, m.algOf(c))
		c.conclude(c.objection(now))
	default:
		return false
	}
	return true
}

// spend takes bytes sent off the allowance of the user's algorithm, and asks again when the rest
// is too little for a packet.
//
//uetcc:hot
func (m *Manager) spend(c *Context, now, bytes int64) {
	if c.allow = max(c.allow-bytes, -unlimited); c.allow < m.p.mtu || c.notBefore != 0 || m.gates != nil {
		m.ask(c, now)
	}
}

// allowed is the number of packets of size bytes, of n (1 or more), that a user's algorithm lets
// go before being asked again.
//
//uetcc:hot inlines
func (c *Context) allowed(p *Params, now, size int64, n int) int {
	switch {
	case !c.bounded:
		return n
	case c.mode == ModeEnforce && (c.notBefore > now || c.allow < min(size, p.mtu)):
		return 0
	case n == 1 || c.allow < p.mtu || c.notBefore != 0: // a single packet needs no division
		return 1
	default:
		return min(n, int((c.allow-p.mtu)/size)+1)
	}
}

// allowAll is the allowance without an algorithm.
func (c *Context) allowAll() { c.allow, c.notBefore, c.bounded = math.MaxInt64, math.MinInt64, false }

// SetAlgorithm plugs a into context h, nil takes the algorithm out. Nothing else changes, so a
// running context can change algorithms. Under TFC, which has the place, the error wraps [ErrConfig].
func (m *Manager) SetAlgorithm(h Handle, now int64, a Algorithm) error {
	if m.cells != nil {
		return errPlace
	}
	if c := m.Context(h); c != nil {
		m.setAlgorithm(c, now, a)
	}
	return nil
}

var errPlace = fmt.Errorf("%w: an algorithm with TFC, which has its place", ErrConfig)

func (m *Manager) setAlgorithm(c *Context, now int64, a Algorithm) {
	m.revision++
	if m.extra.due == nil {
		m.extra.init(len(m.seats), now)
	}
	m.extra.algs[c.handle.Index()] = a
	c.how.set(howCustom, a != nil)
	c.allowAll()
	c.evaluate(m.p, now)
	m.classify(c)
	m.settle(c, now)
}

// algOf is the user's algorithm of a context with one.
func (m *Manager) algOf(c *Context) Algorithm { return m.extra.algs[c.handle.Index()] }

// NewPacer returns an [Algorithm] for one context that spreads a window over the round trip, to
// avoid a burst. gain is the rate in percent of a window each base round trip; 0 means 125, so
// the window and not the pacer limits in the long run, and more than 2^30 counts as 2^30. Each
// packet makes the next wait for the packet's time at the rate. One packet is allowed at a time,
// and idle time is not made up for.
func NewPacer(gain int64) Algorithm { return &pacer{gain: min(cmp.Or(gain, defaultGain), maxGain)} }

const (
	defaultGain = 125
	maxGain     = 1 << 30 // times a window is in range
)

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
