package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// Besides the PDCs, the wheel keeps one deadline for what waits in the manager,
// behind them.
func (m *Manager) ownTimer() uint32 { return uint32(len(m.pdc)) }

// NextDeadline returns when to call [Manager.Tick], ns; false: nothing waits for
// time to pass. It may be early: then Tick finds nothing to do.
func (m *Manager) NextDeadline() (int64, bool) {
	at, ok := m.wheel.Next()
	if c, has := m.cc.NextDeadline(); has && (!ok || c < at) {
		return c, true
	}
	return at, ok
}

// Tick does what has become due by now. It reports whether it is done: if not, the
// events need room. A call that is early or repeated does no harm.
func (m *Manager) Tick(now int64) (done bool) {
	m.tickCC(now)
	now = m.wheel.Now(now)
	for m.mem.events.free() >= eventReserve {
		id, ok := m.wheel.Expire(now)
		if !ok {
			return true
		}
		if id == m.ownTimer() {
			m.own(now)
			continue
		}
		p := &m.pdc[id]
		p.timerAt = never
		if p.state.live() {
			m.expire(now, p)
		}
		if p.state.live() {
			m.schedule(p, now)
		}
	}
	return false
}

// tickCC lets the contexts of congestion control see the time: one that waits for credit
// asks for it, and those that were told to wait for the time go on when it has come. Its
// timers are exact, the wheel's tick is longer than a packet.
func (m *Manager) tickCC(now int64) {
	for {
		h, waited := m.cc.Tick(now)
		switch {
		case h == 0:
			return
		case waited == ccc.ReasonCredit:
			m.askCredit(now, h)
		default:
			m.unpark(h)
		}
	}
}

// askCredit asks for credit for a context: on one of the PDCs that wait for it and
// know their peer. Where none does, no CREDIT_REQ has a place to go to; then the
// first may send a packet, which opens it, and which names what is wanted too.
//
// A peer that has begun again answers a CREDIT_REQ with a NACK that names no packet, from
// which nothing follows. So one that is silent is asked about the last packet as well, unless
// that waits for its acknowledgement anyway, and the round trip would then be a longer one.
func (m *Manager) askCredit(now int64, c ccc.Handle) {
	l := m.cc.Waiters(c)
	if l.Head == 0 {
		return
	}
	for id, n := l.Head, 0; n < lookAhead; id, n = m.pdc[id].nextData, n+1 {
		if p := &m.pdc[id]; p.peerID != 0 {
			m.control(p, ctlCreditReq)
			if deadline.After(p.activeAt, m.p.c.RTOInit) <= now && !p.tx.live(m.mem, p.tx.next-1) {
				m.control(p, ctlAckReq)
			}
			return
		}
		if id == l.Tail {
			break
		}
	}
	m.pdc[l.Head].flags |= flagAsking
	m.unpark(c)
}

// schedule arms the wheel for p if it has something to do earlier than is armed. A
// deadline that has moved away is left: the timer then finds nothing to do.
func (m *Manager) schedule(p *PDC, now int64) {
	at := min(p.auxAt, p.giveUpAt(now), p.probeAt, m.idleAt(p))
	if p.tx.base != p.tx.next {
		at = min(at, p.tx.rtoAt)
		if p.tx.queued != 0 && !p.is(flagOnData) {
			at = min(at, *p.tx.rtxAt(m.mem))
		}
	} else {
		p.tx.rtoAt = never // or who sends next would take a timer for armed that is not
	}
	if at < p.timerAt {
		p.timerAt = at
		m.wheel.Arm(uint32(p.slot()), at)
	}
}

// expire does what has become due on p.
func (m *Manager) expire(now int64, p *PDC) {
	if p.tx.rtoAt <= now && !m.timeouts(now, p) {
		return
	}
	if p.tx.queued != 0 && *p.tx.rtxAt(m.mem) <= now {
		m.wake(p)
	}
	if p.giveUpAt(now) <= now {
		m.giveUp(now, p)
		return
	}
	if p.auxAt <= now {
		p.auxAt = never
		if m.auxiliary(now, p); !p.state.live() {
			return
		}
	}
	if p.probeAt <= now {
		m.probe(now, p)
	}
	if m.idleAt(p) <= now {
		m.idle(now, p)
	}
	m.progress(now, p)
}

