// SPDX-License-Identifier: Apache-2.0

package ccc

// Sent is a packet that is being sent.
type Sent struct {
	Size     int64 // nominal, bytes
	Rtx      bool  // marked for retransmission before
	Reserved bool  // Size bytes were reserved at the context's [Gate]

	// Seq is the number of the PDC's next new packet, from 0. Only [Manager.Send] and
	// SchemeREPSLegacy use Seq.
	Seq uint64
}

// OnNewData adds delta bytes of unsent data to a PDC and the context.
//
//uetcc:hot
func (m *Manager) OnNewData(pdc Handle, now, delta int64) {
	at := m.seatAt(pdc)
	if at == nil || pdc == 0 || at.context.rec.sole != pdc { // the only PDC's counters are the context's
		b := m.live(pdc)
		if b == nil {
			return
		}
		b.due += delta
		at = m.seatOf(b)
	}
	c := &at.context
	c.add(delta)
	if !c.how.has(howAny | howNew) {
		c.rec.last = max(c.rec.last, now)
		if full := c.window.Full(&m.p.nscc); c.how.has(howObserves) {
			m.observe(c, full)
		} else if state := c.plainState(full); state != c.state {
			m.become(c, state)
		}
		return
	}
	if c.how.has(howNew) {
		c.how &^= howNew
		c.window.Begin(&m.p.nscc, c.waits)
	}
	c.evaluate(m.p, now)
	m.settle(c, now)
}

// OnWithdraw takes back delta bytes of a PDC's unsent data, see [Context.OnWithdraw].
func (m *Manager) OnWithdraw(pdc Handle, now, delta int64) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	less(b.backlog(), delta)
	b.due -= delta
	c := &m.seatOf(b).context
	c.OnWithdraw(m.p, now, delta)
	m.settle(c, now)
}

// OnSend counts a packet being sent.
//
//uetcc:hot
func (m *Manager) OnSend(pdc Handle, now int64, s Sent) {
	if b := m.live(pdc); b != nil {
		m.send(b, &m.seatOf(b).context, now, s)
	}
}

// Send is OnSend, and returns the fields of the packet's header (GetSendParams).
//
//uetcc:hot
func (m *Manager) Send(pdc Handle, now int64, s Sent) SendParams {
	b := m.live(pdc)
	if b == nil {
		return SendParams{}
	}
	at := m.seatOf(b)
	m.send(b, &at.context, now, s)
	p := at.context.SendParams(m.p, m.busy)
	p.Entropy = m.path(b, at, s.Seq)
	if m.cells != nil {
		p.CreditTarget = m.cells[m.homes[pdc.Index()]].src.Charged() * cellUnit
	}
	return p
}

func (m *Manager) send(b *member, c *Context, now int64, s Sent) {
	b.send(s.Size, s.Rtx)
	c.OnSend(m.p, now, s.Size, s.Rtx)
	m.count(c, tallyOf(1, 0, 0))
	if s.Reserved {
		m.edges[c.handle.Index()].used += s.Size
	}
	if c.how.has(howCustom) {
		m.algOf(c).OnSend(now, s.Size, s.Rtx)
		m.spend(c, now, s.Size)
	}
	m.arrange(c, now)
}

// OnACK takes in an acknowledgement. a.Bytes may be lowered to the sent bytes.
//
//uetcc:hot
func (m *Manager) OnACK(pdc Handle, now int64, a *Ack) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.acknowledge(a)
	c := &m.seatOf(b).context
	m.feedback(b, now, a.report())
	c.onACK(m.p, now, a)
	marked := 0
	if a.ECN {
		marked = 1
	}
	m.count(c, tallyOf(0, 1, marked))
	if c.how.has(howCustom) {
		m.algOf(c).OnACK(now, *a)
	}
	m.settle(c, now)
}

// Inflight returns the PDC's bytes in flight.
func (m *Manager) Inflight(pdc Handle) int64 {
	if b := m.member(pdc); b != nil {
		return b.left().Inflight
	}
	return 0
}

// OnOvertaking takes bytes, at most [Manager.Inflight], out of flight: counted by the peer's
// rcvd_bytes, and of packets that no acknowledgement has shown. A negative number goes back in
// flight: bytes about to be shown, and taken out by OnACK, or taken for lost. With the
// profiles of htsim, which need exact counts, nothing happens. (UE Specification 1.0.x, section
// 3.6.13.)
func (m *Manager) OnOvertaking(pdc Handle, now, bytes int64) {
	b := m.member(pdc)
	if bytes == 0 || b == nil || !m.p.window || !takesRuns(m.p.nscc.Profile()) {
		return
	}
	b.heard += bytes
	c := &m.seatOf(b).context
	c.window.OnSend(-bytes)
	c.evaluate(m.p, now)
	m.settle(c, now)
}

// OnNACK takes in the refusal of a packet of the PDC in flight.
//
//uetcc:hot
func (m *Manager) OnNACK(pdc Handle, now int64, n Nack) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.mark(n.Size, n.packets())
	c := &m.seatOf(b).context
	if n.packets() == 1 {
		m.feedback(b, now, n.report())
	}
	c.OnNACK(m.p, now, n)
	m.ledgerOf(c).nacks += int64(n.packets())
	if c.how.has(howCustom) {
		m.algOf(c).OnNACK(now, n)
	}
	m.settle(c, now)
}

// OnInferredLoss takes in the loss of a packet of the PDC in flight.
//
//uetcc:hot
func (m *Manager) OnInferredLoss(pdc Handle, now int64, l Loss) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.mark(l.Size, 1)
	c := &m.seatOf(b).context
	c.OnInferredLoss(m.p, now, l)
	m.feedback(b, now, l.report())
	m.ledgerOf(c).losses++
	if c.how.has(howCustom) {
		m.algOf(c).OnInferredLoss(now, l)
	}
	m.settle(c, now)
}

// OnCreditUpdate takes in a cumulative credit of total bytes for a PDC.
//
//uetcc:hot
func (m *Manager) OnCreditUpdate(pdc Handle, now, total int64) {
	if b := m.live(pdc); b != nil {
		c := &m.seatOf(b).context
		c.OnCreditUpdate(m.p, now, total)
		m.settle(c, now)
	}
}

// path chooses the entropy value of a packet.
//
//uetcc:hot
func (m *Manager) path(b *member, at *seat, seq uint64) uint16 {
	e, p := &at.entropy, &m.p.entropy
	switch {
	case b.fixed:
		return m.passable(b.way)
	case p.scheme == SchemeOblivious:
		return m.passable(e.inTurn(p))
	}
	pr := Progress{Seq: seq}
	if p.scheme == SchemeREPSLegacy {
		pr.WindowPackets = at.context.Cwnd() / m.p.mtu
	}
	return m.passable(e.Next(p, m.sideOf(&at.context), pr))
}

// live is member, and counts the events of past lives.
//
//uetcc:hot inlines
func (m *Manager) live(pdc Handle) *member {
	b := m.member(pdc)
	if b == nil {
		m.stale++
	}
	return b
}

// feedback tells the path choice of a report, if the scheme listens and the PDC takes part.
func (m *Manager) feedback(b *member, now int64, r report) {
	if m.listens && !b.fixed {
		at := m.seatOf(b)
		at.entropy.feed(&m.p.entropy, m.sideOf(&at.context), now, r)
	}
}
