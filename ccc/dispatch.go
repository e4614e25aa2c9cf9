package ccc

// Sent is a packet that is being sent.
type Sent struct {
	Size     int64 // nominal, bytes
	Rtx      bool  // it had been marked for retransmission
	Reserved bool  // Size bytes were reserved for it at the context's [Gate]
}

// OnNewData adds delta bytes of unsent data to a PDC and to its context.
func (m *Manager) OnNewData(pdc Handle, now, delta int64) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.left.Backlog += delta
	i := uint32(b.context.Index())
	m.contexts[i].OnNewData(m.p, now, delta)
	m.finish(b, now)
}

// OnSend counts a packet that is being sent.
func (m *Manager) OnSend(pdc Handle, now int64, s Sent) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.send(s.Size, s.Rtx)
	i := uint32(b.context.Index())
	m.contexts[i].OnSend(m.p, now, s.Size, s.Rtx)
	r := &m.records[i]
	r.counts.sent++
	if s.Reserved {
		m.ledgers[i].edge.used += s.Size
	}
	if r.custom {
		m.algs[i].OnSend(now, s.Size)
	}
	m.finish(b, now)
}

// OnACK takes in an acknowledgement.
func (m *Manager) OnACK(pdc Handle, now int64, a Ack) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.acknowledge(&a)
	i := uint32(b.context.Index())
	m.feedback(b, now, a.Report())
	m.contexts[i].onACK(m.p, now, &a)
	r := &m.records[i]
	r.counts.ack(a.ECN)
	if r.custom {
		m.algs[i].OnAck(now, a)
	}
	m.finish(b, now)
}

// OnNACK takes in the refusal of a packet of the PDC that is in flight.
func (m *Manager) OnNACK(pdc Handle, now int64, n Nack) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.mark(n.Size)
	i := uint32(b.context.Index())
	m.feedback(b, now, n.Report())
	m.contexts[i].OnNACK(m.p, now, n)
	r := &m.records[i]
	r.counts.nacks++
	if r.custom {
		m.algs[i].OnNack(now, n)
	}
	m.finish(b, now)
}

// OnInferredLoss takes in that a packet of the PDC in flight is lost.
func (m *Manager) OnInferredLoss(pdc Handle, now int64, l Loss) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.mark(l.Size)
	i := uint32(b.context.Index())
	m.contexts[i].OnInferredLoss(m.p, now, l)
	m.feedback(b, now, l.Report())
	r := &m.records[i]
	r.counts.losses++
	if r.custom {
		m.algs[i].OnLoss(now, l)
	}
	m.finish(b, now)
}

// OnCreditUpdate takes in a cumulative credit of total bytes that came for a PDC.
func (m *Manager) OnCreditUpdate(pdc Handle, now, total int64) {
	if b := m.live(pdc); b != nil {
		m.contexts[b.context.Index()].OnCreditUpdate(m.p, now, total)
		m.finish(b, now)
	}
}

// SendParams returns what the PDC's packet last counted by OnSend carries. seq is
// the number of the PDC's next new packet, from 0.
func (m *Manager) SendParams(pdc Handle, seq uint64) SendParams {
	b := m.live(pdc)
	if b == nil {
		return SendParams{}
	}
	i := b.context.Index()
	c, e := &m.contexts[i], &m.entropy[i]
	s := c.SendParams(m.p, m.busy)
	if b.fixed {
		s.Entropy = e.Fixed()
		return s
	}
	at := Progress{Seq: seq}
	if m.p.entropy.scheme == SchemeREPSLegacy {
		at.WindowPackets = c.Cwnd() / m.p.mtu
	}
	s.Entropy = e.Next(&m.p.entropy, m.sideOf(int(i)), at)
	return s
}

// live is member, and counts what is not.
func (m *Manager) live(pdc Handle) *member {
	b := m.member(pdc)
	if b == nil {
		m.stale++
	}
	return b
}

// feedback tells the path choice.
func (m *Manager) feedback(b *member, now int64, r Report) {
	if !b.fixed {
		i := b.context.Index()
		m.entropy[i].Feedback(&m.p.entropy, m.sideOf(int(i)), now, r)
	}
}

// finish ends an event of a PDC.
func (m *Manager) finish(b *member, now int64) {
	i := uint32(b.context.Index())
	m.turn(b, i)
	if m.records[i].custom {
		m.consult(i, now)
	}
	m.settle(i, now)
}

// consult asks the user's algorithm what it allows now.
func (m *Manager) consult(i uint32, now int64) {
	c := &m.contexts[i]
	bytes, notBefore := m.algs[i].Allow(now, c.Standing(m.p))
	c.SetAllowance(m.p, now, bytes, notBefore)
}

// Withdraw takes back delta bytes of a PDC's unsent data, see [Context.OnWithdraw].
func (m *Manager) Withdraw(pdc Handle, now, delta int64) {
	b := m.live(pdc)
	if b == nil {
		return
	}
	b.left.Backlog = less(b.left.Backlog, delta)
	m.contexts[b.context.Index()].OnWithdraw(m.p, now, delta)
	m.finish(b, now)
}
