package ccc

// arm keeps the earliest time at which context c wants to be looked at.
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

// Tick handles what has become due by now, and returns a context and what it has waited
// for: with [ReasonCredit] it is to send a Credit Request with [Context.CreditTarget], with
// [ReasonPacing] its next packet may go. Call it until it returns the zero Handle. A time
// before that of an earlier Tick counts as that one.
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
