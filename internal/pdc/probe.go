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

// probes counts probes: those sent, up to 15, and in the high half those whose answer acknowledged
// nothing.
type probes uint8

func (n probes) sent() int     { return int(n & 15) }
func (n probes) answered() int { return int(n >> 4) }

// probe asks the target for the state of arrivals, and again after 5 round trips: less and less
// often while nothing is acknowledged, and not after Max_Tail_Loss_Retx answers without news in a
// time-out, since missing packets then wait for timeouts and not for an answer. A probe or an answer
// that was lost does not count. With Max_Tail_Loss_Retx of these in a row lost the path may be gone:
// then outageProbes go in a time-out, so a returning path is noticed in a part of the outage.
func (s *source) probe(now int64, p *PDC) {
	most, silent := s.p.c.MaxTailLossRetx, p.probed != 0
	if !silent && p.probes.sent() != 0 && p.probes.answered() < most {
		p.probes += 1 << 4
	}
	if !p.tx.outstanding() || p.peerID == 0 || !p.knowsProbes() || p.probes.answered() >= most {
		p.probeAt = never
		return
	}
	s.sched.control(p, ctlProbe)
	if silent && p.probes.sent() >= most {
		s.outageAt = deadline.After(max(s.outageAt, now), outageSpace)
		p.probeAt = max(deadline.After(now, max(s.timer.rtoOf(p)/outageProbes, 5*s.baseRTT(p))), s.outageAt)
		return
	}
	p.probeAt = deadline.After(now, s.timer.probePause(p, 5*s.baseRTT(p)))
	if p.probes.sent() < 15 {
		p.probes++
	}
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
//
//uetcc:hot inlines
func (t *timers) probeDelay(baseRTT int64, more bool) int64 {
	if !more {
		return min(baseRTT+t.p.c.TargetQDelay, t.p.c.TailLossTime)
	}
	return min(3*baseRTT, t.p.c.TailLossTime)
}

// probePause is d doubled for each probe since something was acknowledged, to four times d or a
// time-out's part of outageProbes at most, so that a path without losses again is noticed.
func (t *timers) probePause(p *PDC, d int64) int64 {
	n := p.probes.sent()
	if n <= 2 {
		return d << n
	}
	return deadline.Backoff(d, uint8(n), max(4*d, t.rtoOf(p)/outageProbes))
}

// rtoOf is the time-out of the lowest packet of p, outstanding.
func (t *timers) rtoOf(p *PDC) int64 {
	return p.tx.backoff(t.p, t.mem, p.tx.packet(t.mem, p.tx.base).rtos)
}

// BaseRTT is the round trip of a PDC without queues, as far as known, ns; 0 after the PDC's life.
func (m *Manager) BaseRTT(h Handle) int64 {
	if p := m.get(h); p != nil {
		return m.source.baseRTT(p)
	}
	return 0
}

func (s *source) baseRTT(p *PDC) int64 {
	if c := s.cc.Context(p.cc); c != nil {
		return c.BaseRTT()
	}
	return s.p.c.RTOInit
}
