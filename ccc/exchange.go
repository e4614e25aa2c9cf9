package ccc

// An exchange is an acknowledgement for a context whose window is full, and then packets
// that have waited for it, if it makes room: what nearly all events of a busy context are.
// The context leaves StateActive for a moment only, which nobody needs to hear of. The
// two methods here leave behind what [Manager.OnPlainACK] and then [Manager.SendNew] or
// [Manager.SendRun] would.

// awaits returns the record of a PDC, and the seat of its context, that can exchange
// packets of size bytes: it is the only one of [Waiters] and keeps something to send, and
// path choice is by SchemeOblivious. Else there is none.
func (m *Manager) awaits(pdc Handle, size int64) (*member, *seat) {
	b := m.member(pdc)
	if b == nil {
		return nil, nil
	}
	at := m.seatOf(b)
	c := &at.context
	if !c.plain || c.state != StateActive || !c.rec.listed || c.waiters != (Waiters{pdc.Index(), pdc.Index()}) ||
		b.fixed || m.p.entropy.scheme != SchemeOblivious || uint64(size-1) >= uint64(b.backlog()-1) {
		return nil, nil
	}
	return b, at
}

// heard takes in a, but for the state that follows from it.
func (m *Manager) heard(b *member, c *Context, now int64, a PlainACK) {
	c.window.OnPlainACK(&m.p.nscc, now, b.receive(a.Bytes, a.Packets), a.RTT, a.Marked)
	c.inflightPkts -= a.Packets
	m.countAck(c, a.Marked)
	if !c.rec.wait(now) {
		m.carry(c, now)
	}
	c.rec.last = now
}

// Exchange takes in a, and counts a new packet of size bytes if it may go: else s.Sent is
// 0. It returns false, and nothing has changed, where OnPlainACK and SendNew are to be
// used instead.
func (m *Manager) Exchange(pdc Handle, now int64, a PlainACK, size int64) (s RunParams, entropy uint16, ok bool) {
	b, at := m.awaits(pdc, size)
	if b == nil {
		return s, 0, false
	}
	c, p := &at.context, m.p
	m.heard(b, c, now, a)
	if c.window.Full(&p.nscc) {
		return s, 0, true
	}
	b.fly(size)
	c.countNew(size)
	m.countSent(c)
	s.Sent, s.AckLast = 1, c.window.AckRequest(&p.nscc)
	if !c.window.Full(&p.nscc) {
		c.become(StateReady)
	}
	s.Held, entropy = c.why, at.entropy.candidate()
	at.entropy.advance(&p.entropy)
	return s, entropy, true
}

// ExchangeRun is Exchange for as many packets as paths has room for, as SendRun is.
func (m *Manager) ExchangeRun(pdc Handle, now int64, a PlainACK, size int64, paths []uint16) (s RunParams, ok bool) {
	b, at := m.awaits(pdc, size)
	if b == nil {
		return s, false
	}
	c, p := &at.context, m.p
	m.heard(b, c, now, a)
	s.AckEach = c.window.AckRequest(&p.nscc)
	s.Sent = c.window.OnSendRun(&p.nscc, size, fitting(len(paths), size, b.backlog()-1))
	m.countRun(b, c, size, s.Sent)
	at.entropy.run(&p.entropy, paths[:s.Sent])
	if s.AckLast = c.window.Full(&p.nscc); !s.AckLast {
		c.become(StateReady)
	}
	s.Held = c.why
	return s, true
}
