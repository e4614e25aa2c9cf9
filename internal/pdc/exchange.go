// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// Exchange is [FastPath.TakeACK] for each of acks and then [FastPath.TransmitRun] for up to
// most packets, at least one, of the same PDC. Sent packets are in [FastPath.Run]. Results are the
// PDC, and the number of packets acknowledged. With most 0 nothing is sent, and the handles in the
// Run are those of the last packet that each of acks tells of.
//
// acks are 1 to [ccc.RunMax] acknowledgements of one PDC that are [view.AckCC.Plain], and
// [view.AckCC.Cumulative] where there are several. Exchange takes them only if they are of the
// lowest packets in flight, or one is of a single packet that was overtaken or has overtaken
// others, the PDC waits for congestion control with others or has a turn (or most is 0), no other
// PDC has a turn, and the handles of all these packets are in [first, end). Otherwise it returns no PDC, and
// nothing has changed.
//
//uetcc:hot
func (f *FastPath) Exchange(
	now int64, acks []*view.AckCC, src *Addr, first, end uint64, most int,
) (p *PDC, acked uint32) {
	m := (*Manager)(f)
	if acks[0].CCType() == pds.CCCredit {
		return f.exchangeCredit(now, acks, src, first, end, most)
	}
	if m.sched.ctl.head != 0 {
		return nil, 0
	}
	if p = m.source.acked(acks[0], src); p == nil || !p.waitsToSend() && (most != 0 || p.is(flagRecovering)) {
		return nil, 0
	}
	if m.sched.data.len() != 0 && (most == 0 || !m.sched.onlyTurn(p)) {
		return nil, 0
	}
	if p.ahead >= m.sure && m.unsure(p, acks) {
		return nil, 0
	}
	w, x, last := &p.tx, &m.run, acks[len(acks)-1]
	x.from, x.span, x.Acks = first, end-first, len(acks)
	r, edge := m.learn(now, p, acks)
	if r == nil {
		return nil, 0
	}
	n, limit, cur := edge-w.base, m.p.limit(last.MPR()), &m.mem.row[w.current]
	if !last.Cumulative() {
		n, edge = 1, w.cack // which stays
	}
	if most != 0 {
		if int32(w.next-edge) >= int32(limit) {
			return nil, 0
		}
		if !x.begin(cur, w.next%rowLen) {
			x.alone(m.mem, cur, w.next%rowLen)
		}
		if x.first-x.from >= x.span {
			return nil, 0
		}
		if x.Most, x.unlike = 1, false; n > 1 && cur.size != 0 {
			x.Most = int(w.alike(min(most, int(n)), edge+uint32(limit)))
		}
	} else {
		x.Most, x.unlike = 0, true
	}
	if !m.cc.Exchange(ccc.Handle(p.handle), now, &x.Run) {
		return nil, 0
	}
	if edge != w.cack {
		if at := w.base % rowLen; at+n < rowLen {
			r.flight &= ^uint64(0) << ((at + n) % rowLen) // none is in flight below base
			w.pass(m.mem, r, n)
		} else {
			w.acknowledged(m.mem, n)
		}
		w.cack, w.limitAt, w.limit, p.stalls = edge, edge, limit, 0
	} else {
		p.takeOne(m, last)
	}
	p.took = x.took
	p.ahead, p.counted = x.ahead, x.counted
	p.activeAt = now
	m.stats.Received += uint64(len(acks))
	m.target.in.awaited = false
	if m.p.c.InferLoss {
		m.source.infers(now, p, last)
	}
	if x.Sent == 0 {
		if most == 0 {
			m.sched.release(p)
			m.source.tookACKs(now, p)
		}
		return p, n
	}
	if x.Targets {
		m.aim(p)
	}
	if end := m.source.sentRun(now, p, cur, x); end || w.next == w.tail || goesOn(x.Held) || m.sched.data.len() != 0 {
		*m.cc.Waiters(p.cc) = ccc.Waiters{}
		m.sched.data.head = m.sched.data.tail
		p.flags &^= flagOnData
		m.sched.takeTurns(p, end, x.Held)
	}
	return p, n
}

