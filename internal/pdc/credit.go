// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/karn"
	"github.com/uetcc/uetcc/internal/splitmix"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

// credits are acknowledgements that bring credit, as they would be without.
type credits struct {
	cc    *ccc.Manager
	view  [ccc.RunMax]view.AckCC
	views [ccc.RunMax]*view.AckCC
}

// take puts the credit of acks into plain, and returns acks with an empty state of NSCC; none if
// credit is not all that such a state is for.
//
//uetcc:hot
func (c *credits) take(acks []*view.AckCC, plain *[ccc.RunMax]ccc.PlainAck) []*view.AckCC {
	if c.cc.Params().RCCC().MaxCredit() == 0 {
		return nil
	}
	for i, a := range acks {
		v, x := &c.view[i%ccc.RunMax], &plain[i%ccc.RunMax]
		*v = *a
		v.SetCCType(pds.CCNSCC)
		v.SetNSCC(0, 0, 0, a.OOOCount())
		c.views[i%ccc.RunMax], x.Credit, x.Credited = v, rccc.Quanta(a.Credit()), true
	}
	return c.views[:len(acks)]
}

// askCredit asks for credit for a context, with a CREDIT_REQ on a waiting PDC whose peer is
// known. If no peer is known, the first PDC may send a packet without credit: the packet opens
// the PDC, and names the wanted credit too.
//
// So may each PDC whose SYN packet has timed out. If kept until credit comes, the packet could
// be sent again after the target has forgotten the PDC, and would be delivered twice.
//
// A restarted peer answers a CREDIT_REQ with a NACK that names no packet, without consequence.
// So a silent peer is also asked about the last packet with an ACK_REQ, unless the packet waits
// for an acknowledgement anyway: then the measured round trip would be too long.
func (rec *recovery) askCredit(now int64, c ccc.Handle) {
	l := rec.cc.Waiters(c)
	if rec.cc.Context(c).CreditInVain() && rec.p.maxRTOs != forever {
		rec.failDenied(now, c, rec.whyDenied(c))
		return
	}
	first, asked := l.Head, false
	for n := 0; n < lookAhead && l.Head != 0; n++ {
		p := &rec.pdc[l.Head]
		switch {
		case p.peerID == 0 && rec.source.lapsed(now, p):
			p.flags |= flagAsking
			asked = true
		case p.peerID != 0 && !asked:
			rec.sched.control(p, ctlCreditReq)
			if deadline.After(p.activeAt, rec.p.c.RTOInit) <= now && rec.source.askLast(p) || rec.sched.granted(p) {
				rec.mem.owesAnswer(p)
			}
			if asked = true; l.Head != l.Tail { // the next time asks about another: a peer may have one PDC and not another
				l.Head = p.nextData
				rec.sched.park(p)
				continue
			}
		}
		rec.sched.unpark(c) // it waits again behind the others, so that the next time asks those it has not come to
	}
	if !asked && first != 0 {
		rec.pdc[first].flags |= flagAsking
	}
}

// whyDenied is the cause where a context waits for credit in vain. A peer that is silent, or has not answered at all, is
// gone: other settings than here show in a peer that answers and does not grant.
func (rec *recovery) whyDenied(c ccc.Handle) Cause {
	why := CauseRTO
	for i := rec.life.bound[c.Index()].Head; i != 0; i = rec.life.binds.Next(i) {
		if p := &rec.pdc[i]; live(p.state) && p.peerID != 0 {
			if rec.mem.isSilent(p) {
				return CauseRTO
			}
			why = CauseNoCredit
		}
	}
	return why
}

// isSilent reports whether nothing has come from the peer of p since a question that a peer answers: about the last
// packet, or for credit where some has been granted.
func (m *memory) isSilent(p *PDC) bool { return m.shortage[p.slot()].asked == p.activeHash() }

// owesAnswer notes that the peer of p has to answer, see isSilent.
func (m *memory) owesAnswer(p *PDC) { m.shortage[p.slot()].asked = p.activeHash() }

