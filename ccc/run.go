// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// classify notes in c.how whether more than the window has a say in a context: ModeOff, or an algorithm of the
// user's. If not, the reason follows from the state, or in ModeObserve from the window: ReasonWindow or
// ReasonBacklog.
func (m *Manager) classify(c *Context) {
	others := !m.runs || !m.p.window || m.p.credit || c.mode == ModeOff || c.how.has(howCustom)
	c.how.set(howAny, others)
	c.how.set(howObserves, !others && c.mode == ModeObserve)
	c.how.set(howFeeds, m.listens)
}

// A how is what an event of a context has to look at besides the window.
type how uint8

const (
	howAny      how = 1 << iota // more than the window has a say
	howFeeds                    // path choice takes feedback in, or a port is down
	howFixed                    // a PDC takes no part in path choice
	howNew                      // no data yet, of which the window is to hear
	howObserves                 // the window refuses nothing
	howCustom                   // an algorithm of the user's is called; with howAny
	howArmed                    // a deadline runs, see Manager.arm; with howAny
	howBusy                     // counted in Manager.busy

	howPlain = howFeeds | howFixed | howObserves | howBusy // acknowledgements change the window and path choice alone
)

// has reports whether h has any of the bits.
//
//uetcc:hot inlines nobounds
func (h how) has(bits how) bool { return h&bits != 0 }

func (h *how) set(bit how, on bool) {
	if *h &^= bit; on {
		*h |= bit
	}
}

// feeds reports whether path choice hears of acknowledgements.
//
//uetcc:hot inlines nobounds
func (h how) feeds() bool { return h&(howFeeds|howFixed) == howFeeds }

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

// RunMax is how many acknowledgements, and how many packets, a [Run] has at most.
const RunMax = 32

// A Run is acknowledgements and new packets of one PDC, offered to [Manager.Exchange], with the
// outcome. A Run is large and made to be used again.
type Run struct {
	Acks int   // so many of News are offered
	Most int   // so many packets are offered
	Size int64 // of each packet, bytes

	RunParams
	Paths [RunMax]uint16 // the entropy values of the packets that may go

	News [RunMax]PlainAck
}

// RunParams is the outcome for a [Run].
type RunParams struct {
	Sent    int    // the first so many packets may go
	Held    Reason // as in [SendParams], of the last of the packets
	AckEach bool   // each packet is to ask for an acknowledgement
	AckLast bool   // the last packet is to ask for an acknowledgement
	Targets bool   // each packet has a credit target, see [Manager.CreditTargets]
}

// Exchange handles nearly all events of a context in one step with one settlement:
// [Manager.OnACK] for each of the acknowledgements of x, and then [Manager.Send] for new packets, as
// many as are offered, until congestion control holds the next. Either may be none. All are of one
// PDC.
//
// What else than the window has a say takes part: receiver credit, path choice with feedback, an
// [Algorithm], a mode that observes. Where gates, TFC, a profile of htsim or SchemeREPSLegacy do,
// without acknowledgements where the first packet may not go, and with both where other PDCs are
// among the [Waiters], Exchange returns false, and nothing has changed but the outcome: use
// OnCreditUpdate, OnACK, [Context.Decide] and Send.
//
// The state afterwards is bit for bit the state after OnACK, Decide and Send, except for the calls
// of an Algorithm: a single Allow after the acknowledgements.
//
//uetcc:hot
func (m *Manager) Exchange(pdc Handle, now int64, x *Run) bool {
	at, acks := m.seatAt(pdc), x.Acks
	if at == nil || !m.runs {
		return false
	}
	c, how := &at.context, at.context.how
	if c.rec.sole != pdc || c.waitingRtx != 0 || how.has(howAny) || pdc == 0 {
		return m.exchangeAny(pdc, at, now, x)
	}
	n := x.offered(c, pdc, c.waits)
	if n < 0 {
		return false
	}
	t := tally(0)
	if a := &x.News[0]; acks == 1 && !how.has(howNew) && c.believes(a.PlainAck) {
		c.rec.last = max(c.rec.last, now)
		c.inflightPkts -= a.Packets
		if how.feeds() {
			m.feed(at, now, x.News[:1])
		}
		c.window.OnPlainACK(&m.p.nscc, now, a.PlainAck)
		t = tallyOf(0, 1, int(a.Marks()))
	} else if uint(acks) > RunMax || acks == 0 && (n == 0 || c.state != StateReady) {
		return false
	} else if c.rec.last = max(c.rec.last, now); acks != 0 {
		t = m.take(pdc, at, now, how, x)
	}
	x.RunParams = RunParams{}
	p := &m.p.nscc
	full := c.window.Full(p)
	if n != 0 && (!full || how.has(howObserves)) {
		x.Sent, x.AckEach = n, c.window.AckRequest(p) // before sending: the last packet fills the window
		if n == 1 && how&^(howObserves|howBusy) == 0 {
			c.window.OnSend(x.Size)
			c.fly(x.Size, 1)
			x.Paths[0] = at.entropy.candidate()
			at.entropy.advance(&m.p.entropy)
		} else {
			if full {
				c.window.OnSend(x.Size * int64(n))
			} else {
				n = c.window.OnSendRun(p, x.Size, n) // the packet that fills an observed window asks, too
			}
			x.Sent = n
			c.fly(x.Size*int64(n), n)
			m.choose(pdc, at, x.Size, x.Paths[:n])
		}
		full = c.window.Full(p)
		t += tallyOf(n, 0, 0)
	}
	x.AckLast = full
	m.count(c, t)
	if how.has(howObserves) {
		m.observe(c, full)
	} else if state := c.plainState(full); state != c.state {
		m.become(c, state)
	}
	x.Held = c.holds
	return true // in StateReady the window has room for one packet at least
}

