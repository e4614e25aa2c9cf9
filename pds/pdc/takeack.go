package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// A Confirmed is the packets that [Manager.TakeACK] has seen acknowledged: N of them,
// whose handles count up to Last.
type Confirmed struct {
	PDC  Handle
	N    uint32
	Last uint64
}

// TakeACK is [Manager.ReceiveACK] for an acknowledgement that has only the news that most have: of
// the lowest packets that a PDC has in flight, or of a single one, wherever that is. It
// has to be [pds.AckCCView.Plain]. N is 0, and nothing has changed, if it is another
// one. No event tells of the packets: what follows for them is the caller's.
func (m *Manager) TakeACK(now int64, a *pds.AckCCView, src Addr) (x Confirmed) {
	p, r, last, n := m.expectACK(a, src)
	if p == nil {
		return x
	}
	w, h := &p.tx, uint64(0)
	if n == 0 {
		if last, h, n = p.takeOne(m, a); n == 0 {
			return x
		}
	} else {
		end := w.base + n
		h = m.mem.handle(r, (end-1)%rowLen)
		r.flight &^= span(w.base, n)
		w.cack = end
		w.pass(m.mem, r, n)
		w.limitTo(m.p, end, a.MPR())
		if r.released != 0 || end%rowLen == 0 {
			w.settleBase(m.mem) // what was acknowledged by itself
		}
		p.stalls = 0
	}
	m.stats.Received++
	m.in.awaited = false
	p.activeAt = now
	state, ok := m.cc.OnPlainACK(ccc.Handle(p.handle), now, ccc.PlainACK{PlainACK: last.news(now, a, n), Packets: int32(n), Entropy: last.entropy})
	if !ok {
		m.feedAny(now, p, a, last, n)
	} else if state != ccc.StateActive {
		m.unpark(p.cc)
	}
	if w.next != w.tail {
		m.wake(p)
	}
	if w.rtoAt < p.timerAt {
		m.schedule(p, now)
	}
	return Confirmed{p.handle, n, h}
}

// acked returns the PDC of an acknowledgement, nil if TakeACK does not take it.
func (m *Manager) acked(a *pds.AckCCView, src Addr) *PDC {
	id := int(a.DPDCID())
	if id >= len(m.pdc) {
		return nil
	}
	p := &m.pdc[id]
	if p.state != StateEstablished || p.peerID != a.SPDCID() || p.peer != src || p.tx.queued != 0 || m.p.c.InferLoss {
		return nil
	}
	return p
}

// expectACK returns the PDC of an acknowledgement, nil where TakeACK does not take it,
// and, if it is of the lowest packets in flight, how many, their row and the last.
func (m *Manager) expectACK(a *pds.AckCCView, src Addr) (p *PDC, r *row, last *packet, n uint32) {
	if p = m.acked(a, src); p == nil {
		return nil, nil, nil, 0
	}
	w := &p.tx
	at := w.base % rowLen
	n = w.offset(a.CACK()) + 1 - w.base
	if n-1 >= w.next-w.base || !a.Cumulative() {
		return p, nil, nil, 0
	}
	r = &m.mem.row[w.first]
	if r.flying(at) < n || n > 1 && r.size == 0 { // or handles may not count up
		return p, nil, nil, 0
	}
	return p, r, m.mem.record(r, at+n-1), n
}

// news is what an acknowledgement tells congestion control of n packets as large as pkt,
// the last of them.
func (pkt *packet) news(now int64, a *pds.AckCCView, n uint32) nscc.PlainACK {
	rtt := int64(0)
	if pkt.sends == 1 {
		rtt = max(now-pkt.sentAt-int64(a.ServiceTime())*pds.ServiceTimeUnit, 1)
	}
	return nscc.MakePlainACK(int64(pkt.size)*int64(n), rtt, a.Flags()&pds.FlagM != 0)
}

// feedAny is feed for n packets as large as the last.
func (m *Manager) feedAny(now int64, p *PDC, a *pds.AckCCView, last *packet, n uint32) {
	var h pds.AckCC
	_, _ = h.Decode(a[:])
	k := ackGain{Bytes: int64(last.size) * int64(n), Packets: int32(n), Entropy: last.entropy, Known: true}
	if last.sends == 1 {
		k.RTT = max(now-last.sentAt, 1)
	}
	m.feed(now, p, &h, true, &k)
}
