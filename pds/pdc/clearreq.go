package pdc

import (
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// clearReqWait is how many PDS_Clear_Times a target waits for a CLEAR before it asks for
// one. The initiator sends one on its own after one PDS_Clear_Time, in a CLEAR_CMD that
// nobody acknowledges: if that were lost on a PDC that goes quiet, the response would keep
// its place in a store that all PDCs share.
const clearReqWait = 4

// clearAsks is how many questions have to be in vain, each followed by something else from
// the peer, before its PDC is closed. An honest peer fails when the question or the answer
// is lost: where every third packet is, so many times in a row once in 10^10.
const clearAsks = 32

// clearMissing asks the initiator to clear what it has not cleared, less and less
// often while nothing is heard from it. One that never does is asked to close, which ends
// the PDC whether it obeys or not.
func (rec *recovery) clearMissing(now int64, p *PDC) {
	if p.is(flagInitiator) || rec.mem.responses.slot[p.resp.head].state != respStored {
		return
	}
	if p.state == StateEstablished && rec.target.hoards(now, p) {
		rec.stats.Hoarded++
		rec.life.askClose(now, p)
	}
	if p.rx.Missing().After(rec.mem.responses.slot[p.resp.head].psn) { // else the initiator cannot clear it
		rec.sched.control(p, ctlClearReq)
	}
	wait := min(max(clearReqWait*rec.p.c.ClearTime, now-p.activeAt), rtoMax)
	rec.timer.aux(p, now, deadline.After(now, deadline.Backoff(wait, 3*p.refusals, rtoMax)))
}

// hoards reports whether the peer of p, which it has asked before, has left the same
// response uncleared for as long as a silent one is waited for, and often enough.
//
// It only counts while nothing but that response holds CACK: every answer about it says
// all that the peer needs to clear it, and a peer that has heard none asks for one. A
// silent peer is not counted against: it may hear nothing. p.lapse is since when it counts.
//
// The specification has no such rule. Against a peer that takes responses and clears none
// it has a bounded store, the CLEAR_REQ, and the refusal of new requests
// (NO_GTD_DEL_AVAIL); this is for a peer that goes on in spite of them.
func (t *target) hoards(now int64, p *PDC) bool {
	l, unit := &p.resp, uint32(now/lapseUnit)
	if !p.rx.Missing().After(t.mem.responses.slot[l.head].psn) {
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

// remind repeats the response that the peer of p was asked to clear, if what it says it
// has cleared is less: then it has not seen it. It would ask for it in the end, but perhaps
// only after its longest timeout, or when congestion control lets it.
func (w *answers) remind(p *PDC, b *inbound, out []byte) int {
	i := p.resp.head
	if p.resp.asked == 0 || i == 0 || !p.rx.Missing().After(w.mem.responses.slot[i].psn) {
		return 0
	}
	// Not like the copy that was accepted, so that its time is no round trip.
	return w.ackStored(p, i, w.mem.responses.slot[i].flags^pds.FlagRetx, &b.state, out)
}