// timeouts queues the packets whose acknowledgement is overdue. It reports false
// if that ended the PDC.
func (m *Manager) timeouts(now int64, p *PDC) bool {
	for off := p.tx.base; ; off++ {
		var ok bool
		if off, ok = p.tx.expired(m.p, m.mem, now, off); !ok {
			return true
		}
		pkt := p.tx.packet(m.mem, off)
		if int(pkt.rtos) >= m.maxRTOs(p) {
			m.overdue(now, p)
			return false
		}
		pkt.rtos = min(pkt.rtos+1, 63)
		m.stats.RTOs++
		m.timedOut(now, p, off)
		if p.is(flagROD) && !p.tx.hasArrived(m.mem, off) {
			m.goBackOnRTO(now, p, off+1)
		}
	}
}

// maxRTOs is how often a packet of p is sent again on time. The CLOSE_CMD of a PDC
// that has failed is not sent for ever: a target may act on it only when all before it
// has come, and what was given up never will.
func (m *Manager) maxRTOs(p *PDC) int {
	if p.is(flagFailed) {
		return min(m.p.maxRTOs, failedRetx)
	}
	return m.p.maxRTOs
}

const failedRetx = 5

// goBackOnRTO sends everything behind a lost packet of an ordered PDC again, in
// order, unless a SACK says that the target keeps it. The target has dropped it and
// has said so once, in a ROD_OOO that may be lost: if each packet waited for its
// own timeout, new ones would overtake it and be dropped as well. (UE Specification
// 1.0.x: ROD recovers by go-back-N.)
func (m *Manager) goBackOnRTO(now int64, p *PDC, off uint32) {
	m.rewind(now, p, off, now, &pds.Nack{Code: pds.NackRODOOO, SPDCID: p.peerID})
}

// timedOut queues a packet that is taken for lost, or the question about one that
// has arrived: of each packet once in a time-out that doubles, so that questions are never
// more than the window's packets, nor answers more than questions. The specification bounds
// them no further, and one is no substitute for others: each may want its own response.
func (m *Manager) timedOut(now int64, p *PDC, off uint32) {
	l := p.tx.enqueue(m.mem, off, now)
	if p.tx.hasArrived(m.mem, off) {
		m.control(p, ctlQuestion)
		return
	}
	if l.counted {
		m.cc.OnInferredLoss(ccc.Handle(p.handle), now, ccc.Loss{Size: l.size, Entropy: l.entropy, NoPDC: p.peerID == 0})
		m.release(p)
	}
	m.wake(p)
}

// overdue ends a PDC whose peer does not answer. The CLOSE_CMD of a PDC that is
// closing anyway is not an error for anybody.
func (m *Manager) overdue(now int64, p *PDC) {
	if p.state == StateCloseAckWait {
		m.stats.Unconfirmed++
		m.retire(now, p, CauseNone)
		return
	}
	m.fail(now, p, CauseRTO)
}

// lapseUnit and lapseMax, ns, are the unit of a lapse and its longest time.
const (
	lapseUnit = 1 << 16
	lapseMax  = 24 * 3600e9
)

// giveUpIn has p wait no longer than d for its peer.
func (p *PDC) giveUpIn(now, d int64) {
	p.lapse = uint32((min(deadline.After(now, d), never-lapseUnit) + lapseUnit - 1) / lapseUnit)
}

// giveUpAt is when p has waited too long.
func (p *PDC) giveUpAt(now int64) int64 {
	if p.state != StatePending && p.state != StateCloseWait {
		return never
	}
	unit := now / lapseUnit
	return (unit + int64(int32(p.lapse-uint32(unit)))) * lapseUnit
}

// giveUp ends a target PDC whose peer does not do what it was asked for. One that was asked
// to close has all its open messages to end first, and may be waiting to send a packet
// again: Close_REQ_Time has to pass without a word from it, with nothing on the way to it,
// and nothing that it waits for. Who says much and clears nothing has no such respite.
func (m *Manager) giveUp(now int64, p *PDC) {
	if p.state == StatePending {
		m.stats.PendingOver++
		m.abandon(now, p, Cause(pds.NackNewStartPSN))
		return
	}
	_, owed := m.owed(p)
	if p.resp.asked < clearAsks && (p.resp.heard || owed || m.awaited(p) && m.idleAt(p) > now) {
		p.resp.heard = false
		p.giveUpIn(now, m.p.patience())
		return
	}
	m.closeInError(now, p)
}

