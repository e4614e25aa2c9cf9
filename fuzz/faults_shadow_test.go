// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// The shadow of what an end sends (I7). It sees the packets that leave and arrive,
// keeps for each PSN what has become of it by the rules of the specification, and
// from that the bytes in flight and the window of each congestion control context.
// A context must have heard of exactly what the packets say, and stand where its
// shadow stands, after every step.
//
// Only a timeout shows in no packet. What a context hears of as lost must be a
// packet that is out for a timeout at least.

// shadowFate is what has become of a packet that was sent.
type shadowFate uint8

const (
	fateReleased shadowFate = iota // its outcome is known, or it was never sent
	fateFlight
	fateArrived // a SACK shows it
	fateLost    // refused or timed out, and not sent again
)

// shadowPacket is a packet between base and next.
type shadowPacket struct {
	sentAt  int64
	again   int64 // lost: when it may be sent again
	size    int64
	entropy uint16
	sends   uint8 // up to 3
	gone    bool  // of two copies the last one, as a NACK has told
	rtos    uint8 // timeouts since it was last refused
	nacks   uint8 // times that it was refused
	asked   bool  // by an ACK_REQ: no round trip of an answer means anything any more
	control bool
	fate    shadowFate
}

// shadowPDC is the sending direction of a PDC.
type shadowPDC struct {
	h          pdc.Handle
	ctx        *shadowContext
	start      pds.PSN
	base, next pds.PSN
	cack       pds.PSN // max_cack
	limit      int32   // of the peer, PSNs above max_cack
	limitAt    pds.PSN // CACK of the ACK that gave it
	gap        pds.PSN // that a ROD_OOO named last, and when
	gapAt      int64
	short      shadowShortage
	demands    int // of another Start_PSN, obeyed
	pkt        []shadowPacket

	rcvd  nscc.RcvdTracker
	ahead int64 // bytes that rcvd_bytes has counted, and no acknowledgement has shown
}

// shadowShortage is how often the peer has had no memory since the PDC made progress.
type shadowShortage struct {
	since int64
	moved pds.PSN
	tries int
}

// shadowContext is a congestion control context.
type shadowContext struct {
	h        ccc.Handle
	inflight int64
	packets  int
	again    int64 // lost and not sent again, bytes
	window   nscc.Window
	credit   shadowCredit
}

// shadowProbe is the last probe of a PDC.
type shadowProbe struct {
	h      pdc.Handle
	opaque uint16
	sentAt int64
}

// faultShadow is the shadow of one end in one life.
type faultShadow struct {
	e      *pdcEnd
	window *nscc.Params
	steers bool          // NSCC takes part
	pdcs   []*shadowPDC  // by PDCID
	probes []shadowProbe // by PDCID
	ctxs   []*shadowContext
	heard  []heardEvent

	overtaken int64 // what left before may be lost: it was overtaken by the probe or packet of the last acknowledgement; 0: none
}

// heardEvent is what a context was told.
type heardEvent struct {
	kind heardKind
	ctx  ccc.Handle
	now  int64
	size int64
	rtx  bool
	ack  ccc.Ack
	nack ccc.Nack
	loss ccc.Loss

	flight int64 // after a loss
}

type heardKind uint8

const (
	heardSend heardKind = iota
	heardACK
	heardNACK
	heardLoss
)

// faultEar listens to one context, in the place of an algorithm that allows all.
type faultEar struct {
	s   *faultShadow
	ctx ccc.Handle
}

func (l *faultEar) hear(h heardEvent) {
	h.ctx = l.ctx
	l.s.heard = append(l.s.heard, h)
}

func (l *faultEar) OnSend(now, size int64, rtx bool) {
	l.hear(heardEvent{kind: heardSend, now: now, size: size, rtx: rtx})
}

func (l *faultEar) OnACK(now int64, a ccc.Ack) { l.hear(heardEvent{kind: heardACK, now: now, ack: a}) }

func (l *faultEar) OnNACK(now int64, n ccc.Nack) {
	l.hear(heardEvent{kind: heardNACK, now: now, nack: n})
}

func (l *faultEar) OnInferredLoss(now int64, x ccc.Loss) {
	l.hear(heardEvent{kind: heardLoss, now: now, loss: x, flight: l.s.e.cc.Context(l.ctx).Inflight()})
}

