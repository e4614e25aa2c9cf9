package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// Losses are concluded from SACK as htsim does it (SLEEK), for fabrics that drop
// without trimming. Spraying makes reordering normal, so a hole means nothing
// before much has arrived behind it: 1.5 windows, and five packets at least.
const (
	inferFactor  = 3 // halves of a window
	inferPackets = 5
)

// afterACK looks for losses and moves the probe, after an acknowledgement that says how many
// packets have overtaken those that are missing, whether it answers the last probe, and when
// the packet left that it is of, 0 if that is not known.
func (s *source) afterACK(now int64, p *PDC, ooo uint16, answer bool, left int64) {
	c := s.cc.Context(p.cc)
	if c == nil || p.is(flagROD) {
		return
	}
	if ooo >= inferPackets || answer || p.is(flagRecovering) {
		s.lookForLosses(now, p, c, int64(ooo), answer, left)
	}
	s.timer.moveProbe(now, p, c)
}

// infers is afterACK for one that [pds.AckCCView.Plain] describes, with news of packets.
func (s *source) infers(now int64, p *PDC, a *pds.AckCCView, left int64) {
	if p.cc != 0 {
		p.probes = 0
	}
	ooo := knownOOO(a.OOOCount())
	if ooo == 0 && !a.Cumulative() {
		ooo = p.tx.arrivedAhead(s.mem)
	}
	s.afterACK(now, p, ooo, false, left)
}

// lookForLosses begins a recovery if an acknowledgement shows that packets are lost, and goes
// on with one.
func (s *source) lookForLosses(now int64, p *PDC, c *ccc.Context, ooo int64, answer bool, left int64) {
	if !p.recover.After(p.tx.MaxCACK()) {
		p.flags &^= flagRecovering
	}
	end, since, lost := s.suspects(now, p, c, ooo, answer)
	if lost && !p.is(flagRecovering) && p.tx.queued == 0 && p.tx.outstanding() {
		p.flags |= flagRecovering
		p.recover = end
	}
	if p.is(flagRecovering) {
		// A copy that left so much earlier than what has arrived is lost as well.
		s.inferLosses(now, p, c, max(since, left-c.BaseRTT()/2-s.p.c.TargetQDelay))
	}
}

// moveProbe puts the probe off: something has been heard.
func (t *timers) moveProbe(now int64, p *PDC, c *ccc.Context) {
	if !p.tx.outstanding() || !p.knowsProbes() {
		p.probeAt = never
		return
	}
	p.probeAt = deadline.After(now, p.probeBackoff(t.probeDelay(c.BaseRTT(), p.tx.next != p.tx.tail)))
	if p.probeAt < p.timerAt {
		t.schedule(p, now)
	}
}

// suspects reports whether an acknowledgement shows that packets have been lost, of those up
// to end, and of those sent again the ones that left before since.
func (s *source) suspects(now int64, p *PDC, c *ccc.Context, ooo int64, answer bool) (end pds.PSN, since int64, lost bool) {
	end, lost = p.tx.Next()-1, s.sched.manyAhead(c, ooo)
	if !answer {
		return end, 0, lost
	}
	probed := p.probed
	p.probed = 0
	if now-probed-c.BaseRTT() >= s.p.c.TargetQDelay || !p.before.After(p.tx.MaxCACK()) {
		return end, 0, lost
	}
	// The path is free, so what left before the probe and has not arrived is not on its way.
	// What left after it may be.
	if !lost {
		end = p.before
	}
	return end, probed, true
}

// outOfOrder is the ooo_count of an acknowledgement. Of a peer whose congestion state is empty,
// or that sends none, it is what its acknowledgements have shown to have arrived behind CACK.
func (m *memory) outOfOrder(p *PDC, h *pds.AckCC) (ooo uint16) {
	var n pds.NSCCState
	var c pds.CreditState
	switch {
	case h.NSCC(&n):
		ooo = knownOOO(n.OOOCount)
	case h.Credit(&c):
		ooo = knownOOO(c.OOOCount)
	}
	if ooo == 0 && (h.Bitmap != 0 || h.Offset != 0) {
		return p.tx.arrivedAhead(m)
	}
	return ooo
}

// knownOOO is ooo_count, 0 where the target does not know it.
func knownOOO(n uint16) uint16 {
	if n == pds.OOOUnknown {
		return 0
	}
	return n
}

// manyAhead reports whether so much has overtaken what is missing that this is lost.
func (s *scheduler) manyAhead(c *ccc.Context, ooo int64) bool {
	cp := s.cc.Params()
	limit := min(c.Cwnd()*inferFactor/2, cp.NSCC().MaxWnd())
	return ooo >= max(limit/cp.MTU(), inferPackets)
}

// inferLosses queues what has not arrived between the cumulative acknowledgement and the
// end of the recovery, a window at a time: each packet once, and again if a probe that left
// at since has overtaken it. A packet that nothing has overtaken has to be late as well: htsim,
// which does not ask, sends eleven packets again for one that came out of order.
func (s *source) inferLosses(now int64, p *PDC, c *ccc.Context, since int64) {
	end := p.tx.offset(p.recover) + 1
	if room := p.tx.cack + uint32(max(c.Cwnd()/s.cc.Params().MTU(), 1)); int32(end-room) > 0 {
		end = room
	}
	overtaken, late := p.tx.arrivedTo(s.mem), now-c.BaseRTT()-s.p.c.TargetQDelay
	for off := p.tx.base; ; off++ {
		var ok bool
		if off, ok = p.tx.find(s.mem, off, standingOut); !ok || int32(off-end) >= 0 {
			break
		}
		pkt := p.tx.packet(s.mem, off)
		if p.tx.hasArrived(s.mem, off) || pkt.kind.control() || pkt.sends != copiesFirst && pkt.sentAt >= since {
			continue
		}
		if int32(off-overtaken) >= 0 && pkt.sentAt > max(since, late) {
			continue // nothing says yet that it is not on its way
		}
		s.stats.Inferred++
		s.timedOut(now, p, off)
	}
}
