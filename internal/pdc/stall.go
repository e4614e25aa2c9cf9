// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/deadline"

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
