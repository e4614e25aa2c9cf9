// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/karn"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// Exchange takes acknowledgements in, as [FastPath.ReceiveACK] takes each, and then lets up to most new
// packets of the same PDC go, as [FastPath.TransmitRun] does. Both are in [FastPath.Run]: the
// packets sent, and the handles of the last packet that each of acks tells of. No event reports the
// acknowledged packets: the consequences are the caller's. Results are the PDC, and the number of
// packets acknowledged.
//
// acks are 1 to [ccc.RunMax] acknowledgements of one PDC that are [view.AckCC.Plain], and
// [view.AckCC.Cumulative] where there are several. Exchange takes them only if they are of the lowest
// packets in flight, or one is of a single packet that was overtaken or has overtaken others.
// Otherwise Exchange returns no PDC, and nothing has changed.
//
// Packets go only if the PDC waits for congestion control, or for nothing but these acknowledgements,
// no other PDC has a turn, and the handles of the packets acknowledged and sent are within the Run's
// [Run.Let]. If not, a single acknowledgement is taken in all the same. Several are taken in only with
// all of this, or with most 0, no other PDC with a turn, and the acknowledged packets within Let.
//
//uetcc:hot
func (f *FastPath) Exchange(now int64, acks []*view.AckCC, src *Addr, most int) (p *PDC, acked uint32) {
	m, a := (*Manager)(f), acks[0]
	if a.CCType() == pds.CCCredit {
		return f.exchangeCredit(now, acks, src, most)
	}
	if p = m.source.acked(a, src); p == nil {
		return nil, 0
	}
	if len(acks) != 1 {
		if acked = m.takeRun(now, p, acks, most); acked == 0 {
			return nil, 0
		}
	} else {
		x, w, mem := &m.run, &p.tx, m.mem
		at := w.base % rowLen
		r, end := &mem.row[w.first], w.offset(a.CACK())+1
		acked = end - w.base
		if !a.Cumulative() || acked-1 >= r.flying(at) || acked != 1 && r.size == 0 { // else handles may not count up
			if r = w.named(mem, a); r == nil {
				return nil, 0
			}
			at, end, acked = w.offset(a.AckPSN())%rowLen, w.base, 1
		}
		pkt, h := mem.told(r, at+acked-1)
		x.told[0], x.Within = h, h-x.from < x.span
		y, rtt, since := &x.News[0], int64(0), now-pkt.sentAt
		if pkt.sends == karn.First {
			rtt, p.took = rttOf(since, a), tookOf(since)
		} else {
			p.took = mem.tookLate(now, p, m.p, since, pkt.rtos)
		}
		y.PlainAck, y.Packets, y.Entropy = pkt.news(rtt, a, acked), int32(acked), pkt.entropy
		if units := a.RcvdBytes(); units != 0 || p.counted.beyond() == countedMany { // else nothing to compare
			m.compareOne(now, p, units, a)
		}
		if end == w.base {
			p.release(m, a)
		} else {
			r.flight &^= span(at, acked)
			w.cack, w.limitAt, w.limit, p.stalls = end, end, m.p.limit(a.MPR()), 0
			if w.pass(mem, r, acked); r.released != 0 || end%rowLen == 0 {
				w.settleBase(mem) // over packets that were acknowledged singly before
			}
		}
	}
	m.run.Acks, m.run.Most = len(acks), 0
	p.activeAt = now
	m.stats.Received += uint64(len(acks))
	m.target.in.awaited = false
	if most != 0 && m.run.Within && !(m.p.c.InferLoss && p.tx.missing(m.mem, acks)) {
		m.letGo(p, min(most, int(acked)))
	}
	if !m.cc.Exchange(ccc.Handle(p.handle), now, &m.run.Run) {
		m.exchangeAny(now, p)
	}
	if m.run.Most == 0 && m.cc.Waiters(p.cc).Head != 0 {
		m.sched.release(p)
	}
	if m.p.c.InferLoss {
		if m.source.infers(now, p, acks[len(acks)-1]); p.tx.queued != 0 {
			m.source.mayResend(now, p)
		}
	}
	if m.run.Sent == 0 {
		if p.tx.next != p.tx.tail {
			m.sched.wake(p)
		}
		return p, acked
	}
	if m.run.Targets {
		m.aim(p)
	}
	end := m.source.sentRun(now, p, &m.run)
	if end || p.tx.next == p.tx.tail || goesOn(m.run.Held) != (m.sched.data.len() != 0) || !p.is(flagOnData) { // else p is where it waits: among the turns if it goes on, at its context if not
		*m.cc.Waiters(p.cc) = ccc.Waiters{}
		m.sched.data.head = m.sched.data.tail
		p.flags &^= flagOnData
		m.sched.takeTurns(p, end, m.run.Held)
	}
	return p, acked
}

