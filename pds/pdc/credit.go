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
func (m *Manager) askCredit(now int64, c ccc.Handle) {
	l := m.cc.Waiters(c)
	if m.cc.Context(c).CreditInVain() && m.p.maxRTOs != forever {
		m.failDenied(now, c)
		return
	}
	first, asked := l.Head, false
	for n := 0; n < lookAhead && l.Head != 0; n++ {
		p := &m.pdc[l.Head]
		switch {
		case p.peerID == 0 && m.lapsed(now, p):
			p.flags |= flagAsking
			asked = true
		case p.peerID != 0 && !asked:
			m.control(p, ctlCreditReq)
			if deadline.After(p.activeAt, m.p.c.RTOInit) <= now {
				m.askLast(p)
			}
			asked = true
		}
		m.unpark(c) // it waits again behind the others, so that the next time asks those it has not come to
	}
	if !asked && first != 0 {
		m.pdc[first].flags |= flagAsking
	}
}

// failDenied ends the PDCs of a context that have something to send, as far as there is room for
// the events: their peer does not give any credit.
func (m *Manager) failDenied(now int64, c ccc.Handle) {
	for i := range m.pdc {
		p := &m.pdc[i]
		switch {
		case p.cc != c || !p.state.live() || p.tx.done() || m.mem.events.free() < m.mem.reserve:
		case p.is(flagInitiator):
			m.fail(now, p, CauseNoCredit)
		default:
			m.closeInError(now, p)
		}
	}
}

// askLast asks about the last packet of p, unless that waits for its acknowledgement anyway.
// One that is to be sent again does not: it waits for credit too.
func (m *Manager) askLast(p *PDC) {
	last := p.tx.next - 1
	if p.tx.live(m.mem, last) {
		if !p.tx.waiting(m.mem, last) {
			return
		}
		p.tx.packet(m.mem, last).sends = copiesMore // the answer to a question is no round trip of the packet
	}
	m.control(p, ctlAckReq)
}

// lapsed reports whether a packet of p that has timed out waits to be sent again.
func (m *Manager) lapsed(now int64, p *PDC) bool {
	off, ok := p.tx.nextQueued(m.p, m.mem, now)
	return ok && p.tx.packet(m.mem, off).rtos > 0
}

// credit takes in a cumulative credit.
func (m *Manager) credit(now int64, p *PDC, units uint32) {
	c := m.cc.Context(p.cc)
	if c == nil {
		return
	}
	total := rccc.Quanta(units).Extend(c.CreditTotal())
	m.cc.OnCreditUpdate(ccc.Handle(p.handle), now, total)
	m.release(p)
}

// creditWanted is the payload of a CREDIT_REQ.
func (m *Manager) creditWanted(p *PDC) pds.Payload {
	target := m.cc.Context(p.cc).CreditTarget(m.cc.Params(), 1)
	return pds.CreditReqPayload(m.cccID[p.cc.Index()], uint32(rccc.QuantaOf(target)))
}

// putTarget adds the credit that the source would like to reach.
func (m *Manager) putTarget(p *PDC, q *pds.Request, target int64) {
	q.Type, q.CCCID, q.CreditTarget = pds.TypeRUDCCReq, m.cccID[p.cc.Index()], uint32(rccc.QuantaOf(target))
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
	case p.peerID == 0 || !m.mayTell(p):
		return 0, ErrState
	}
	m.stats.Controls++
	c := pds.Control{Ctl: pds.CtlCredit, SPDCID: h.ID(), DPDCID: p.peerID, Payload: pds.CreditPayload(credit)}
	return c.Encode(buf)
}