// plainState is the state of a plain context, with a window that is full and refuses more, or not.
//
//uetcc:hot inlines nobounds
func (c *Context) plainState(full bool) State {
	switch {
	case c.waits == 0:
		return nextState(false, c.inflightPkts > 0, true)
	case full:
		return StateActive
	}
	return StateReady
}

// take takes the acknowledgements of x in, and returns what there is to count. It is out of line so
// as not to cost Exchange registers.
//
//go:noinline
//uetcc:hot
func (m *Manager) take(pdc Handle, at *seat, now int64, how how, x *Run) tally {
	c, packets, marks := &at.context, int32(0), 0
	if how.feeds() {
		m.feed(at, now, x.News[:x.Acks])
	}
	for i := range x.News[:x.Acks] {
		a := &x.News[i]
		packets += a.Packets
		marks += int(a.Marks())
		if how&^howPlain == 0 && c.believes(a.PlainAck) {
			c.window.OnPlainACK(&m.p.nscc, now, a.PlainAck)
		} else {
			m.takeAny(pdc, at, now, a)
		}
	}
	c.inflightPkts -= packets
	return tallyOf(0, x.Acks, marks)
}

// feed tells the path choice of a PDC that takes part what acknowledgements say of the paths.
//
//uetcc:hot
func (m *Manager) feed(at *seat, now int64, acks []PlainAck) {
	if !m.listens {
		return
	}
	e, p, side := &at.entropy, &m.p.entropy, m.sideOf(&at.context)
	if p.scheme == SchemeREPS {
		g := ringOf(side)
		for i := range acks {
			g.feed(p, now, reportOf(acks[i].Entropy, acks[i].ECN()))
		}
		return
	}
	for i := range acks {
		e.feed(p, side, now, reportOf(acks[i].Entropy, acks[i].ECN()))
	}
}

// believes reports whether so much can have been received: no more than is in flight.
//
//uetcc:hot inlines nobounds
func (c *Context) believes(a nscc.PlainAck) bool {
	return uint64(a.Bytes()) < uint64(c.window.Inflight()+rcvdUnit)
}

// takeAny takes an acknowledgement in as OnCreditUpdate and OnACK do, and tells all that listen
// but the path choice.
//
//uetcc:hot
func (m *Manager) takeAny(pdc Handle, at *seat, now int64, a *PlainAck) {
	c, p, news := &at.context, m.p, a.PlainAck
	if p.credit {
		c.credited(p, now, a)
	}
	if c.rec.sole != pdc || c.waitingRtx != 0 || !c.believes(news) {
		b := m.member(pdc)
		news = b.cut(news)
		b.hear(news.Bytes(), a.Packets)
	}
	if c.steers(p) {
		c.window.OnPlainACK(&p.nscc, now, news)
		c.reach(p, c.window.BaseRTT())
	} else {
		c.pass(p, news.Bytes(), news.Ack().RTT)
	}
	if c.how.has(howCustom) {
		m.algOf(c).OnACK(now, Ack{Ack: news.Ack(), Packets: int(a.Packets), Entropy: a.Entropy})
	}
}

// credited takes in the credit that an acknowledgement brings, and the end of the startup.
//
//uetcc:hot nobounds
func (c *Context) credited(p *Params, now int64, a *PlainAck) {
	if a.Credited {
		c.credit.OnCreditUpdate(&p.rccc, a.Credit.Extend(c.credit.Cum()))
	} else if !c.credit.Startup() {
		return
	}
	c.credit.OnACK()
	c.credit.Settle(&p.rccc, now, c.waits)
}

// offered is how many packets of x the backlog of the PDC has, or below 0 where Exchange is to refuse.
//
//uetcc:hot nobounds
func (x *Run) offered(c *Context, pdc Handle, backlog int64) int {
	n := x.Most
	switch {
	case n == 0 || uint64(x.Size-1) >= uint64(backlog):
		return 0
	case c.waiters != (Waiters{pdc.Index(), pdc.Index()}) && c.waiters != (Waiters{}) && x.Acks != 0:
		return -1
	case n == 1:
		return n
	case uint(n) > RunMax:
		return -1
	}
	return min(n, int(backlog/x.Size))
}

