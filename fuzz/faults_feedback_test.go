// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// What the shadow makes of packets that arrive.

// received takes in a packet that the manager has taken in.
func (s *faultShadow) received(b []byte, r *pdc.Result) {
	t, err := pds.PeekType(b)
	if err != nil {
		return
	}
	switch t {
	case pds.TypeACK, pds.TypeACKCC, pds.TypeACKCCX:
		s.receivedACK(t, b, r)
	case pds.TypeNACK, pds.TypeNACKCCX:
		s.receivedNACK(t, b, r)
	case pds.TypeCP:
		var c pds.Control
		if _, err := c.Decode(b); err == nil && r.Err == nil && c.Ctl == pds.CtlCredit {
			if x := s.contextOf(r.ID.PDC); x != nil {
				x.credit.update(c.Payload.Credit())
			}
		}
	}
	if s.e.w.s.infer && r.ID.PDC != 0 {
		s.lost(r.ID.PDC)
	}
}

// receivedACK holds that a context hears what the acknowledgement makes of the
// packets that are out, once, and nothing where it makes nothing of them.
func (s *faultShadow) receivedACK(t pds.Type, b []byte, r *pdc.Result) {
	if r.Err != nil {
		return
	}
	var h pds.AckCC
	if decodeAnyACK(&h, t, b) != nil {
		s.e.w.failf("an acknowledgement taken in that does not decode: %x", b)
	}
	c := s.contextOf(r.ID.PDC)
	defer s.probed(c, &h, t, r.ID.PDC)
	p := s.of(r.ID.PDC)
	if p == nil {
		if c != nil {
			s.state(c, &h, t, new(ccc.Ack))
		}
		return
	}
	if c != nil && (h.CACK.Diff(p.next) >= 0 || h.Flags&pds.FlagP == 0 && h.AckPSN().Diff(p.next) >= 0) {
		s.e.w.failf("F1: %s taken in, and next is %#x", headText(b), uint32(p.next))
	}
	want, known := s.acked(p, &h, t)
	if t != pds.TypeACK {
		p.announced(&h)
	}
	if c == nil {
		return
	}
	s.state(c, &h, t, &want)
	var st pds.NSCCState
	if t == pds.TypeACKCC {
		h.NSCC(&st)
	}
	s.counts(p, want.Bytes, &st)
	if want.Packets == 0 && !known {
		return
	}
	got := s.next(heardACK)
	if got.ack != want || got.ctx != c.h {
		s.e.w.failf("I7: %s: congestion control hears %+v, and it says %+v", headText(b), got.ack, want)
	}
	c.packets -= want.Packets - want.RtxPackets
	c.inflight -= want.Bytes - want.RtxBytes
	c.again -= want.RtxBytes
	c.window.OnUnmark(want.RtxBytes)
	if s.steers {
		c.window.OnACK(s.window, s.e.clock.now, want.Ack)
	} else {
		c.window.OnSend(-want.Bytes)
	}
	c.credit.acked()
}

// counts takes in what an acknowledgement counts beside the bytes that it is the first to show.
func (s *faultShadow) counts(p *shadowPDC, shown int64, st *pds.NSCCState) {
	if !s.steers {
		return
	}
	ahead, ooo := p.ahead, int64(st.OOOCount)
	if st.OOOCount == pds.OOOUnknown {
		ooo = 0
	}
	if st.RcvdBytes != 0 {
		ahead = max(ahead-shown+p.rcvd.Advance(st.RcvdBytes), 0)
		if ahead > 255 {
			ahead = min(ahead, ooo*s.window.MTU())
		}
	} else if ahead > 255 {
		ahead = max(ahead-shown, 0)
	}
	if ahead > 255 {
		flight := int64(0)
		for psn := p.base; psn != p.next; psn++ {
			if k := p.at(psn); k.fate == fateFlight && !k.control {
				flight += k.size
			}
		}
		ahead = min(ahead, flight)
	}
	p.goesAhead(ahead)
}

