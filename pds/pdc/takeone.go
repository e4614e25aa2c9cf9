package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// takeOne releases the packet that an acknowledgement names, which was in flight, and
// returns it, its handle, and 1. It returns 0, and nothing has changed, if there is no such packet
// or the acknowledgement tells of others what was not known. So it is with packets that
// take different paths: one overtakes another, and each has its acknowledgement.
func (p *PDC) takeOne(m *Manager, a *pds.AckCCView) (pkt *packet, handle uint64, n uint32) {
	w := &p.tx
	off, end := w.offset(a.AckPSN()), w.offset(a.CACK())+1
	if off-w.base >= w.next-w.base {
		return nil, 0, 0
	}
	r, i := w.at(m.mem, off)
	bit := uint64(1) << i
	if r.flight&bit == 0 || !w.releasedTo(m.mem, end, r, bit) || !w.arrivedAll(m.mem, a, r, bit) {
		return nil, 0, 0
	}
	pkt, handle = m.mem.record(r, i), m.mem.handle(r, i)
	r.flight &^= bit
	r.acked |= bit
	r.released |= bit
	if off == w.base {
		w.settleBase(m.mem)
	}
	if int32(end-w.cack) > 0 {
		w.cack, p.stalls = end, 0
	}
	w.mprFrom(m.p, a.CACK(), a.MPR())
	return pkt, handle, 1
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
