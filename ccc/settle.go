package ccc

// finish ends an event of a PDC and its context.
func (m *Manager) finish(b *member, c *Context, now int64) {
	if waits := b.waiting() > 0; waits != b.queued {
		m.turn(b, waits)
	}
	m.settle(c, now)
}

// settle brings everything around context c up to date with it. Every event ends
// here.
func (m *Manager) settle(c *Context, now int64) {
	r := &c.rec
	if r.custom {
		c.Consult(m.p, now, m.algOf(c))
	}
	if !c.filed() {
		m.file(c)
	}
	if r.held != ReasonBacklog && !r.wait(now) {
		m.carry(c, now)
	} else {
		r.last = max(r.last, now) // what was posted may be older than what was not
	}
	r.held = c.held()
	if m.wide || r.custom || r.armed {
		m.settleWide(c, now)
	}
}

// filed reports whether c is where its state belongs: on the ready list when it is READY,
// and among the busy ones, which are counted, when it has something to send.
func (c *Context) filed() bool {
	return (c.state != StateReady || c.rec.listed) && (c.state >= StateActive) == c.rec.busy
}

// file puts c where its state belongs. It stays on the ready list when it is READY no
// more: its turn takes it off.
func (m *Manager) file(c *Context) {
	r := &c.rec
	if c.state == StateReady && !r.listed {
		r.listed = true
		m.ready.append(uint32(len(m.seats)), uint32(r.handle.Index()))
	}
	if busy := c.state >= StateActive; busy != r.busy {
		r.busy = busy
		if busy {
			m.busy++
		} else {
			m.busy--
		}
	}
}

// settleWide is the part of settle that most managers do without: deadlines and
// gates.
func (m *Manager) settleWide(c *Context, now int64) {
	m.arm(c)
	if m.gates != nil {
		i := c.rec.handle.Index()
		m.ledgers[i].edge.publish(&m.gates[i], c.admission(m.p, now))
	}
}
