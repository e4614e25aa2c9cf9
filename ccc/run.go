package ccc

import "github.com/uetcc/uetcc/nscc"

// classify notes whether the window alone has a say in a context: mode enforce, and no
// algorithm of the user's. The reason then follows from the state: ReasonWindow in
// StateActive, else ReasonBacklog.
func (m *Manager) classify(c *Context) {
	c.plain = m.runs && m.p.window && c.mode == ModeEnforce && !c.rec.custom
}

// A PlainAck is an acknowledgement of packets in flight, from a destination that neither
// penalises nor restores. The window is told the bytes of the packets together, and a round
// trip of kind [nscc.SampleNormal], ns, none if not above 0.
type PlainAck struct {
	nscc.PlainAck
	Packets int32
	Entropy uint16 // of the packet that caused the acknowledgement
}

// RunParams is the outcome for acknowledgements and packets offered to [Manager.Exchange].
type RunParams struct {
	Sent    int    // the first so many packets may go
	Held    Reason // as in [SendParams], of the last of the packets
	AckEach bool   // each of them is to ask for an acknowledgement
	AckLast bool   // the last of them is to ask for one
}

// Exchange handles nearly all events of a context in one step with one settlement:
// [Manager.OnACK] for each of acks, and then [Manager.Send] for new packets of size bytes each,
// as many as paths has room for, until congestion control holds the next; paths gets the
// entropy values. Either may be empty. All are of the same PDC.
//
// Further deciders take part: path choice with feedback, an [Algorithm], an observing mode.
// With credit, gates, a profile of htsim or SchemeREPSLegacy, with more bytes reported than in
// flight, without acks if the first packet may not go, and with both if [Waiters] has further
// PDCs, Exchange returns false, and nothing has changed: use OnACK, [Context.Decide] and Send.
//
// The state afterwards is bit for bit the state after OnACK, Decide and Send, except for the
// time of the last event if now is earlier, and for the calls of an Algorithm: a single Allow
// after acks.
func (m *Manager) Exchange(pdc Handle, now int64, acks []PlainAck, size int64, paths []uint16) (s RunParams, ok bool) {
	b := m.member(pdc)
	if b == nil || !m.runs {
		return s, false
	}
	at := m.seatOf(b)
	c, p := &at.context, &m.p.nscc
	if left := b.backlog(); uint64(size-1) >= uint64(left) {
		paths = nil
	} else if size*int64(len(paths)) > left {
		paths = paths[:left/size]
	}
	if len(acks) != 0 {
		if len(paths) != 0 && c.waiters != (Waiters{pdc.Index(), pdc.Index()}) {
			return s, false
		}
		bytes, packets, marks := sum(acks)
		if !b.hear(bytes, packets) {
			return s, false
		}
		c.inflightPkts -= packets
		m.countAcks(c, len(acks), marks)
		if c.plain && !m.listens {
			for i := range acks {
				c.window.OnPlainACK(p, now, acks[i].PlainAck)
			}
		} else {
			m.takeEach(b, at, now, acks)
		}
	} else if c.state != StateReady || len(paths) == 0 {
		return s, false
	}
	if !c.plain {
		return m.exchangeAny(b, at, now, len(acks), size, paths)
	}
	if c.state == StateActive && !c.rec.wait(now) {
		m.carry(c, now)
	} else {
		c.rec.last = now
	}
	if len(paths) != 0 {
		s.AckEach = c.window.AckRequest(p) // before sending: what fills the window is the last packet, see AckLast
		s.Sent = c.window.OnSendRun(p, size, len(paths))
		m.countRun(b, c, size, s.Sent)
		if paths = paths[:s.Sent]; m.listens || b.fixed {
			m.choose(b, at, paths)
		} else {
			for i := range paths {
				paths[i] = at.entropy.candidate()
				at.entropy.advance(&m.p.entropy)
			}
		}
	}
	s.AckLast = c.window.Full(p)
	state := StateReady
	if s.AckLast {
		state = StateActive
	}
	if c.waits == 0 {
		state = nextState(false, c.inflightPkts > 0, true)
	}
	if state != c.state {
		m.become(c, state)
	}
	s.Held = c.why
	return s, true // in StateReady the window has room for one packet at least
}

