package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// ExpectACK returns the PDC of an acknowledgement that [Manager.TakeACK] may take: of
// the lowest n packets that the PDC has in flight and of no others, whose handles
// count up to last. That is nearly every one while packets arrive in order. Any
// other, and one that is not [pds.AckCCView.Plain], has no such PDC and goes to
// [Manager.Receive]. Nothing changes.
func (m *Manager) ExpectACK(a *pds.AckCCView, src Addr) (p *PDC, last uint64, n uint32) {
	p = m.byID(a.DPDCID())
	if p == nil || p.state != StateEstablished || p.peerID != a.SPDCID() || p.peer != src {
		return nil, 0, 0
	}
	w := &p.tx
	n = w.offset(a.CACK()) + 1 - w.base
	at := w.base % rowLen
	if n-1 >= w.next-w.base || at+n > rowLen || a.Offset() != 0 || a.Bitmap() != 0 || w.queued != 0 || m.p.InferLoss {
		return nil, 0, 0
	}
	// What is in flight is data that has neither arrived nor been given up.
	r, mask := &m.mem.row[w.first], (uint64(1)<<n-1)<<at
	if r.flight&mask != mask {
		return nil, 0, 0
	}
	last = m.mem.record(r, at+n-1).handle
	for i := uint32(1); i < n; i++ {
		if m.mem.record(r, at+n-1-i).handle != last-uint64(i) {
			return nil, 0, 0
		}
	}
	return p, last, n
}

// TakeACK is Receive for an acknowledgement for which ExpectACK has just returned p
// and n. No event tells of the packets: the caller knows them.
func (m *Manager) TakeACK(now int64, a *pds.AckCCView, p *PDC, n uint32) {
	m.stats.Received++
	m.in.awaited = false
	w := &p.tx
	r, at := &m.mem.row[w.first], w.base%rowLen
	last := m.mem.record(r, at+n-1)
	bytes := int64(last.size)
	for i := range n - 1 {
		bytes += int64(m.mem.record(r, at+i).size)
	}
	rtt := int64(0)
	if last.sends == 1 {
		rtt = max(now-last.sentAt-int64(a.ServiceTime())*pds.ServiceTimeUnit, 1)
	}
	r.flight &^= (uint64(1)<<n - 1) << at
	w.pass(m.mem, r, n)
	if w.cack = w.base; w.base != w.next && m.mem.row[w.first].released>>(w.base%rowLen)&1 != 0 {
		w.settleBase(m.mem) // what was acknowledged by itself
	}
	w.mprFrom(m.p, a.CACK(), a.MPR())
	p.activeAt, p.stalls = now, 0
	m.acknowledged(now, p, int32(n), bytes, rtt, last.entropy, a.Flags()&pds.FlagM != 0)
	if w.next != w.tail {
		m.wake(p)
	}
	if w.rtoAt < p.timerAt {
		m.schedule(p, now)
	}
}

// acknowledged has congestion control hear of packets that have arrived.
func (m *Manager) acknowledged(now int64, p *PDC, packets int32, bytes, rtt int64, entropy uint16, marked bool) {
	st, ok := m.cc.OnPlainACK(ccc.Handle(p.handle), now, bytes, rtt, packets, entropy, marked)
	if !ok {
		m.cc.OnACK(ccc.Handle(p.handle), now, &ccc.Ack{Ack: nscc.Ack{Bytes: bytes, RTT: rtt, ECN: marked}, Packets: int(packets), Entropy: entropy})
		m.release(p)
	} else if st != ccc.StateActive && m.parked[p.cc.Index()].head != 0 {
		m.unpark(p.cc)
	}
}
