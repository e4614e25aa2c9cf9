// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"
	"math/bits"

	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/pds"
)

// Errors of submitting packets.
var (
	// ErrWindowFull: Config.Range packets, and 64 more that wait to be sent, are not released yet.
	ErrWindowFull = errors.New("pdc: window of the PDC is full")

	// ErrNoMemory: the manager's memory for packets is used up, no context of congestion
	// control is left for a target's first packet, or the PDC has 65,535 open messages, or
	// locks, the most it can count.
	ErrNoMemory = errors.New("pdc: no memory for another packet, message or lock")

	// ErrPSNRange: the PDC has used all PSNs allowed by Limit_PSN_Range.
	ErrPSNRange = errors.New("pdc: PSNs of the PDC are used up")
)

// A sendWindow keeps the packets sent and to be sent in one direction of a PDC. PSNs are
// given when a packet is queued, so one window holds both:
//
//	base <= next <= base+range, next <= tail <= base+room   (offsets from start)
//	[base, next) sent and not released, [next, tail) not sent yet
//	CLEAR_tx = base-1
//	bit x%64 of acked of x's row is set iff x in [base, next) has arrived or is released
//
// Released means that the layer above has the response, or the word of none; arrived only
// means that the target has the packet, maybe with a guaranteed response not seen here yet.
//
// Single writer. Records of the packets lie in [memory].
//
// Source: UE Specification 1.0.x section 3.5, transmit tracking; the rule that a SACK does
// not release is the reference provider's.
type sendWindow struct {
	start   pds.PSN
	base    uint32
	next    uint32
	tail    uint32
	cack    uint32 // max_cack + 1
	limitAt uint32 // cack of the ACK that gave limit
	limit   uint16 // peer_mp_range, PSNs, as far as tracked here
	queued  uint16 // packets waiting for retransmission, or for an ACK_REQ
	control uint16 // control packets in [next, tail)
	slot    uint16 // of the PDC, in memory.ring
	rtoAt   int64  // no timeout is due before
	first   uint32 // row of base, 0 without one
	current uint32 // row of next

	// The chunks of base and next, 0 without one. The rows have the chunks too, but a
	// prefetch would have to wait for the rows first.
	acked, sends uint32
}

// synRange is the number of PSNs that the 12 bits of psn_offset can name: no later PSN may
// be sent before the peer's PDCID is known.
const synRange = 1 << 12

// Init makes w the window of a direction of the PDC in slot, starting at start.
func (w *sendWindow) Init(p *Params, m *memory, slot uint16, start pds.PSN) {
	*w = sendWindow{slot: slot, start: start, limit: uint16(min(p.c.DefaultMPR*mprUnit, p.c.Range, synRange)), rtoAt: never}
	*w.rtxAt(m), m.trip[slot] = never, trip{}
}

// Base returns the lowest PSN not released.
func (w *sendWindow) Base() pds.PSN { return w.psn(w.base) }

// Next returns the first PSN not sent.
func (w *sendWindow) Next() pds.PSN { return w.psn(w.next) }

// ClearPSN returns CLEAR_tx: everything up to CLEAR_tx is released.
func (w *sendWindow) ClearPSN() pds.PSN { return w.psn(w.base) - 1 }

// MaxCACK returns the highest cumulative acknowledgement received.
func (w *sendWindow) MaxCACK() pds.PSN { return w.psn(w.cack) - 1 }

// Unsent returns how many packets are queued and not sent.
func (w *sendWindow) Unsent() int { return int(w.tail - w.next) }

func (w *sendWindow) psn(off uint32) pds.PSN    { return w.start + pds.PSN(off) }
func (w *sendWindow) offset(psn pds.PSN) uint32 { return uint32(psn - w.start) }

// rtxAt is the earliest time at which a waiting packet may go.
func (w *sendWindow) rtxAt(m *memory) *int64 { return &m.rtxAt[w.slot] }

// rowOf returns the number of the row of an offset.
func (w *sendWindow) rowOf(m *memory, off uint32) uint32 {
	return *m.rowAt(w.slot, off)
}

// at returns the row of an offset and the place there.
func (w *sendWindow) at(m *memory, off uint32) (r *row, i uint32) {
	return &m.row[w.rowOf(m, off)], off % rowLen
}

func (w *sendWindow) packet(m *memory, off uint32) *packet { return m.record(w.at(m, off)) }

// lowest and upcoming are the packets at base and at next, found without their rows.
func (w *sendWindow) lowest(m *memory) *packet   { return &m.chunk[w.acked].packet[w.base%chunkLen] }
func (w *sendWindow) upcoming(m *memory) *packet { return &m.chunk[w.sends].packet[w.next%chunkLen] }

