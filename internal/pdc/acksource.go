// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// A source keeps the packets in flight, reports sent and arrived packets to congestion
// control, and queues retransmissions.
type source struct {
	p     *Params
	mem   *memory
	pdc   []PDC
	cc    *ccc.Manager
	stats *Stats
	sched *scheduler
	timer *timers

	outageAt int64 // the last probe that has been promised to a peer of which nothing is heard
}

// receiveACK takes in an acknowledgement with any of the three headers. Acknowledgements
// without a PDC here are never answered.
//
//uetcc:hot
func (m *Manager) receiveACK(now int64, t pds.Type, in *In, r *Result) error {
	var h pds.AckCC
	n, err := decodeACK(&h, t, in.Packet)
	if err == nil {
		err = h.Ack.Validate()
	}
	if err != nil {
		return m.reply.malformed(err)
	}
	if in.Trimmed != 0 { // the response is missing: a timeout asks again
		m.stats.Trimmed++
		return ErrTrimmed
	}
	p := m.target.fromPeer(h.DPDCID, in.Src, h.SPDCID)
	if p == nil {
		m.stats.Unknown++
		return ErrUnknown
	}
	var k ackGain
	if err := m.recovery.acknowledge(now, p, &h, &k); err != nil {
		m.stats.BadACK++
		return err
	}
	r.ID.PDC, r.Header, r.Next, r.Verdict = p.handle, n, h.Next, VerdictDone
	if k.Response {
		r.Verdict, r.ID.PSN, r.Handle = VerdictResponse, h.AckPSN(), k.Handle
	}
	if t == pds.TypeACK {
		p.expects(in.Packet)
	} else {
		p.tx.mprFrom(m.p, h.CACK, h.MPR)
	}
	m.source.compare(now, p, &h, &k)
	m.source.feed(now, p, &h, &k)
	m.recovery.acted(now, p, &h)
	return nil
}

// decodeACK reads any acknowledgement. Fields absent in a header are zero, and so is an
// unknown state, as uninformative as NSCC's zero state.
func decodeACK(h *pds.AckCC, t pds.Type, b []byte) (int, error) {
	switch t {
	case pds.TypeACKCC:
		return h.Decode(b)
	case pds.TypeACKCCX:
		var x pds.AckCCX
		n, err := x.Decode(b)
		h.Ack, h.SACK = x.Ack, x.SACK
		h.CCType = pds.CCNSCC
		return n, err
	default:
		return h.Ack.Decode(b)
	}
}

// acknowledge takes an acknowledgement's news about the packets of p, and the sign of life.
// An error changes nothing.
func (rec *recovery) acknowledge(now int64, p *PDC, h *pds.AckCC, k *ackGain) error {
	// An acknowledgement from before the PDC's time must not name the peer.
	if p.peerID == 0 && p.tx.start.Diff(h.CACK) > 1 {
		return ErrStale
	}
	// Without a SACK in the header the bitmap is 0.
	a := ackNews{Now: now, CACK: h.CACK, AckPSN: h.AckPSN(), SACKBase: h.SACKBase(), SACK: h.Bitmap,
		Retx: h.Flags&pds.FlagRetx != 0, Probe: h.Flags&pds.FlagP != 0, Response: h.Next != pds.NextNone}
	cack := p.tx.MaxCACK()
	if !p.tx.OnACK(rec.mem, p.handle, &a, k) {
		return ErrNeverSent
	}
	if p.tx.MaxCACK() != cack {
		p.stalls = 0
	}
	if p.is(flagUnproven) { // for the PDCID named, as a request would
		rec.life.shown(now, p)
	}
	if p.peerID == 0 {
		rec.life.learn(p, h.SPDCID)
		p.probes = 0
	}
	p.activeAt = now
	switch {
	case k.Late:
		p.took = rec.mem.tookLate(now, p, rec.p, k.Took, k.Timeouts)
	case k.Answered:
		p.took = tookOf(k.Took)
	}
	if !p.is(flagInitiator) {
		p.resp.heard = true
	}
	return nil
}

// compare takes in the rcvd_bytes of an acknowledgement, beside the packets shown.
func (s *source) compare(now int64, p *PDC, h *pds.AckCC, k *ackGain) {
	var st pds.NSCCState
	h.NSCC(&st)
	if known := k.Bytes + k.RtxBytes; !p.agrees(known, st.RcvdBytes) {
		s.overtake(now, p, known, k.Bytes, st.RcvdBytes, knownOOO(st.OOOCount))
	}
}