// closeInError ends a target PDC whose peer has not closed it.
func (m *Manager) closeInError(now int64, p *PDC) {
	m.abandon(now, p, Cause(pds.NackClosingInErr))
	m.control(p, ctlClosingInErr)
}

// patience is how long a peer that was asked to close may be silent.
func (p *Params) patience() int64 { return max(p.c.CloseReqTime, p.longestRTO()) }

// auxiliary breaks stalls and repeats what may have been lost.
func (m *Manager) auxiliary(now int64, p *PDC) {
	if p.is(flagClearDue) {
		p.flags &^= flagClearDue
		m.control(p, ctlClearCmd)
	}
	if int(p.stalls)-stallsEven >= m.p.maxRTOs && p.blocked() {
		m.overdue(now, p)
		return
	}
	m.stalled(now, p)
	m.clearMissing(now, p)
}

// stallsEven is how many attempts to break a stall follow each other evenly.
const stallsEven = 8

// blocked reports whether the peer's window keeps p from sending, and nothing of
// what was sent is outstanding.
func (p *PDC) blocked() bool {
	return p.tx.base == p.tx.next && p.tx.next != p.tx.tail && !p.tx.inPeerWindow(p.tx.next)
}

// stalled breaks the clear stall. A window full of packets that are released but
// hold the peer's CACK, since it has not heard a CLEAR, sends nothing that could
// carry one and has nothing outstanding that could time out. CLEAR_CMD says it;
// an ACK_REQ, which not every target answers, and a probe in turn, bring back the
// CACK. It goes on until max_cack has moved, after stallsEven times less and less
// often, and then no more times than a packet is sent again.
func (m *Manager) stalled(now int64, p *PDC) {
	if !p.blocked() || p.auxAt != never { // not so, or under way
		return
	}
	ask := ctlAckReq
	if p.stalls%2 != 0 {
		ask = ctlProbe
	}
	m.stats.StallBreaks++
	m.control(p, ctlClearCmd|ask)
	m.aux(p, now, deadline.After(now, deadline.Backoff(m.p.c.ClearTime, max(p.stalls, stallsEven)-stallsEven, rtoMax)))
	if p.stalls++; p.stalls > 63 {
		p.stalls = 62 // they go on to take turns
	}
}

// idle closes a PDC that nothing happens on. One that is locked waits for
// something from its peer: a NOOP asks whether there still is one, and tells it the
// same of this side.
func (m *Manager) idle(now int64, p *PDC) {
	switch {
	case p.locks != 0 && p.is(flagInitiator) && p.tx.base == p.tx.tail && p.state.sendsData():
		_, _ = m.queueControl(p, pds.CtlNOOP, 0) // without memory, the next time
	case m.denied(now, p) && m.p.maxRTOs != forever:
		m.fail(now, p, CauseRTO) // no timeout can tell, since nothing is under way
		return
	case p.openMsgs != 0 || p.locks != 0 || p.tx.base != p.tx.tail:
	case p.state == StateCloseWait:
		m.closeInError(now, p)
		return
	default:
		m.close(now, p)
	}
	p.activeAt = now
}

// denied reports whether p waits for credit. One that does so for as long as a PDC may be
// idle, and asks for it all the time, has lost its peer.
func (m *Manager) denied(now int64, p *PDC) bool {
	c := m.cc.Context(p.cc)
	return c != nil && p.tx.base != p.tx.tail && c.Decide(m.cc.Params(), now).Reason == ccc.ReasonCredit
}

// idleAt is when p has been idle for too long. A target leaves the close to its
// initiator and waits twice as long.
func (m *Manager) idleAt(p *PDC) int64 {
	at := deadline.After(p.activeAt, m.p.c.IdleTime)
	if !p.is(flagInitiator) {
		at = deadline.After(at, m.p.c.IdleTime)
	}
	return at
}
