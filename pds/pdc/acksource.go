package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// A source keeps what is in flight: it tells congestion control what was sent and what has
// arrived, and queues what is to be sent again.
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

// receiveACK takes in an acknowledgement with any of the three headers. One that has no
// PDC here is never answered.
func (m *Manager) receiveACK(now int64, t pds.Type, in *In, r *Result) error {
	var h pds.AckCC
	n, err := decodeACK(&h, t, in.Packet)
	if err == nil {
		err = h.Ack.Validate()
	}
	if err != nil {
		return m.reply.malformed(err)
	}
	if in.Trimmed != 0 { // the response is missing: a timeout asks for it again
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
	m.source.feed(now, p, &h, &k)
	m.recovery.acted(now, p, &h)
	return nil
}

// decodeACK reads any acknowledgement. What a header lacks is zero, as is a state that
// nothing is known of, which tells as much as that of NSCC.
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

// acknowledge takes what an acknowledgement says about the packets of p, and that its peer
// is there. An error changes nothing.
func (rec *recovery) acknowledge(now int64, p *PDC, h *pds.AckCC, k *ackGain) error {
	// An acknowledgement from before this PDC's time must not say who the peer is.
	if p.peerID == 0 && p.tx.start.Diff(h.CACK) > 1 {
		return ErrStale
	}
	// Where the header has no SACK its bitmap is 0.
	a := ackNews{Now: now, CACK: h.CACK, AckPSN: h.AckPSN(), SACKBase: h.SACKBase(), SACK: h.Bitmap,
		Retx: h.Flags&pds.FlagRetx != 0, Probe: h.Flags&pds.FlagP != 0, Response: h.Next != pds.NextNone}
	cack := p.tx.MaxCACK()
	if !p.tx.OnACK(rec.mem, p.handle, &a, k) {
		return ErrNeverSent
	}
	if p.tx.MaxCACK() != cack {
		p.stalls = 0
		if p.is(flagUnproven) {
			rec.life.shown(p)
		}
	}
	if p.peerID == 0 {
		rec.life.learn(p, h.SPDCID)
	}
	p.activeAt = now
	if k.Answered {
		p.heardFirst(rec.p, k.Took, k.Timeouts)
	}
	if !p.is(flagInitiator) {
		p.resp.heard = true
	}
	return nil
}

// feed tells congestion control what an acknowledgement changed, once. Bytes are
// those of the packets sent that are now known to have arrived, not what the peer
// claims in rcvd_bytes, so that no forged field opens the window.
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

// acted follows up on what an acknowledgement made possible or asked for.
func (rec *recovery) acted(now int64, p *PDC, h *pds.AckCC) {
	if h.Flags&(pds.FlagsReq|pds.FlagP) != 0 {
		rec.asked(now, p, h)
	}
	if rec.p.c.InferLoss {
		rec.source.afterACK(now, p, h.AckPSN(), rec.mem.outOfOrder(p, h), p.answersProbe(h))
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

// mayResend has p look at what it is to send again: what was outside the peer's window may be
// inside.
func (s *source) mayResend(now int64, p *PDC) {
	at := p.tx.rtxAt(s.mem)
	*at = min(*at, now)
	s.mem.hasten(now, p)
	s.sched.wake(p)
}

// asked does what an acknowledgement asks for, or takes the answer to a probe.
func (rec *recovery) asked(now int64, p *PDC, h *pds.AckCC) {
	switch h.Flags.Req() {
	case pds.AckReqClear:
		rec.timer.clearSoon(now, p)
	case pds.AckReqClose:
		if p.is(flagInitiator) {
			rec.life.startClose(now, p)
		}
	}
	if p.answersProbe(h) {
		rec.source.measured(now, p, h)
	}
}

// clearSoon sees to it that the peer hears CLEAR_tx within PDS_Clear_Time: in a CLEAR_CMD,
// unless a request carries it earlier.
func (t *timers) clearSoon(now int64, p *PDC) {
	p.flags |= flagClearDue
	t.aux(p, now, deadline.After(now, t.p.c.ClearTime))
}
