package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

// askCredit asks for credit for a context, with a CREDIT_REQ on one of the PDCs that wait for
// it and know their peer. If none knows its peer, the first may send a packet without credit:
// that opens it, and names what is wanted too.
//
// So may each PDC whose SYN packet has timed out. If it were kept until credit comes, the
// packet could be sent again after the target has forgotten that it had a PDC for it, and
// would be delivered twice.
//
// A peer that has begun again answers a CREDIT_REQ with a NACK that names no packet, from
// which nothing follows. So a silent peer is also asked about the last packet with an ACK_REQ,
// unless that packet waits for its acknowledgement anyway: then its round trip would be
// measured as too long.
func (rec *recovery) askCredit(now int64, c ccc.Handle) {
	l := rec.cc.Waiters(c)
	if rec.cc.Context(c).CreditInVain() && rec.p.maxRTOs != forever {
		rec.failDenied(now, c)
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
			if deadline.After(p.activeAt, rec.p.c.RTOInit) <= now {
				rec.source.askLast(p)
			}
			asked = true
		}
		rec.sched.unpark(c) // it waits again behind the others, so that the next time asks those it has not come to
	}
	if !asked && first != 0 {
		rec.pdc[first].flags |= flagAsking
	}
}

// failDenied ends the PDCs of a context that have something to send, as far as there is room for
// the events: their peer does not give any credit.
func (rec *recovery) failDenied(now int64, c ccc.Handle) {
	for i := range rec.pdc {
		p := &rec.pdc[i]
		switch {
		case p.cc != c || !p.state.live() || p.tx.done() || rec.mem.events.free() < rec.mem.reserve:
		case p.is(flagInitiator):
			rec.life.fail(now, p, CauseNoCredit)
		default:
			rec.life.closeInError(now, p)
		}
	}
}

// askLast asks about the last packet of p, unless that waits for its acknowledgement anyway.
// One that is to be sent again does not: it waits for credit too.
func (s *source) askLast(p *PDC) {
	last := p.tx.next - 1
	if p.tx.live(s.mem, last) {
		if !p.tx.waiting(s.mem, last) {
			return
		}
		p.tx.packet(s.mem, last).sends = copiesMore // the answer to a question is no round trip of the packet
	}
	s.sched.control(p, ctlAckReq)
}

// lapsed reports whether a packet of p that has timed out waits to be sent again.
func (s *source) lapsed(now int64, p *PDC) bool {
	off, ok := p.tx.nextQueued(s.p, s.mem, now)
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

// putTarget adds the credit that the source would like to reach.
func (l *life) putTarget(p *PDC, q *pds.Request, target int64) {
	q.Type, q.CCCID, q.CreditTarget = pds.TypeRUDCCReq, l.cccID[p.cc.Index()], uint32(rccc.QuantaOf(target))
	if p.is(flagROD) {
		q.Type = pds.TypeRODCCReq
	}
}

// PutCredit writes a CREDIT that gives the peer of h so much in all (256 B units)
// to buf and returns its length: for the receiver that schedules credit. The errors are
// [ErrUnknown], [ErrState] while the peer's PDCID is not known, or for all but the first few to a
// peer that has only sent SYN packets, and [pds.ErrTruncated].
func (m *Manager) PutCredit(h Handle, credit uint32, buf []byte) (int, error) {
	p := m.get(h)
	switch {
	case p == nil:
		return 0, ErrUnknown
	case p.peerID == 0 || !m.reply.mayTell(p):
		return 0, ErrState
	}
	m.stats.Controls++
	c := pds.Control{Ctl: pds.CtlCredit, SPDCID: h.ID(), DPDCID: p.peerID, Payload: pds.CreditPayload(credit)}
	return c.Encode(buf)
}
