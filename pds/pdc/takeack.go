package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// A Confirmed is what [Manager.ExpectACK] finds out: that an acknowledgement is of the
// lowest N packets that its PDC has in flight and of no others, whose handles count up
// to Last.
type Confirmed struct {
	Last uint64
	N    uint32

	p     *PDC
	row   *row
	pkt   *packet // the last
	bytes int64
}

// PDC returns the name of the PDC.
func (x *Confirmed) PDC() Handle { return x.p.handle }

// ExpectACK reports whether [Manager.TakeACK] may take an acknowledgement, and fills x
// then. That is nearly every one while packets arrive in order. Any other, and one
// that is not [pds.AckCCView.Plain], goes to [Manager.Receive]. Nothing changes.
func (m *Manager) ExpectACK(a *pds.AckCCView, src Addr, x *Confirmed) bool {
	p := m.byID(a.DPDCID())
	if p == nil || p.state != StateEstablished || p.peerID != a.SPDCID() || p.peer != src {
		return false
	}
	w := &p.tx
	n, at := w.offset(a.CACK())+1-w.base, w.base%rowLen
	if n-1 >= w.next-w.base || at+n > rowLen || a.Offset() != 0 || a.Bitmap() != 0 || w.queued != 0 || m.p.InferLoss {
		return false
	}
	// What is in flight is data that has neither arrived nor been given up.
	r, mask := &m.mem.row[w.first], ^uint64(0)>>((rowLen-n)%rowLen)<<at
	if r.flight&mask != mask {
		return false
	}
	if n > 1 && r.size == 0 { // handles may not count up
		return false
	}
	last := m.mem.record(r, at+n-1)
	x.p, x.row, x.pkt, x.N, x.Last, x.bytes = p, r, last, n, last.handle, int64(last.size)*int64(n)
	return true
}

// TakeACK is Receive for an acknowledgement for which ExpectACK has just filled x. No
// event tells of the packets: the caller knows them.
func (m *Manager) TakeACK(now int64, a *pds.AckCCView, x *Confirmed) {
	m.stats.Received++
	m.in.awaited = false
	p, last, n := x.p, x.pkt, x.N
	w := &p.tx
	rtt := int64(0)
	if last.sends == 1 {
		rtt = max(now-last.sentAt-int64(a.ServiceTime())*pds.ServiceTimeUnit, 1)
	}
	x.row.flight &^= ^uint64(0) >> ((rowLen - n) % rowLen) << (w.base % rowLen)
	w.pass(m.mem, x.row, n)
	if w.cack = w.base; w.base != w.next && m.mem.row[w.first].released>>(w.base%rowLen)&1 != 0 {
		w.settleBase(m.mem) // what was acknowledged by itself
	}
	w.mprFrom(m.p, a.CACK(), a.MPR())
	p.activeAt, p.stalls = now, 0
	marked := a.Flags()&pds.FlagM != 0
	st, ok := m.cc.OnPlainACK(ccc.Handle(p.handle), now, x.bytes, rtt, int32(n), last.entropy, marked)
	switch {
	case !ok:
		m.cc.OnACK(ccc.Handle(p.handle), now, &ccc.Ack{Ack: nscc.Ack{Bytes: x.bytes, RTT: rtt, ECN: marked}, Packets: int(n), Entropy: last.entropy})
		m.release(p)
	case st != ccc.StateActive:
		m.unpark(p.cc)
	}
	if w.next != w.tail {
		m.wake(p)
	}
	if w.rtoAt < p.timerAt {
		m.schedule(p, now)
	}
}