// goesAhead takes what is ahead now out of flight, and puts back what was. Up to 255 bytes are
// rounding.
func (p *shadowPDC) goesAhead(now int64) {
	n := int64(0)
	if now > 255 {
		n = now
	}
	if p.ahead > 255 {
		n -= p.ahead
	}
	if p.ahead = now; n != 0 { // or it may have sent nothing, in no context
		p.ctx.inflight -= n
		p.ctx.window.OnSend(-n)
	}
}

// recalled is how many bytes recall would put back.
func (p *shadowPDC) recalled(size int64) int64 {
	if p.ahead <= 255 {
		return 0
	}
	if left := p.ahead - size; left > 255 {
		return size
	}
	return p.ahead
}

// recall puts back what may be a packet taken for lost.
func (p *shadowPDC) recall(size int64) {
	if p.ahead > 255 {
		p.goesAhead(max(p.ahead-size, 0))
	}
}

// probed takes the round trip of a probe: a sample of the base and of nothing else. What it
// stands for, a full packet, is longer by so many bytes at 100 Gb/s.
func (s *faultShadow) probed(c *shadowContext, h *pds.AckCC, t pds.Type, owner pdc.Handle) {
	x := &s.probes[owner.ID()]
	s.overtaken = 0
	if p := s.of(owner); p != nil && h.Flags&pds.FlagP == 0 {
		if k := p.out(h.AckPSN()); k != nil && k.sends == 1 {
			s.overtaken = k.sentAt - (s.e.clock.now-k.sentAt)*3/2
		}
	}
	if c == nil || h.Flags&pds.FlagP == 0 || x.h != owner || h.ProbeOpaque() != x.opaque {
		return
	}
	s.overtaken, x.h = x.sentAt, 0 // a copy of the answer, mangled or not, says nothing
	var st pds.NSCCState
	if t == pds.TypeACKCC {
		h.NSCC(&st)
	}
	if rtt := s.e.clock.now - s.overtaken - int64(st.ServiceTime)*pds.ServiceTimeUnit; rtt > 0 && st.ServiceTime != 0xffff {
		c.window.SampleBase(s.window, rtt+(s.window.MTU()-64)*8/100)
	}
}

// announced takes the range that an ACK announces (F7): one that was overtaken has no
// say, one as old may only widen it.
func (p *shadowPDC) announced(h *pds.AckCC) {
	n := max(int32(h.MPR), 1) * 128
	if d := h.CACK.Diff(p.limitAt); d > 0 || d == 0 && n > p.limit {
		p.limit, p.limitAt = n, h.CACK
	}
}

// contextOf returns the context of a PDC as of the end of the last step.
func (s *faultShadow) contextOf(h pdc.Handle) *shadowContext {
	id := int(h.ID())
	if id >= len(s.e.seen) || s.e.seen[id].h != h || s.e.seen[id].info.Context == 0 {
		return nil
	}
	return s.context(s.e.seen[id].info.Context)
}

func decodeAnyACK(h *pds.AckCC, t pds.Type, b []byte) (err error) {
	switch t {
	case pds.TypeACKCC:
		_, err = h.Decode(b)
	case pds.TypeACKCCX:
		var x pds.AckCCX
		_, err = x.Decode(b)
		h.Ack, h.SACK = x.Ack, x.SACK
	default:
		_, err = h.Ack.Decode(b)
	}
	return err
}

// state adds what the header says of congestion at the target.
func (s *faultShadow) state(c *shadowContext, h *pds.AckCC, t pds.Type, a *ccc.Ack) {
	a.ECN = h.Flags&pds.FlagM != 0
	if t != pds.TypeACKCC {
		return
	}
	var st pds.NSCCState
	var cr pds.CreditState
	if h.NSCC(&st) {
		a.Restore, a.Pend = st.Restore, st.CwndPend
		if a.RTT -= int64(st.ServiceTime) * pds.ServiceTimeUnit; a.RTT < 0 || st.ServiceTime == 0xffff {
			a.RTT = 0
		}
	} else if h.Credit(&cr) {
		c.credit.update(cr.Credit)
	}
}

