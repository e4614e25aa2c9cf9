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

	// OnNACK is called for each packet in flight that was refused.
	OnNACK(now int64, n Nack)

	// OnInferredLoss is called for each packet in flight that is taken for lost.
	OnInferredLoss(now int64, l Loss)

	// Allow is called at the end of every event, and at the time that it last named
	// itself: how many bytes may go beyond those in flight (0 or less: none), and not
	// before when (0: at once). A packet that is larger waits, though the context is READY
	// with a single byte. To be asked out of turn, call [Manager.SetAlgorithm] again.
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
