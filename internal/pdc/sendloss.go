// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math"
	"math/bits"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/karn"
)

// lost is a packet out of flight without arrival.
type lost struct {
	size    int64
	entropy uint16
	counted bool // in flight for congestion control: report the loss
}

// enqueue takes the packet at off out of flight and has the packet sent again, not before at.
// The caller has checked: sent, not released and not queued.
func (w *sendWindow) enqueue(m *memory, off uint32, at int64) lost {
	r, i := w.at(m, off)
	bit, pkt := uint64(1)<<i, m.record(r, i)
	l := lost{size: int64(pkt.size), entropy: pkt.entropy, counted: r.flight&bit != 0}
	r.flight &^= bit
	r.queued |= bit
	w.queued++
	m.postpone(r, i, at)
	r.dueAt(at, at, r.queued == bit)
	*w.rtxAt(m) = min(*w.rtxAt(m), at)
	return l
}

// enqueueFrom is enqueue for all packets from off on that have not arrived and do not wait
// already, and returns those that congestion control has in flight. What is to go at once and
// has no time of its own yet needs none: then most records are only read.
func (w *sendWindow) enqueueFrom(m *memory, off uint32, now, at int64) (l ccc.Nack) {
	for int32(w.next-off) > 0 {
		r, mask, next := w.span(m, off, w.next)
		set := mask &^ (r.released | r.queued | r.acked)
		packets, size := m.weigh(r, set&r.flight)
		l.Packets, l.Size = l.Packets+packets, l.Size+size
		r.flight &^= set
		r.queued |= set
		w.queued += uint16(bits.OnesCount64(set))
		for b := set; b != 0; b &= b - 1 {
			if i := uint32(bits.TrailingZeros64(b)); at > now || m.due(0, r, i) > now {
				m.postpone(r, i, at)
			}
		}
		if set != 0 {
			*w.rtxAt(m) = min(*w.rtxAt(m), at)
			r.dueAt(now, at, r.queued == set)
		}
		off = next
	}
	return l
}

// live reports whether the packet at off is sent and not released.
func (w *sendWindow) live(m *memory, off uint32) bool {
	if off-w.base >= w.next-w.base {
		return false
	}
	r, i := w.at(m, off)
	return r.released>>i&1 == 0
}

// waiting reports whether the packet at off, live, is queued.
func (w *sendWindow) waiting(m *memory, off uint32) bool {
	r, i := w.at(m, off)
	return r.queued>>i&1 != 0
}

// waitsBelow reports whether a packet below off waits to be sent again.
func (w *sendWindow) waitsBelow(m *memory, off uint32) bool {
	if w.queued == 0 {
		return false
	}
	low, ok := w.find(m, w.base, standingLost)
	return ok && int32(off-low) > 0
}

// within is the end of what has been sent and lies in the peer's window, which may be smaller now.
func (w *sendWindow) within() uint32 {
	if w.inPeerWindow(w.next) {
		return w.next
	}
	return w.cack + uint32(w.limit)
}

// waitingInWindow is how many packets that the peer takes now wait to be sent again.
func (w *sendWindow) waitingInWindow(m *memory) (n int64) {
	end := w.within()
	if w.queued == 0 || end == w.next {
		return int64(w.queued)
	}
	for off := w.base; int32(end-off) > 0; {
		r, mask, next := w.span(m, off, end)
		n += int64(bits.OnesCount64(mask & r.queued))
		off = next
	}
	return n
}

// hasArrived reports whether the target has the packet at off, sent and not below base.
func (w *sendWindow) hasArrived(m *memory, off uint32) bool {
	r, i := w.at(m, off)
	return r.acked>>i&1 != 0
}

// standing is the event awaited by a live packet.
type standing uint8

const (
	standingOut     standing = iota // the acknowledgement
	standingMissing                 // the arrival
	standingLost                    // to be sent again
	standingAsked                   // to be asked about: arrived
	standingSilent                  // the response, and arrived
)

// find returns the first offset in [from, next) of a live packet of a standing.
func (w *sendWindow) find(m *memory, from uint32, st standing) (uint32, bool) {
	for off := from; int32(w.next-off) > 0; {
		r, mask, next := w.span(m, off, w.next)
		set := mask &^ r.released
		switch st {
		case standingOut:
			set &^= r.queued
		case standingMissing:
			set &^= r.queued | r.acked
		case standingLost:
			set &= r.queued &^ r.acked
		case standingAsked:
			set &= r.queued & r.acked
		case standingSilent:
			set &= r.acked &^ r.queued
		}
		if set != 0 {
			return off - off%rowLen + uint32(bits.TrailingZeros64(set)), true
		}
		off = next
	}
	return 0, false
}

