// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// clearReqWait is the number of PDS_Clear_Times a target waits for a CLEAR before asking.
// The initiator sends a CLEAR unasked after a PDS_Clear_Time, in a CLEAR_CMD without
// acknowledgement: if lost on a quiet PDC, the response would stay in the store shared by
// all PDCs.
const clearReqWait = 4

// clearAsks is the number of questions in vain, each followed by another packet of the
// peer, before the PDC is closed. An honest peer fails when question or answer is lost:
// with every third packet lost, so many times in a row once in 10^10.
const clearAsks = 32

// clearMissing asks the initiator to clear the uncleared responses, less and less often
// during silence, and not when the timer has expired for a CLEAR_CMD of the target. An initiator that
// never clears is asked to close, ending the PDC with or without obedience.
func (rec *recovery) clearMissing(now int64, p *PDC) {
	at := &rec.mem.askAt[p.slot()]
	if p.is(flagInitiator) || rec.mem.responses.slot[p.resp.Head].state != respStored {
		*at = never
		return
	}
	if *at > now {
		rec.timer.aux(p, now, *at)
		return
	}
	if p.state == StateEstablished && rec.target.hoards(now, p) {
		rec.stats.Hoarded++
		rec.life.askClose(now, p)
	}
	if p.rx.Missing().After(rec.mem.responses.slot[p.resp.Head].psn) { // else the initiator cannot clear the response
		rec.sched.control(p, ctlClearReq)
	}
	wait := min(max(clearReqWait*rec.p.c.ClearTime, now-p.activeAt), rtoMax)
	*at = deadline.After(now, deadline.Backoff(wait, 3*p.refusals, rtoMax))
	rec.timer.aux(p, now, *at)
}

// hoards reports whether the peer of p, asked before, has left the same response uncleared
// for as long as the wait for a silent peer, and often enough.
//
// The count goes on only while nothing but the same response holds CACK: every answer about
// the response enables the peer to clear, and a peer without an answer asks. Silence does
// not count: a silent peer may hear nothing. p.lapse is the start of the count.
//
// The specification has no such rule. Against a peer taking responses without clearing the
// specification has a bounded store, the CLEAR_REQ, and the refusal of new requests
// (NO_GTD_DEL_AVAIL); hoards is for a peer that goes on all the same.
func (t *target) hoards(now int64, p *PDC) bool {
	l, unit := &p.resp, uint32(now/lapseUnit)
	if !p.rx.Missing().After(t.mem.responses.slot[l.Head].psn) {
		l.asked = 0
		return false
	}
	if l.asked == 0 {
		l.asked, l.heard, p.lapse = 1, false, unit
		return false
	}
	if !l.heard {
		return false
	}
	l.asked, l.heard = min(l.asked+1, clearAsks), false
	return l.asked == clearAsks && int64(unit-p.lapse)*lapseUnit > 2*t.p.c.IdleTime
}

// remind repeats the response that the peer of p was asked to clear, if the peer reports
// less cleared: then the response was not seen. The peer would ask in the end, but perhaps
// only after the longest timeout, or when congestion control allows.
func (w *answers) remind(p *PDC, b *inbound, out []byte) int {
	i := p.resp.Head
	if p.resp.asked == 0 || i == 0 || !p.rx.Missing().After(w.mem.responses.slot[i].psn) {
		return 0
	}
	// Not like the copy accepted, so the time is no round trip.
	return w.ackStored(p, i, w.mem.responses.slot[i].flags^pds.FlagRetx, &b.state, out)
}