// acked says what an acknowledgement means: what is released, what has
// arrived, and what that is to congestion control. known: a packet is named that was
// not released before.
func (s *faultShadow) acked(p *shadowPDC, h *pds.AckCC, t pds.Type) (a ccc.Ack, known bool) {
	if k := p.out(h.AckPSN()); h.Flags&pds.FlagP == 0 && k != nil && k.fate != fateReleased {
		retx := h.Flags&pds.FlagRetx != 0
		if !k.control {
			known, a.Entropy = true, k.entropy
			if !k.asked && (k.sends == 1 && !retx || k.sends == 2 && retx && !k.gone) {
				a.RTT = s.e.clock.now - k.sentAt
			}
		}
		k.take(fateReleased, &a)
	}
	if h.CACK.After(p.cack) {
		p.cack = h.CACK
		for psn := p.base; psn.Diff(h.CACK) <= 0 && psn != p.next; psn++ {
			p.at(psn).take(fateReleased, &a)
		}
	}
	for i := range pds.PSN(64) {
		if t != pds.TypeACK && h.Bitmap>>i&1 != 0 {
			if k := p.out(h.SACKBase() + i); k != nil {
				k.take(fateArrived, &a)
			}
		}
	}
	for p.base != p.next && p.at(p.base).fate == fateReleased {
		p.base++
	}
	return a, known
}

// take counts in a what it is to congestion control that a packet has arrived or is released.
func (k *shadowPacket) take(to shadowFate, a *ccc.Ack) {
	switch {
	case k.control || k.fate == fateArrived || k.fate == fateReleased:
	case k.fate == fateFlight:
		a.Packets++
		a.Bytes += k.size
	case k.fate == fateLost:
		a.Packets++
		a.RtxPackets++
		a.Bytes += k.size
		a.RtxBytes += k.size
	}
	if k.fate != fateReleased {
		k.fate = to
	}
}

// receivedNACK holds that a context hears of refused packets only that were in
// flight, and of the one that the NACK names if it has to be sent again.
func (s *faultShadow) receivedNACK(t pds.Type, b []byte, r *pdc.Result) {
	n, p := decodeAnyNACK(t, b), s.of(r.ID.PDC)
	if info, _ := s.e.m.PDC(r.ID.PDC); n.Code == pds.NackInvalidSYN && n.Vendor == 1 && info.Base == pds.PSN(n.Payload) {
		n.Code = pds.NackNewStartPSN // the PDC begins where the target allows
	}
	ahead := int64(0) // when what a ROD_OOO names is sent, with all behind it
	switch {
	case p == nil:
	case n.Code == pds.NackNewStartPSN && r.Err == nil && p.ctx != nil:
		s.renumbered(p, &n)
	case n.Code == pds.NackRODOOO:
		n.PSN = p.missing(&n)
		ahead = s.goesBack(p, n.PSN, r.Err == nil)
		s.lostAtGap(p, n.PSN, r.Err == nil)
	}
	for psn := n.PSN; len(s.heard) > 0 && s.heard[0].kind != heardLoss; psn++ {
		p = s.of(r.ID.PDC)
		if r.Err != nil || p == nil || p.ctx == nil {
			s.e.w.failf("I7: %s is without effect, and congestion control hears %+v", headText(b), s.heard)
		}
		k := p.out(psn)
		for n.Code == pds.NackRODOOO && k != nil && (k.fate != fateFlight || k.control) {
			psn++
			k = p.out(psn)
		}
		if k == nil || psn != n.PSN && n.Code != pds.NackRODOOO {
			s.e.w.failf("I7: %s, and congestion control hears %+v", headText(b), s.heard)
		}
		if n.Code.IsShortage() {
			s.shortage(p, k, &n)
		} else {
			s.refused(p, k, &n)
		}
		k.again = max(k.again, ahead)
	}
}

