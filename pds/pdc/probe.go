package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// measure has a probe take the base round trip of a congestion control context
// that is new: as a small packet in the class of control packets it meets no
// queue, which data may. It goes out when the first answer of the peer names the
// PDC, since a probe cannot open one, and only where more is to be sent than the
// path holds: less is over before the result would matter.
//
// Source: UE Specification 1.0.x section 3.6.13.
func (s *scheduler) measure(p *PDC) {
	if !p.is(flagMeasure) {
		return
	}
	c := s.cc.Context(p.cc)
	if c.Backlog()+c.Inflight() > s.cc.Params().NSCC().Constants().BDP {
		s.control(p, ctlMeasure)
	}
}

// answersProbe reports whether an acknowledgement is the answer to the last probe.
func (p *PDC) answersProbe(h *pds.AckCC) bool {
	return h.Flags&pds.FlagP != 0 && h.ProbeOpaque() == p.opaque && p.probed != 0
}

// measured takes the answer to the last probe.
func (s *source) measured(now int64, p *PDC, h *pds.AckCC) {
	var st pds.NSCCState
	h.NSCC(&st) // else 0
	p.asked &^= ctlProbes
	if p.cc == 0 {
		return // failed meanwhile
	}
	s.cc.OnProbe(ccc.Handle(p.handle), now, nscc.RTT(now, p.probed, nscc.ServiceTime(st.ServiceTime)))
	s.sched.release(p)
	s.mem.trip[p.tx.slot].heard = now + 1
	if !s.p.c.InferLoss { // else afterACK is to see it
		p.probed = 0
	}
}

// putProbe writes a probe.
func (s *starts) putProbe(now int64, p *PDC, buf []byte, out *Out) {
	p.opaque, p.probed = uint16(s.random()), now
	s.reply.putControl(p, buf, out, pds.CtlProbe, pds.PSNPayload(p.tx.MaxCACK()+1))
}

// Of probes to peers of which nothing is heard outageProbes go in each time-out, and one in
// outageSpace ns at most, whichever PDCs they are of: 4,096 that lost their peers together sent
// 92 each in 63 ms, which took twice as long to make.
const (
	outageProbes = 16
	outageSpace  = 10_000
)

// probe asks the target what it has got, and again after 5 round trips: less and
// less often while the answers bring nothing new, and not more than
// Max_Tail_Loss_Retx times, since what is missing then waits for its timeout and not
// for an answer. Where not even the last probe is answered, the path may be gone: then as often as
// outageProbes says, so that one that comes back is noticed in a part of the time that it was away.
func (s *source) probe(now int64, p *PDC) {
	tries := int(p.probes) < s.p.c.MaxTailLossRetx
	if !p.tx.outstanding() || p.peerID == 0 || !p.knowsProbes() || !tries && p.probed == 0 {
		p.probeAt = never
		return
	}
	s.sched.control(p, ctlProbe)
	if tries {
		p.probeAt = deadline.After(now, p.probeBackoff(5*s.baseRTT(p)))
		p.probes++
		return
	}
	rto := p.tx.backoff(s.p, s.mem, p.tx.packet(s.mem, p.tx.base).rtos)
	s.outageAt = deadline.After(max(s.outageAt, now), outageSpace)
	p.probeAt = max(deadline.After(now, max(rto/outageProbes, 5*s.baseRTT(p))), s.outageAt)
}

// askAgain has a probe ask whether the peer is still there, and others follow if that is lost.
func (s *source) askAgain(now int64, p *PDC) {
	if s.p.c.InferLoss && p.knowsProbes() {
		p.probes, p.probeAt = 0, now
	}
}

// probeDelay is how long to wait for an acknowledgement before asking: 3 base round
// trips, or one and the target queueing delay when no more is to be sent, and
// Tail_Loss_Time at most.
func (t *timers) probeDelay(baseRTT int64, more bool) int64 {
	if !more {
		return min(baseRTT+t.p.c.TargetQDelay, t.p.c.TailLossTime)
	}
	return min(3*baseRTT, t.p.c.TailLossTime)
}

// probeBackoff is d doubled for each probe since something was acknowledged, up to
// the largest timeout.
func (p *PDC) probeBackoff(d int64) int64 { return deadline.Backoff(d, p.probes, rtoMax) }

func (s *source) baseRTT(p *PDC) int64 {
	if c := s.cc.Context(p.cc); c != nil {
		return c.BaseRTT()
	}
	return s.p.c.RTOInit
}
