package pdc

import "github.com/uetcc/uetcc/internal/deadline"

// auxiliary breaks stalls and repeats what may have been lost.
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

// stallsEven is how many attempts to break a stall follow each other evenly.
const stallsEven = 8

// blocked reports whether the peer's window keeps p from sending, and nothing of
// what was sent is outstanding.
func (p *PDC) blocked() bool {
	return !p.tx.outstanding() && !p.tx.done() && !p.tx.inPeerWindow(p.tx.next)
}

// stalled breaks the clear stall. A window full of packets that are released but
// hold the peer's CACK, since it has not heard a CLEAR, sends nothing that could
// carry one and has nothing outstanding that could time out. CLEAR_CMD says it;
// an ACK_REQ, which not every target answers, and a probe in turn, bring back the
// CACK. It goes on until max_cack has moved, after stallsEven times less and less
// often, and then no more times than a packet is sent again.
func (s *source) stalled(now int64, p *PDC) {
	if !p.blocked() || p.auxAt != never { // not so, or under way
		return
	}
	ask := ctlAckReq
	if p.stalls%2 != 0 && p.knowsProbes() {
		ask = ctlProbe
	}
	s.stats.StallBreaks++
	s.sched.control(p, ctlClearCmd|ask)
	s.timer.aux(p, now, deadline.After(now, deadline.Backoff(s.p.c.ClearTime, max(p.stalls, stallsEven)-stallsEven, rtoMax)))
	if p.stalls++; p.stalls > 63 {
		p.stalls = 62 // they go on to take turns
	}
}
