// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"math/bits"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/karn"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// recordState is the state of a packet at the sender.
type recordState uint8

const (
	recordSent    recordState = iota + 1 // under way
	recordWaiting                        // to be sent again
	recordAcked
)

// A record is a sender's memory of a packet; records lie in a ring by PSN.
type record struct {
	sent  int64 // ps
	size  uint16
	ev    uint16
	sends karn.Copies
	state recordState
}

// A sender is the source of one connection: a light transport around a real
// congestion control context. Packets to be sent again go first, lowest
// PSN first.
type sender struct {
	ctx  ccc.Context
	ent  ccc.Entropy
	rcvd nscc.RcvdTracker

	cack   uint32 // all before are acknowledged
	next   uint32 // first PSN that was never sent
	end    uint32 // first PSN that no transfer needs yet
	lowest uint32 // no packet before waits to be sent again
	queued bool   // in its NIC's turn
	timing bool   // an evTimer is pending
	asking bool   // an evRequest is pending
	heard  bool   // something of its destination

	after uint32 // the connection behind this one in its NIC's turn
	base  uint32 // of its ring of records
	mask  uint32 // of a PSN in there

	order     uint32      // in sim.order, the first of its transfers, which are in order of their PSNs
	transfers uint32      // that it will have
	started   uint32      // of them
	sending   uint32      // the one that next belongs to
	short     uint32      // PSN of its last packet, which need not be full
	acked     uint32      // the first that is not finished
	until     uint32      // PSN behind its last packet
	target    rccc.Quanta // credit target of the last data packet
	requests  uint32      // for credit, sent under PSNs
	passed    uint32      // of them, those before cack

	_ [48]byte // the sender ends with a cache line
}

func (s *light) record(c *sender, psn uint32) *record {
	return &s.records.slots[c.base+psn&c.mask]
}

func (s *light) sideOf(conn uint32) []uint64 {
	n := s.params.Entropy().Words()
	return s.side[int(conn)*n : int(conn)*n+n]
}

// maySend reports whether congestion control and the PSN range let c send a
// packet now.
func (s *light) maySend(conn uint32, c *sender) bool {
	if s.recovers(conn, c) {
		return true
	}
	if c.ctx.WaitingRtx() == 0 && (c.next == c.end || c.next-c.cack > c.mask) {
		return false
	}
	return c.ctx.Admits() || s.algorithms != nil && s.admits(c)
}

// sendData sends one packet of a connection that may.
func (s *light) sendData(host, conn uint32, c *sender) {
	psn, again := c.next, c.ctx.WaitingRtx() > 0
	if again {
		psn = s.lowestWaiting(c)
	}
	r := s.record(c, psn)
	if again {
		r.sends = r.sends.Again()
		s.count.Retransmitted++
	} else {
		*r = record{size: s.sizeOfNext(c), sends: karn.First}
		c.next++
		s.count.New++
	}
	c.ctx.OnSend(&s.params, s.nowNs(), int64(r.size), again)
	if own := s.own(conn); own != nil {
		own.OnSend(s.nowNs(), int64(r.size), again)
		s.consult(conn, c)
	}
	r.state, r.sent = recordSent, s.now
	r.ev = c.ent.Next(s.params.Entropy(), s.sideOf(conn), s.progress(c))

	pkt := s.pool.get()
	params := c.ctx.SendParams(&s.params, s.turns(host))
	s.pool.pkts[pkt] = packet{
		to: destination(conn), size: r.size, ev: r.ev, dscp: s.dataDSCP(again), flags: c.dataFlags(again, params.AckRequest),
	}
	c.target = rccc.QuantaOf(params.CreditTarget)
	s.pool.details[pkt] = detail{psn: psn, cack: c.cack, units: uint32(c.target)}
	if s.cfg.Seen != nil {
		s.pool.details[pkt].sack = uint64(s.requestsBefore(c, psn))
	}
	if !c.timing {
		c.timing = true
		s.events.push(s.now+s.rto, evTimer, conn)
	}
	s.send(host, pkt)
}

