package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// named returns the packet that an acknowledgement names, by its offset, if that is in flight and
// the acknowledgement tells of no others what was not known. Nothing changes. So it is with
// packets that take different paths: one overtakes another, and each has its acknowledgement.
func (w *sendWindow) named(m *memory, a *pds.AckCCView) (r *row, off uint32, ok bool) {
	off = w.offset(a.AckPSN())
	if off-w.base >= w.next-w.base {
		return nil, 0, false
	}
	r, i := w.at(m, off)
	bit := uint64(1) << i
	return r, off, r.flight&bit != 0 && w.releasedTo(m, w.offset(a.CACK())+1, r, bit) && w.arrivedAll(m, a, r, bit)
}

// takeOne releases the packet of row r that an acknowledgement names, which named has found.
func (p *PDC) takeOne(m *Manager, a *pds.AckCCView, r *row) {
	w := &p.tx
	off := w.offset(a.AckPSN())
	bit := uint64(1) << (off % rowLen)
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

// releasedTo reports whether all packets below end are released with that of bit in r;
// it says no where they end in another row than they begin.
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

// arrivedAll reports whether all packets that the SACK of an acknowledgement shows have
// arrived, with that of bit in r.
func (w *sendWindow) arrivedAll(m *memory, a *pds.AckCCView, r *row, bit uint64) bool {
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