func (l *faultEar) Allow(int64, ccc.Standing) (bytes, notBefore int64) { return 1 << 60, 0 }

func newFaultShadow(e *pdcEnd, ids int) *faultShadow {
	return &faultShadow{e: e, window: e.cc.Params().NSCC(), steers: e.w.s.control != ccc.ControlRCCC, pdcs: make([]*shadowPDC, ids+1),
		probes: make([]shadowProbe, ids+1),
		ctxs:   make([]*shadowContext, 16)}
}

// attach listens to the contexts that are new, before anything is sent on them.
func (s *faultShadow) attach() {
	e := s.e
	s.endAll()
	for id := range e.seen {
		h := e.table.ByID(pds.PDCID(id))
		if h == 0 {
			continue
		}
		info, ok := e.m.PDC(h)
		if !ok || info.Context == 0 {
			continue
		}
		slot := &s.ctxs[info.Context.Index()&15]
		if *slot != nil && (*slot).h == info.Context {
			continue
		}
		c := &shadowContext{h: info.Context}
		// The base round trip that it begins with may be that of an earlier context to the destination.
		c.window.Init(s.window, e.clock.now, e.cc.Context(info.Context).BaseRTT())
		c.credit.init(e)
		*slot = c
		e.cc.SetAlgorithm(info.Context, e.clock.now, &faultEar{s, info.Context})
	}
}

func (s *faultShadow) context(h ccc.Handle) *shadowContext {
	if c := s.ctxs[h.Index()&15]; c != nil && c.h == h {
		return c
	}
	s.e.w.failf("I7: an event of a context that was never seen")
	return nil
}

func (p *shadowPDC) at(psn pds.PSN) *shadowPacket { return &p.pkt[int(psn-p.start)&(len(p.pkt)-1)] }

// out returns the packet with psn if it is between base and next.
func (p *shadowPDC) out(psn pds.PSN) *shadowPacket {
	if psn.Diff(p.base) < 0 || psn.Diff(p.next) >= 0 {
		return nil
	}
	return p.at(psn)
}

// of returns the shadow of h, nil if it has sent nothing.
func (s *faultShadow) of(h pdc.Handle) *shadowPDC {
	if id := int(h.ID()); id < len(s.pdcs) && s.pdcs[id] != nil && s.pdcs[id].h == h {
		return s.pdcs[id]
	}
	return nil
}

// begin makes the shadow of a PDC that sends for the first time. A NOOP before that may not have left, since
// no SYN packet of the peer had paid for it: it counts as lost on the way.
func (s *faultShadow) begin(h pdc.Handle, psn pds.PSN) *shadowPDC {
	n := 1
	for n < s.e.w.s.window {
		n *= 2
	}
	id := h.ID()
	p := s.pdcs[id]
	if p == nil {
		p = &shadowPDC{pkt: make([]shadowPacket, n)}
		s.pdcs[id] = p
	} else if p.ctx != nil {
		s.end(p)
	}
	clear(p.pkt)
	*p = shadowPDC{h: h, start: psn, base: psn, next: psn, cack: psn - 1, limit: 8 * 128, limitAt: psn - 1, gapAt: math.MinInt64, pkt: p.pkt}
	if info, _ := s.e.m.PDC(h); !info.Initiator && s.e.m.Stats().Muted > 0 && psn.After(info.Base) {
		p.start, p.base, p.next, p.cack, p.limitAt = info.Base, info.Base, info.Base, info.Base-1, info.Base-1
		for ; p.next != psn; p.next++ {
			*p.at(p.next) = shadowPacket{control: true, fate: fateFlight, sentAt: s.e.clock.now, sends: 1}
		}
	}
	return p
}

// end takes what a PDC has left out of its context: it has gone, or failed.
func (s *faultShadow) end(p *shadowPDC) {
	for psn := p.base; psn != p.next; psn++ {
		k := p.at(psn)
		switch {
		case k.control:
		case k.fate == fateFlight:
			p.ctx.leave(k.size)
			p.ctx.window.OnSend(-k.size)
		case k.fate == fateLost:
			p.ctx.again -= k.size
		}
		k.fate = fateReleased
	}
	p.goesAhead(0)
	p.base, p.ctx = p.next, nil
}

