// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/internal/timerwheel"

// An extra is what a manager has for its contexts where more than windows has a say: a window
// waits for no time to pass.
type extra struct {
	algs   []Algorithm
	at     []int64           // the armed deadlines, ns
	due    *timerwheel.Wheel // nil: nothing of an extra is there
	waited [][reasons]int64  // see Manager.waitedFor
}

func (x *extra) init(contexts int, now int64) {
	*x = extra{
		algs: make([]Algorithm, contexts), at: make([]int64, contexts),
		due: timerwheel.New(contexts, 1, now), waited: make([][reasons]int64, contexts),
	}
}

// arm keeps the earliest time for a look at context c.
func (m *Manager) arm(c *Context) {
	i, armed := uint32(c.handle.Index()), c.how.has(howArmed)
	at, want := c.CreditDeadline()
	if c.why == ReasonPacing && (!want || c.notBefore < at) {
		at, want = c.notBefore, true
	}
	switch {
	case want && (!armed || at != m.extra.at[i]):
		m.extra.at[i] = at
		m.extra.due.Arm(i, at)
	case !want && armed:
		m.extra.due.Cancel(i)
	}
	c.how.set(howArmed, want)
}

// NextDeadline returns when to call [Manager.Tick], ns, and false if nothing
// waits for time to pass.
func (m *Manager) NextDeadline() (int64, bool) {
	if m.extra.due == nil {
		return 0, false
	}
	return m.extra.due.Next()
}

// Tick handles everything due by now, and returns a context and the reason of the context's
// wait: with [ReasonCredit] send a Credit Request with [Context.CreditTarget], with
// [ReasonPacing] the next packet may go. Call Tick until the zero Handle. A time before an
// earlier Tick's counts as the earlier Tick's.
//
//uetcc:hot
func (m *Manager) Tick(now int64) (Handle, Reason) {
	due := m.extra.due
	if due == nil {
		return 0, ReasonBacklog
	}
	now = due.Now(now)
	for {
		i, ok := due.Expire(now)
		if !ok {
			return 0, ReasonBacklog
		}
		c := &m.seats[i].context
		c.how.set(howArmed, false)
		paced := c.why == ReasonPacing
		asks := c.CreditRequestDue(m.p, now)
		c.evaluate(m.p, now)
		m.settle(c, now)
		switch {
		case asks:
			return c.handle, ReasonCredit
		case paced && c.state == StateReady:
			return c.handle, ReasonPacing
		}
	}
}

// settle brings everything around context c up to date. Every event ends here.
//
//uetcc:hot
func (m *Manager) settle(c *Context, now int64) {
	if c.how.has(howCustom) {
		m.ask(c, now)
	}
	m.arrange(c, now)
}

// arrange is settle once an algorithm of the user's has been asked.
//
//uetcc:hot
func (m *Manager) arrange(c *Context, now int64) {
	how := c.how
	if (c.state >= StateActive) != how.has(howBusy) {
		m.turn(c)
	}
	c.rec.last = max(c.rec.last, now) // what was posted may be older than what was not
	if why := c.held(); why != c.holds {
		m.hold(c, why)
	}
	if _, asks := c.credit.Deadline(); asks || c.why == ReasonPacing || how.has(howArmed) || m.gates != nil {
		m.settleWide(c, now)
	}
}

// turn keeps the number of contexts with something to send.
//
//uetcc:hot inlines
func (m *Manager) turn(c *Context) {
	if c.how ^= howBusy; c.how.has(howBusy) {
		m.busy++
	} else {
		m.busy--
	}
}

// settleWide is the part of settle unneeded in most managers: deadlines and
// gates.
func (m *Manager) settleWide(c *Context, now int64) {
	m.arm(c)
	if m.gates != nil {
		i := c.handle.Index()
		m.edges[i].publish(&m.gates[i], c.admission(m.p, now))
	}
}
