package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
)

// timers keep one deadline for each PDC, the first of those that it has.
type timers struct {
	p     *Params
	mem   *memory
	wheel *timerwheel.Wheel
}

// Besides the PDCs, the wheel keeps one deadline for what waits in the manager,
// behind them.
func (l *life) ownTimer() uint32 { return uint32(len(l.pdc)) }

// NextDeadline returns when to call [Manager.Tick], ns; false: nothing waits for
// time to pass. It may be early: then Tick finds nothing to do.
func (m *Manager) NextDeadline() (int64, bool) {
	at, ok := m.timer.wheel.Next()
	if c, has := m.cc.NextDeadline(); has && (!ok || c < at) {
		return c, true
	}
	return at, ok
}

// Tick does what has become due by now. It reports whether it is done: if not, the
// events need room. A call that is early or repeated does no harm.
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
		if p.state.live() {
			m.recovery.expire(now, p)
		}
		if p.state.live() {
			m.timer.schedule(p, now)
		}
	}
	return false
}

// tickCC lets the contexts of congestion control see the time: one that waits for credit
// asks for it, and those that were told to wait for the time go on when it has come. Its
// timers are exact, the wheel's tick is longer than a packet.
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

// schedule arms the wheel for p if it has something to do earlier than is armed. A
// deadline that has moved away is left: the timer then finds nothing to do.
func (t *timers) schedule(p *PDC, now int64) {
	at := min(p.auxAt, p.giveUpAt(now), p.probeAt, t.idleAt(p))
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

// expire does what has become due on p.
func (rec *recovery) expire(now int64, p *PDC) {
	if p.tx.rtoAt <= now && !rec.timeouts(now, p) {
		return
	}
	if p.tx.queued != 0 && *p.tx.rtxAt(rec.mem) <= now {
		rec.sched.wake(p)
	}
	if p.giveUpAt(now) <= now {
		rec.life.giveUp(now, p)
		return
	}
	if p.auxAt <= now {
		p.auxAt = never
		if rec.auxiliary(now, p); !p.state.live() {
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

// idle closes a PDC that nothing happens on. One that is locked waits for
// something from its peer: a NOOP asks whether there still is one, and tells it the
// same of this side.
func (rec *recovery) idle(now int64, p *PDC) {
	switch {
	case p.waits():
		p.asks, p.closePSN = min(rec.timer.asksOf(p)+1, 62), p.rx.MaxRcvd()
		_ = rec.source.queueControl(p, pds.CtlNOOP, 0) // without memory, the next time
	case rec.sched.denied(now, p) && rec.p.maxRTOs != forever:
		rec.life.fail(now, p, CauseRTO) // no timeout can tell, since nothing is under way
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

// denied reports whether p waits for credit. One that does so for as long as a PDC may be
// idle, and asks for it all the time, has lost its peer.
func (s *scheduler) denied(now int64, p *PDC) bool {
	c := s.cc.Context(p.cc)
	return c != nil && !p.tx.done() && c.Decide(s.cc.Params(), now).Reason == ccc.ReasonCredit
}

// waits reports whether p has nothing to say and waits for something from its peer.
func (p *PDC) waits() bool {
	return p.locks != 0 && p.is(flagInitiator) && p.tx.done() && p.state.sendsData()
}

// asksOf is how often p has asked its peer for a sign of life since that has sent anything new.
func (t *timers) asksOf(p *PDC) uint8 {
	if p.rx.MaxRcvd() != p.closePSN {
		return 0
	}
	return p.asks
}

// idleAt is when p has been idle for too long. One that waits for its peer asks after two
// time-outs of silence, and then half as often each time: a peer that has gone, or has begun
// again, is noticed in the time in which it would not answer a packet, and one that takes its
// time costs little. A target leaves the close to its initiator and waits twice as long.
func (t *timers) idleAt(p *PDC) int64 {
	if p.waits() {
		return deadline.After(p.activeAt, min(2*t.p.rto(t.asksOf(p)), t.p.c.IdleTime))
	}
	at := deadline.After(p.activeAt, t.p.c.IdleTime)
	if !p.is(flagInitiator) {
		at = deadline.After(at, t.p.c.IdleTime)
	}
	return at
}

// aux sets the auxiliary timer of p to at, unless it goes off earlier.
func (t *timers) aux(p *PDC, now, at int64) {
	if at < p.auxAt {
		p.auxAt = at
		t.schedule(p, now)
	}
}
