package ccc

import "github.com/uetcc/uetcc/nscc"

// A plain context is one in which the window alone has a say, as nearly always: mode enforce,
// the specification's profile, and neither credit, gate nor an algorithm of the user's. Its
// reason then follows from its state: ReasonWindow in StateActive, else ReasonBacklog.
//
// Nearly all of its events are new packets that may go at once and acknowledgements that
// bring nothing but news. SendNew and OnPlainACK are these two in one straight line. They
// leave behind, bit for bit, what Manager.Send and Manager.OnACK would, except for the time
// of the last event where now is before it.

// classify notes whether a context is plain; to be called when what decides that has changed.
func (m *Manager) classify(c *Context) {
	c.plain = m.plain && c.mode == ModeEnforce && !c.rec.custom
}

// SendNew is [Manager.Send] for a new packet of size bytes where [Context.Admits]
// lets it go at once. It returns false, and nothing has changed, where the PDC has
// fewer bytes to send, the context does not admit the packet or has more rules than
// the window's, or the entropy scheme asks for [Sent].Seq: then ask
// [Context.Decide] and use Send.
func (m *Manager) SendNew(pdc Handle, now, size int64) (s SendParams, ok bool) {
	b := m.member(pdc)
	if b == nil {
		return s, false
	}
	at := m.seatOf(b)
	c := &at.context
	if !c.plain || c.state != StateReady || uint64(size-1) >= uint64(b.backlog()) {
		return s, false
	}
	b.fly(size)
	c.countNew(size)
	m.countSent(c)
	p := m.p
	full := c.window.Full(&p.nscc)
	s.AckRequest = c.window.AckRequest(&p.nscc)
	c.rec.last = now
	switch {
	case b.waiting() == 0:
		m.settlePlain(b, c, now)
	case full:
		c.become(StateActive)
	}
	s.Held = c.why
	if p.entropy.scheme == SchemeOblivious && !b.fixed {
		s.Entropy = at.entropy.candidate()
		at.entropy.advance(&p.entropy)
	} else {
		s.Entropy = m.path(b, at, 0)
	}
	return s, true
}

// A PlainAck is an acknowledgement of packets that were in flight, from a destination that
// neither penalises nor restores. What the window is told of it are the bytes of these
// packets together, and a round trip of kind [nscc.SampleNormal], ns, none if not above 0.
type PlainAck struct {
	nscc.PlainAck
	Packets int32
	Entropy uint16 // of the packet that caused it
}

// OnPlainACK is [Manager.OnACK] for a plain one. It returns the state in which the
// context is now. It returns false, and nothing has changed, where the context has
// more rules than the window's, or where more bytes are reported than are in flight: then
// use OnACK.
func (m *Manager) OnPlainACK(pdc Handle, now int64, a PlainAck) (State, bool) {
	b := m.member(pdc)
	if b == nil {
		return 0, false
	}
	c := &m.seatOf(b).context
	if !c.plain || !b.hear(a.Bytes(), a.Packets) {
		return 0, false
	}
	if m.listens {
		m.feedback(b, now, reportOf(a.Entropy, a.ECN()))
	}
	c.inflightPkts -= a.Packets
	m.countAck(c, a.ECN())
	c.window.OnPlainACK(&m.p.nscc, now, a.PlainAck)
	if c.state == StateActive && !c.rec.wait(now) {
		m.carry(c, now)
	} else {
		c.rec.last = now
	}
	s := c.weigh(m.p)
	if s != c.state && !c.become(s) {
		m.file(c)
	}
	return s, true
}

// settlePlain ends an event of a PDC and its plain context, as evaluate and finish do
// any other.
func (m *Manager) settlePlain(b *member, c *Context, now int64) {
	if waits := b.waiting() > 0; waits != b.queued {
		m.turn(b, waits)
	}
	if c.state == StateActive && !c.rec.wait(now) {
		m.carry(c, now)
	} else {
		c.rec.last = now
	}
	if s := c.weigh(m.p); s != c.state && !c.become(s) {
		m.file(c)
	}
}

// weigh is the state that a plain context ought to be in.
func (c *Context) weigh(p *Params) State {
	return nextState(c.waits != 0, c.inflightPkts > 0, !c.window.Full(&p.nscc))
}

// become brings a plain context into another state, and reports whether it is filed where
// that belongs.
func (c *Context) become(s State) bool {
	why := ReasonBacklog
	if s == StateActive {
		why = ReasonWindow
	}
	c.state, c.why, c.rec.held = s, why, why
	return c.filed()
}