// endAll ends the PDCs that have left their contexts.
func (s *faultShadow) endAll() {
	for _, p := range s.pdcs {
		if p != nil && p.ctx != nil {
			if info, ok := s.e.m.PDC(p.h); !ok || info.Context == 0 {
				s.end(p)
			}
		}
	}
}

func (c *shadowContext) leave(size int64) {
	c.inflight -= size
	c.packets--
}

// sent takes a packet in that Transmit gave out.
func (s *faultShadow) sent(out *pdc.Out, head []byte) {
	w := s.e.w
	if out.Control {
		s.sentControl(out, head)
		return
	}
	p := s.of(out.PDC)
	if p == nil {
		p = s.begin(out.PDC, out.PSN)
	}
	info, _ := s.e.m.PDC(out.PDC)
	if p.ctx == nil {
		p.ctx = s.context(info.Context)
	}
	h := s.next(heardSend)
	if h.size != out.Size || h.ctx != p.ctx.h {
		w.failf("I7: packet of %d bytes sent, %d counted", out.Size, h.size)
	}
	k := s.leaves(p, out, info.PeerID == 0)
	if again := k.fate == fateLost; again != h.rtx {
		w.failf("I7: packet sent again %v, counted as such %v", again, h.rtx)
	}
	if k.fate == fateLost {
		p.ctx.again -= k.size
	}
	k.size, k.entropy = out.Size, out.Entropy
	if !k.gone {
		k.sends = min(k.sends+1, 3)
	}
	k.gone = false
	k.sentAt, k.fate, k.control = s.e.clock.now, fateFlight, false
	p.ctx.inflight += out.Size
	p.ctx.packets++
	p.ctx.window.OnSend(out.Size)
	if c := &p.ctx.credit; c.on && c.src.Credit() <= 0 && info.PeerID != 0 {
		w.failf("PSN %#x sent with a credit of %d", uint32(out.PSN), c.src.Credit())
	}
	p.ctx.credit.charge(out.Size)
}

// swapTwin makes k, of p, the lost one of two packets of the same size and entropy, both overdue: a context hears of no PSN, and
// time-outs after the first are spread. Seed 493500010: the one that was due first was taken for lost. The other may be on another
// PDC of the context, with nothing counted ahead on either, which the loss would have put back: seed 506000444.
func (s *faultShadow) swapTwin(p *shadowPDC, k *shadowPacket) {
	if k == nil || k.fate != fateFlight || k.control {
		return
	}
	for _, o := range append([]*shadowPDC{p}, s.pdcs...) { // the own one first
		if o == nil || o != p && (o.ctx != p.ctx || o.recalled(k.size)|p.recalled(k.size) != 0) {
			continue
		}
		for psn := o.base; psn != o.next; psn++ {
			if q := o.at(psn); q.fate == fateLost && !q.control && q.rtos > 0 && q.size == k.size && q.entropy == k.entropy {
				k.fate, q.fate, k.again, q.again = q.fate, k.fate, q.again, k.again
				k.rtos, q.rtos = k.rtos+1, q.rtos-1
				return
			}
		}
	}
}

// leaves returns the record of the packet that is sent, and holds that it may be
// (I6): new ones in their order and inside the window, again what was lost.
func (s *faultShadow) leaves(p *shadowPDC, out *pdc.Out, syn bool) *shadowPacket {
	w := s.e.w
	if d, n := out.PSN.Diff(p.cack), min(int32(w.s.window), p.limit); d > n {
		w.failf("I6: PSN %#x sent, max_cack is %#x, window %d", uint32(out.PSN), uint32(p.cack), n)
	}
	if out.Retx {
		s.swapTwin(p, p.out(out.PSN))
		if k := p.out(out.PSN); k != nil && (k.fate == fateLost || k.control && k.fate != fateReleased) {
			return k
		}
		w.failf("I8: PSN %#x sent again, and it was not lost", uint32(out.PSN))
	}
	if out.PSN != p.next || int(out.PSN-p.base) >= w.s.window || syn && out.PSN-p.start > 4095 {
		w.failf("I6: PSN %#x sent: start %#x, base %#x, next %#x", uint32(out.PSN), uint32(p.start), uint32(p.base), uint32(p.next))
	}
	p.next++
	k := p.at(out.PSN)
	*k = shadowPacket{}
	return k
}