// shortage takes a refusal for want of memory: the pause doubles each time that nothing of the
// PDC has been released since, and after twice Max_NACK_Retx_Cnt times a NOOP is sent instead.
func (s *faultShadow) shortage(p *shadowPDC, k *shadowPacket, n *pds.Nack) {
	now, x := s.e.clock.now, &p.short
	pause := func() int64 { return min(int64(faultNackRetx)<<(x.tries-1), 8_000_000*us) }
	if moved := p.base + p.cack; x.tries == 0 || moved != x.moved {
		*x = shadowShortage{since: now, moved: moved, tries: 1}
	} else if now >= x.since+pause() {
		x.since, x.tries = now, min(x.tries+1, 31)
	}
	if s.e.w.s.retries == 0 || x.tries <= 2*faultNacks {
		s.refused(p, k, n)
		k.again = now + pause()
		return
	}
	h := s.next(heardACK)
	if want := (ccc.Ack{Ack: nscc.Ack{Bytes: k.size}, Packets: 1, Entropy: k.entropy}); h.ack != want || k.fate != fateFlight || k.control {
		s.e.w.failf("S5: %+v is given up, and congestion control hears %+v", k, h.ack)
	}
	size := k.size
	k.fate = fateLost
	s.counts(p, size, new(pds.NSCCState))
	p.ctx.inflight -= size
	p.ctx.packets--
	if s.steers {
		p.ctx.window.OnACK(s.window, now, h.ack.Ack)
	} else {
		p.ctx.window.OnSend(-size)
	}
	p.ctx.credit.acked()
	k.control, k.size, k.again, k.rtos = true, 0, now, 0
}

// missing returns the PSN that a ROD_OOO goes back to: the one in its payload, where that is
// out and before the one that the NACK names.
func (p *shadowPDC) missing(n *pds.Nack) pds.PSN {
	e := pds.PSN(n.Payload)
	if k := p.out(e); p.out(n.PSN) == nil || k == nil || k.fate == fateReleased || e.Diff(n.PSN) > 0 {
		return n.PSN
	}
	return e
}

func decodeAnyNACK(t pds.Type, b []byte) pds.Nack {
	var n pds.NackCCX
	if t == pds.TypeNACK {
		n.Nack.Decode(b)
	} else {
		n.Decode(b)
	}
	return n.Nack
}

// goesBack takes a ROD_OOO that names psn, which has an effect if it was taken in, and
// returns when that packet is sent again if it was lost.
func (s *faultShadow) goesBack(p *shadowPDC, psn pds.PSN, taken bool) (ahead int64) {
	if len(s.heard) > 0 {
		if psn == p.gap && s.e.clock.now < p.gapAt+faultNackRetx {
			s.e.w.failf("I10: goes back to PSN %#x twice in %d ns", uint32(psn), s.e.clock.now-p.gapAt)
		}
		p.gap, p.gapAt = psn, s.e.clock.now
	}
	switch k := p.out(psn); {
	case !taken || k == nil:
	case k.fate == fateLost:
		return k.again
	case k.fate == fateFlight:
		s.counted(k)
	}
	return 0
}

// lostAtGap takes the missing packet of a ROD_OOO out of flight, which a context hears of as lost: behind are the refused ones.
func (s *faultShadow) lostAtGap(p *shadowPDC, psn pds.PSN, taken bool) {
	if len(s.heard) == 0 || s.heard[0].kind != heardLoss {
		return
	}
	h, k := s.next(heardLoss), p.out(psn)
	if !taken || k == nil || k.fate != fateFlight || k.control || h.loss != (ccc.Loss{Size: k.size, Entropy: k.entropy, NoPDC: s.e.seen[p.h.ID()].info.PeerID == 0}) {
		s.e.w.failf("I7: PSN %#x, missing at the target, congestion control hears of the loss of %+v", uint32(psn), h.loss)
	}
	s.tookLost(p, psn, &h)
}

// counted counts that a packet is sent again because it was refused.
func (s *faultShadow) counted(k *shadowPacket) {
	if k.nacks++; s.e.w.s.retries != 0 && k.nacks > faultNacks {
		s.e.w.failf("S5: refused %d times, and sent again", k.nacks)
	}
}

