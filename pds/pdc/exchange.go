package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// Exchange is TakeACK for an acknowledgement of the lowest packets that a PDC has in
// flight, and then TransmitRun for up to most packets, at least one, where these are of
// that PDC: it waits for congestion control with them, and no other one has a turn. What
// is sent is in run. It returns the PDC, and how many packets were acknowledged. With
// anything else there is no PDC, and nothing has changed: so it is, too, unless the
// handles of the last packet acknowledged and of the first one sent are in [first, end).
// The acknowledgement has to be [pds.AckCCView.Plain] and Cumulative.
func (m *Manager) Exchange(now int64, a *pds.AckCCView, src Addr, first, end uint64, most int, run *Run) (*PDC, uint32) {
	p := m.waitsAlone(a, src)
	if p == nil {
		return nil, 0
	}
	w := &p.tx
	at, n, limit := w.base%rowLen, w.offset(a.CACK())+1-w.base, m.p.limit(a.MPR())
	if n-1 >= w.next-w.base || w.next == w.tail || int32(w.next-w.base-n) >= int32(limit) {
		return nil, 0
	}
	r, cur := &m.mem.row[w.first], &m.mem.row[w.current]
	acked := uint64(2<<((n-1)%rowLen)-1) << (at % rowLen)
	if r.flight&acked != acked || r.released != 0 || at+n >= rowLen || n > 1 && r.size == 0 {
		return nil, 0
	}
	run.Handle, run.Size, run.kind = m.mem.submitted(cur, w.next%rowLen)
	if run.Handle-first >= end-first || m.mem.handle(r, at+n-1)-first >= end-first {
		return nil, 0
	}
	last := m.mem.record(r, at+n-1)
	paths := run.Entropy[:1]
	if n > 1 && most > 1 {
		paths = run.Entropy[:w.alike(cur, min(most, int(n)), w.base+n+uint32(limit))]
	}
	s, ok := m.cc.Exchange(ccc.Handle(p.handle), now, last.news(now, a, n), int64(run.Size), paths)
	if !ok {
		return nil, 0
	}
	r.flight &^= acked
	w.cack = w.base + n
	w.limit, w.limitAt = limit, w.cack
	w.pass(m.mem, r, n)
	p.stalls = 0
	m.stats.Received++
	m.in.awaited = false
	p.activeAt = now
	if run.N = uint32(s.Sent); s.Sent == 0 {
		return p, n
	}
	if last := m.sentRun(now, p, cur, run, s); last || w.next == w.tail || s.Held == ccc.ReasonBacklog {
		*m.cc.Waiters(p.cc) = ccc.Waiters{}
		p.flags &^= flagOnData
		m.takeTurns(p, last, s.Held)
	}
	return p, n
}

// waitsAlone returns the PDC of an acknowledgement, if it is an unordered one in use that
// waits for congestion control, and nothing else has a turn.
func (m *Manager) waitsAlone(a *pds.AckCCView, src Addr) *PDC {
	id := int(a.DPDCID())
	if id >= len(m.pdc) || m.ctl.head != 0 || m.data.head != m.data.tail || m.p.InferLoss {
		return nil
	}
	const asked, wanted = flagInitiator | flagROD | flagClearDue | flagOnData, flagInitiator | flagOnData
	p := &m.pdc[id]
	w := &p.tx
	if p.state != StateEstablished || p.peerID != a.SPDCID() || p.peer != src || p.flags&asked != wanted || w.queued|w.control != 0 ||
		w.rtoAt < p.timerAt {
		return nil
	}
	return p
}