// letGo has m.run offer packets of p, up to most, once acknowledgements are taken in, if any may go.
//
//uetcc:hot
func (m *Manager) letGo(p *PDC, most int) {
	x, w := &m.run, &p.tx
	if !w.mayStart() || !m.maySend(p) {
		return
	}
	r, i := &m.mem.row[w.current], w.next%rowLen
	if !x.begin(r, i) {
		x.alone(m.mem, r, i)
		most = 1
	}
	if x.unlike = false; x.first-x.from < x.span {
		if x.Most = most; most > 1 {
			x.Most = int(w.alike(most, w.cack+uint32(w.limit)))
		}
	}
}

// maySend reports whether p has nothing to do but to send new packets, and nobody to wait for but the
// peer and congestion control.
//
//uetcc:hot
func (m *Manager) maySend(p *PDC) bool {
	const odd = flagUnproven | flagClearDue | flagRecovering | flagAsking
	turns := m.sched.data.len()
	return uint16(p.flags&odd)|p.tx.control|m.sched.ctl.head == 0 && p.counted&countedMany != countedMany &&
		(turns == 0 || turns == 1 && m.sched.data.next() == p.handle.ID())
}

// exchangeAny has congestion control take in what it has refused as part of m.run: the
// acknowledgements, without packets to send.
//
//go:noinline
func (m *Manager) exchangeAny(now int64, p *PDC) {
	x := &m.run
	if x.Most != 0 {
		if x.Most = 0; m.cc.Exchange(ccc.Handle(p.handle), now, &x.Run) {
			return
		}
	}
	x.RunParams = ccc.RunParams{}
	if p.cc == 0 {
		return
	}
	for i := range x.News[:x.Acks] {
		y := &x.News[i]
		if y.Credited {
			m.sched.credit(now, p, uint32(y.Credit))
		}
		m.cc.OnACK(ccc.Handle(p.handle), now, &ccc.Ack{Ack: y.Ack(), Packets: int(y.Packets), Entropy: y.Entropy})
	}
}

// compareOne takes in the rcvd_bytes of the acknowledgement in m.run, see agrees.
func (m *Manager) compareOne(now int64, p *PDC, units uint32, a *view.AckCC) {
	if known := m.run.News[0].Bytes(); !p.agrees(known, units) {
		m.source.overtake(now, p, known, known, units, knownOOO(a.OOOCount()))
		m.run.Within = false
	}
}

// takeRun has p take in several acknowledgements, after which up to most packets, if not 0, may go if
// congestion control allows any. The result is the number of packets acknowledged: 0, with nothing
// changed, if the acknowledgements are not for Exchange.
//
//uetcc:hot
func (m *Manager) takeRun(now int64, p *PDC, acks []*view.AckCC, most int) (n uint32) {
	if most != 0 && !m.maySend(p) || p.is(flagRecovering) || most == 0 && m.sched.data.len() != 0 || p.counted.beyond() == countedMany {
		return 0
	}
	x, w, mem := &m.run, &p.tx, m.mem
	if m.p.c.InferLoss && w.missing(mem, acks) {
		return 0
	}
	r, c, end, start, pkt := &mem.row[w.first], p.counted, w.base, w.start, (*packet)(nil)
	if r.released != 0 {
		return 0
	}
	for i := 0; ; { // calls nothing, and needs little, so that the registers suffice
		a := acks[i]
		at, k := end%rowLen, uint32(a.CACK()-start)+1-end
		if k-1 >= r.flying(at) || k != 1 && r.size == 0 {
			return 0
		}
		var h uint64
		if pkt, h = mem.told(r, at+k-1); h-x.from >= x.span {
			return 0
		}
		x.told[uint(i)%ccc.RunMax] = h
		y := &x.News[uint(i)%ccc.RunMax]
		rtt := int64(0)
		if pkt.sends == karn.First {
			rtt = rttOf(now-pkt.sentAt, a)
		}
		y.PlainAck, y.Packets, y.Entropy = pkt.news(rtt, a, k), int32(k), pkt.entropy
		if units := a.RcvdBytes(); units != 0 {
			var ok bool
			if c, ok = c.after(y.Bytes(), units); !ok {
				return 0
			}
		}
		if end += k; end%rowLen == 0 { // base will be there
			if r = &mem.row[w.rowOf(mem, end)]; r.released != 0 {
				return 0
			}
		}
		if i++; i == len(acks) {
			break
		}
	}
	limit := m.p.limit(acks[len(acks)-1].MPR())
	if most != 0 {
		if w.next == w.tail || int32(w.next-end) >= int32(limit) {
			return 0
		}
		first, _, _ := mem.submitted(w.at(mem, w.next))
		if q := *m.cc.Waiters(p.cc); first-x.from >= x.span || q != (ccc.Waiters{}) && q != (ccc.Waiters{Head: p.slot(), Tail: p.slot()}) {
			return 0
		}
	}
	p.counted = c
	if pkt.sends == karn.First {
		p.took = tookOf(now - pkt.sentAt)
	} else {
		p.took = mem.tookLate(now, p, m.p, now-pkt.sentAt, pkt.rtos)
	}
	n = end - w.base
	w.acknowledged(mem, n)
	w.limitAt, w.limit, p.stalls = end, limit, 0
	x.Within = true
	return n
}

