// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// mprUnit is how many PSNs an mpr counts in.
const mprUnit = 128

// defaultRange is the range that Default_MPR stands for.
const defaultRange = 8 * mprUnit

const nearLen = 64 // PSNs in the word at the edge

// An arrival is the relation of a PSN to a [recvWindow]. The zero value is not in the
// window.
type arrival uint8

const (
	arrivalOutside   arrival = iota + 1 // beyond the range, or a lap behind
	arrivalNew                          // in the window and not seen before
	arrivalDuplicate                    // in the window and seen before: the value after arrivalNew
	arrivalOld                          // below the window: acknowledged by CACK before
)

// A recvWindow tells the arrived packets of one direction of a PDC. The window is
// anchored at CACK, never at the highest PSN seen.
//
// Single writer. [recvWindow.Init] makes a window ready.
//
//	cack  = edge-1, or less while a PSN below the edge is held
//	clear < edge <= cack+1+range
//	bit i of near is set iff edge+i has arrived; bit 0 is not
//	bit x, modulo its length, of the ring is set iff x is in [edge+64, cack+range] and has arrived
//	high  = the highest of those x, otherwise edge-1
//
// Most overtaking is by less than 64 packets and is kept in near, also the SACK
// beginning at the edge. Keeping no bits of the ring behind near allows a window as
// long as the ring: a bit behind the edge would be read as ahead. Packets in order
// touch neither. The ring lies in [memory], see far.
//
// Source: UE Specification 1.0.x section 3.5, receive tracking; CACK and CLEAR as in
// the guaranteed-delivery rules.
type recvWindow struct {
	edge    pds.PSN // lowest PSN that has not arrived
	high    pds.PSN // see above
	clear   pds.PSN // the initiator's last CLEAR_PSN
	holding bool
	seen    seen
	asked   bool    // seenAhead, and a packet above the hole asked for an acknowledgement
	newest  bool    // the last SACK that no packet asked for showed the newest arrivals
	hold    pds.PSN // lowest PSN that CACK must not pass, when holding
	rove    pds.PSN // next SACK base of a window wider than a bitmap
	near    uint64  // the arrivals among the 64 PSNs from the edge on
}

// A far names the ring of a PDC: the memory and the PDC's slot.
type far struct {
	m    *memory
	slot uint16
}

// far is the ring of p.
func (m *memory) far(p *PDC) far { return far{m, p.slot()} }

// at is the place in the ring of the word for psn.
func (f far) at(psn pds.PSN) uint32 {
	return uint32(f.slot)<<(f.m.farShift%32) | uint32(psn)/64&f.m.farWords
}

// word returns the word of the ring for psn. Few packets need the ring, and other
// packets should be quick: word stays out of line.
//
//go:noinline
func (f far) word(psn pds.PSN) *uint64 { return &f.m.bits[f.at(psn)] }

// bit returns 1 if the ring has the bit for psn, otherwise 0, calling nothing, so that callers
// need no stack frame.
//
//uetcc:hot inlines nobounds
func (f far) bit(psn pds.PSN) uint64 {
	if i := uint(f.at(psn)); i < uint(len(f.m.bits)) { // as always
		return f.m.bits[i] >> (psn % 64) & 1
	}
	return 0
}

// seen is the flags of arrivals.
type seen uint8

const (
	seenNothing seen = iota
	seenInOrder      // something, and nothing above a hole: near is 0, and high is edge-1
	seenAhead        // something above a hole
)

// Init makes w the window of a direction starting at start.
func (w *recvWindow) Init(start pds.PSN) {
	*w = recvWindow{edge: start, high: start - 1, clear: start - 1, rove: start}
}

// CACK returns the cumulative acknowledgement: everything up to and including CACK has
// arrived and needs no further care.
//
//uetcc:hot inlines nobounds
func (w *recvWindow) CACK() pds.PSN { return w.first() - 1 }

// first returns the lowest PSN after CACK.
//
//uetcc:hot inlines nobounds
func (w *recvWindow) first() pds.PSN {
	if w.holding && w.edge.After(w.hold) {
		return w.hold
	}
	return w.edge
}

// Missing returns the lowest PSN that has not arrived.
func (w *recvWindow) Missing() pds.PSN { return w.edge }

// MaxRcvd returns the highest PSN that has arrived, or the PSN before the start.
func (w *recvWindow) MaxRcvd() pds.PSN {
	if w.isFar() {
		return w.high
	}
	return w.edge - 1 + pds.PSN(bits.Len64(w.near))
}

