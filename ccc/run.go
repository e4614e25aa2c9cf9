// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// classify notes whether the window alone has a say in a context: mode enforce, and no
// algorithm of the user's. The reason then follows from the state: ReasonWindow in
// StateActive, else ReasonBacklog.
func (m *Manager) classify(c *Context) {
	c.plain = m.runs && m.p.window && !m.p.credit && c.mode == ModeEnforce && !c.rec.custom
}

// A PlainAck is an acknowledgement of packets in flight, from a destination that neither
// penalises nor restores. The window is told the bytes of the packets together, and a round
// trip of kind [nscc.SampleNormal], ns, none if not above 0.
type PlainAck struct {
	nscc.PlainAck
	Packets  int32
	Entropy  uint16      // of the packet that caused the acknowledgement
	Credited bool        // Credit has come, which [Manager.OnCreditUpdate] is to hear first
	Credit   rccc.Quanta // cumulative
}

// RunParams is the outcome for acknowledgements and packets offered to [Manager.Exchange].
type RunParams struct {
	Sent    int    // the first so many packets may go
	Held    Reason // as in [SendParams], of the last of the packets
	AckEach bool   // each packet is to ask for an acknowledgement
	AckLast bool   // the last packet is to ask for an acknowledgement
	Targets bool   // each packet has a credit target, see [Manager.CreditTargets]
}

// Exchange handles nearly all events of a context in one step with one settlement:
// [Manager.OnACK] for each of acks, and then [Manager.Send] for new packets of size bytes each,
// as many as paths has room for, until congestion control holds the next; paths gets their
// entropy values. Either may be empty, and is up to 255. All are of one PDC.
//
// What else than the window has a say takes part: receiver credit, path choice with feedback, an
// [Algorithm], a mode that observes. Where gates, TFC, a profile of htsim or SchemeREPSLegacy do,
// without acks where the first packet may not go, and with both where other PDCs are among the
// [Waiters], Exchange returns false, and nothing has changed: use OnCreditUpdate, OnACK,
// [Context.Decide] and Send.
//
// The state afterwards is bit for bit the state after OnACK, Decide and Send, except for the
// time of the last event if now is earlier, and for the calls of an Algorithm: a single Allow
// after acks.
func (m *Manager) Exchange(pdc Handle, now int64, acks []PlainAck, size int64, paths []uint16) (s RunParams, ok bool) {
	at := m.seatAt(pdc)
	if at == nil || !m.runs || len(acks)|len(paths) > tallyMost {
		return s, false
	}
	c, p, n, left := &at.context, &m.p.nscc, len(paths), at.context.waits
	if c.rec.sole != pdc || c.waitingRtx != 0 || pdc == 0 {
		b := m.member(pdc)
		if b == nil {
			return s, false
		}
		left = b.backlog()
	}
	if uint64(size-1) >= uint64(left) {
		n = 0
	} else if size*int64(n) > left {
		n = int(left / size)
	}
	if len(acks) != 0 {
		if n != 0 && c.waiters != (Waiters{pdc.Index(), pdc.Index()}) && c.waiters != (Waiters{}) {
			return s, false
		}
		m.take(pdc, at, now, acks)
	} else if c.state != StateReady || n == 0 {
		return s, false
	}
	if !c.plain {
		return m.exchangeAny(pdc, at, now, len(acks), size, paths[:n])
	}
	if c.state == StateActive && !c.rec.wait(now) {
		m.carry(c, now)
	} else {
		c.rec.last = now
	}
	if n != 0 {
		s.AckEach = c.window.AckRequest(p) // before sending: the last packet fills the window, see AckLast
		s.Sent = c.window.OnSendRun(p, size, n)
		c.fly(size*int64(s.Sent), s.Sent)
		if paths = paths[:s.Sent]; m.listens || c.rec.fixed || c.rec.sole != pdc {
			m.choose(pdc, at, size, paths)
		} else {
			for i := range paths {
				paths[i] = at.entropy.candidate()
				at.entropy.advance(&m.p.entropy)
			}
		}
		m.count(c, tallyOf(s.Sent, 0, 0))
	}
	s.AckLast = c.window.Full(p)
	if state := c.plainState(s.AckLast); state != c.state {
		m.become(c, state)
	}
	s.Held = c.why
	return s, true // in StateReady the window has room for one packet at least
}

// plainState is the state of a plain context, with a full window or not.
func (c *Context) plainState(full bool) State {
	switch {
	case c.waits == 0:
		return nextState(false, c.inflightPkts > 0, true)
	case full:
		return StateActive
	}
	return StateReady
}

// take takes acknowledgements in. It is out of line so as not to cost Exchange registers.
//
//go:noinline
func (m *Manager) take(pdc Handle, at *seat, now int64, acks []PlainAck) {
	c, packets, marks := &at.context, int32(0), 0
	alone := c.plain && !m.listens && c.rec.sole == pdc && c.waitingRtx == 0
	for i := range acks {
		a := &acks[i]
		packets += a.Packets
		marks += int(a.Marks())
		if alone && uint64(a.Bytes()) < uint64(c.window.Inflight()+rcvdUnit) {
			c.window.OnPlainACK(&m.p.nscc, now, a.PlainAck)
		} else {
			m.takeAny(pdc, at, now, a)
		}
	}
	c.inflightPkts -= packets
	m.count(c, tallyOf(0, len(acks), marks))
}

