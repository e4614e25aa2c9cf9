// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// check holds the step invariants I1 to I9 of every live PDC of e, against what was
// seen before.
func (e *pdcEnd) check() {
	var load [16]faultLoad
	for id := 1; id < len(e.seen); id++ {
		h := e.table.ByID(pds.PDCID(id))
		if h == 0 {
			continue
		}
		now, ok := e.m.PDC(h)
		if !ok {
			e.w.failf("I9: PDC %#x is in the table and not in the manager", uint32(h))
		}
		was := &e.seen[id]
		if was.h != h {
			e.appeared(id, &now)
			*was = faultSeen{h, now}
		}
		checkPDC(e.w.failf, &pdc.Config{Range: e.w.s.window}, &was.info, &now)
		if peer := e.peerOf(&now); peer != nil {
			checkPair(e.w.failf, &now, peer)
		}
		was.info = now
		if now.Context != 0 {
			load[now.Context.Index()&15].add(&now)
		}
	}
	for i := range load {
		if load[i].used {
			e.w.checkContext(e.cc, &load[i])
		}
	}
	if !e.w.s.blind {
		e.shadow.compare()
	}
}

// appeared is a PDC that was not there before.
func (e *pdcEnd) appeared(id int, now *pdc.Info) {
	if e.used[id] && !e.w.net.Healed() {
		e.w.net.Counts[faultnet.ReuseID]++
	}
	e.used[id] = true
	for o := 1; o < len(e.seen); o++ {
		if o == id || e.table.ByID(pds.PDCID(o)) != e.seen[o].h || e.seen[o].h == 0 {
			continue
		}
		if x := &e.seen[o].info; x.PeerID != 0 && x.PeerID == now.PeerID && x.Peer == now.Peer && !x.Initiator && !now.Initiator {
			e.w.failf("I9: two PDCs for peer %v %d: %#x and %#x", now.Peer, now.PeerID, id, o)
		}
	}
}

// A failf ends a run that breaks an invariant.
type failf func(format string, args ...any)

// queuedBehind is how many packets may wait to be sent behind a whole window, see [pdc.ErrWindowFull].
const queuedBehind = 64

// checkPDC holds I1 to I6 of a PDC configured by c.
func checkPDC(failf failf, c *pdc.Config, was, now *pdc.Info) {
	n := int32(c.Range)
	tracked := (n + 127) / 128 * 128 // what the mpr announces
	if n < 128 && c.OverrideMPRZero != 0 && c.OverrideMPRZero <= c.Range {
		tracked = n // announced as 0
	}
	if d := now.Next.Diff(now.Base); d < 0 || d > n {
		failf("I1: base %#x next %#x", uint32(now.Base), uint32(now.Next))
	}
	if now.Unsent < 0 || now.Unsent+int(now.Next.Diff(now.Base)) > int(n)+queuedBehind {
		failf("I1: %d unsent, base %#x next %#x", now.Unsent, uint32(now.Base), uint32(now.Next))
	}
	answered := now.PeerID != 0 // before, the peer may ask for another Start_PSN
	if now.Base.Diff(was.Base) < 0 && answered {
		failf("I2: base regressed: %+v then %+v", was, now)
	}
	if now.MaxCACK.Diff(was.MaxCACK) < 0 && answered {
		failf("I2: max_cack regressed: %+v then %+v", was, now)
	}
	if now.MaxCACK.Diff(now.Next) >= 0 {
		failf("I5: max_cack %#x, next %#x", uint32(now.MaxCACK), uint32(now.Next))
	}
	if x := now.MaxRcvd.Diff(now.CACK); x < 0 || x > tracked {
		failf("I3: max_rcvd %#x cack %#x", uint32(now.MaxRcvd), uint32(now.CACK))
	}
	if was.PeerID != 0 && (now.CACK.Diff(was.CACK) < 0 || now.Clear.Diff(was.Clear) < 0 || now.MaxRcvd.Diff(was.MaxRcvd) < 0) {
		failf("I3: regressed: %+v then %+v", was, now)
	}
	if now.MaxRcvd.Diff(now.Clear) < 0 || now.Contiguous.Diff(now.CACK) < 0 {
		failf("I3, I4: clear %#x, max_rcvd %#x, cack %#x, received up to %#x", uint32(now.Clear), uint32(now.MaxRcvd), uint32(now.CACK), uint32(now.Contiguous))
	}
	if now.State == pdc.StateCloseAckWait && now.Unsent > 1 { // the CLOSE_CMD
		failf("I6: %d unsent in %v", now.Unsent, now.State)
	}
}

// peerOf returns the other end of a PDC, if it is live too. Once somebody has lost
// his memory the same ids may mean something else.
func (e *pdcEnd) peerOf(now *pdc.Info) *pdc.Info {
	to := e.placeOf(now.Peer)
	if e.w.s.weak || now.PeerID == 0 || to < 0 || to >= len(e.w.ends) {
		return nil
	}
	o := e.w.ends[to]
	info, ok := o.m.PDC(o.table.ByID(now.PeerID))
	if !ok || e.life+o.life != 0 || info.PeerID != now.ID || info.Peer != e.self || info.Initiator == now.Initiator {
		return nil
	}
	if d := info.CACK.Diff(now.MaxCACK); e.w.net.Plan.Forge > 0 && (d > 1<<20 || d < -1<<20) {
		return nil // opened by a stranger, under the ids of a PDC that is over here
	}
	return &info
}