// expired returns the first packet from offset from on whose timeout has passed. A search
// from base until none is left sets rtoAt to the earliest time to come, but no sooner than after a
// rtoPart of the timeout: each search is through all packets in flight, of which the timeouts pass
// one by one.
func (w *sendWindow) expired(p *Params, m *memory, now int64, from uint32) (uint32, bool) {
	if from == w.base {
		w.rtoAt = never
	}
	rto := m.trip[w.slot].rto(p)
	for off := from; ; off++ {
		var ok bool
		if off, ok = w.find(m, off, standingOut); !ok {
			w.rtoAt = max(w.rtoAt, deadline.After(now, rto/rtoPart))
			return 0, false
		}
		r, i := w.at(m, off)
		due := m.due(rto, r, i)
		if due <= now {
			return off, true
		}
		w.rtoAt = min(w.rtoAt, due)
	}
}

// rtoPart is the part of a timeout by which another may be late.
const rtoPart = 64

// nextQueued returns the lowest packet waiting to be sent again that may go at now. If none
// may, rtxAt is set to the earliest time. Rows whose packets all go later are passed over, see
// row.dueFrom: with 9,000 packets that waited for memory of the peer each packet sent took 27 us.
func (w *sendWindow) nextQueued(m *memory, now int64) (uint32, bool) {
	first := w.rtxAt(m)
	if w.queued == 0 || now < *first {
		return 0, false
	}
	*first = never
	end := w.within()
	for off := w.base; int32(end-off) > 0; {
		r, mask, next := w.span(m, off, end)
		set := mask & r.queued &^ (r.released | r.acked)
		if from := r.dueFrom(now); set != 0 && (from <= now || from < *first) {
			due, i := m.earliest(r, set, now)
			*first = min(*first, due)
			if due <= now {
				return off - off%rowLen + i, true
			}
			if set != r.queued { // the others, too, go no earlier
				due, _ = m.earliest(r, r.queued, math.MinInt64)
			}
			r.dueAt(now, due, true)
		}
		off = next
	}
	return 0, false
}

// earliest returns the time of the first of the packets set of a row, queued, that may go at now, and its place; if
// none may, the earliest time.
func (m *memory) earliest(r *row, set uint64, now int64) (at int64, i uint32) {
	at = never
	for ; set != 0; set &= set - 1 {
		k := uint32(bits.TrailingZeros64(set))
		due := m.due(0, r, k) // separate for a queued packet
		if due <= now {
			return due, k
		}
		at = min(at, due)
	}
	return at, 0
}

// waitUntil has the packet at off, queued, go again at a time.
func (w *sendWindow) waitUntil(m *memory, off uint32, at int64) {
	r, i := w.at(m, off)
	m.postpone(r, i, at)
	r.dueAt(at, at, false)
}

// resent records that the queued packet at off leaves again, as data or, after an arrival, as
// a question about the response. The result is the handle.
func (w *sendWindow) resent(p *Params, m *memory, off uint32, now int64) uint64 {
	r, i := w.at(m, off)
	bit, pkt := uint64(1)<<i, m.record(r, i)
	w.unqueue(r, bit)
	if w.hasArrived(m, off) {
		pkt.sends = karn.More // the answer to a question is no round trip of the packet
		due := deadline.After(now, w.backoff(p, m, pkt.rtos))
		m.postpone(r, i, due)
		w.rtoAt = min(w.rtoAt, due)
		return m.handle(r, i)
	}
	if !pkt.kind.control() {
		r.flight |= bit
	}
	w.transmitted(p, m, r, i, now)
	return m.handle(r, i)
}

// arrivedAhead is how many packets behind CACK are known to have arrived, by a SACK or by an
// acknowledgement of their own.
func (w *sendWindow) arrivedAhead(m *memory) uint16 {
	from, n := w.cack, 0
	if ahead := int32(w.base - w.cack); ahead > 0 { // all released, and forgotten
		from, n = w.base, int(ahead)
	}
	for off := from; int32(w.next-off) > 0; {
		r, mask, next := w.span(m, off, w.next)
		n += bits.OnesCount64(mask & (r.acked | r.released))
		off = next
	}
	return uint16(n)
}

// arrivedTo returns the offset behind the last packet known to have arrived.
func (w *sendWindow) arrivedTo(m *memory) (end uint32) {
	end = max(w.base, w.cack)
	for off := w.base; int32(w.next-off) > 0; {
		r, mask, next := w.span(m, off, w.next)
		if arrived := mask & (r.acked | r.released); arrived != 0 {
			end = off - off%rowLen + uint32(bits.Len64(arrived))
		}
		off = next
	}
	return end
}

// outOfRange learns from the refusal of the packet at off (PSN_OOR_WINDOW) the most PSNs
// tracked by the peer, when no ACK_CC has told: fewer than from CACK to off. Units are 128
// PSNs, as in an mpr. Otherwise too wide a window is sent, refused and sent again from the
// middle on.
func (w *sendWindow) outOfRange(off uint32) {
	if w.limitAt == 0 {
		w.limit = uint16(min(uint32(w.limit), max((off-w.cack)/mprUnit*mprUnit, mprUnit)))
	}
}