// push queues a packet last. A control packet has no size.
//
//uetcc:hot
func (w *sendWindow) push(p *Params, m *memory, handle uint64, size uint16, k kind) error {
	if w.tail-w.base >= p.room {
		return ErrWindowFull
	}
	r, i := w.at(m, w.tail)
	if r.chunk[i/chunkLen] == 0 { // row 0, meaning none, has no chunks
		if p.c.LimitPSNRange && w.tail >= psnEnd {
			return ErrPSNRange
		}
		if !m.has(k) {
			return ErrNoMemory
		}
		if w.rowOf(m, w.tail) == 0 {
			r = w.open(m)
			r.begin(i, handle, size, k)
		}
		c := m.takeChunk()
		r.chunk[i/chunkLen] = c
		if w.base/chunkLen == w.tail/chunkLen {
			w.acked = c
		}
		if w.next/chunkLen == w.tail/chunkLen {
			w.sends = c
		}
	}
	if r.size != 0 && !r.fits(i, handle, size, k) {
		w.differ(m, r, w.tail)
	}
	if r.size == 0 {
		m.write(r, i, handle, label{size: size, kind: k})
	}
	w.tail++
	return nil
}

// differ is called when the packet at off, in row r, is to differ from the rest: the row's
// common values are written to the record of each. In a full window the places of tail's
// row from tail on hold packets of the previous lap of the ring.
func (w *sendWindow) differ(m *memory, r *row, off uint32) {
	if r.size == 0 {
		return
	}
	if w.rowOf(m, off) == w.rowOf(m, w.tail) {
		off = w.tail
	}
	first := off &^ (rowLen - 1)
	for i := range uint32(rowLen) {
		off := first + i
		if int32(off-w.tail) >= 0 {
			off -= m.lap()
		}
		switch {
		case r.chunk[i/chunkLen] == 0: // released
		case int32(off-w.next) >= 0:
			m.write(r, i, r.handle+uint64(i), label{size: r.size, kind: r.kind})
		default: // the record has the rest
			m.in(r, i).handle[i%chunkLen] = r.handle + uint64(i)
		}
	}
	r.size = 0
}

// open makes the row of tail.
func (w *sendWindow) open(m *memory) *row {
	i := m.takeRow()
	*m.rowAt(w.slot, w.tail) = i
	if w.base/rowLen == w.tail/rowLen {
		w.first = i
	}
	if w.next/rowLen == w.tail/rowLen {
		w.current = i
	}
	return &m.row[i]
}

// more queues up to n packets like the last packet, with handles counting up, behind the
// last in the same chunk, and returns the number.
//
//uetcc:hot
func (w *sendWindow) more(p *Params, m *memory, n uint32) uint32 {
	r, i := w.at(m, w.tail-1)
	n = min(n, chunkLen-1-i%chunkLen, p.room-(w.tail-w.base))
	if r.size == 0 {
		h, last := m.handle(r, i), m.record(r, i)
		for j := range n {
			m.write(r, i+1+j, h+1+uint64(j), last.label)
		}
	}
	w.tail += n
	return n
}

// outstanding reports whether something is sent and not released.
func (w *sendWindow) outstanding() bool { return w.base != w.next }

// done reports whether nothing is outstanding, nor queued to be sent.
func (w *sendWindow) done() bool { return w.base == w.tail }

// mayStart reports whether the first unsent packet is inside the peer's window.
//
//uetcc:hot inlines
func (w *sendWindow) mayStart() bool { return w.next != w.tail && w.inPeerWindow(w.next) }

// inPeerWindow reports whether the peer takes the packet at off: the peer tracks limit PSNs
// above the last CACK told.
//
//uetcc:hot inlines
func (w *sendWindow) inPeerWindow(off uint32) bool { return int32(off-w.cack) < int32(w.limit) }

// lastForNow reports whether the peer's window lets no further packet follow, so the last
// packet sent has to ask for the acknowledgement. base is not below cack, so the sender's
// own range does not stop the sender earlier.
func (w *sendWindow) lastForNow() bool { return !w.inPeerWindow(w.next) }

// sent records the first transmission of the packet at next, with row r and record pkt.
//
//uetcc:hot
func (w *sendWindow) sent(p *Params, m *memory, r *row, pkt *packet, now int64) {
	i := w.next % rowLen
	if r.size != 0 {
		pkt.label = label{size: r.size, kind: r.kind}
	}
	if pkt.kind.control() {
		w.control--
	} else {
		r.flight |= 1 << i
	}
	w.step(m, 1)
	w.transmitted(p, m, r, i, now)
}

// step moves next over n packets of a row.
func (w *sendWindow) step(m *memory, n uint32) {
	if w.next += n; w.next%chunkLen < n {
		if w.next%rowLen == 0 {
			w.current = w.rowOf(m, w.next)
		}
		w.sends = m.chunkOf(w.current, w.next)
	}
}

