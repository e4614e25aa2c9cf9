// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/view"
)

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