// activeHash tells one activeAt from another, in a byte other than 0.
func (p *PDC) activeHash() uint8 { return uint8(splitmix.Mix(uint64(p.activeAt))) | 1 }

// failDenied ends the PDCs of a context with something to send, as far as the events have room:
// the peer does not give any credit.
func (rec *recovery) failDenied(now int64, c ccc.Handle, why Cause) {
	for i := rec.life.bound[c.Index()].Head; i != 0; {
		p := &rec.pdc[i]
		i = rec.life.binds.Next(i) // p may leave
		switch {
		case !live(p.state) || p.tx.done() || rec.mem.events.Free() < rec.mem.reserve:
		case p.is(flagInitiator):
			rec.life.fail(now, p, why)
		default:
			rec.life.closeInError(now, p)
		}
	}
}

// askLast asks about the last packet of p, unless the packet waits for an acknowledgement
// anyway, and reports whether it asks. A packet to be sent again does not: such a packet waits for credit too.
func (s *source) askLast(p *PDC) bool {
	last := p.tx.next - 1
	if p.tx.live(s.mem, last) {
		if !p.tx.waiting(s.mem, last) {
			return false
		}
		p.tx.packet(s.mem, last).sends = karn.More // the answer to a question is no round trip of the packet
	}
	s.sched.control(p, ctlAckReq)
	return true
}

// granted reports whether the peer of p has granted credit, or cells.
func (s *scheduler) granted(p *PDC) bool {
	c := s.cc.Context(p.cc)
	return c != nil && c.CreditTotal() != 0
}

// lapsed reports whether a timed-out packet of p waits to be sent again.
func (s *source) lapsed(now int64, p *PDC) bool {
	off, ok := p.tx.nextQueued(s.mem, now)
	return ok && p.tx.packet(s.mem, off).rtos > 0
}

// credit takes in a cumulative credit.
func (s *scheduler) credit(now int64, p *PDC, units uint32) {
	c := s.cc.Context(p.cc)
	if c == nil {
		return
	}
	total := rccc.Quanta(units).Extend(c.CreditTotal())
	s.cc.OnCreditUpdate(ccc.Handle(p.handle), now, total)
	s.release(p)
}

// creditWanted is the payload of a CREDIT_REQ.
func (l *life) creditWanted(p *PDC) pds.Payload {
	target := l.cc.Context(p.cc).CreditTarget(l.cc.Params(), 1)
	return pds.CreditReqPayload(l.cccID[p.cc.Index()], uint32(rccc.QuantaOf(target)))
}

// putTarget adds the credit the source would like to reach.
func (l *life) putTarget(p *PDC, q *pds.Request, target int64) {
	q.Type, q.CCCID, q.CreditTarget = pds.TypeRUDCCReq, l.cccID[p.cc.Index()], uint32(rccc.QuantaOf(target))
	if p.is(flagROD) {
		q.Type = pds.TypeRODCCReq
	}
}

// PutCredit writes a CREDIT with the total credit for the peer of h (256 B units) to buf and
// returns the length: for the receiver scheduling credit. The errors are [ErrUnknown],
// [ErrState] while the peer's PDCID is unknown, or for all but the first few to a peer known
// only by SYN packets, and [pds.ErrTruncated].
func (m *Manager) PutCredit(h Handle, credit uint32, buf []byte) (int, error) {
	p := m.get(h)
	switch {
	case p == nil:
		return 0, ErrUnknown
	case p.peerID == 0 || !m.reply.mayTell(p):
		return 0, ErrState
	}
	if len(buf) < pds.ControlLen {
		return 0, pds.ErrTruncated
	}
	m.stats.Controls++
	c := pds.Control{Ctl: pds.CtlCredit, SPDCID: h.ID(), DPDCID: p.peerID, Payload: pds.CreditPayload(credit)}
	return len(c.AppendTo(buf[:0])), nil
}
