package ccc

// A plain context is one in which the window alone has a say, as nearly always: it
// enforces, without credit, gate or algorithm of the user's, by the specification's
// profile. Its events come in two kinds that matter, a new packet that may go at
// once and an acknowledgement that brings nothing but news. The two methods here
// are those events in one straight line; they leave behind, bit for bit, what
// Manager.Send and Manager.OnACK would.

// SendNew is [Manager.Send] for a new packet of size bytes where [Context.Admits]
// lets it go at once. It returns false, and nothing has changed, where the PDC has
// fewer bytes to send, the context does not admit the packet or has more rules than
// the window's, or the entropy scheme asks for [Sent].Seq: then ask
// [Context.Decide] and use Send.
func (m *Manager) SendNew(pdc Handle, now, size int64) (SendParams, bool) {
	b := m.member(pdc)
	if b == nil || uint64(size-1) >= uint64(b.left.Backlog) {
		return SendParams{}, false
	}
	at := m.seatOf(b)
	c := &at.context
	if !c.plain || c.state != StateReady {
		return SendParams{}, false
	}
	b.sendNew(size)
	c.countNew(size)
	m.countSent(c)
	if b.waiting() == 0 {
		c.evaluate(m.p, now)
		m.finish(b, c, now)
	} else {
		c.weigh(m.p)
		c.rec.held, c.rec.last = c.why, now
	}
	s := SendParams{Held: c.why, AckRequest: c.window.AckRequest(&m.p.nscc)}
	s.Entropy = m.path(b, at, 0)
	return s, true
}

// OnPlainACK is [Manager.OnACK] for an acknowledgement of packets that were in
// flight, of bytes together, from a destination that neither penalises nor restores:
// rtt is a sample of kind [nscc.SampleNormal], ns, none if not above 0; entropy and
// marked are those of the packet that caused it. It returns the state in which the
// context is now. It returns false, and nothing has changed, where the context has
// more rules than the window's: then use OnACK.
func (m *Manager) OnPlainACK(pdc Handle, now, bytes, rtt int64, packets int32, entropy uint16, marked bool) (State, bool) {
	b := m.member(pdc)
	if b == nil {
		return 0, false
	}
	c := &m.seatOf(b).context
	if !c.plain {
		return 0, false
	}
	bytes = b.receive(bytes, packets)
	m.feedback(b, now, reportOf(entropy, marked))
	c.window.OnPlainACK(&m.p.nscc, now, bytes, rtt, marked)
	c.inflightPkts -= packets
	m.countAck(c, marked)
	c.weigh(m.p)
	m.settlePlain(c, now)
	return c.state, true
}

// settlePlain is settle for a plain context.
func (m *Manager) settlePlain(c *Context, now int64) {
	m.line(c)
	r := &c.rec
	if r.held != ReasonBacklog {
		m.account(c, now)
	}
	r.held, r.last = c.why, now
}

// weigh is evaluate for a plain context.
func (c *Context) weigh(p *Params) {
	waiting, room := c.waiting() != 0, c.window.CanSend(&p.nscc, p.mtu)
	c.why = ReasonBacklog
	if waiting && !room {
		c.why = ReasonWindow
	}
	c.state = nextState(waiting, c.inflightPkts > 0, room)
}

// classify keeps [Context] plain or not, after whatever decides about it.
func (m *Manager) classify(c *Context) {
	c.plain = m.plain && c.mode == ModeEnforce && !c.rec.custom
}
