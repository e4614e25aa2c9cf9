// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/splitmix"
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
	for m.mem.events.Free() >= m.mem.reserve {
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
		_ = rec.source.queueControl(p, pds.CtlNOOP) // without memory, the next time
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
	if rec.sched.granted(p) {
		rec.mem.owesAnswer(p)
	}
}

// denied reports whether p waits for credit. A PDC that waits for as long as a PDC may be
// idle, asking all the time, has lost the peer; so has a target that waits for cells, since who waits for
// its data asks. An initiator's messages waiting for cells end by themselves.
func (s *scheduler) denied(now int64, p *PDC) bool {
	if p.tx.done() {
		return false
	}
	credit, cells := s.lacks(now, p)
	return credit || cells && !p.is(flagInitiator)
}

// lacks reports whether data under the context of p waits for the peer's credit, or for cells there.
func (s *scheduler) lacks(now int64, p *PDC) (credit, cells bool) {
	c := s.cc.Context(p.cc)
	if c == nil {
		return false, false
	}
	why := c.Decide(s.cc.Params(), now).Reason
	return why == ccc.ReasonCredit, why == ccc.ReasonAlgorithm && s.cc.Params().TFC() != nil
}

// Lacks reports whether data under the context of h waits for the peer's credit, or for cells there: because this side
// counts none, or the peer refuses packets, whose answers before have none. False if the peer is gone, see isSilent.
func (m *Manager) Lacks(now int64, h Handle) bool {
	p := m.get(h)
	if p == nil {
		return false
	}
	credit, cells := m.sched.lacks(now, p)
	short := &m.mem.shortage[p.slot()]
	refused := short.tries != 0 && short.moved == p.tx.base+p.tx.cack
	return (credit || cells || refused && m.cc.Params().TFC() != nil) && p.peerID != 0 && !m.mem.isSilent(p)
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

// timeouts queues the packets whose acknowledgement is overdue. False if a time-out ended the PDC.
func (rec *recovery) timeouts(now int64, p *PDC) bool {
	rec.mem.weighTrip(now, p)
	most := rec.p.maxRTOs
	if p.is(flagFailed) { // a target may act on the CLOSE_CMD only when all before has come, and what was given up never will
		most = min(most, failedRetx)
	}
	for off := p.tx.base; ; off++ {
		var ok bool
		if off, ok = p.tx.expired(rec.p, rec.mem, now, off); !ok {
			return true
		}
		r, i := p.tx.at(rec.mem, off)
		pkt := rec.mem.record(r, i)
		if pkt.rtos == 0 && p.tx.hasArrived(rec.mem, off) && !p.tx.hasArrived(rec.mem, p.tx.base) {
			pkt.rtos = 1 // the answer comes once the missing packet has arrived: no question yet
			due := deadline.After(now, p.tx.backoff(rec.p, rec.mem, 1))
			rec.mem.postpone(r, i, due)
			p.tx.rtoAt = min(p.tx.rtoAt, due) // the missing packet may come, late, and not be sent again
			continue
		}
		if int(pkt.rtos) >= most && !rec.goesOn(p, pkt) {
			rec.overdue(now, p)
			return false
		}
		if pkt.rtos = min(pkt.rtos+1, rtosEver); int(pkt.rtos) >= most {
			rec.source.askAgain(now, p)
		}
		rec.stats.RTOs++
		if p.probed == 0 { // what goes now may be lost again, and would wait for twice the time-out
			p.probes = 0
		}
		rec.source.timedOut(now, p, off)
		if p.is(flagROD) && !p.tx.hasArrived(rec.mem, off) {
			if pkt.rtos >= rodPatience { // all goes again, so no order is lost
				rec.cc.Repath(ccc.Handle(p.handle))
			}
			rec.source.goBackOnRTO(now, p, off+1)
		}
	}
}

// rtosEver is after how many time-outs of a packet nobody believes its peer any more, unless
// MaxRTORetx is for ever.
const rtosEver = 63

// goesOn reports whether a packet is sent again that has timed out as often as it may: its peer has
// answered since, or shortly before it left, so the way there is full and not gone. A queue that
// others keep full drops the packet of a newcomer many times in a row.
func (rec *recovery) goesOn(p *PDC, pkt *packet) bool {
	return p.state != StateCloseAckWait && !p.is(flagFailed) && pkt.rtos < rtosEver &&
		rec.mem.trip[p.tx.slot].heard > max(pkt.sentAt-rec.p.longestRTO()/2, 0)
}

// failedRetx is how often at most a failed PDC's CLOSE_CMD is sent again on time.
const failedRetx = 5

// rodPatience is the number of time-outs of a packet after which an ordered PDC takes a new path,
// each time.
const rodPatience = 2

// goBackOnRTO sends everything behind a lost packet of an ordered PDC again, in
// order, unless a SACK shows the packets kept by the target. Otherwise the target has dropped the
// packets and has said so once, in a ROD_OOO that may be lost: if each packet waited for a
// timeout, new packets would overtake and be dropped as well. (UE Specification 1.0.x: ROD
// recovers by go-back-N.)
func (s *source) goBackOnRTO(now int64, p *PDC, off uint32) {
	s.rewind(now, p, off, now, &pds.Nack{Code: pds.NackRODOOO, SPDCID: p.peerID})
}

// timedOut queues a packet taken for lost, or the question about an arrived packet: for each
// packet once in a doubling time-out, so questions are never more than the window's packets, nor
// answers more than questions. The specification has no further bound, and no question replaces
// another: each may want a response.
func (s *source) timedOut(now int64, p *PDC, off uint32) {
	l := p.tx.enqueue(s.mem, off, now)
	if p.tx.hasArrived(s.mem, off) {
		s.sched.control(p, ctlQuestion)
		return
	}
	if l.counted {
		s.recall(now, p, l.size)
		s.cc.OnInferredLoss(ccc.Handle(p.handle), now, ccc.Loss{Size: l.size, Entropy: l.entropy, NoPDC: p.peerID == 0})
		s.sched.release(p)
	}
	s.sched.wake(p)
}

// overdue ends a PDC whose peer does not answer. The CLOSE_CMD of a PDC closing anyway is not an
// error for anybody.
func (rec *recovery) overdue(now int64, p *PDC) {
	if p.state == StateCloseAckWait {
		rec.stats.Unconfirmed++
		rec.life.retire(now, p, CauseNone)
		return
	}
	rec.life.fail(now, p, CauseRTO)
}

// A trip is the learnt time of answers to a PDC's packets: mean and mean deviation as in RFC
// 6298. An answer's whole time counts, including the service time at the peer, or an honest
// slow peer would be sent everything twice. The zero value has heard no answer.
//
// Only the last answer is kept ([PDC.took]), and weighed where a time-out fires: a path that
// answers within RTO_Init_Time costs nothing, one that takes longer has a time-out to weigh it
// at every RTO_Init_Time.
type trip struct {
	mean, dev int32 // units of 2^tripShift ns
	heard     int64 // time of the last finding, by a time-out or a probe's answer, that the peer answers, plus 1
	weighed   int64 // time of the last change of mean and dev
}

// weigh takes in an answer after time d, in the same units.
func (t *trip) weigh(d int32) {
	if t.mean == 0 {
		t.mean, t.dev = max(d, 1), d/2
		return
	}
	off := d - t.mean
	t.mean += off / 8
	t.dev += (max(off, -off) - t.dev) / 4
}

// rto is the first wait for an answer: twice the mean where answers hardly differ, as a queue
// may add as much, and RTO_Init_Time at least. The bound leaves a peer with the same IdleTime
// room for some copies before the PDC counts as idle.
func (t *trip) rto(p *Params) int64 {
	mean, dev := int64(t.mean)<<tripShift, int64(t.dev)<<tripShift
	return min(max(p.c.RTOInit, mean+max(4*dev, mean)), p.learntMost())
}

// learntMost is the longest timeout that answers teach: a bound as low as the longest timeout of
// retries, 32 ms by default, had each packet of a longer path sent twice and no round trip ever
// measured.
func (p *Params) learntMost() int64 { return max(p.longestRTO(), p.c.IdleTime/4) }

// backoff is the timeout of a packet of w timed out n times: never less than the unlearnt
// timeout, which with unlimited retries goes on to 8 s, and what spread adds.
func (w *sendWindow) backoff(p *Params, m *memory, n uint8) int64 {
	first := m.trip[w.slot].rto(p)
	most := max(p.longestRTO(), min(4*first, p.learntMost()))
	return spread(max(p.rto(uint8(min(int(n), p.maxRTOs))), deadline.Backoff(first, n, most)), n, uint32(w.start))
}

// spread is a timeout d after n others, and up to a quarter more by the number of a PDC. PDCs whose
// packets a full queue dropped at one time would otherwise all send again at one time, and fill the
// queue again: of a thousand most ran out of retries, while the link stood idle. All packets of
// a PDC wait alike, and stay in order.
func spread(d int64, n uint8, number uint32) int64 {
	if n == 0 {
		return d
	}
	return d + int64(splitmix.Mix(uint64(number)<<8|uint64(n))>>1%uint64(spreadMost(d)+1))
}

// spreadMost is the most that spread adds.
func spreadMost(d int64) int64 { return d / 4 }

// tripShift is the unit of a trip and of PDC.took: 2^10 ns.
const tripShift = 10

// tookOf is PDC.took of an answer after so long.
func tookOf(ns int64) uint32 { return uint32(ns>>tripShift) + 1 }

// tookLate is PDC.took with an answer to the first copy of a packet at the time since after the last
// copy, with n time-outs before. All later copies were in vain, and the answer took at least
// the time-outs longer, the last of which was no less than the learnt one if nothing has been learnt
// since: otherwise a peer slower than RTO_Init_Time would never be weighed, or a path be taken for a third
// shorter for ever, since each packet is sent again before the answer comes. Where the last copy has waited for
// the window, or left for another reason than time, the answer took longer still: so the
// time counts only where it is more than what is known.
//
//go:noinline
//uetcc:hot
func (m *memory) tookLate(now int64, p *PDC, c *Params, since int64, n uint8) uint32 {
	waits := c.rto(n) - c.c.RTOInit
	if t := &m.trip[p.tx.slot]; n != 0 && t.weighed <= now-since {
		waits = max(waits, t.rto(c))
	}
	took := tookOf(deadline.After(since, waits))
	if took <= p.took&^tookAtLeast {
		return p.took
	}
	return took | tookAtLeast
}

// tookAtLeast marks a PDC.took that an answer has taken at least.
const tookAtLeast = 1 << 30

// weighTrip takes in what the last answer to p took, once.
func (m *memory) weighTrip(now int64, p *PDC) {
	t := &m.trip[p.tx.slot]
	if took := int32(p.took); took > 0 { // else no answer, or the clock has gone back
		if d := took&^tookAtLeast - 1; took&tookAtLeast == 0 || d > t.mean {
			t.weigh(d)
			t.weighed = now
		}
	}
	if p.took != 0 {
		t.heard = now + 1
	}
	p.took = 0
}

// auxiliary breaks stalls and repeats control packets possibly lost.
func (rec *recovery) auxiliary(now int64, p *PDC) {
	if p.is(flagClearDue) {
		p.flags &^= flagClearDue
		rec.sched.control(p, ctlClearCmd)
	}
	if int(p.stalls)-stallsEven >= rec.p.maxRTOs && p.blocked() {
		rec.overdue(now, p)
		return
	}
	rec.source.stalled(now, p)
	rec.clearMissing(now, p)
}

// stallsEven is the number of evenly spaced attempts to break a stall.
const stallsEven = 8

// blocked reports whether the peer's window keeps p from sending anything, again or for the first
// time: CACK is that far behind what has been released here.
func (p *PDC) blocked() bool {
	return !p.tx.done() && !p.tx.inPeerWindow(p.tx.base)
}

// stalled breaks the clear stall. A window full of packets released here, but
// holding the peer's CACK for want of a CLEAR, sends no packet that could carry a
// CLEAR and has no packet that could time out, or only packets lost beyond a window
// that has become smaller. CLEAR_CMD brings the CLEAR; an ACK_REQ, not answered by every
// target, and a probe in turn bring back the CACK, and with packets under way a probe
// alone, since an answer about a packet would time the packet. The attempts go on until
// max_cack has moved, after stallsEven attempts less and less often, and then no more
// times than a packet is sent again.
func (s *source) stalled(now int64, p *PDC) {
	if !p.blocked() || p.auxAt != never { // not so, or under way
		return
	}
	ask := ctlAckReq
	if (p.stalls%2 != 0 || p.tx.outstanding()) && p.knowsProbes() {
		ask = ctlProbe
	}
	s.stats.StallBreaks++
	s.sched.control(p, ctlClearCmd|ask)
	s.timer.aux(p, now, deadline.After(now, deadline.Backoff(s.p.c.ClearTime, max(p.stalls, stallsEven)-stallsEven, rtoMax)))
	if p.stalls++; p.stalls > 63 {
		p.stalls = 62 // CLEAR_CMD and question go on in turn
	}
}