// renumbered starts all over at the PSN that a target has demanded, unless that has been demanded
// too often: then the PDC has failed.
func (s *faultShadow) renumbered(p *shadowPDC, n *pds.Nack) {
	if p.demands++; s.e.w.s.retries != 0 && p.demands > faultNacks {
		return
	}
	for psn := p.base; psn != p.next; psn++ {
		k := p.at(psn)
		if k.fate == fateFlight && !k.control {
			s.refused(p, k, n)
		}
		k.rtos, k.nacks = 0, 0
	}
	d := pds.PSN(n.Payload) - p.start
	p.start, p.base, p.next, p.cack, p.limitAt = p.start+d, p.base+d, p.next+d, p.cack+d, p.limitAt+d
}

// refused takes one packet out of flight. One that had arrived, by a SACK, and has
// to be sent again all the same is put back there first.
func (s *faultShadow) refused(p *shadowPDC, k *shadowPacket, n *pds.Nack) {
	c := p.ctx
	if k.fate == fateArrived {
		s.putBack(c, k)
		if len(s.heard) == 0 {
			return // once too often: its PDC has failed
		}
	}
	h := s.nextNACK(k)
	if k.fate != fateFlight || k.control || h.nack.Size != k.size || h.nack.Entropy != k.entropy || h.ctx != c.h {
		s.e.w.failf("I7: NACK of %+v, congestion control hears %+v", k, h.nack)
	}
	k.fate, k.again = fateLost, s.e.clock.now+k.patience(n.Code)
	k.gone = n.Code.IsTrimmed() && k.sends == 2
	if n.Code != pds.NackRODOOO {
		k.rtos = 0
		if !n.Code.IsShortage() {
			s.counted(k)
		}
	}
	p.recall(k.size)
	c.leave(k.size)
	c.again += k.size
	if s.steers {
		x := nscc.Nack{Size: k.size}
		if n.Code == pds.NackTrimmed || n.Code == pds.NackTrimmedLastHop {
			x.Reason = nscc.NackReason(n.Code)
		}
		if x != h.nack.Nack {
			s.e.w.failf("I7: %+v heard of a NACK %v", h.nack, n.Code)
		}
		c.window.OnNACK(s.window, s.e.clock.now, x)
	} else {
		c.window.OnSend(-k.size)
	}
	c.credit.lost(k.size, n.SPDCID != 0)
}

// nextNACK is next for the refusal of k. Of several packets at once it takes the share of k off.
func (s *faultShadow) nextNACK(k *shadowPacket) heardEvent {
	if len(s.heard) == 0 || s.heard[0].nack.Packets == 0 {
		return s.next(heardNACK)
	}
	h := s.heard[0]
	if h.nack.Packets > 1 {
		s.heard[0].nack.Packets--
		s.heard[0].nack.Size -= k.size
		h.nack.Size = k.size
	} else {
		h = s.next(heardNACK)
	}
	h.nack.Entropy = k.entropy
	return h
}

// putBack puts a packet into flight again that had arrived, by a SACK.
func (s *faultShadow) putBack(c *shadowContext, k *shadowPacket) {
	if h := s.next(heardSend); h.size != k.size {
		s.e.w.failf("I7: %d bytes put back, of a packet of %d", h.size, k.size)
	}
	c.inflight += k.size
	c.packets++
	c.window.OnSend(k.size)
	c.credit.charge(k.size)
	k.fate = fateFlight
}

// patience is how long a packet waits that was refused for this reason, ns.
func (k *shadowPacket) patience(c pds.NackCode) int64 {
	switch c {
	case pds.NackTrimmed, pds.NackTrimmedLastHop, pds.NackTrimmedACK, pds.NackRODOOO, pds.NackRcvrInferLoss, pds.NackNewStartPSN,
		pds.NackPktNotRcvd, pds.NackACKWithData:
		return 0
	}
	if pdc.ClassOf(c) == pdc.NackRetry {
		return faultNackRetx << min(k.nacks, 20)
	}
	return faultNackRetx
}

