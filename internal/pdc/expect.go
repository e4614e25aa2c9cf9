// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

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
	if !p.suits(q) || t.mem.responses.free == 0 {
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