// exchangeAny is Exchange where not the window alone has a say.
//
//uetcc:hot
func (m *Manager) exchangeAny(pdc Handle, at *seat, now int64, x *Run) bool {
	c, p, left, how := &at.context, m.p, at.context.waits, at.context.how|howAny
	if c.rec.sole != pdc || c.waitingRtx != 0 || pdc == 0 {
		b := m.member(pdc)
		if b == nil {
			return false
		}
		if left = b.backlog(); !b.fixed {
			how &^= howFixed
		}
	}
	n := x.offered(c, pdc, left)
	if n < 0 || uint(x.Acks) > RunMax || x.Acks == 0 && (n == 0 || c.state != StateReady) {
		return false
	}
	x.RunParams = RunParams{}
	if x.Acks != 0 {
		m.count(c, m.take(pdc, at, now, how, x))
		if !c.how.has(howCustom) || p.credit || !m.ask(c, now) { // the answer evaluates; credit has to be settled before the question
			if c.evaluate(p, now); c.how.has(howCustom) {
				m.ask(c, now)
			}
		}
	}
	if n != 0 && c.state == StateReady {
		if n = c.allowed(p, now, x.Size, n); p.credit {
			n = c.lent(x.Size, n)
		}
	} else {
		n = 0
	}
	if n != 0 {
		x.AckEach = p.window && c.window.AckRequest(&p.nscc)
		if p.window && !c.window.Full(&p.nscc) {
			n = c.window.OnSendRun(&p.nscc, x.Size, n)
		} else {
			c.window.OnSend(x.Size * int64(n))
		}
		if p.credit {
			c.charge(x.Size * int64(n))
		}
		c.fly(x.Size*int64(n), n)
		m.choose(pdc, at, x.Size, x.Paths[:n])
		m.count(c, tallyOf(n, 0, 0))
		c.evaluate(p, now)
		if c.how.has(howCustom) {
			for range n {
				m.algOf(c).OnSend(now, x.Size, false)
			}
			m.spend(c, now, x.Size*int64(n))
		}
		x.Sent, x.AckLast, x.Targets = n, c.wantsAnswer(p), p.credit
	}
	if x.Acks == 0 && n == 0 {
		return false
	}
	m.arrange(c, now) // once, as all is at one time
	x.Held = c.held()
	return true
}

// lent is the number of packets of size bytes, of n (1 or more), up to the one that spends the
// credit. Without credit, in a mode that lets packets go all the same, the number is 1: each asks for
// an acknowledgement.
//
//uetcc:hot inlines nobounds
func (c *Context) lent(size int64, n int) int {
	if credit := c.credit.Credit(); credit < size*int64(n) {
		return max(int((credit+size-1)/size), 1)
	}
	return n
}

// CreditTargets fills in the [SendParams].CreditTarget of each of the packets, of size bytes, that
// Exchange has just let go on a PDC: as many as there are targets.
//
//uetcc:hot
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
		if d.Contexts = m.busy; !c.how.has(howBusy) { // the last packet was all that there was to send
			d.Contexts++
		}
	}
}

// choose chooses the entropy values of packets, which the PDC counts. It is out of line so as not
// to cost Exchange registers.
//
//go:noinline
//uetcc:hot
func (m *Manager) choose(pdc Handle, at *seat, size int64, paths []uint16) {
	e, p := &at.entropy, &m.p.entropy
	if c := &at.context; !c.how.has(howFeeds|howFixed) && c.rec.sole == pdc {
		i, order := e.index, e.order // as candidate and advance do
		for k := range paths {
			paths[k] = i ^ order
			if i = (i + 1) & p.mask; i == 0 {
				e.reorder(p)
				order = e.order
			}
		}
		e.index = i
		return
	}
	side := m.sideOf(&at.context)
	b := &m.pdcs[pdc.Index()]
	if at.context.rec.sole != pdc {
		b.fly(size*int64(len(paths)), len(paths))
	}
	if b.fixed {
		for i := range paths {
			paths[i] = b.way
		}
	} else {
		e.nextRun(p, side, paths)
	}
	if m.down != 0 {
		for i, v := range paths {
			paths[i] = m.passable(v)
		}
	}
}

// fly counts n new packets in flight, but for the window.
//
//uetcc:hot inlines nobounds
func (c *Context) fly(bytes int64, n int) {
	c.waits -= bytes
	c.inflightPkts += int32(n)
}

// become brings a plain context into a new state. Out of line for the same reason.
//
//go:noinline
//uetcc:hot
func (m *Manager) become(c *Context, s State) {
	why := ReasonBacklog
	if s == StateActive {
		why = ReasonWindow
	}
	if c.state, c.why = s, why; why != c.holds {
		m.hold(c, why)
	}
	if (s >= StateActive) != c.how.has(howBusy) {
		m.turn(c)
	}
}

// observe brings a plain context up to date whose window refuses nothing: a full window is a reason only.
//
//go:noinline
//uetcc:hot
func (m *Manager) observe(c *Context, full bool) {
	if state := c.plainState(false); state != c.state {
		m.become(c, state)
	}
	if c.why = ReasonBacklog; full && c.waits != 0 {
		c.why = ReasonWindow
	}
}