// learn notes in m.run what acknowledgements tell of packets of p, with handles as Exchange takes
// them. Results are the row and the offset behind the last of the packets, the row nil if an
// acknowledgement is not for Exchange.
//
//uetcc:hot
func (m *Manager) learn(now int64, p *PDC, acks []*view.AckCC) (r *row, end uint32) {
	mem, x, w := m.mem, &m.run, &p.tx
	x.ahead, x.counted = p.ahead, p.counted
	end, start := w.base, w.start
	if a := acks[0]; a.Cumulative() {
		if r = &mem.row[w.first]; r.released != 0 {
			return nil, 0
		}
	} else if r = w.named(mem, a); r != nil && m.p.limit(a.MPR()) == w.limit { // and alone: of one packet
		end = w.offset(a.AckPSN())
		start = a.CACK() - pds.PSN(end)
	} else {
		return nil, 0
	}
	for i := 0; ; { // calls nothing, and needs little, so that the registers suffice
		a := acks[i]
		at, n := end%rowLen, uint32(a.CACK()-start)+1-end
		if n-1 >= r.flying(at) || n != 1 && r.size == 0 {
			return nil, 0
		}
		pkt, h := mem.told(r, at+n-1)
		x.handles[uint(i)%ccc.RunMax] = h
		if h-x.from >= x.span {
			return nil, 0
		}
		y := &x.News[uint(i)%ccc.RunMax]
		y.PlainAck, y.Packets, y.Entropy = pkt.news(now, a, n), int32(n), pkt.entropy
		if units := a.RcvdBytes(); units != 0 {
			ahead := max(int64(x.ahead)-y.Bytes()+x.counted.Advance(units), 0)
			if ahead >= pds.ByteUnit {
				return nil, 0
			}
			x.ahead = int32(ahead)
		}
		if end += n; end%rowLen == 0 { // base will be there
			if r = &mem.row[w.rowOf(mem, end)]; r.released != 0 {
				return nil, 0
			}
		}
		if i++; i == len(acks) {
			if x.took = tookOf(now - pkt.sentAt); pkt.sends != copiesFirst {
				x.took = p.tookLate(m.p, now-pkt.sentAt, pkt.rtos)
			}
			return r, end
		}
	}
}

// exchangeCredit is Exchange for acknowledgements with credit.
//
//go:noinline
//uetcc:hot
func (f *FastPath) exchangeCredit(
	now int64, acks []*view.AckCC, src *Addr, first, end uint64, most int,
) (p *PDC, acked uint32) {
	m := (*Manager)(f)
	if acks = m.credits.take(acks, &m.run.News); acks != nil {
		p, acked = f.Exchange(now, acks, src, first, end, most)
		for i := range acks {
			m.run.News[i].Credited = false
		}
	}
	return p, acked
}

// unsure reports whether acks are not for Exchange, with flight as the acknowledgements before have
// left it: bytes have departed, or packets may be lost.
//
//go:noinline
func (m *Manager) unsure(p *PDC, acks []*view.AckCC) bool {
	return p.ahead >= pds.ByteUnit || p.tx.missing(m.mem, acks)
}

// missing reports whether one of acks may tell of lost packets, which are inferred from so many
// that have overtaken the others.
func (w *sendWindow) missing(m *memory, acks []*view.AckCC) bool {
	for _, a := range acks {
		ooo := knownOOO(a.OOOCount())
		if !a.Cumulative() {
			ooo = max(ooo, w.arrivedAhead(m)+1)
		}
		if ooo >= inferPackets {
			return true
		}
	}
	return false
}

// waitsToSend reports whether p has new packets to send, and neither anything else to do nor a
// timer to move.
//
//uetcc:hot inlines nobounds
func (p *PDC) waitsToSend() bool {
	const (
		asked  = flagInitiator | flagClearDue | flagOnData | flagRecovering | flagAsking
		wanted = flagInitiator | flagOnData
	)
	w := &p.tx
	return p.flags&asked == wanted && w.control == 0 && w.rtoAt >= p.timerAt && w.next != w.tail
}

// flying returns how many packets from packet i on are in flight, in a row: data that
// has neither arrived nor been given up.
//
//uetcc:hot inlines nobounds
func (r *row) flying(i uint32) uint32 { return uint32(bits.TrailingZeros64(^(r.flight >> i))) }

// acknowledged moves base and CACK over n packets in flight, of any rows.
//
//uetcc:hot
func (w *sendWindow) acknowledged(m *memory, n uint32) {
	w.cack = w.base + n
	for n > 0 {
		at := w.base % rowLen
		r, k := &m.row[w.first], min(n, rowLen-at)
		r.flight &^= span(at, k)
		w.pass(m, r, k)
		n -= k
	}
}

// span is the bits of n packets of a row, at least one, from the one at i on.
//
//uetcc:hot inlines
func span(i, n uint32) uint64 { return (2<<((n-1)%rowLen) - 1) << (i % rowLen) }
