// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// Exchange is [FastPath.TakeACK] for each of acks and then [FastPath.TransmitRun] for up to
// most packets, at least one, of the same PDC. Sent packets are in run. Results are the PDC, and
// the number of packets acknowledged. With most 0 nothing is sent, and the handles in run are those
// of the last packet that each of acks tells of.
//
// acks are 1 to [RunMax] acknowledgements of one PDC that are [view.AckCC.Plain], and
// [view.AckCC.Cumulative] where there are several. Exchange takes them only if they are of the
// lowest packets in flight, or one is of a single packet that was overtaken or has overtaken
// others, the PDC waits for congestion control with others or has a turn (or most is 0), no other
// PDC has a turn, and the handles of all these packets are in [first, end). Otherwise it returns no PDC, and
// nothing has changed.
func (f *FastPath) Exchange(
	now int64, acks []*view.AckCC, src Addr, first, end uint64, most int, run *Run,
) (p *PDC, acked uint32) {
	m := (*Manager)(f)
	if acks[0].CCType() == pds.CCCredit {
		return f.exchangeCredit(now, acks, src, first, end, most, run)
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
	w, mem := &p.tx, m.mem
	last, plain := acks[len(acks)-1], m.plain[:len(acks)]
	base, r, infer := w.base, &mem.row[w.first], m.p.c.InferLoss
	n, limit, single, heard := uint32(1), m.p.limit(last.MPR()), !last.Cumulative(), (*packet)(nil)
	if single {
		if base, r = w.cack, m.single(now, w, last, first, end); r == nil || limit != w.limit {
			return nil, 0
		}
		heard = mem.record(r, w.offset(last.AckPSN())%rowLen)
	} else {
		for i, a := range acks {
			at, n := base%rowLen, w.offset(a.CACK())+1-base
			if infer && knownOOO(a.OOOCount()) >= inferPackets || n-1 >= r.flying(at) || r.released != 0 || n > 1 && r.size == 0 {
				return nil, 0
			}
			h := mem.handle(r, at+n-1)
			if h-first >= end-first {
				return nil, 0
			}
			if most == 0 {
				run.handles[i%RunMax] = h
			}
			pkt, x := mem.record(r, at+n-1), &plain[i]
			x.PlainAck, x.Packets, x.Entropy = pkt.news(now, a, n), int32(n), pkt.entropy
			heard = pkt
			if base += n; base%rowLen == 0 {
				r = &mem.row[w.rowOf(mem, base)]
			}
		}
		if n = base - w.base; r.released != 0 { // base may be in another row now
			return nil, 0
		}
	}
	cur, paths := &mem.row[w.current], run.Entropy[:0]
	if run.unlike = most == 0; !run.unlike {
		if int32(w.next-base) >= int32(limit) {
			return nil, 0
		}
		run.first, run.Size, run.kind = mem.submitted(cur, w.next%rowLen)
		if run.first-first >= end-first {
			return nil, 0
		}
		paths = run.Entropy[:1]
		if n > 1 && cur.size != 0 {
			paths = run.Entropy[:w.alike(min(most, int(n)), base+uint32(limit))]
		}
	}
	ahead, counted := p.ahead, p.counted
	for i, a := range acks {
		if !p.agrees(plain[i].Bytes(), a.RcvdBytes()) {
			p.ahead, p.counted = ahead, counted
			return nil, 0
		}
	}
	s, ok := m.cc.Exchange(ccc.Handle(p.handle), now, plain, int64(run.Size), paths)
	if !ok {
		p.ahead, p.counted = ahead, counted
		return nil, 0
	}
	if single {
		p.takeOne(m, last, r)
	} else {
		if at := w.base % rowLen; at+n <= rowLen {
			r = &mem.row[w.first]
			r.flight &^= span(at, n)
			w.cack = base
			w.pass(mem, r, n)
		} else {
			w.acknowledged(mem, n)
		}
		w.limit, w.limitAt, p.stalls = limit, base, 0
	}
	m.stats.Received += uint64(len(acks))
	m.target.in.awaited = false
	p.activeAt = now
	p.heardFirst(m.p, now, heard)
	if infer {
		m.source.infers(now, p, last)
	}
	if run.N = uint32(s.Sent); s.Sent == 0 {
		if most == 0 {
			m.sched.release(p)
			m.source.tookACKs(now, p)
		}
		return p, n
	}
	if run.aims = s.Targets; run.aims {
		m.aim(p, run)
	}
	if end := m.source.sentRun(now, p, cur, run, s); end || w.next == w.tail || goesOn(s.Held) || m.sched.data.len() != 0 {
		*m.cc.Waiters(p.cc) = ccc.Waiters{}
		m.sched.data.head = m.sched.data.tail
		p.flags &^= flagOnData
		m.sched.takeTurns(p, end, s.Held)
	}
	return p, n
}

// exchangeCredit is Exchange for acknowledgements with credit.
//
//go:noinline
func (f *FastPath) exchangeCredit(
	now int64, acks []*view.AckCC, src Addr, first, end uint64, most int, run *Run,
) (p *PDC, acked uint32) {
	m := (*Manager)(f)
	if acks = m.credits.take(acks, &m.plain); acks != nil {
		p, acked = f.Exchange(now, acks, src, first, end, most, run)
		for i := range acks {
			m.plain[i].Credited = false
		}
	}
	return p, acked
}

// single notes in m.plain an acknowledgement's news of one packet anywhere in flight, with a handle
// in [first, end), and returns the row; none: no such packet, or losses may be inferred.
func (m *Manager) single(now int64, w *sendWindow, a *view.AckCC, first, end uint64) *row {
	r, off, ok := w.named(m.mem, a)
	if !ok || m.mem.handle(r, off%rowLen)-first >= end-first {
		return nil
	}
	if m.p.c.InferLoss && max(knownOOO(a.OOOCount()), w.arrivedAhead(m.mem)+1) >= inferPackets {
		return nil
	}
	pkt, x := m.mem.record(r, off%rowLen), &m.plain[0]
	x.PlainAck, x.Packets, x.Entropy = pkt.news(now, a, 1), 1, pkt.entropy
	return r
}

// waitsToSend reports whether p has new packets to send, and neither anything else to do nor a
// timer to move.
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
func (r *row) flying(i uint32) uint32 { return uint32(bits.TrailingZeros64(^(r.flight >> i))) }

// acknowledged moves base and CACK over n packets in flight, of any rows.
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
func span(i, n uint32) uint64 { return (2<<((n-1)%rowLen) - 1) << (i % rowLen) }
