package pdc

import "github.com/uetcc/uetcc/pds"

// Expect returns the PDC of a request that [Manager.Take] may take: one that is new
// and in the window of an unordered PDC in use, which has this peer, owes it no
// response and does not close. That is nearly every one. Any other, and one that is
// not valid, has no such PDC and goes to [Manager.Receive]. Nothing changes.
func (m *Manager) Expect(q *pds.Request, src Addr) *PDC {
	p := m.byID(q.DPDCID)
	if p == nil || p.state != StateEstablished || p.flags&(flagROD|flagClose) != 0 || p.rx.holding ||
		q.SPDCID == 0 || p.peerID != q.SPDCID || p.peer != src {
		return nil
	}
	if q.Flags&pds.FlagSYN != 0 || q.Type.IsROD() || q.ClearOffset > 0 || !q.Type.Allows(q.Next) {
		return nil
	}
	if !p.rx.fresh(q.PSN, m.p.ranges) || q.ClearOffset != 0 && !p.rx.reaches(q.ClearPSN()) || m.mem.responses.free == 0 {
		return nil
	}
	return p
}

// Handle returns the name of p, which lives as long as the name is known.
func (p *PDC) Handle() Handle { return p.handle }

// Peer and Local return the addresses of both ends, TC the traffic class.
func (p *PDC) Peer() Addr  { return p.peer }
func (p *PDC) Local() Addr { return p.local }
func (p *PDC) TC() uint8   { return p.tc }

// arrive does what the arrival of a request that Expect knows means for its PDC.
func (m *Manager) arrive(now int64, p *PDC, q *pds.Request) {
	p.activeAt = now
	if c := q.ClearPSN(); q.ClearOffset == 0 {
		m.stats.BadClear++ // it clears itself, which says nothing
	} else if c.After(p.rx.clear) {
		p.rx.clear = c
	}
}

// A Taken is a request that has arrived and been done, for [Manager.Take].
type Taken struct {
	Request *pds.Request
	Payload uint32 // bytes behind the semantic header
	Size    int64  // nominal, bytes
	CE      bool   // congestion experienced
	Next    pds.NextHdr
	State   *AckState
}

// Take is Receive and Respond in one, for a request whose PDC Expect has just
// returned and that the layer above has done: with the default response, which is of
// the form Taken.Next. It writes the header of the acknowledgement, if one is due, to
// out (see [ReplyMax]) and returns its length, otherwise 0. The response belongs
// behind it.
func (m *Manager) Take(now int64, p *PDC, t *Taken, out *[ReplyMax]byte) int {
	q := t.Request
	m.stats.Received++
	m.stats.Requests++
	m.in.awaited = false
	m.arrive(now, p, q)
	first := !p.rx.begun
	if !p.rx.acceptNext(q.PSN) {
		p.rx.Accept(q.PSN)
	}
	p.count(m.p, t.Size, t.Payload)
	asked := first || m.ackAsked(q.Flags, t.CE)
	if !asked && int64(p.ackBytes) < m.p.ackAll {
		return 0
	}
	cack := p.rx.edge - 1
	a := ackHead{base: p.rx.SACKBase(q.PSN), flags: q.Flags & pds.FlagRetx, next: t.Next}
	a.offset, _ = pds.AckOffset(cack, q.PSN)
	if t.CE {
		a.flags |= pds.FlagM
	}
	if !asked {
		a.base = p.rx.SACKRove()
	}
	return m.writeACK(p, (*[pds.AckCCLen]byte)(out[:]), a, t.State)
}