// sum is the total of acknowledgements.
func sum(acks []PlainAck) (bytes int64, packets int32, marks int) {
	for i := range acks {
		bytes += acks[i].Bytes()
		packets += acks[i].Packets
		marks += int(acks[i].Marks())
	}
	return bytes, packets, marks
}

// takeEach tells all listeners of each acknowledgement, in the order of OnACK.
func (m *Manager) takeEach(b *member, at *seat, now int64, acks []PlainAck) {
	c, e, side := &at.context, &at.entropy, m.sideOf(int(b.context.Index()))
	listens, steers := m.listens && !b.fixed, c.steers(m.p)
	for i := range acks {
		a := &acks[i]
		if listens {
			e.Feedback(&m.p.entropy, side, now, reportOf(a.Entropy, a.ECN()))
		}
		if steers {
			c.window.OnPlainACK(&m.p.nscc, now, a.PlainAck)
		} else {
			c.window.OnSend(-a.Bytes())
		}
		if c.rec.custom {
			m.algOf(c).OnACK(now, Ack{Ack: a.Ack(), Packets: int(a.Packets), Entropy: a.Entropy})
		}
	}
}

// exchangeAny is the rest of Exchange where not the window alone has a say.
func (m *Manager) exchangeAny(b *member, at *seat, now int64, acks int, size int64, paths []uint16) (s RunParams, ok bool) {
	c, p := &at.context, m.p
	if acks != 0 {
		c.evaluate(p, now)
		m.settle(c, now)
	}
	n := 0
	if len(paths) != 0 && c.state == StateReady {
		n = c.allowed(p, now, size, len(paths))
	}
	if n != 0 {
		s.AckEach = p.window && c.window.AckRequest(&p.nscc)
		if p.window && !c.window.Full(&p.nscc) {
			n = c.window.OnSendRun(&p.nscc, size, n) // what fills an observed window asks, too
		} else {
			c.window.OnSend(size * int64(n))
		}
		m.countRun(b, c, size, n)
		m.choose(b, at, paths[:n])
		c.evaluate(p, now)
		if c.rec.custom {
			for range n {
				m.algOf(c).OnSend(now, size, false)
			}
			m.spend(c, now, size*int64(n))
		}
		m.arrange(c, now)
		s.Sent, s.AckLast = n, c.wantsAnswer(p)
	}
	s.Held = c.held()
	return s, acks != 0 || s.Sent != 0
}

// choose chooses the entropy values of packets. Out of line to spare registers of Exchange.
//
//go:noinline
func (m *Manager) choose(b *member, at *seat, paths []uint16) {
	e, p, side := &at.entropy, &m.p.entropy, m.sideOf(int(b.context.Index()))
	for i := range paths {
		if b.fixed {
			paths[i] = b.way
		} else {
			paths[i] = e.Next(p, side, Progress{})
		}
	}
}

// countRun counts n packets of size bytes in flight, but for the window.
func (m *Manager) countRun(b *member, c *Context, size int64, n int) {
	bytes := size * int64(n)
	b.sent += bytes
	b.inflightPackets += int32(n)
	c.waits -= bytes
	c.inflightPkts += int32(n)
	if c.rec.sent += uint32(n); c.rec.sent < uint32(n) {
		m.ledgerOf(c).counts.sent += 1 << 32
	}
}

// become brings a plain context into a new state. Out of line for the same reason.
//
//go:noinline
func (m *Manager) become(c *Context, s State) {
	why := ReasonBacklog
	if s == StateActive {
		why = ReasonWindow
	}
	c.state, c.why, c.rec.held = s, why, why
	if (s >= StateActive) != c.rec.busy {
		m.count(c)
	}
}
