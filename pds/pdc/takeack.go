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
	at := w.base % chunkLen
	if n-1 >= w.next-w.base || at+n > chunkLen || a.Offset() != 0 || a.Bitmap() != 0 || w.queued != 0 || m.p.InferLoss {
		return nil, 0, 0
	}
	// What is in flight is data that has neither arrived nor been given up.
	c, mask := &m.mem.chunk[w.chunkOf(w.base)], (uint64(1)<<n-1)<<at
	if c.flight&mask != mask || n > 1 && !inRow(c.pkt[at:][:n]) {
		return nil, 0, 0
	}
	return p, c.pkt[(at+n-1)%chunkLen].handle, n
}

// inRow reports whether the handles of the packets count up.
func inRow(run []packet) bool {
	h := run[0].handle
	for i := range run {
		if run[i].handle != h+uint64(i) {
			return false
		}
	}
	return true
}

// TakeACK is Receive for an acknowledgement for which ExpectACK has just returned p
// and n. No event tells of the packets: the caller knows them.
func (m *Manager) TakeACK(now int64, a *pds.AckCCView, p *PDC, n uint32) {
	m.stats.Received++
	m.in.awaited = false
	w := &p.tx
	c, at := w.at(m.mem, w.base)
	run := c.pkt[at:][:n]
	bytes := int64(0)
	for i := range run {
		bytes += int64(run[i].size)
	}
	last := &run[n-1]
	rtt := int64(0)
	if last.sends == 1 {
		rtt = max(now-last.sentAt-int64(a.ServiceTime())*pds.ServiceTimeUnit, 1)
	}
	c.flight &^= (uint64(1)<<n - 1) << at
	w.base += n
	w.cack = w.base
	switch next := at + n; {
	case next == chunkLen:
		w.leave(m.mem, w.base/chunkLen-1)
		w.settleBase(m.mem)
	case c.released>>next&1 != 0: // by an acknowledgement of its own
		w.settleBase(m.mem)
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