// transmitted notes the time when packet i of r left and the time to miss the
// acknowledgement.
func (w *sendWindow) transmitted(p *Params, m *memory, r *row, i uint32, now int64) {
	pkt, due := m.record(r, i), deadline.After(now, p.c.RTOInit)
	pkt.sentAt = now
	pkt.sends = pkt.sends.Again()
	if pkt.kind&kindDue != 0 {
		due = deadline.After(now, w.backoff(p, m, pkt.rtos))
		m.postpone(r, i, due)
	}
	w.rtoAt = min(w.rtoAt, due)
}

// mprFrom takes the range announced by an ACK. An ACK older than the last change of the
// range has no say, an equally old ACK may only widen the range: so an overtaken ACK cannot
// undo a change.
func (w *sendWindow) mprFrom(p *Params, cack pds.PSN, mpr uint8) {
	end := w.offset(cack) + 1
	d := int32(end - w.limitAt)
	if d > 0 || d == 0 && p.limit(mpr) > w.limit {
		w.limit, w.limitAt = p.limit(mpr), end
	}
}

// span calls for the words of the offsets in [from, to): span returns the row of from, the
// bits of the word that are inside, and the place of the next word.
func (w *sendWindow) span(m *memory, from, to uint32) (r *row, mask uint64, end uint32) {
	i := from % rowLen
	n := min(rowLen-i, to-from)
	return &m.row[w.rowOf(m, from)], (1<<n - 1) << i, from + n
}

// drop moves base over n released packets, all of row r.
//
//uetcc:hot
func (w *sendWindow) drop(m *memory, r *row, n uint32) {
	mask := ^uint64(0) >> ((rowLen - n) % rowLen) << (w.base % rowLen)
	r.released &^= mask
	r.acked &^= mask
	w.pass(m, r, n)
}

// pass moves base over n packets of row r, done with, and gives the memory back: of an
// empty window all, or idle PDCs would keep others from sending. In a window of the full
// width, memory left by base may hold packets of the next lap of the ring already.
//
//uetcc:hot inlines
func (w *sendWindow) pass(m *memory, r *row, n uint32) {
	if w.base += n; w.base%chunkLen < n || w.base == w.tail { // done does not fit the inliner
		w.leaveChunks(m, r, n)
	}
}

// leaveChunks gives back the chunks that base has passed with the last n packets.
//
//uetcc:hot
func (w *sendWindow) leaveChunks(m *memory, r *row, n uint32) {
	from := (w.base - n) &^ (chunkLen - 1)
	for ; w.base-from >= chunkLen; from += chunkLen {
		if w.tail-from <= m.lap() {
			c := &r.chunk[from/chunkLen%(rowLen/chunkLen)]
			m.putChunk(*c)
			*c = 0
		}
	}
	if w.base%rowLen == 0 {
		w.leave(m)
	}
	if w.done() && w.first != 0 {
		w.leaveRest(m)
	}
	w.acked = m.chunkOf(w.first, w.base)
}

// leaveRest gives the row and the chunk of base back, with no packet behind.
func (w *sendWindow) leaveRest(m *memory) {
	if c := m.chunkOf(w.first, w.base); c != 0 {
		m.putChunk(c)
	}
	m.putRow(w.first)
	*m.rowAt(w.slot, w.base) = 0
	w.first, w.current, w.sends = 0, 0, 0
}

// leave gives back the row just passed by base.
func (w *sendWindow) leave(m *memory) {
	if at := m.rowAt(w.slot, w.base-rowLen); w.tail-w.base <= m.lap()-rowLen {
		m.putRow(*at)
		*at = 0
	}
	w.first = w.rowOf(m, w.base)
}

// settleBase moves base over released packets.
//
//uetcc:hot
func (w *sendWindow) settleBase(m *memory) {
	for w.outstanding() {
		r, i := w.at(m, w.base)
		word := r.released >> i
		if word&1 == 0 {
			return
		}
		w.drop(m, r, min(uint32(bits.TrailingZeros64(^word)), w.next-w.base))
		if w.base%rowLen != 0 {
			return
		}
	}
}

// free gives all memory back. Unsent packets never had a PSN on the wire, so a later
// CLOSE_CMD leaves no hole there.
func (w *sendWindow) free(m *memory) {
	ring := m.ring[uint32(w.slot)<<m.shift:][:m.words+1]
	if w.first == 0 {
		ring = nil // empty
	}
	for k, i := range ring {
		if i == 0 {
			continue
		}
		for _, c := range m.row[i].chunk {
			if c != 0 {
				m.putChunk(c)
			}
		}
		m.putRow(i)
		ring[k] = 0
	}
	w.base, w.tail, w.first, w.current, w.acked, w.sends = w.next, w.next, 0, 0, 0, 0
	w.queued, w.control, w.rtoAt = 0, 0, never
}