// compare holds I7 at the end of a step: every context stands where its shadow does.
func (s *faultShadow) compare() {
	w := s.e.w
	if len(s.heard) > 0 {
		w.failf("I7: congestion control hears %+v, and nothing was sent, arrived, or became due", s.heard)
	}
	s.endAll()
	for _, p := range s.pdcs {
		if p == nil || p.ctx == nil {
			continue
		}
		if info, _ := s.e.m.PDC(p.h); info.Base != p.base || info.MaxCACK != p.cack {
			w.failf("I2, I8: base %#x, max_cack %#x, the packets say %#x and %#x", uint32(info.Base), uint32(info.MaxCACK), uint32(p.base), uint32(p.cack))
		}
	}
	s.nothingWaits()
	for i, c := range s.ctxs {
		if c == nil {
			continue
		}
		x := s.e.cc.Context(c.h)
		if x == nil {
			if c.inflight != 0 || c.packets != 0 || c.again != 0 {
				w.failf("I7: a context went with %d bytes in flight", c.inflight)
			}
			s.ctxs[i] = nil
			continue
		}
		if x.Inflight() != c.inflight || x.InflightPackets() != c.packets || x.RtxBacklog() != c.again || x.Cwnd() != c.window.Cwnd() {
			w.failf("I7: in flight %d bytes in %d packets, to send again %d, window %d; the packets say %d in %d, %d, and %d",
				x.Inflight(), x.InflightPackets(), x.RtxBacklog(), x.Cwnd(), c.inflight, c.packets, c.again, c.window.Cwnd())
		}
		if c.inflight < 0 || c.window.Inflight() != c.inflight {
			w.failf("I7: %d bytes in flight, %d in the window", c.inflight, c.window.Inflight())
		}
		c.credit.compare(w, x)
	}
}

// faultTick is how late a timer may be.
const faultTick = 2048

// nothingWaits holds that what is lost is sent again when its time has come and
// congestion control allows it, and that a timer runs until then. A timer that is due, as after a
// clock has leapt, comes first.
func (s *faultShadow) nothingWaits() {
	e := s.e
	if at, ok := e.m.NextDeadline(); ok && at <= e.clock.now {
		return
	}
	for id := range e.seen {
		s.nothingNewWaits(pds.PDCID(id))
	}
	for _, p := range s.pdcs {
		if p == nil || p.ctx == nil || p.ctx.again == 0 {
			continue
		}
		d := e.cc.Context(p.ctx.h).Decide(e.cc.Params(), e.clock.now)
		at, _ := e.m.NextDeadline()
		for psn := p.base; psn != p.next; psn++ {
			k := p.at(psn)
			if k.fate != fateLost || k.control || psn.Diff(p.cack) > min(int32(e.w.s.window), p.limit) ||
				d.Bytes < min(k.size, faultMTU) && !(d.Bytes > 0 && d.Reason == ccc.ReasonBacklog) {
				continue
			}
			if e.clock.now-faultTick > k.again || at-faultTick > max(e.clock.now, k.again) {
				e.w.failf("E1: PSN %#x is lost and may go, since %d; now %d, next deadline %d", uint32(psn), k.again, e.clock.now, at)
			}
		}
	}
}

// nothingNewWaits is the same for what has not been sent yet.
func (s *faultShadow) nothingNewWaits(id pds.PDCID) {
	e := s.e
	info, ok := e.m.PDC(e.table.ByID(id))
	if !ok || info.Context == 0 || info.Unsent == 0 {
		return
	}
	if doubts, _ := e.m.Doubts(e.table.ByID(id)); doubts { // data waits until the peer has shown that it receives
		return
	}
	n := int32(8 * 128)
	if p := s.of(e.table.ByID(id)); p != nil {
		n = p.limit
	}
	if info.Next.Diff(info.MaxCACK) > min(int32(e.w.s.window), n) {
		return
	}
	if d := e.cc.Context(info.Context).Decide(e.cc.Params(), e.clock.now); d.Bytes >= faultMTU || d.Bytes > 0 && d.Reason == ccc.ReasonBacklog {
		e.w.failf("E1: PDC %d has %d packets that may go: %+v", id, info.Unsent, d)
	}
}
