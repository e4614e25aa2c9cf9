// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// A Taken is a request received and done, for [FastPath.Take]: the answer is the default
// response.
type Taken struct {
	Request *view.Request
	Src     *Addr
	State   *AckState
	Size    int64  // nominal, bytes
	Payload uint32 // bytes behind the semantic header
	CE      bool   // congestion experienced
}

// Take is [Manager.Receive] and [Manager.Respond] in one, for a request to p done, or
// about to be done, by the layer above: the request is plain ([view.Request.Plain],
// PlainCC) and [FastPath.Named] has just returned p for it. False, without a change,
// unless the request is new and in the window of p. If an acknowledgement is due the
// header is written, to be followed by a response ([pds.NextResponse]), and n is the
// header's length, otherwise 0.
//
// The code here is for the next request of a PDC, with all before arrived.
//
//uetcc:hot nobounds
func (f *FastPath) Take(now int64, p *PDC, t *Taken, out *[pds.AckCCLen]byte) (n int, ok bool) {
	m := (*Manager)(f)
	q := t.Request
	psn, flags := q.PSN(), q.Flags()
	if p.rx.edge != psn || p.rx.seen != seenInOrder || !p.suits(q) {
		return m.target.takeAhead(now, p, t, out)
	}
	if !m.mem.isOpen(p, t) {
		return 0, false
	}
	p.rx.edge, p.rx.high = psn+1, psn
	m.target.taken(now, p, psn.Add(int32(q.ClearOffset())))
	p.count(m.p, t.Size, t.Payload)
	if !m.reply.ackAsked(flags, t.CE) && !m.reply.ackDue(p) {
		return 0, true
	}
	if !m.target.isUsual(t) {
		return m.reply.writeACK(p, out, ackHead{base: p.rx.edge, flags: t.echo(flags), next: pds.NextResponse}, t.State), true
	}
	// Like writeACK with nothing to select, for a PDC in use, so not asking to be closed.
	p.ackBytes = 0
	m.stats.ACKs++
	v := (*view.AckCC)(out)
	v.SetAck(pds.Prologue{Next: pds.NextResponse, Flags: t.echo(flags)}, 0, psn)
	v.SetAnswered(q)
	v.SetSACK(pds.CCNSCC, m.p.mpr, 1, 0)
	v.SetNSCC(t.State.Service, penalty(t.State), p.rcvdUnits(), 0)
	return pds.AckCCLen, true
}

// MayAnswer reports whether [FastPath.Take] may write an acknowledgement, and so need the state of t.
// Most requests are not acknowledged by themselves.
//
//uetcc:hot
func (f *FastPath) MayAnswer(p *PDC, t *Taken) bool {
	w := &f.reply
	return p.rx.seen != seenInOrder || w.ackAsked(t.Request.Flags(), t.CE) ||
		int64(p.ackBytes+w.p.counts(t.Payload)) >= w.p.ackAll
}

// isUsual reports whether the answer to t is an ACK_CC with NSCC's state.
//
//uetcc:hot inlines nobounds
func (t *target) isUsual(x *Taken) bool { return x.State.Type == pds.CCNSCC && !t.p.c.NoAckCC }

// isOpen reports whether p is in use, has the sender of t as the peer, and owes no
// response.
//
//uetcc:hot inlines nobounds
func (m *memory) isOpen(p *PDC, t *Taken) bool {
	return p.state == StateEstablished && p.peerID == t.Request.SPDCID() && p.peer == *t.Src &&
		!p.rx.holding && m.responses.free.Head != 0
}

// taken notes a request accepted by the window, and clears responses.
//
//uetcc:hot inlines nobounds
func (t *target) taken(now int64, p *PDC, clear pds.PSN) {
	s := t.stats
	s.Received++
	s.Requests++
	t.in.awaited = false
	p.activeAt = now
	p.rx.released(clear)
}

