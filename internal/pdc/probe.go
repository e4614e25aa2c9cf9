// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
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
	s.reply.putControl(p, buf, out, pds.CtlProbe, pds.Payload(p.tx.MaxCACK()+1))
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
	if p.syn() {
		s.knock(now, p)
		return
	}
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

// Before a peer's PDCID is known no probe can name the PDC. The first packet goes again in place of probes, firstAgain times
// in its first time-out, and first after silentTrips round trips, and firstQueue packets on the own link, more than a probe
// would wait: so many senders may begin at once. Not with more than firstFew packets on the way, of which some arrive.
const (
	firstAgain  = 2
	silentTrips = 3
	firstQueue  = 128
	firstFew    = 4
)

// knock has the first packet of a PDC sent again: one that is lost waited for RTO_Init_Time, 125 round trips of 8 us.
// A NOOP would be shorter, but takes a PSN, and ends a PDC to a reference provider.
func (s *source) knock(now int64, p *PDC) {
	w := &p.tx
	p.probeAt = never
	if !w.outstanding() || w.next-w.base > firstFew || w.queued != 0 || w.packet(s.mem, w.base).rtos != 0 || p.probes.sent() > firstAgain {
		return
	}
	if p.probes.sent() != 0 {
		s.stats.Inferred++
		s.timedOut(now, p, w.base)
	}
	n := s.cc.Params().NSCC()
	pause := silentTrips*s.baseRTT(p) + firstQueue*n.MTU()*s.p.c.BaseRTT/max(n.Constants().BDP, 1)
	p.probeAt = deadline.After(now, pause<<p.probes.sent())
	p.probes++
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

// Control packets unknown to some peers: the reference provider answers each PROBE and each
// CLEAR_REQ with UNEXP_EVENT, about PSN 0 and from no PDC. Such a peer is not probed again, and
// asked to clear rarely. Both are dispensable: a timeout finds the losses that a probe would
// have found, and an initiator clears unasked.
const (
	ctlProbes   = ctlProbe | ctlMeasure
	ctlOptional = ctlProbes | ctlClearReq
)

// isDeaf takes a NACK from a peer ignorant of the packet asked with, and reports whether the
// NACK is such: of PSN 0, the PSN in these packets, while such a packet has no answer. A forger
// only gains that a loss costs a timeout.
func (p *PDC) isDeaf(n *pds.Nack) bool {
	if n.Code != pds.NackUnexpEvent || n.PSN != 0 || p.asked == 0 {
		return false
	}
	if p.asked&ctlClearReq != 0 {
		p.refusals = min(p.refusals+1, 20)
	}
	p.deaf |= p.asked
	p.asked = 0
	if p.deaf&ctlProbes != 0 {
		p.ctl &^= ctlProbes
		p.probed, p.probeAt = 0, never
	}
	return true
}

// knowsProbes reports whether the peer may be probed.
func (p *PDC) knowsProbes() bool { return p.deaf&ctlProbes == 0 }

// knownPaths remembers the base round trips of destinations whose contexts are gone, so the
// next context begins with the last measurement. Destinations with the same hash displace
// each other, and a displaced destination is measured anew.
//
// Source: UE Specification 1.0.x section 3.6.13.1 (MAY).
type knownPaths struct {
	slot   []knownPath
	hasher table.Hasher
}

type knownPath struct {
	key uint64
	rtt int64 // ns
}

// knownMost is for how many destinations there is room at most.
const knownMost = 1 << 14

func newKnownPaths(pdcs int, h table.Hasher) knownPaths {
	return knownPaths{slot: slab.Make[knownPath](min(fifo.Size(2*pdcs), knownMost)), hasher: h}
}

// of returns the place of p's path, and the key.
func (k *knownPaths) of(p *PDC) (*knownPath, uint64) {
	key := k.hasher.Sum(&table.Key{p.local.Hi, p.local.Lo, p.peer.Hi, p.peer.Lo, uint64(p.tc)})
	return &k.slot[key&uint64(len(k.slot)-1)], key
}

// rtt is the base round trip of p's path, ns, 0 if unknown.
func (k *knownPaths) rtt(p *PDC) int64 {
	if at, key := k.of(p); at.key == key {
		return at.rtt
	}
	return 0
}

// keep notes the measurement of the last context of p's path.
func (k *knownPaths) keep(p *PDC, rtt int64) {
	at, key := k.of(p)
	*at = knownPath{key, rtt}
}