// inOrder reports whether nothing has arrived above a hole, so there are no bits.
//
//uetcc:hot inlines nobounds
func (w *recvWindow) inOrder() bool { return w.seen != seenAhead }

// isFar reports whether something has arrived beyond near, so the ring has bits.
//
//uetcc:hot inlines nobounds
func (w *recvWindow) isFar() bool { return w.high.Diff(w.edge) >= nearLen }

// OOO returns the number of PSNs that have arrived above the first hole.
func (w *recvWindow) OOO(f far) int {
	if w.inOrder() {
		return 0
	}
	n := bits.OnesCount64(w.near)
	if w.isFar() {
		n += w.countFar(f)
	}
	return n
}

// countFar returns the number of bits in the ring.
func (w *recvWindow) countFar(f far) (n int) {
	first := (w.edge + nearLen) / 64
	for i := range min((w.high-first*64)/64+1, pds.PSN(f.m.farWords)+1) {
		n += bits.OnesCount64(*f.word((first + i) * 64))
	}
	return n
}

// ClearPSN returns the last CLEAR_PSN accepted.
func (w *recvWindow) ClearPSN() pds.PSN { return w.clear }

// Classify is the relation of psn to a window of n PSNs, 1 to [MaxRange].
//
//uetcc:hot nobounds
func (w *recvWindow) Classify(f far, psn pds.PSN, n uint32) arrival {
	ahead := uint32(psn - w.edge)
	if ahead >= n || w.holding { // else CACK is edge-1
		switch cack := w.CACK(); {
		case uint32(cack-psn) < n:
			return arrivalOld
		case uint32(psn-cack-1) >= n:
			return arrivalOutside
		case w.edge.After(psn):
			return arrivalDuplicate
		}
	}
	if ahead < nearLen { // like bit, with two returns, to save a jump
		return arrivalNew + arrival(w.near>>ahead&1)
	}
	return arrivalNew + arrival(f.bit(psn))
}

// fresh reports whether psn is [arrivalNew] to a window of n PSNs holding nothing back.
//
//uetcc:hot inlines nobounds
func (w *recvWindow) fresh(f far, psn pds.PSN, n uint32) bool {
	return psn == w.edge || w.Classify(f, psn, n) == arrivalNew
}

// Accept marks the PSN so far ahead of [recvWindow.Missing] as arrived. The caller has seen
// [arrivalNew].
//
//uetcc:hot inlines nobounds
func (w *recvWindow) Accept(f far, ahead pds.PSN) {
	if ahead-1 >= nearLen-1 {
		w.acceptAt(f, ahead)
	} else {
		w.near |= 1 << ahead
		w.seen = seenAhead
	}
}

// acceptAt is Accept for the edge and for PSNs beyond near.
//
//uetcc:hot nobounds
func (w *recvWindow) acceptAt(f far, ahead pds.PSN) {
	if ahead == 0 {
		if !w.inOrder() {
			w.advance(f)
			return
		}
		w.high, w.edge, w.seen = w.edge, w.edge+1, seenInOrder
		return
	}
	psn := w.edge + ahead
	*f.word(psn) |= 1 << (psn % 64)
	w.seen = seenAhead
	if psn.After(w.high) {
		w.high = psn
	}
}

// advance moves the edge, which has arrived, and all consecutive arrivals behind. The
// new bits of near come from the ring.
//
//uetcc:hot nobounds
func (w *recvWindow) advance(f far) {
	for {
		n, far, from := bits.TrailingZeros64(^(w.near >> 1)), w.isFar(), w.edge+nearLen // n is 63 at most
		w.near = w.near >> 1 >> (n & 63)
		w.edge += pds.PSN(n + 1)
		if !far || !w.pull(f, from, n) {
			break
		}
	}
	if w.isFar() {
		return
	}
	if w.high = w.edge - 1; w.near == 0 {
		w.seen = seenInOrder
	}
}

// answers is called when a request has been accepted, asking for an acknowledgement or
// not. True if an acknowledgement is owed on behalf of an earlier request: the earlier
// request asked for one above a hole, the ACK could not cover the hole, and the present
// request has closed the last hole. (UE Specification 1.0.x section 3.5, ACK
// generation.)
func (w *recvWindow) answers(asks bool) bool {
	if !w.inOrder() {
		w.asked = w.asked || asks
		return false
	}
	owed := w.asked
	w.asked = false
	return owed
}

