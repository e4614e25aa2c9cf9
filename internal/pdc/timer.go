// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
)

// timers keep one deadline for each PDC, the earliest of the PDC's deadlines.
type timers struct {
	p     *Params
	mem   *memory
	wheel *timerwheel.Wheel
}

// Besides the PDCs, the wheel keeps one deadline for work waiting in the manager, behind the
// PDCs'.
func (l *life) ownTimer() uint32 { return uint32(len(l.pdc)) }

// NextDeadline returns the time to call [Manager.Tick], ns; false: nothing waits for time to
// pass. The time may be early: then Tick finds nothing to do.
//
//uetcc:hot
func (m *Manager) NextDeadline() (int64, bool) {
	at, ok := m.timer.wheel.Next()
	if c, has := m.cc.NextDeadline(); has && (!ok || c < at) {
		return c, true
	}
	return at, ok
}

// Tick does the work due by now. done is false if the events need room. An early or repeated
// call does no harm.
//
//uetcc:hot
func (m *Manager) Tick(now int64) (done bool) {
	m.recovery.tickCC(now)
	now = m.timer.wheel.Now(now)
	for m.mem.events.free() >= m.mem.reserve {
		id, ok := m.timer.wheel.Expire(now)
		if !ok {
			return true
		}
		if id == m.life.ownTimer() {
			m.own(now)
			continue
		}
		p := &m.pdc[id]
		p.timerAt = never
		if live(p.state) {
			m.recovery.expire(now, p)
		}
		if live(p.state) {
			m.timer.schedule(p, now)
		}
	}
	return false
}

// tickCC lets the contexts of congestion control see the time: a context waiting for credit
// asks for credit, and paced contexts go on in time. The contexts' timers are exact, the
// wheel's tick is longer than a packet.
func (rec *recovery) tickCC(now int64) {
	for {
		h, waited := rec.cc.Tick(now)
		switch {
		case h == 0:
			return
		case waited == ccc.ReasonCredit:
			rec.askCredit(now, h)
		default:
			rec.sched.unpark(h)
		}
	}
}

// schedule arms the wheel for p for work earlier than armed. A deadline moved to later is
// left: the timer then finds nothing to do.
func (t *timers) schedule(p *PDC, now int64) {
	at := min(p.auxAt, p.giveUpAt(t.p, now), p.probeAt, t.idleAt(p))
	if p.tx.outstanding() {
		at = min(at, p.tx.rtoAt)
		if p.tx.queued != 0 && !p.is(flagOnData) {
			at = min(at, *p.tx.rtxAt(t.mem))
		}
	} else {
		p.tx.rtoAt = never // or the next sending would rely on a timer that is not armed
	}
	if at < p.timerAt {
		p.timerAt = at
		t.wheel.Arm(uint32(p.slot()), at)
	}
}

// expire does the work due on p.
func (rec *recovery) expire(now int64, p *PDC) {
	if p.tx.rtoAt <= now && !rec.timeouts(now, p) {
		return
	}
	if p.tx.queued != 0 && *p.tx.rtxAt(rec.mem) <= now {
		rec.sched.wake(p)
	}
	if p.giveUpAt(rec.p, now) <= now {
		rec.life.giveUp(now, p)
		return
	}
	if p.auxAt <= now {
		p.auxAt = never
		if rec.auxiliary(now, p); !live(p.state) {
			return
		}
	}
	if p.probeAt <= now {
		rec.source.probe(now, p)
	}
	if rec.timer.idleAt(p) <= now {
		rec.idle(now, p)
	}
	rec.life.progress(now, p)
}

// idle closes a PDC without activity. A locked PDC waits for the peer: a NOOP asks for a sign
// of life, and gives one.
func (rec *recovery) idle(now int64, p *PDC) {
	switch {
	case p.waits():
		p.asks, p.closePSN = min(rec.timer.asksOf(p)+1, 62), p.rx.MaxRcvd()
		_ = rec.source.queueControl(p, pds.CtlNOOP, 0) // without memory, the next time
	case rec.timer.asksPeer(p):
		p.asks, p.closePSN = 1, p.rx.MaxRcvd()
		rec.challenge(now, p)
	case rec.sched.denied(now, p) && rec.p.maxRTOs != forever:
		rec.life.fail(now, p, CauseRTO) // no timeout can tell, since nothing is under way
		return
	case rec.reply.doubts(p) && (!p.tx.done() || p.resp.tells == 0 && !p.inUse()):
		// nor may another packet go, to find out or to ask
		rec.life.closeInError(now, p)
		return
	case p.inUse() || !p.tx.done():
	case p.state == StateCloseWait:
		rec.life.closeInError(now, p)
		return
	default:
		rec.life.close(now, p)
	}
	p.activeAt = now
}

// denied reports whether p waits for credit. A PDC that waits for as long as a PDC may be
// idle, asking all the time, has lost the peer; so has a target that waits for cells, since who waits for
// its data asks. An initiator's messages waiting for cells end by themselves.
func (s *scheduler) denied(now int64, p *PDC) bool {
	c := s.cc.Context(p.cc)
	if c == nil || p.tx.done() {
		return false
	}
	why := c.Decide(s.cc.Params(), now).Reason
	return why == ccc.ReasonCredit || why == ccc.ReasonAlgorithm && s.cc.Params().TFC() != nil && !p.is(flagInitiator)
}

// waits reports whether p has nothing to send and waits for the peer.
func (p *PDC) waits() bool {
	return p.locks != 0 && p.is(flagInitiator) && p.tx.done() && sendsData(p.state)
}

// asksOf is the number of p's questions for a sign of life since the peer's last news.
func (t *timers) asksOf(p *PDC) uint8 {
	if p.rx.MaxRcvd() != p.closePSN {
		return 0
	}
	return p.asks
}

// idleAt is the time when p has been idle for too long. A PDC waiting for the peer asks after
// two time-outs of silence, and then half as often each time: a gone or restarted peer is
// noticed in the time of unanswered packets, and a slow peer costs little. A target leaves
// the close to the initiator and waits twice as long, but asks a little after the close was to be
// expected: a peer that has begun again since does not have the PDC.
func (t *timers) idleAt(p *PDC) int64 {
	if p.waits() {
		return deadline.After(p.activeAt, min(2*t.p.rto(t.asksOf(p)), t.p.c.IdleTime))
	}
	at, late := deadline.After(p.activeAt, t.p.c.IdleTime), t.p.c.IdleTime/8
	switch {
	case p.is(flagInitiator):
		return at
	case p.is(flagClose):
		return deadline.After(at, t.p.c.IdleTime)
	case t.asksPeer(p):
		return deadline.After(at, late)
	}
	return at - late // since the question, so at twice IdleTime
}

// asksPeer reports whether p is a target that is to ask a silent peer.
func (t *timers) asksPeer(p *PDC) bool {
	return p.flags&(flagInitiator|flagClose) == 0 && t.asksOf(p) == 0
}

// aux sets the auxiliary timer of p to at, unless set earlier.
func (t *timers) aux(p *PDC, now, at int64) {
	if at < p.auxAt {
		p.auxAt = at
		t.schedule(p, now)
	}
}