// takeAhead is Take where requests have overtaken each other, as on many paths, by less than the SACK of an
// acknowledgement spans: the SACK begins at the edge, and near is the SACK.
//
//uetcc:hot
func (t *target) takeAhead(now int64, p *PDC, x *Taken, out *[pds.AckCCLen]byte) (n int, ok bool) {
	q, w := x.Request, &p.rx
	psn, flags, clear := q.PSN(), q.Flags(), q.ClearPSN()
	if t.holes != nil && !w.inOrder() {
		return 0, false // the answer may be a NACK
	}
	ahead := uint32(psn - w.edge)
	if w.seen == seenNothing || ahead >= nearLen || w.isFar() || !p.suits(q) || !t.isUsual(x) {
		return t.takeExpected(now, x, out)
	}
	if !t.mem.isOpen(p, x) || ahead >= t.p.ranges || w.near>>ahead&1 != 0 || !w.reaches(clear) {
		return 0, false
	}
	w.Accept(t.mem.far(p), pds.PSN(ahead))
	t.taken(now, p, clear)
	p.count(t.p, x.Size, x.Payload)
	if !t.reply.ackWanted(p, flags, x.CE) && !t.reply.ackDue(p) {
		return 0, true
	}
	p.ackBytes = 0
	t.stats.ACKs++
	cack := w.edge - 1
	v := (*view.AckCC)(out)
	v.SetAck(pds.Prologue{Next: pds.NextResponse, Flags: x.echo(flags)}, int16(psn-cack), cack)
	v.SetAnswered(q)
	v.SetSACK(pds.CCNSCC, t.p.mpr, 1, w.near)
	v.SetNSCC(x.State.Service, penalty(x.State), p.rcvdUnits(), uint16(bits.OnesCount64(w.near)))
	return pds.AckCCLen, true
}

// takeExpected is Take in general.
//
//uetcc:hot
func (t *target) takeExpected(now int64, x *Taken, out *[pds.AckCCLen]byte) (n int, ok bool) {
	q := x.Request
	p := t.expect(q, *x.Src)
	if p == nil {
		return 0, false
	}
	t.stats.Received++
	t.in.awaited = false
	p.activeAt = now
	p.rx.released(q.ClearPSN())
	first := t.accept(p, q.PSN(), x.Size, x.Payload)
	asked := t.reply.ackWanted(p, q.Flags(), x.CE) || first
	if !asked && !t.reply.ackDue(p) {
		return 0, true
	}
	a := ackHead{
		base: p.rx.edge, offset: int16(q.PSN() - p.rx.edge + 1), flags: x.echo(q.Flags()), next: pds.NextResponse,
	}
	switch {
	case p.rx.inOrder():
	case asked:
		a.base = p.rx.SACKBase(q.PSN())
	default:
		a.base = p.rx.SACKRove()
	}
	return t.reply.writeACK(p, out, a, x.State), true
}

// echo is the answer's flags about a packet with flags f.
//
//uetcc:hot inlines nobounds
func (t *Taken) echo(f pds.Flags) pds.Flags {
	f &= pds.FlagRetx
	if t.CE {
		f |= pds.FlagM
	}
	return f
}

// Named returns the PDC with the dpdcid of a request, nil without such an id. Nothing else is
// checked: the PDC may be in a later life than the request means, or in none.
//
//uetcc:hot inlines nobounds
func (f *FastPath) Named(q *view.Request) *PDC { return (*Manager)(f).target.byID(q.DPDCID()) }

// expect looks at a request without any change. The result is the PDC if the request is new and
// in the window of an established PDC (the next PSN, if ordered), and the PDC has the right peer,
// owes no response and is not closing, as for nearly every request. The caller has to check the
// type and the next header.
//
//uetcc:hot
func (t *target) expect(q *view.Request, src Addr) *PDC {
	p := t.byID(q.DPDCID())
	if p == nil || p.state != StateEstablished || p.peerID != q.SPDCID() || p.peer != src || p.rx.holding {
		return nil
	}
	if q.Flags()&pds.FlagSYN != 0 || q.ClearOffset() >= 0 ||
		!p.rx.fresh(t.mem.far(p), q.PSN(), t.p.ranges) || !p.rx.reaches(q.ClearPSN()) {
		return nil
	}
	if !p.suits(q) || t.mem.responses.free.Head == 0 {
		return nil
	}
	return p
}

// suits reports whether p has nothing to ask about the order of q: not ordered, or q is next, and
// p neither closes, waits for missing packets, nor has an unproven peer.
//
//uetcc:hot inlines nobounds
func (p *PDC) suits(q *view.Request) bool {
	return !p.is(unsuited) && !q.Type().IsROD() ||
		p.flags&unsuited == flagROD && q.Type().IsROD() && q.PSN() == p.rx.edge
}

const unsuited = flagROD | flagClose | flagGap | flagUnproven

// await keeps the needs of Respond for a request just accepted by expect; no NACK could need
// more.
func (t *target) await(now int64, p *PDC, q *view.Request, in *In) {
	p.activeAt = now
	p.rx.released(q.ClearPSN())
	b := &t.in
	b.id = RxID{p.handle, q.PSN()}
	b.psn, b.flags, b.spdcid = q.PSN(), q.Flags(), q.SPDCID()
	b.size, b.ce, b.state = in.Size, in.CE, in.State
	b.payload = payloadLen(len(in.Packet)-q.Type().HeaderLen(), q.Next())
	b.awaited, b.name, b.same = true, 0, 0
}