// sentControl follows the control packets that have a PSN of their own, and those
// that ask about another.
func (s *faultShadow) sentControl(out *pdc.Out, head []byte) {
	var c pds.Control
	if _, err := c.Decode(head); err != nil {
		return // a NACK
	}
	p := s.of(out.PDC)
	switch {
	case c.Ctl == pds.CtlProbe:
		s.probes[out.PDC.ID()] = shadowProbe{out.PDC, c.ProbeOpaque, s.e.clock.now}
	case c.Ctl == pds.CtlACKReq && p != nil:
		if k := p.out(c.PSN); k != nil {
			k.asked = true
		}
	case c.Ctl.ConsumesPSN():
		if p == nil {
			p = s.begin(out.PDC, out.PSN)
		}
		o := *out
		if o.Retx && p.out(o.PSN) == nil && s.e.m.Stats().Muted > 0 {
			o.Retx = false // the first copy was not paid for by SYN packets of the peer, and has not left
		}
		// A PDC that failed has given up what was before its CLOSE_CMD.
		if !o.Retx && p.ctx == nil {
			p.base, p.next = out.PSN, out.PSN
		}
		k := s.leaves(p, &o, false)
		k.control, k.fate, k.sentAt, k.sends = true, fateFlight, s.e.clock.now, min(k.sends+1, 3)
	}
}

// next takes the oldest event out, which has to be of a kind.
func (s *faultShadow) next(k heardKind) heardEvent {
	if len(s.heard) == 0 || s.heard[0].kind != k {
		s.e.w.failf("I7: congestion control should have heard of event %d, and has of %+v", k, s.heard)
	}
	h := s.heard[0]
	s.heard = s.heard[:copy(s.heard, s.heard[1:])]
	return h
}

// lost takes packets out of flight that contexts have heard of as lost. Each must
// have timed out, or, if it was inferred from what arrived on a PDC, be one of that
// and have been sent but once, or before a probe that is answered now, or 1.5 round trips
// before a packet that is acknowledged now. An ordered PDC
// goes back from there.
func (s *faultShadow) lost(on pdc.Handle) {
	inferred := on != 0
	for len(s.heard) > 0 {
		h := s.heard[0]
		c := s.context(h.ctx)
		if s.e.w.s.ordered && h.kind == heardNACK { // from a control packet on
			s.wentBack(s.findLost(c, &h, true, on))
			continue
		}
		s.next(heardLoss)
		p, psn := s.findLost(c, &h, inferred, on)
		if k := p.at(psn); !inferred {
			k.rtos++
		}
		s.tookLost(p, psn, &h)
		if s.e.w.s.ordered {
			s.wentBack(p, psn+1)
		}
	}
}

// tookLost takes a packet out of flight that congestion control has heard of as lost.
func (s *faultShadow) tookLost(p *shadowPDC, psn pds.PSN, h *heardEvent) {
	k, c := p.at(psn), p.ctx
	k.fate, k.again = fateLost, h.now
	p.recall(k.size)
	c.leave(k.size)
	c.again += k.size
	if s.steers {
		c.window.OnInferredLoss(s.window, k.size)
	} else {
		c.window.OnSend(-k.size)
	}
	c.credit.lost(k.size, !h.loss.NoPDC)
}

// wentBack takes everything from psn on out of flight.
func (s *faultShadow) wentBack(p *shadowPDC, psn pds.PSN) {
	n := pds.Nack{Code: pds.NackRODOOO, SPDCID: s.e.seen[p.h.ID()].info.PeerID}
	for ; psn != p.next; psn++ {
		if k := p.at(psn); k.fate == fateFlight && !k.control {
			s.refused(p, k, &n)
		}
	}
}

// goneFrom reports whether what is heard next is what an ordered PDC takes out of
// flight from h on, which psn stands for.
func (s *faultShadow) goneFrom(p *shadowPDC, psn pds.PSN, h *heardEvent) bool {
	if !s.e.w.s.ordered {
		return true
	}
	if h.kind == heardLoss { // and is not among what is heard any more
		psn++
	}
	var all ccc.Nack
	for ; psn != p.next; psn++ {
		if k := p.at(psn); k.fate == fateFlight && !k.control {
			all.Packets, all.Size = all.Packets+1, all.Size+k.size
		}
	}
	if all.Packets == 0 {
		return true
	}
	return len(s.heard) > 0 && s.heard[0].kind == heardNACK && s.heard[0].nack.Packets == all.Packets && s.heard[0].nack.Size == all.Size
}

