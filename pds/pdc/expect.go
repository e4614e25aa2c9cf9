package pdc

import "github.com/uetcc/uetcc/pds"

// Expect returns the PDC of a request that [Manager.Take] may take: one that is new
// and in the window of a PDC in use, the next one if that is ordered; and the PDC has
// this peer, owes it no response and does not close. That is nearly every request. Any
// other has no such PDC and goes to [Manager.Receive]. The type and what follows the
// header are the caller's to check. Nothing changes.
func (m *Manager) Expect(q *pds.RequestView, src Addr) *PDC {
	id := int(q.DPDCID())
	if id >= len(m.pdc) {
		return nil
	}
	p := &m.pdc[id]
	if p.state != StateEstablished || p.peerID != q.SPDCID() || p.peer != src || p.rx.holding {
		return nil
	}
	if q.Flags()&pds.FlagSYN != 0 || q.ClearOffset() >= 0 || !p.rx.fresh(q.PSN(), m.p.ranges) || !p.rx.reaches(q.ClearPSN()) {
		return nil
	}
	if (p.is(flagROD|flagClose|flagGap) || q.Type().IsROD()) && !p.expectsOrdered(q) || m.mem.responses.free == 0 {
		return nil
	}
	return p
}

// expectsOrdered reports whether q is the next request of an ordered PDC.
func (p *PDC) expectsOrdered(q *pds.RequestView) bool {
	return p.flags&(flagROD|flagClose|flagGap) == flagROD && q.Type().IsROD() && q.PSN() == p.rx.edge
}

// TouchRequests loads what the next request for each of some PDCs will need of it, by
// their PDCIDs. The misses of the cache overlap as far as the machine looks ahead, so
// there is nothing else in the loop. The result means nothing but keeps the loads.
func (m *Manager) TouchRequests(ids []uint16) (sum uint64) {
	for _, id := range ids {
		if int(id) < len(m.pdc) {
			sum += uint64(m.pdc[id].rx.edge)
		}
	}
	return sum
}

// Handle returns the name of p, which lives as long as the name is known.
func (p *PDC) Handle() Handle { return p.handle }

// Peer returns the address of the other end, TC the traffic class.
func (p *PDC) Peer() Addr { return p.peer }
func (p *PDC) TC() uint8  { return p.tc }

// Await is Receive for a request whose PDC Expect has just returned: the verdict
// is VerdictRequest, and Respond is to be called.
func (m *Manager) Await(now int64, p *PDC, in *In) {
	m.stats.Received++
	m.await(now, p, (*pds.RequestView)(in.Packet), in)
}

func (m *Manager) await(now int64, p *PDC, q *pds.RequestView, in *In) {
	p.activeAt = now
	p.rx.released(q.ClearPSN())
	b := &m.in // what Respond will need; there is no NACK that could need more
	b.id = RxID{p.handle, q.PSN()}
	b.psn, b.flags, b.spdcid = q.PSN(), q.Flags(), q.SPDCID()
	b.size, b.ce, b.state = in.Size, in.CE, in.State
	b.payload = payloadLen(len(in.Packet)-q.Type().HeaderLen(), q.Next())
	b.awaited = true
}

// A Taken is a request that has arrived and been done, for [Manager.Take].
type Taken struct {
	Request  *pds.RequestView
	State    *AckState
	Size     int64  // nominal, bytes
	Payload  uint32 // bytes behind the semantic header
	CE       bool   // congestion experienced
	Next     pds.NextHdr
	Response uint8 // bytes, in the form of Next
}

// Take is Receive and Respond in one, for a request whose PDC Expect has just
// returned and that the layer above has done: with the default response, which lies in
// out already, behind the place of an ACK_CC. If an acknowledgement is due it writes
// the header, moves the response to the end of a shorter one, and returns the length
// of the header, otherwise 0.
func (m *Manager) Take(now int64, p *PDC, t *Taken, out *[ReplyMax]byte) int {
	q := t.Request
	m.stats.Received++
	m.stats.Requests++
	m.in.awaited = false
	p.activeAt = now
	p.rx.released(q.ClearPSN())
	first := !p.rx.begun
	if !p.rx.acceptNext(q.PSN()) {
		p.rx.Accept(q.PSN())
	}
	p.count(m.p, t.Size, t.Payload)
	asked := first || m.ackAsked(q.Flags(), t.CE)
	if !asked && int64(p.ackBytes) < m.p.ackAll {
		return 0
	}
	a := ackHead{base: p.rx.edge, offset: int16(q.PSN() - p.rx.edge + 1), flags: q.Flags() & pds.FlagRetx, next: t.Next}
	if t.CE {
		a.flags |= pds.FlagM
	}
	if !p.rx.inOrder() || m.p.PlainACK || t.State.Type != pds.CCNSCC {
		return m.acknowledge(p, t, a, asked, out)
	}
	// All has arrived in order: this is writeACK where there is nothing to select, of a
	// PDC that, in use, does not ask to be closed.
	p.ackBytes = 0
	m.stats.ACKs++
	v := (*pds.AckCCView)(out[:])
	v.SetAck(pds.Prologue{Next: a.next, Flags: a.flags}, a.offset, a.base-1)
	v.SetPDCs(p.handle.ID(), p.peerID)
	v.SetSACK(pds.CCNSCC, m.p.mpr, 1, 0)
	v.SetNSCC(t.State.Service, t.State.penalty(), p.rcvdUnits(), 0)
	return pds.AckCCLen
}

// acknowledge writes the acknowledgement of a request that has been taken.
func (m *Manager) acknowledge(p *PDC, t *Taken, a ackHead, asked bool, out *[ReplyMax]byte) int {
	switch {
	case p.rx.inOrder():
	case asked:
		a.base = p.rx.SACKBase(t.Request.PSN())
	default:
		a.base = p.rx.SACKRove()
	}
	n := m.writeACK(p, (*[pds.AckCCLen]byte)(out[:]), a, t.State)
	if n < pds.AckCCLen {
		copy(out[n:], out[pds.AckCCLen:][:t.Response])
	}
	return n
}
