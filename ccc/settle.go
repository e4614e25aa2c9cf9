// SPDX-License-Identifier: Apache-2.0

package ccc

// settle brings everything around context c up to date. Every event ends here.
//
//uetcc:hot
func (m *Manager) settle(c *Context, now int64) {
	if c.rec.custom {
		m.ask(c, now)
	}
	m.arrange(c, now)
}

// arrange is settle once an algorithm of the user's has been asked.
//
//uetcc:hot
func (m *Manager) arrange(c *Context, now int64) {
	r := &c.rec
	if (c.state >= StateActive) != r.busy {
		m.turn(c)
	}
	r.last = max(r.last, now) // what was posted may be older than what was not
	if why := c.held(); why != c.holds {
		m.hold(c, why)
	}
	if _, asks := c.credit.Deadline(); asks || c.why == ReasonPacing || r.armed || m.gates != nil {
		m.settleWide(c, now)
	}
}

// turn keeps the number of contexts with something to send.
//
//uetcc:hot inlines
func (m *Manager) turn(c *Context) {
	r := &c.rec
	if r.busy = !r.busy; r.busy {
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
		i := c.rec.handle.Index()
		m.edges[i].publish(&m.gates[i], c.admission(m.p, now))
	}
}
