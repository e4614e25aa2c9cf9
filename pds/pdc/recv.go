package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// MaxRange is the largest number of PSNs that a window of this package spans:
// the range that Default_MPR (8 x 128) stands for.
const MaxRange = 1024

const ringWords = MaxRange / 64

// Arrival says what a PSN is to a [RecvWindow]. The zero value is not in the
// window.
type Arrival uint8

const (
	ArrivalOutside   Arrival = iota // beyond the range, or a lap behind it
	ArrivalNew                      // in the window and not seen before
	ArrivalDuplicate                // in the window and seen before: the value after ArrivalNew
	ArrivalOld                      // below the window: acknowledged by CACK before
)

var arrivalNames = [...]string{"outside", "new", "duplicate", "old"}

// String returns the arrival in one word.
func (a Arrival) String() string { return arrivalNames[a] }

// A RecvWindow tells which packets of one direction of a PDC have arrived. It
// is anchored at CACK, never at the highest PSN seen.
//
// Single writer. [RecvWindow.Init] makes it ready.
//
//	cack  = edge-1, or less while a PSN below the edge is held
//	clear < edge <= high+1 <= cack+1+MaxRange
//	bit x%1024 of ring is set iff x is in (edge, cack+MaxRange] and has arrived
//
// Keeping no bits at or below the edge is what allows a window as long as the
// ring: a bit behind the edge would be read as one ahead of it. It also means
// that packets in order leave the ring alone.
//
// Source: UE Specification 1.0.x section 3.5, receive tracking; CACK and CLEAR
// as in its guaranteed-delivery rules.
type RecvWindow struct {
	edge    pds.PSN // lowest PSN that has not arrived
	high    pds.PSN // highest PSN that has arrived, or edge-1
	clear   pds.PSN // the initiator's last CLEAR_PSN
	holding bool
	begun   bool    // something has arrived
	hold    pds.PSN // lowest PSN that CACK must not pass, when holding
	rove    pds.PSN // next SACK base of a window wider than a bitmap
	ring    [ringWords]uint64
}

// Init makes w the window of a direction that starts at start.
func (w *RecvWindow) Init(start pds.PSN) {
	*w = RecvWindow{edge: start, high: start - 1, clear: start - 1, rove: start}
}

// CACK returns the cumulative acknowledgement: it and everything before it has
// arrived and needs no further care.
func (w *RecvWindow) CACK() pds.PSN { return w.first() - 1 }

// first returns the lowest PSN after CACK.
func (w *RecvWindow) first() pds.PSN {
	if w.holding && w.edge.After(w.hold) {
		return w.hold
	}
	return w.edge
}

// Missing returns the lowest PSN that has not arrived.
func (w *RecvWindow) Missing() pds.PSN { return w.edge }

// MaxRcvd returns the highest PSN that has arrived, or the one before the start.
func (w *RecvWindow) MaxRcvd() pds.PSN { return w.high }

// inOrder reports whether nothing has arrived above a hole, so that the ring is empty.
func (w *RecvWindow) inOrder() bool { return w.high+1 == w.edge }

// OOO returns the number of PSNs that have arrived above the first hole: all
// that the ring holds.
func (w *RecvWindow) OOO() int {
	if w.inOrder() {
		return 0
	}
	return w.countAhead()
}

func (w *RecvWindow) countAhead() (n int) {
	first := w.edge / 64
	for i := range min((w.high-first*64)/64+1, ringWords) {
		n += bits.OnesCount64(w.ring[(first+i)%ringWords])
	}
	return n
}

// ClearPSN returns the last CLEAR_PSN accepted.
func (w *RecvWindow) ClearPSN() pds.PSN { return w.clear }

// Classify says what psn is to a window of n PSNs, 1 to [MaxRange].
func (w *RecvWindow) Classify(psn pds.PSN, n uint32) Arrival {
	if uint32(psn-w.edge) < n && !w.holding { // CACK is edge-1
		return ArrivalNew + Arrival(w.ring[psn/64%ringWords]>>(psn%64)&1)
	}
	cack := w.CACK()
	switch {
	case uint32(psn-cack-1) < n:
		if w.has(psn) {
			return ArrivalDuplicate
		}
		return ArrivalNew
	case uint32(cack-psn) < n:
		return ArrivalOld
	default:
		return ArrivalOutside
	}
}

// fresh reports whether psn is [ArrivalNew] to a window of n PSNs that holds
// nothing back.
func (w *RecvWindow) fresh(psn pds.PSN, n uint32) bool {
	ahead := uint32(psn - w.edge)
	return ahead < n && (ahead == 0 || w.ring[psn/64%ringWords]>>(psn%64)&1 == 0)
}

// has reports whether psn, which is after CACK, has arrived.
func (w *RecvWindow) has(psn pds.PSN) bool {
	return w.edge.After(psn) || w.ring[psn/64%ringWords]>>(psn%64)&1 != 0
}

// Accept marks psn as arrived. The caller has seen [ArrivalNew].
func (w *RecvWindow) Accept(psn pds.PSN) {
	w.begun = true
	switch {
	case psn != w.edge:
		w.ring[psn/64%ringWords] |= 1 << (psn % 64)
		if psn.After(w.high) {
			w.high = psn
		}
	case w.high+1 == psn: // nothing is out of order
		w.edge, w.high = psn+1, psn
	default:
		w.edge++
		w.advance()
	}
}

// advance moves the edge over what has arrived and takes those bits out.
func (w *RecvWindow) advance() {
	for {
		word, s := &w.ring[w.edge/64%ringWords], w.edge%64
		n := bits.TrailingZeros64(^(*word >> s))
		*word &^= (1<<n - 1) << s
		w.edge += pds.PSN(n)
		if n == 0 || w.edge%64 != 0 {
			return
		}
	}
}

// Clear takes a CLEAR_PSN. It reports whether the value moved CLEAR; when a
// PSN at or below it has not arrived the peer is wrong and nothing changes.
func (w *RecvWindow) Clear(c pds.PSN) (moved, ok bool) {
	if !c.After(w.clear) {
		return false, true
	}
	if !w.edge.After(c) {
		return false, false
	}
	w.clear = c
	return true, true
}

// released is Clear for a CLEAR_PSN that the window reaches.
func (w *RecvWindow) released(c pds.PSN) {
	if c.After(w.clear) {
		w.clear = c
	}
}

// reaches reports whether everything up to c has arrived.
func (w *RecvWindow) reaches(c pds.PSN) bool { return w.edge.After(c) }

// HoldAt keeps CACK below psn, the lowest PSN whose response is still owed to
// the peer or to the layer above.
func (w *RecvWindow) HoldAt(psn pds.PSN) { w.hold, w.holding = psn, true }

// Unhold lets CACK follow the edge again.
func (w *RecvWindow) Unhold() { w.holding = false }
