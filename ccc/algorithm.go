package ccc

import "math"

// An Algorithm is a congestion control of the user's own, for one context. It runs
// beside those of [Control], and its consent is needed as theirs is, or alone, with
// ControlNone. [Manager.SetAlgorithm] plugs it in, and the manager makes all calls; for a
// [Context] without a manager, [Context.Consult] makes those of Allow and the rest are
// the caller's. They come one at a time, from the context's owner, and must not call
// back into the [Manager].
//
// The feedback methods are called after NSCC and RCCC have seen the same event.
type Algorithm interface {
	// OnSend is called for each packet that was sent, of size nominal bytes; rtx says
	// that it had been marked for retransmission. It is counted in flight already.
	OnSend(now, size int64, rtx bool)

	// OnACK is called for each acknowledgement, also for those without news. Of a.Bytes all
	// but a.RtxBytes leave the flight: those left it when they were taken for lost.
	OnACK(now int64, a Ack)

	// OnNACK is called for each packet in flight that was refused, once for all n.Packets of them
	// that one word has refused.
	OnNACK(now int64, n Nack)

	// OnInferredLoss is called for each packet in flight that is taken for lost.
	OnInferredLoss(now int64, l Loss)

	// Allow says how many bytes may go beyond those in flight (0 or less: none), and not
	// before when (0: at once). It is called when everything else would let data go: at the
	// end of a run of acknowledgements, of any other event that sends nothing, and at the time
	// that it last named itself. What is sent is taken off the answer, and Allow is called
	// again when less than an MTU is left; an answer that names a time is for one packet. A packet that is larger than what is left waits,
	// though the context is READY with a single byte. With a [Gate], which any goroutine may
	// ask at any time, it is called at the end of every event. To be asked out of turn, call
	// [Manager.SetAlgorithm] again.
	Allow(now int64, s Standing) (bytes, notBefore int64)
}

// Standing is what a context tells an [Algorithm] about itself. Sizes in bytes,
// times in ns.
type Standing struct {
	Inflight int64
	Waiting  int64 // unsent and marked for retransmission
	Cwnd     int64 // NSCC's window; it rests at its first value where NSCC is not in Control
	Credit   int64 // RCCC's balance; 0 where RCCC is not in Control
	BaseRTT  int64
	MTU      int64

	// CreditTotal is the cumulative credit that came last, in an ACK_CC or a CREDIT, where
	// RCCC is not in Control: 256 times the field, if that counts something else than 256 B.
	// 0 until there was one. The newest that counted where RCCC is in Control.
	CreditTotal int64
}

// standing is what an algorithm is told.
func (c *Context) standing(p *Params) Standing {
	return Standing{
		Inflight: c.window.Inflight(), Waiting: c.waits, Cwnd: c.window.Cwnd(),
		Credit: c.credit.Credit(), BaseRTT: c.window.BaseRTT(), MTU: p.mtu, CreditTotal: c.credit.Cum(),
	}
}

// Consult asks an algorithm of the user's what it allows now. The answer holds until the
// next Consult, so there has to be one after each event of c, and one at the time that
// [Context.Decide] names with ReasonPacing. A [Manager] does that by itself.
func (c *Context) Consult(p *Params, now int64, a Algorithm) {
	bytes, notBefore := a.Allow(now, c.standing(p))
	c.allow, c.notBefore, c.bounded = max(bytes, -unlimited), notBefore, true
	c.evaluate(p, now)
}

// ask asks the user's algorithm of c, if all else lets data go.
func (m *Manager) ask(c *Context, now int64) {
	if m.gates != nil || c.waits != 0 && c.refusal(m.p) == ReasonBacklog {
		c.Consult(m.p, now, m.algOf(c))
	}
}

// spend takes bytes that were sent off what the user's algorithm has allowed, and asks again
// when that is not enough for another packet.
func (m *Manager) spend(c *Context, now, bytes int64) {
	if c.allow = max(c.allow-bytes, -unlimited); c.allow < m.p.mtu || c.notBefore != 0 || m.gates != nil {
		m.ask(c, now)
	}
}

// allowed is how many packets of size bytes, of n (1 or more), an algorithm of the user's lets go
// before it is to be asked again.
func (c *Context) allowed(p *Params, now, size int64, n int) int {
	switch {
	case !c.bounded:
		return n
	case c.mode == ModeEnforce && (c.notBefore > now || c.allow < min(size, p.mtu)):
		return 0
	case c.allow < p.mtu || c.notBefore != 0:
		return 1
	default:
		return min(n, int((c.allow-p.mtu)/size)+1)
	}
}

// allowAll is the allowance without an algorithm.
func (c *Context) allowAll() { c.allow, c.notBefore, c.bounded = math.MaxInt64, math.MinInt64, false }

// SetAlgorithm plugs a into context h, nil takes it out. It changes nothing else,
// so a context can change its algorithm while it runs.
func (m *Manager) SetAlgorithm(h Handle, now int64, a Algorithm) {
	c := m.Context(h)
	if c == nil {
		return
	}
	m.revision++
	m.algs[h.Index()] = a
	c.rec.custom = a != nil
	c.allowAll()
	c.evaluate(m.p, now)
	m.classify(c)
	m.settle(c, now)
}

// algOf is the user's algorithm of a context that has one.
func (m *Manager) algOf(c *Context) Algorithm { return m.algs[c.rec.handle.Index()] }
