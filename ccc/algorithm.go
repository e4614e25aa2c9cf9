package ccc

import "math"

// An Algorithm is a congestion control of the user's own. It runs beside those of
// [Control] (or alone, with ControlNone), for one context, and its consent is
// needed as theirs is. All methods are called by the context's owner, one at a
// time, and must not call back into the [Manager].
//
// The feedback methods are called after NSCC and RCCC have seen the same event.
type Algorithm interface {
	// OnSend is called for each packet that was sent, of size nominal bytes; rtx says
	// that it had been marked for retransmission. It is counted in flight already.
	OnSend(now, size int64, rtx bool)

	// OnACK is called for each acknowledgement, also for those without news.
	OnACK(now int64, a Ack)

	// OnNACK is called for each packet in flight that was refused.
	OnNACK(now int64, n Nack)

	// OnInferredLoss is called for each packet in flight that is taken for lost.
	OnInferredLoss(now int64, l Loss)

	// Allow is called at the end of every event, and at the time it named itself: how
	// many bytes may go beyond those in flight, and not before when (0: at once). A packet
	// that is larger waits; unless bytes is 0 the context counts as READY all the same.
	// To be asked out of turn, call [Manager.SetAlgorithm] again.
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
}

// standing is what an algorithm is told.
func (c *Context) standing(p *Params) Standing {
	return Standing{
		Inflight: c.window.Inflight(), Waiting: c.waits, Cwnd: c.window.Cwnd(),
		Credit: c.credit.Credit(), BaseRTT: c.window.BaseRTT(), MTU: p.mtu,
	}
}

// setAllowance sets what an algorithm of the user's leaves, the answer of
// [Algorithm.Allow]. It holds until it is set again.
func (c *Context) setAllowance(p *Params, now, bytes, notBefore int64) {
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
	if c.rec.custom = a != nil; !c.rec.custom {
		c.allowAll()
		c.evaluate(m.p, now)
	}
	m.classify(c)
	m.settle(c, now)
}

// algOf is the user's algorithm of a context that has one.
func (m *Manager) algOf(c *Context) Algorithm { return m.algs[c.rec.handle.Index()] }

// consult asks the user's algorithm what it allows now.
func (m *Manager) consult(c *Context, now int64) {
	bytes, notBefore := m.algOf(c).Allow(now, c.standing(m.p))
	c.setAllowance(m.p, now, bytes, notBefore)
}