// checkPair holds that the wire is only ever behind.
func checkPair(failf failf, a, b *pdc.Info) {
	if b.CACK.Diff(a.Next) >= 0 || a.MaxCACK.Diff(b.CACK) > 0 {
		failf("I5: max_cack %#x, peer's cack %#x, next %#x", uint32(a.MaxCACK), uint32(b.CACK), uint32(a.Next))
	}
	if a.State != pdc.StateCloseAckWait && a.Base.Diff(b.Contiguous) > 1 { // a PDC that failed has given the rest up
		failf("I5: CLEAR_tx %#x, peer has received up to %#x", uint32(a.Base-1), uint32(b.Contiguous))
	}
}

// faultLoad is what the PDCs of one congestion control context have to send.
type faultLoad struct {
	used                      bool
	h                         ccc.Handle
	outstanding, unsent, open int
}

func (l *faultLoad) add(i *pdc.Info) {
	l.used, l.h = true, i.Context
	l.outstanding += i.Outstanding
	l.unsent += i.Unsent
	l.open += i.OpenMessages
}

// checkContext holds I7: what congestion control has in flight is what was sent and
// neither arrived nor was lost, and nothing when nothing is out.
func (w *faultWorld) checkContext(cc *ccc.Manager, l *faultLoad) {
	c := cc.Context(l.h)
	if c == nil {
		w.failf("I7: PDCs on a context that has gone")
	}
	if c.Inflight() < 0 || c.InflightPackets() < 0 || c.InflightPackets() > l.outstanding || c.Backlog() < 0 || c.RtxBacklog() < 0 {
		w.failf("I7: in flight %d bytes in %d packets, backlog %d, again %d; %d PSNs outstanding",
			c.Inflight(), c.InflightPackets(), c.Backlog(), c.RtxBacklog(), l.outstanding)
	}
	p := cc.Params().NSCC()
	if c.Cwnd() > p.MaxWnd() || c.Cwnd() <= 0 {
		w.failf("window %d of at most %d", c.Cwnd(), p.MaxWnd())
	}
	if l.outstanding == 0 && (c.Inflight() != 0 || c.RtxBacklog() != 0) || l.outstanding+l.unsent+l.open == 0 && c.Backlog() != 0 {
		w.failf("I7: nothing is out, and in flight %d, backlog %d, again %d", c.Inflight(), c.Backlog(), c.RtxBacklog())
	}
}

// finishRecord holds what must be true of a packet when all is over.
func (w *pdcWorld) finishRecord(i int) {
	r := &w.recs[i]
	if !r.gone && r.outcome == pdc.EventNone {
		w.failf("E1: packet %d has no outcome", i+1)
	}
	if w.s.weak || int(r.to) == w.drop || int(r.src) == w.drop {
		return
	}
	if r.guaranteed && r.outcome == pdc.EventResponse && r.ever == 1 && !r.seen {
		w.failf("E3: the response to packet %d was never seen", i+1)
	}
}

// finish holds that an end has given everything back.
func (e *pdcEnd) finish() {
	w := e.w
	s := e.table.Stats().General
	if s.Live != 0 || s.Free+s.Resting != s.Capacity {
		w.failf("I9, E4: %+v", s)
	}
	e.table.Reap(e.clock.now+w.quarantine(), s.Capacity)
	if s = e.table.Stats().General; s.Free != s.Capacity {
		w.failf("E4: after the quarantine %+v", s)
	}
	if contexts, _ := e.ctxs.Stats(); e.m.FreeChunks() != e.chunks || contexts != 0 || e.cc.Stale() != 0 {
		w.failf("E4: %d of %d chunks free, %d contexts open, %d events for PDCs that had gone",
			e.m.FreeChunks(), e.chunks, contexts, e.cc.Stale())
	}
	st := e.m.Stats()
	if st.Opened != st.Closed {
		w.failf("E4: %d opened, %d closed", st.Opened, st.Closed)
	}
	e.checkAnswers()
	if !w.s.weak && !w.s.liar && !w.s.hoarder && st.Hoarded != 0 {
		w.failf("%d PDCs of honest peers were to close since they were not cleared", st.Hoarded)
	}
	if !w.s.weak && w.net.Plan.Forge == 0 && !w.s.liar && !w.s.hoarder && w.s.restarts == 0 && st.BadClear+st.BadACK+st.Malformed != 0 {
		w.failf("honest peers: %+v", st)
	}
}

// checkAnswers holds that one packet has at most one answer.
func (e *pdcEnd) checkAnswers() {
	if st := e.m.Stats(); st.ACKs+st.NACKs > st.Received+e.delayed+st.Opened {
		e.w.failf("I10: %d ACKs and %d NACKs in answer to %d packets and %d late answers", st.ACKs, st.NACKs, st.Received, e.delayed)
	}
}
