// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// measure has a probe take the base round trip of a new congestion control context: a small packet
// in the class of control packets meets no queue, unlike data. The probe goes out when the first
// answer of the peer names the PDC, since a probe cannot open a PDC, and only with more data than
// fits the path: less is over before the result would matter.
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

// A silent peer gets outageProbes in each time-out, and all silent peers together one in outageSpace
// ns: 4,096 PDCs that lost their peers at once sent 92 each in 63 ms, and took twice as long to make
// the probes.
const (
	outageProbes = 16
	outageSpace  = 10_000
)

// probe asks the target for the state of arrivals, and again after 5 round trips: less and less
// often while the answers bring no news, and not more than Max_Tail_Loss_Retx times, since missing
// packets then wait for timeouts and not for an answer. With not even the last probe answered, the
// path may be gone: then outageProbes times in a time-out, so a returning path is noticed in a
// part of the outage.
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