// findLost finds the packet that a context has heard of as lost: one that is like
// it, the first that is due, or any; on one PDC if that is known, since others may
// have packets of the same size and entropy, and by time on one whose peer is known, or is not, as
// the context has heard, and rather on one from whose loss as many bytes stay in flight; with an ordered one, where all
// that follows has been taken out of flight as well.
func (s *faultShadow) findLost(c *shadowContext, h *heardEvent, any bool, on pdc.Handle) (in *shadowPDC, at pds.PSN) {
	first, most, fits := int64(math.MaxInt64), uint8(30), false
	if n := s.e.w.s.retries; n != 0 { // with answers of the peer it may go on, at the longest timeout
		most = uint8(n)
	}
	for _, p := range s.pdcs {
		if p == nil || p.ctx != c || on != 0 && p.h != on {
			continue
		}
		if !any && h.kind == heardLoss && h.loss.NoPDC != (s.e.seen[p.h.ID()].info.PeerID == 0) {
			continue
		}
		for psn := p.base; psn != p.next; psn++ {
			k := p.at(psn)
			if k.fate != fateFlight || k.control || h.kind == heardLoss && (k.size != h.loss.Size || k.entropy != h.loss.Entropy) || !s.goneFrom(p, psn, h) {
				continue
			}
			due := k.sentAt + min(faultRTO<<min(k.rtos, most), 8_000_000*us)
			if s.e.w.s.infer && h.loss.NoPDC && psn == p.base && k.rtos == 0 { // of a peer that is not known yet it goes again earlier
				due = min(due, k.sentAt+5*c.window.BaseRTT())
			}
			stays := c.inflight+p.recalled(k.size)-k.size == h.flight
			if any && in == nil && (h.kind == heardNACK || k.sends == 1 || k.sentAt < s.overtaken) ||
				!any && due <= h.now && (stays && !fits || stays == fits && due < first) {
				in, at, first, fits = p, psn, due, stays
			}
		}
	}
	if in == nil {
		s.e.w.failf("I7: %+v is taken for lost, and no packet like it is overdue", h)
	}
	return in, at
}

// Of packets of the same size and entropy, due on two PDCs, the lost one is that of the PDC whose peer is as
// known as the context has heard. Seed 360018295: the other one was taken for lost, and the packet that then
// left again for one that was not.
func TestFaultsLossIsOfItsPDC(t *testing.T) {
	w := newPDCWorld(&faultSettings[0], 0, 2)
	e := w.ends[0]
	s, c := e.shadow, new(shadowContext)
	due := shadowPacket{sentAt: 1, size: 2760, entropy: 44635, fate: fateFlight, sends: 1}
	for id := range pdc.Handle(3) {
		if id > 0 {
			s.pdcs[id] = &shadowPDC{h: id, ctx: c, next: 1, pkt: []shadowPacket{due}}
		}
	}
	e.seen[2].info.PeerID = 9
	for id, creating := range map[pdc.Handle]bool{1: true, 2: false} {
		h := heardEvent{kind: heardLoss, now: 1 + faultRTO}
		h.loss.Size, h.loss.Entropy, h.loss.NoPDC = due.size, due.entropy, creating
		p, _ := s.findLost(c, &h, false, 0)
		require.Equal(t, id, p.h)
	}

	// Seed 404176: of the other one nothing had been counted ahead that its loss would put back.
	e.seen[1].info.PeerID = 9
	c.inflight, s.pdcs[2].ahead = 10_000, 2000
	for id, flight := range map[pdc.Handle]int64{1: 10_000 - due.size, 2: 10_000 + 2000 - due.size} {
		h := heardEvent{kind: heardLoss, now: 1 + faultRTO, flight: flight}
		h.loss.Size, h.loss.Entropy = due.size, due.entropy
		p, _ := s.findLost(c, &h, false, 0)
		require.Equal(t, id, p.h)
	}
}
