package pdc

import "github.com/uetcc/uetcc/pds"

// Expect names the PDC of a request that [Manager.Take] may take: one that is new
// and in the window of an unordered PDC in use, which has this peer, owes it no
// response and does not close. That is nearly every one. 0 stands for any other,
// and for one that is not valid: it goes to [Manager.Receive]. Nothing changes.
func (m *Manager) Expect(q *pds.Request, src Addr) Handle {
	p := m.byID(q.DPDCID)
	if p == nil || !p.plain(q, src) || !p.rx.fresh(q.PSN, m.p.ranges) || m.mem.responses.free == 0 {
		return 0
	}
	return p.handle
}

// plain reports whether a request is valid and of the kind that Expect names.
func (p *PDC) plain(q *pds.Request, src Addr) bool {
	return p.state == StateEstablished && p.flags&(flagROD|flagClose) == 0 && !p.rx.holding && p.peerID == q.SPDCID && p.peer == src &&
		q.SPDCID != 0 && q.Flags&pds.FlagSYN == 0 && !q.Type.IsROD() && q.ClearOffset <= 0 && q.Type.Allows(q.Next)
}

// arrive does what the arrival of a plain request means for its PDC.
func (m *Manager) arrive(now int64, p *PDC, q *pds.Request) {
	p.activeAt = now
	if _, ok := p.rx.Clear(q.ClearPSN()); !ok {
		m.stats.BadClear++
	}
}

// A Taken is a request that has arrived and been done, for [Manager.Take].
type Taken struct {
	PDC     Handle // that Expect has just named
	Payload uint32 // bytes behind the semantic header
	Size    int64  // nominal, bytes
	CE      bool   // congestion experienced
	State   *AckState
}

// Take is Receive and Respond in one, for a request that Expect has named the PDC
// of and that the layer above has done: the default response. It writes the header
// of the acknowledgement, if one is due, to out (see [ReplyMax]) and returns its
// length, otherwise 0. The response, of form next, belongs behind it.
func (m *Manager) Take(now int64, q *pds.Request, t *Taken, next pds.NextHdr, out []byte) int {
	p := m.get(t.PDC)
	if p == nil || len(out) < ReplyMax {
		return 0
	}
	m.stats.Received++
	m.in.awaited = false
	m.arrive(now, p, q)
	first := m.accept(p, q.PSN, t.Size, t.Payload)
	asked := first || m.ackAsked(q.Flags, t.CE)
	if !asked && int64(p.ackBytes) < m.p.ackAll {
		return 0
	}
	a := ackHead{base: p.rx.SACKBase(q.PSN), flags: q.Flags & pds.FlagRetx, next: next}
	a.offset, _ = pds.AckOffset(p.rx.CACK(), q.PSN)
	if t.CE {
		a.flags |= pds.FlagM
	}
	if !asked {
		a.base = p.rx.SACKRove()
	}
	return m.writeACK(p, (*[pds.AckCCLen]byte)(out), a, t.State)
}
