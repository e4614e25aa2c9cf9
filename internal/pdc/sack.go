// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

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