// takeAny takes an acknowledgement in as OnCreditUpdate and OnACK do, and tells all that listen
// of it.
func (m *Manager) takeAny(pdc Handle, at *seat, now int64, a *PlainAck) {
	c, p, news, fixed := &at.context, m.p, a.PlainAck, at.context.rec.fixed
	if p.credit {
		c.credited(p, now, a)
	}
	if c.rec.sole != pdc || c.waitingRtx != 0 || uint64(news.Bytes()) >= uint64(c.window.Inflight()+rcvdUnit) {
		b := m.member(pdc)
		news, fixed = b.cut(news), b.fixed
		b.hear(news.Bytes(), a.Packets)
	}
	if m.listens && !fixed {
		at.entropy.Feedback(&p.entropy, m.sideOf(c), now, reportOf(a.Entropy, a.ECN()))
	}
	if c.steers(p) {
		c.window.OnPlainACK(&p.nscc, now, news)
	} else {
		c.window.OnSend(-news.Bytes())
	}
	if c.rec.custom {
		m.algOf(c).OnACK(now, Ack{Ack: news.Ack(), Packets: int(a.Packets), Entropy: a.Entropy})
	}
}

// credited takes in the credit that an acknowledgement brings, and the end of the startup.
func (c *Context) credited(p *Params, now int64, a *PlainAck) {
	if a.Credited {
		c.credit.OnCreditUpdate(&p.rccc, a.Credit.Extend(c.credit.Cum()))
	} else if !c.credit.Startup() {
		return
	}
	c.credit.OnACK()
	c.credit.Settle(&p.rccc, now, c.waits)
}

// exchangeAny is the rest of Exchange where not the window alone has a say.
func (m *Manager) exchangeAny(pdc Handle, at *seat, now int64, acks int, size int64, paths []uint16) (s RunParams, ok bool) {
	c, p := &at.context, m.p
	if acks != 0 {
		c.evaluate(p, now)
		m.settle(c, now)
	}
	n := 0
	if len(paths) != 0 && c.state == StateReady {
		if n = c.allowed(p, now, size, len(paths)); p.credit {
			n = c.lent(size, n)
		}
	}
	if n != 0 {
		s.AckEach = p.window && c.window.AckRequest(&p.nscc)
		if p.window && !c.window.Full(&p.nscc) {
			n = c.window.OnSendRun(&p.nscc, size, n) // the packet that fills an observed window asks, too
		} else {
			c.window.OnSend(size * int64(n))
		}
		if p.credit {
			c.charge(size * int64(n))
		}
		c.fly(size*int64(n), n)
		m.choose(pdc, at, size, paths[:n])
		m.count(c, tallyOf(n, 0, 0))
		c.evaluate(p, now)
		if c.rec.custom {
			for range n {
				m.algOf(c).OnSend(now, size, false)
			}
			m.spend(c, now, size*int64(n))
		}
		m.arrange(c, now)
		s.Sent, s.AckLast, s.Targets = n, c.wantsAnswer(p), p.credit
	}
	s.Held = c.held()
	return s, acks != 0 || s.Sent != 0
}

// lent is the number of packets of size bytes, of n (1 or more), up to the one that spends the
// credit. Without credit, in a mode that lets packets go all the same, the number is 1: each asks for
// an acknowledgement.
func (c *Context) lent(size int64, n int) int {
	if credit := c.credit.Credit(); credit < size*int64(n) {
		return max(int((credit+size-1)/size), 1)
	}
	return n
}

// CreditTargets fills in the [SendParams].CreditTarget of each of the packets, of size bytes, that
// Exchange has just let go on a PDC: as many as there are targets.
func (m *Manager) CreditTargets(pdc Handle, size int64, targets []int64) {
	at := m.seatAt(pdc)
	if at == nil {
		return
	}
	c, p := &at.context, m.p
	credit, d := c.credit, c.demand(p, m.busy)
	for i := len(targets) - 1; i >= 0; i-- {
		targets[i] = credit.Target(&p.rccc, d)
		credit.OnSend(-size)
		d.Backlog += size
		if d.Contexts = m.busy; !c.rec.busy { // the last packet was all that there was to send
			d.Contexts++
		}
	}
}

// choose chooses the entropy values of packets, which the PDC counts. It is out of line so as not
// to cost Exchange registers.
//
//go:noinline
func (m *Manager) choose(pdc Handle, at *seat, size int64, paths []uint16) {
	b, e, p, side := m.member(pdc), &at.entropy, &m.p.entropy, m.sideOf(&at.context)
	b.fly(size*int64(len(paths)), len(paths))
	for i := range paths {
		v := b.way
		if !b.fixed {
			v = e.Next(p, side, Progress{})
		}
		paths[i] = m.passable(v)
	}
}

// fly counts n new packets in flight, but for the window.
func (c *Context) fly(bytes int64, n int) {
	c.waits -= bytes
	c.inflightPkts += int32(n)
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
		m.turn(c)
	}
}
