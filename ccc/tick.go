// SPDX-License-Identifier: Apache-2.0

package ccc

// arm keeps the earliest time for a look at context c.
func (m *Manager) arm(c *Context) {
	r, i := &c.rec, uint32(c.rec.handle.Index())
	at, want := c.CreditDeadline()
	if c.why == ReasonPacing && (!want || c.notBefore < at) {
		at, want = c.notBefore, true
	}
	switch {
	case want && (!r.armed || at != m.ledgers[i].due):
		m.ledgers[i].due = at
		m.due.Arm(i, at)
	case !want && r.armed:
		m.due.Cancel(i)
	}
	r.armed = want
}

// NextDeadline returns when to call [Manager.Tick], ns, and false if nothing
// waits for time to pass.
func (m *Manager) NextDeadline() (int64, bool) { return m.due.Next() }

// Tick handles everything due by now, and returns a context and the reason of the context's
// wait: with [ReasonCredit] send a Credit Request with [Context.CreditTarget], with
// [ReasonPacing] the next packet may go. Call Tick until the zero Handle. A time before an
// earlier Tick's counts as the earlier Tick's.
func (m *Manager) Tick(now int64) (Handle, Reason) {
	now = m.due.Now(now)
	for {
		i, ok := m.due.Expire(now)
		if !ok {
			return 0, ReasonBacklog
		}
		c := &m.seats[i].context
		c.rec.armed = false
		paced := c.why == ReasonPacing
		asks := c.CreditRequestDue(m.p, now)
		c.evaluate(m.p, now)
		m.settle(c, now)
		switch {
		case asks:
			return c.rec.handle, ReasonCredit
		case paced && c.state == StateReady:
			return c.rec.handle, ReasonPacing
		}
	}
}