// pull moves n+1 bits, up to 64, beginning with from's out of the ring to the top of
// near, and reports whether the edge has arrived, possible only with 64 bits.
//
//uetcc:hot nobounds
func (w *recvWindow) pull(f far, from pds.PSN, n int) bool {
	m := f.bits(from) << (63 - n&63)
	w.near |= m
	m >>= 63 - n&63
	*f.word(from) &^= m << (from % 64)
	*f.word(from + 64) &^= m >> 1 >> (^from % 64)
	return w.near&1 != 0
}

// bits returns the 64 bits of the ring beginning with from's.
//
//uetcc:hot nobounds
func (f far) bits(from pds.PSN) uint64 {
	lo, hi := *f.word(from), *f.word(from + 64)
	return lo>>(from%64) | hi<<1<<(^from%64) // by 64 in all for the first of a word
}

// released takes a CLEAR_PSN that the window reaches; otherwise the peer is wrong.
//
//uetcc:hot inlines nobounds
func (w *recvWindow) released(c pds.PSN) {
	if c.After(w.clear) {
		w.clear = c
	}
}

// reaches reports whether everything up to c has arrived.
func (w *recvWindow) reaches(c pds.PSN) bool { return w.edge.After(c) }

// unseen reports whether psn has arrived, and the initiator has not reported seeing the
// answer.
func (w *recvWindow) unseen(f far, psn pds.PSN, n uint32) bool {
	a := w.Classify(f, psn, n)
	return (a == arrivalDuplicate || a == arrivalOld) && psn.After(w.clear)
}

// HoldAt keeps CACK below psn, the lowest PSN whose response is still owed to
// the peer or to the layer above.
func (w *recvWindow) HoldAt(psn pds.PSN) { w.hold, w.holding = psn, true }

// Unhold lets CACK follow the edge again.
func (w *recvWindow) Unhold() { w.holding = false }

const sackBits = 64

// SACK returns 64 bits: bit i set: PSN base+i has arrived. base comes from
// [recvWindow.SACKBase], [recvWindow.SACKRove] or [recvWindow.SACKFrom].
//
//uetcc:hot inlines nobounds
func (w *recvWindow) SACK(f far, base pds.PSN) uint64 {
	if base == w.edge {
		return w.near
	}
	return w.sackFrom(f, base)
}

// sackFrom is SACK for a base beside the edge.
//
//uetcc:hot nobounds
func (w *recvWindow) sackFrom(f far, base pds.PSN) uint64 {
	if below := w.edge - base; w.edge.After(base) {
		return w.near<<below | (1<<below - 1)
	}
	m := w.near >> (base - w.edge)
	if w.isFar() {
		m |= f.bits(base)
	}
	return m
}

// SACKBase returns the begin of the SACK in an acknowledgement triggered by
// psn: CACK+1 when all arrivals fit, else psn is the last bit, to show the
// newest arrivals. (htsim's choice; the specification leaves the base open.)
//
//uetcc:hot inlines nobounds
func (w *recvWindow) SACKBase(psn pds.PSN) pds.PSN {
	first := w.first()
	if b := psn - (sackBits - 1); b.After(first) {
		return b
	}
	return first
}

// SACKRove returns the base for an acknowledgement asked for by no single
// packet. While more has arrived than fits a bitmap, every other acknowledgement shows the
// newest arrivals, and between the base walks from CACK+1 to the highest PSN in steps of
// 64, for packets that were overtaken. A source that does not hear of the newest soon takes
// them for lost: with the walk alone, and 6,000 packets behind a hole, a hundred
// acknowledgements later.
func (w *recvWindow) SACKRove() pds.PSN {
	first, last := w.first(), w.MaxRcvd()-(sackBits-1)
	if !last.After(first) {
		return first
	}
	if w.newest = !w.newest; w.newest {
		return last
	}
	b := w.rove
	if first.After(b) {
		b = first
	} else if b.After(last) {
		b = last
	}
	if w.rove = b + sackBits; w.rove.After(w.MaxRcvd()) {
		w.rove = first
	}
	return b
}

// SACKFrom returns the base nearest to the base asked for by a probe.
func (w *recvWindow) SACKFrom(want pds.PSN) pds.PSN {
	first, last := w.first(), w.MaxRcvd()-(sackBits-1)
	switch {
	case !want.After(first) || !last.After(first):
		return first
	case want.After(last):
		return last
	default:
		return want
	}
}