// progress is how far a source has come, for the choice of a path.
func (s *light) progress(c *sender) ccc.Progress {
	return ccc.Progress{Seq: uint64(c.next), WindowPackets: c.ctx.Cwnd() / s.cfg.PacketBytes}
}

func (c *sender) dataFlags(again, ask bool) (f uint8) {
	if again {
		f |= flagRTX
	}
	if again || ask || c.ctx.Backlog() == 0 {
		f |= flagAckReq
	}
	if !c.heard {
		f |= flagSYN
	}
	return f
}

func (s *light) dataDSCP(again bool) switchq.DSCP {
	switch {
	case s.cfg.NoTrim:
		return switchq.DSCPNoTrim
	case again:
		return switchq.DSCPTrimmableRTX
	default:
		return switchq.DSCPTrimmable
	}
}

// lowestWaiting finds the first packet that waits to be sent again.
func (s *light) lowestWaiting(c *sender) uint32 {
	psn := max(c.lowest, c.cack)
	for s.record(c, psn).state != recordWaiting {
		psn++
	}
	c.lowest = psn + 1
	return psn
}

// sizeOfNext is the size of the packet with the PSN c.next.
func (s *light) sizeOfNext(c *sender) uint16 {
	if c.next != c.short {
		return uint16(s.cfg.PacketBytes)
	}
	t := &s.transfers[s.order[c.order+c.sending]]
	if c.sending++; c.sending < c.started {
		c.short = s.endOf(c, c.sending) + c.requests - 1
	}
	return uint16(t.flow.Size - int64(t.packets-1)*s.cfg.payload() + HeaderBytes)
}

// acknowledged takes in an acknowledgement: first the covered packets, then the
// path choice, then congestion control, as ccc asks for.
func (s *light) acknowledged(pkt uint32) {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	conn := p.to.conn()
	c := &s.senders[conn]
	c.heard = true
	a := ccc.Ack{Entropy: p.ev}
	a.ECN = p.flags&flagCE != 0
	if p.answersRequest() {
		a.Kind = nscc.SampleKeepBase
	}
	probed := s.probeDelay(conn, p, d)
	if a.RTT = s.sample(c, p, d); probed >= 0 {
		a.RTT = probed + c.ctx.BaseRTT()
	}
	a.Bytes = s.advance(c, d.units)
	for psn := c.cack; int32(d.cack-psn) > 0; psn++ {
		s.release(c, psn, &a)
	}
	if int32(d.cack-c.cack) > 0 {
		s.passRequests(c, d.cack)
		c.cack = d.cack
	}
	base := d.sackBase(p.flags)
	for set := d.sack; set != 0; set &= set - 1 {
		psn := base + uint32(bits.TrailingZeros64(set))
		if int32(psn-c.cack) >= 0 && int32(c.next-psn) > 0 {
			s.release(c, psn, &a)
		}
	}
	c.ent.OnACK(s.params.Entropy(), s.sideOf(conn), s.nowNs(), &a)
	a.Pend, a.Restore = d.pend, d.restore
	before := c.ctx.Cwnd()
	c.ctx.OnACK(&s.params, s.nowNs(), a)
	if own := s.own(conn); own != nil {
		own.OnACK(s.nowNs(), a)
	}
	if d.restore && c.ctx.Cwnd() > before+s.cfg.PacketBytes {
		s.restored++
	}
	if s.infer != nil {
		s.inferLosses(conn, c, d.at, probed)
	}
	s.finishTransfers(c)
	s.ready(conn)
}

// sample is the round trip of the packet that an answer is for, ns; 0 if it
// cannot be told.
func (s *light) sample(c *sender, p *packet, d *detail) int64 {
	if p.answersProbe() || int32(d.psn-c.cack) < 0 || int32(c.next-d.psn) <= 0 {
		return 0
	}
	r := s.record(c, d.psn)
	if r.state != recordSent || !r.sends.Unambiguous(p.flags&flagRTX != 0) {
		return 0
	}
	kept := d.service
	if p.flags&flagNack != 0 {
		kept = 0 // a refusal carries none
	}
	return nscc.RTT(s.nowNs(), r.sent/1000, kept)
}