// feed tells congestion control the changes by an acknowledgement, once. Bytes are those of
// the sent packets now known to have arrived.
func (s *source) feed(now int64, p *PDC, h *pds.AckCC, k *ackGain) {
	if p.cc == 0 {
		return
	}
	var st pds.NSCCState
	if !h.NSCC(&st) {
		var cr pds.CreditState
		if h.Credit(&cr) {
			s.sched.credit(now, p, cr.Credit)
		}
	}
	if k.Packets|k.Rtx != 0 || k.Known {
		if s.p.c.InferLoss {
			p.probes = 0
		}
		a := ccc.Ack{
			Ack: nscc.Ack{
				Bytes: k.Bytes + k.RtxBytes, ECN: h.Flags&pds.FlagM != 0, Restore: st.Restore, Pend: st.CwndPend,
			},
			Packets: int(k.Packets + k.Rtx), RtxPackets: int(k.Rtx), RtxBytes: k.RtxBytes, Entropy: k.Entropy,
		}
		a.RTT = nscc.RTT(k.RTT, 0, nscc.ServiceTime(st.ServiceTime))
		s.cc.OnACK(ccc.Handle(p.handle), now, &a)
	}
	if s.cc.Waiters(p.cc).Head != 0 {
		s.sched.release(p)
	}
}

// acted follows up on the possibilities and requests of an acknowledgement.
func (rec *recovery) acted(now int64, p *PDC, h *pds.AckCC) {
	if h.Flags&(pds.FlagsReq|pds.FlagP) != 0 {
		rec.asked(now, p, h)
	}
	if rec.p.c.InferLoss {
		rec.source.afterACK(now, p, &shown{h.AckPSN(), h.SACKBase(), h.Bitmap}, rec.mem.outOfOrder(p, h), p.answersProbe(h))
	}
	if p.tx.queued != 0 {
		rec.source.mayResend(now, p)
	}
	if p.tx.next != p.tx.tail {
		rec.sched.wake(p)
	}
	if p.tx.rtoAt < p.timerAt {
		rec.timer.schedule(p, now)
	}
	if p.state >= StateQuiesce {
		rec.life.progress(now, p)
	}
}

// mayResend has p look at the retransmissions: packets outside the peer's window before may
// be inside.
//
//uetcc:hot
func (s *source) mayResend(now int64, p *PDC) {
	at := p.tx.rtxAt(s.mem)
	*at = min(*at, now)
	s.mem.hasten(now, p)
	s.sched.wake(p)
}

// asked acts on an acknowledgement's request, or takes the answer to a probe.
func (rec *recovery) asked(now int64, p *PDC, h *pds.AckCC) {
	switch req := h.Flags.Req(); {
	case req == pds.AckReqClose && p.is(flagInitiator):
		rec.life.startClose(now, p)
	case p.awaitsClear():
		rec.timer.clearSoon(now, p, rec.source.baseRTT(p)/clearParts)
	case req == pds.AckReqClear:
		rec.timer.clearSoon(now, p, rec.p.c.ClearTime)
	}
	if p.answersProbe(h) {
		rec.source.measured(now, p, h)
	}
}

// clearParts is how many CLEAR_CMD at most leave in a round trip of a PDC that has nothing else to send.
const clearParts = 8

// awaitsClear reports whether the rest of what p has to do waits for a CLEAR alone: the peer holds CACK below
// a response that has been seen here, so nobody knows whether what was sent behind is done, and no request may
// go that would carry CLEAR_tx, of which no CLEAR_CMD has told: none is left, or the window is full. At 800 Gb/s and
// 3 us writes behind an atomic ended 350 us after the atomic, at PDS_Clear_Time.
func (p *PDC) awaitsClear() bool {
	w := &p.tx
	return int32(w.base-w.cack) > 0 && !w.done() && !w.mayStart() && w.ClearPSN() != p.cleared
}

// clearSoon makes the peer hear CLEAR_tx within a time, PDS_Clear_Time at most: in a CLEAR_CMD, unless a
// request carries CLEAR_tx earlier.
func (t *timers) clearSoon(now int64, p *PDC, within int64) {
	p.flags |= flagClearDue
	t.aux(p, now, deadline.After(now, min(within, t.p.c.ClearTime)))
}
