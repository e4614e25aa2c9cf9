// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// A Confirmed is the N packets acknowledged in [FastPath.TakeACK], with handles counting up
// to Last.
type Confirmed struct {
	PDC  Handle
	N    uint32
	Last uint64
}

// TakeACK is [FastPath.ReceiveACK] for an acknowledgement with no more news than most: of
// the lowest packets in flight, or of a single packet anywhere. The acknowledgement has to
// be [view.AckCC.Plain]. For any other N is 0, and nothing has changed. No event reports
// the packets: the consequences are the caller's.
//
//uetcc:hot
func (f *FastPath) TakeACK(now int64, a *view.AckCC, src Addr) (x Confirmed) {
	m := (*Manager)(f)
	p := m.source.acked(a, &src)
	if p == nil {
		return x
	}
	whole, credited := a, a.CCType() == pds.CCCredit
	if credited && !m.cc.Params().Credits() {
		return x
	}
	w, h, last := &p.tx, uint64(0), (*packet)(nil)
	r, at, n := &m.mem.row[w.first], w.base%rowLen, w.offset(a.CACK())+1-w.base
	if a.Cumulative() && n-1 < r.flying(at) && (n == 1 || r.size != 0) { // else handles may not count up
		last, h = m.mem.record(r, at+n-1), m.mem.handle(r, at+n-1)
		r.flight &^= span(at, n)
		w.cack = w.base + n
		w.pass(m.mem, r, n)
		w.limitTo(m.p, w.cack, a.MPR())
		if r.released != 0 || w.cack%rowLen == 0 {
			w.settleBase(m.mem) // over packets that were acknowledged singly before
		}
		p.stalls = 0
	} else {
		q, at := w.named(m.mem, a), w.offset(a.AckPSN())%rowLen
		if q == nil {
			return x
		}
		last, h, n = m.mem.record(q, at), m.mem.handle(q, at), 1
		p.takeOne(m, a)
	}
	if credited {
		one := [1]*view.AckCC{a}
		a = m.credits.take(one[:], &m.run.News)[0]
	}
	m.stats.Received++
	m.target.in.awaited = false
	p.activeAt = now
	if last.sends == copiesFirst {
		p.took = tookOf(now - last.sentAt)
	} else {
		p.took = p.tookLate(m.p, now-last.sentAt, last.rtos)
	}
	m.run.Acks, m.run.Most = 1, 0
	news := &m.run.News[0]
	news.PlainAck, news.Packets, news.Entropy = last.news(now, a, n), int32(n), last.entropy
	if units := a.RcvdBytes(); units != 0 || p.ahead >= pds.ByteUnit { // else nothing to compare
		if known := news.Bytes(); !p.agrees(known, units) {
			m.source.overtake(now, p, known, known, units, knownOOO(a.OOOCount()))
		}
	}
	if m.cc.Exchange(ccc.Handle(p.handle), now, &m.run.Run) {
		if m.cc.Waiters(p.cc).Head != 0 {
			m.sched.release(p)
		}
	} else {
		m.source.feedAny(now, p, whole, last, n)
	}
	news.Credited = false
	if m.p.c.InferLoss {
		if m.source.infers(now, p, a); w.queued != 0 {
			m.source.mayResend(now, p)
		}
	}
	if w.next != w.tail && !p.is(flagOnData) || w.rtoAt < p.timerAt {
		m.source.tookACKs(now, p)
	}
	return Confirmed{p.handle, n, h}
}

// tookACKs follows up on acknowledgements that p and congestion control have taken in.
func (s *source) tookACKs(now int64, p *PDC) {
	if p.tx.next != p.tx.tail {
		s.sched.wake(p)
	}
	if p.tx.rtoAt < p.timerAt {
		s.timer.schedule(p, now)
	}
}

// acked returns the PDC of an acknowledgement, nil if not for TakeACK.
//
//uetcc:hot
func (s *source) acked(a *view.AckCC, src *Addr) *PDC {
	id := int(a.DPDCID())
	if id >= len(s.pdc) {
		return nil
	}
	p := &s.pdc[id]
	if p.state != StateEstablished || p.peerID != a.SPDCID() || p.peer != *src || p.tx.queued != 0 {
		return nil
	}
	return p
}

// news is an acknowledgement's news for congestion control about n packets as large as pkt,
// the last.
//
//uetcc:hot inlines nobounds
func (pkt *packet) news(now int64, a *view.AckCC, n uint32) nscc.PlainAck {
	rtt := int64(0)
	if pkt.sends == copiesFirst {
		// As nscc.RTT, too much to inline, but below 0 where nscc.RTT has no sample.
		rtt = now - pkt.sentAt - int64(a.ServiceTime())*pds.ServiceTimeUnit
	}
	return nscc.MakePlainAck(int64(pkt.size)*int64(n), rtt, a.Flags()&pds.FlagM != 0)
}

// feedAny is feed for n packets as large as the last.
//
//uetcc:hot
func (s *source) feedAny(now int64, p *PDC, a *view.AckCC, last *packet, n uint32) {
	var h pds.AckCC
	_, _ = h.Decode(a[:])
	k := ackGain{Bytes: int64(last.size) * int64(n), Packets: int32(n), Entropy: last.entropy, Known: true}
	if last.sends == copiesFirst {
		k.RTT = now - last.sentAt
	}
	s.feed(now, p, &h, &k)
}
