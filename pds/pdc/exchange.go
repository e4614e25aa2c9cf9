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
// The acknowledgement has to be [pds.AckCCView.Plain].
func (m *Manager) Exchange(now int64, a *pds.AckCCView, src Addr, first, end uint64, most int, run *Run) (*PDC, uint32) {
	if m.ctl.head != 0 || m.data.head != m.data.tail {
		return nil, 0
	}
	p, r, last, n := m.expectACK(a, src)
	if n == 0 {
		return nil, 0
	}
	const asked, wanted = flagInitiator | flagROD | flagClearDue | flagOnData, flagInitiator | flagOnData
	w := &p.tx
	at, limit := w.base%rowLen, m.p.limit(a.MPR())
	if p.flags&asked != wanted || w.control != 0 || w.rtoAt < p.timerAt || w.next == w.tail || int32(w.next-w.base-n) >= int32(limit) ||
		r.released != 0 || at+n >= rowLen {
		return nil, 0
	}
	cur := &m.mem.row[w.current]
	run.Handle, run.Size, run.kind = m.mem.submitted(cur, w.next%rowLen)
	if run.Handle-first >= end-first || m.mem.handle(r, at+n-1)-first >= end-first {
		return nil, 0
	}
	paths := run.Entropy[:1]
	if n > 1 && most > 1 {
		paths = run.Entropy[:w.alike(cur, min(most, int(n)), w.base+n+uint32(limit))]
	}
	s, ok := m.cc.Exchange(ccc.Handle(p.handle), now, last.news(now, a, n), int64(run.Size), paths)
	if !ok {
		return nil, 0
	}
	r.flight &^= (2<<((n-1)%rowLen) - 1) << at
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