// exchangeCredit is Exchange for acknowledgements with credit.
//
//go:noinline
//uetcc:hot
func (f *FastPath) exchangeCredit(now int64, acks []*view.AckCC, src *Addr, most int) (p *PDC, acked uint32) {
	m := (*Manager)(f)
	if acks = m.credits.take(acks, &m.run.News); acks != nil {
		p, acked = f.Exchange(now, acks, src, most)
		for i := range acks {
			m.run.News[i].Credited = false
		}
	}
	return p, acked
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

// acked returns the PDC of an acknowledgement, nil if not for Exchange.
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
func (pkt *packet) news(rtt int64, a *view.AckCC, n uint32) nscc.PlainAck {
	return nscc.MakePlainAck(int64(pkt.size)*int64(n), rtt, a.Flags()&pds.FlagM != 0)
}

// rttOf is the round trip of an acknowledgement so long after its packet was sent: as nscc.RTT, too much
// to inline, but below 0 where nscc.RTT has no sample.
//
//uetcc:hot inlines nobounds
func rttOf(since int64, a *view.AckCC) int64 {
	return since - int64(a.ServiceTime())*pds.ServiceTimeUnit
}

// named returns the row of the packet named by an acknowledgement's offset, if in flight and the
// only news, or else nil. Nothing changes. Packets on different paths are the common case: packets
// overtake, and each has an acknowledgement.
func (w *sendWindow) named(m *memory, a *view.AckCC) *row {
	off := w.offset(a.AckPSN())
	if off-w.base >= w.next-w.base {
		return nil
	}
	r, i := w.at(m, off)
	bit := uint64(1) << i
	if r.flight&bit == 0 || !w.releasedTo(m, w.offset(a.CACK())+1, r, bit) || !w.arrivedAll(m, a, r, bit) {
		return nil
	}
	return r
}

// release releases the packet named by an acknowledgement, see named.
//
//uetcc:hot
func (p *PDC) release(m *Manager, a *view.AckCC) {
	w := &p.tx
	off := w.offset(a.AckPSN())
	r, i := w.at(m.mem, off)
	bit := uint64(1) << i
	r.flight &^= bit
	r.acked |= bit
	r.released |= bit
	if off == w.base {
		w.settleBase(m.mem)
	}
	if end := w.offset(a.CACK()) + 1; int32(end-w.cack) > 0 {
		w.cack, p.stalls = end, 0
	}
	w.mprFrom(m.p, a.CACK(), a.MPR())
}

// releasedTo reports whether all packets below end are released with bit's packet in r; false
// where the packets end in a different row.
func (w *sendWindow) releasedTo(m *memory, end uint32, r *row, bit uint64) bool {
	if int32(end-w.base) <= 0 {
		return true
	}
	first := &m.row[w.first]
	released := first.released
	if first == r {
		released |= bit
	}
	return uint32(bits.TrailingZeros64(^(released >> (w.base % rowLen)))) >= end-w.base
}

// arrivedAll reports whether all packets shown by the SACK of an acknowledgement have
// arrived, with bit's packet in r.
//
//uetcc:hot
func (w *sendWindow) arrivedAll(m *memory, a *view.AckCC, r *row, bit uint64) bool {
	off, sack := w.inWindow(w.offset(a.SACKBase()), a.Bitmap())
	for s := off % rowLen; sack != 0; s = 0 {
		q, _ := w.at(m, off)
		known := q.acked
		if q == r {
			known |= bit
		}
		if sack<<s&^known != 0 {
			return false
		}
		sack >>= rowLen - s
		off += rowLen - s
	}
	return true
}