func (s *light) release(c *sender, psn uint32, a *ccc.Ack) {
	r := s.record(c, psn)
	switch r.state {
	case recordWaiting:
		a.RtxPackets++
		a.RtxBytes += int64(r.size)
		fallthrough
	case recordSent:
		a.Packets++
		r.state = recordAcked
	}
}

// refused takes in that a packet was trimmed.
func (s *light) refused(pkt uint32) {
	p, d := &s.pool.pkts[pkt], &s.pool.details[pkt]
	conn := p.to.conn()
	c := &s.senders[conn]
	c.heard = true
	if int32(d.psn-c.cack) < 0 || s.record(c, d.psn).state != recordSent {
		return // acknowledged or taken for lost meanwhile
	}
	r := s.record(c, d.psn)
	n := ccc.Nack{Entropy: p.ev, CE: p.flags&flagCE != 0}
	n.Size, n.Reason = int64(r.size), nscc.ReasonTrimmed
	if !s.cfg.NoNackRTT {
		n.RTT = s.sample(c, p, d)
	}
	if p.flags&flagLast != 0 {
		n.Reason = nscc.ReasonTrimmedLastHop
	}
	r.state, r.sends = recordWaiting, r.sends.Refused()
	c.lowest = min(c.lowest, d.psn)
	c.ent.OnNACK(s.params.Entropy(), s.sideOf(conn), s.nowNs(), &n)
	c.ctx.OnNACK(&s.params, s.nowNs(), n)
	if own := s.own(conn); own != nil {
		own.OnNACK(s.nowNs(), n)
	}
	s.ready(conn)
}

// tick is for the network.
func (s *light) tick(kind eventKind, what uint32) {
	switch kind {
	case evTimer:
		s.timer(what)
	case evCredit:
		s.pace(what)
	case evRequest:
		s.request(what)
	case evFabric:
		s.step(what)
	case evAllow:
		s.allow(what)
	case evProbe:
		s.probe(what)
	}
}

// timer takes packets that nothing was heard of for the retransmission timeout
// for lost, and comes back for the oldest of the others.
func (s *light) timer(conn uint32) {
	c := &s.senders[conn]
	if s.numbersRequests() {
		s.expire(conn, c)
		return
	}
	c.timing = false
	oldest, lost := s.now, false
	for psn := c.cack; psn != c.next; psn++ {
		r := s.record(c, psn)
		switch {
		case r.state != recordSent:
		case r.sent+s.rto <= s.now && s.excused(conn, psn):
			c.timing = true
		case r.sent+s.rto <= s.now:
			s.timedOut(conn, c, psn, r)
			lost = true
		default:
			oldest = min(oldest, r.sent)
			c.timing = true
		}
	}
	if c.timing {
		s.events.push(oldest+s.rto, evTimer, conn)
	}
	s.ready(conn)
	if lost && s.cfg.Rules == RulesHTSim && c.ctx.Reason() == ccc.ReasonCredit {
		s.askForCredit(conn, c)
	}
}

func (s *light) timedOut(conn uint32, c *sender, psn uint32, r *record) {
	s.count.Timeouts++
	l := ccc.Loss{Size: int64(r.size), Entropy: r.ev}
	if s.numbersRequests() {
		l.Entropy = 0 // htsim has forgotten the path
	}
	r.state = recordWaiting
	c.lowest = min(c.lowest, psn)
	c.ent.OnInferredLoss(s.params.Entropy(), s.sideOf(conn), s.nowNs(), &l)
	c.ctx.OnInferredLoss(&s.params, s.nowNs(), l)
	if own := s.own(conn); own != nil {
		own.OnInferredLoss(s.nowNs(), l)
	}
}
