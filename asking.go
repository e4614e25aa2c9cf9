// SPDX-License-Identifier: Apache-2.0

package uetcc

import "github.com/uetcc/uetcc/internal/pdc"

// askUnit is the unit of an asking, bytes: even a short answer takes memory of the peer, but
// less of the path.
const askUnit = 256

// firstAsked is the units allowed under way by an asking before the capacity of path and peer
// is known: 64 KB, or as many packets of a unit.
const firstAsked = 64 << 10 / askUnit

// An asking is the window on the data that the reads and fetching atomics of a PDC have asked
// for and not got, in units. A round begins with the data asked for and ends when answered.
//
//	asked - arrived <= size and a packet, or more for a while after a cut
//
// The window grows to twice the data that a round of the shortest time would have brought: two
// bandwidth-delay products at the rate of path and peer. The next round shows whether that was
// right, unless a round took no longer than an idle round trip: then the window grows with each
// answer, by as much. Beyond, or above the rest after a cut, the window grows by a 64th and a
// packet in a round. A peer short of memory for answers cuts the window by half, once in a round.
// Delay cuts nothing: answers held by the peer's
// congestion control wait there under any window, and a path grown longer, unlike a full path,
// needs the window. Totals are over the life of the PDC, modulo 2^32.
//
// The specification bounds reads by PSNs alone, and has the peer refuse the rest
// (NO_SES_MSG_AVAIL), each packet for NACK_Retx_Time.
type asking struct {
	size    uint32 // 0: nothing is known yet
	most    uint32 // growth by arrivals ends here; 0: nowhere
	asked   uint32
	arrived uint32
	end     uint32 // the round is over when arrived is beyond
	began   uint32 // arrived at the round's begin
	at      int64  // begin of the round
	least   uint32 // the shortest round, units of 64 ns; 0: no whole round yet
	sure    uint32 // size without what this round has added
	limited bool   // the window has kept a packet back in the present round
	cut     bool   // in the present round
	fast    bool   // the last round met no queue: this one grows by what arrives

	beside pdc.Handle // the last PDC beside, see source.beside
}

// askedMost, units, is a window of 8 GB, and keeps totals apart that differ by 1.
const askedMost = 1 << 25

// unitsOf is the units of an answer of so many bytes.
func unitsOf(bytes uint32) uint32 { return max((bytes+askUnit-1)/askUnit, 1) }

// room returns the number of packets of so many units that may be asked for: one more than fit,
// so any packet gets a turn in the end.
func (a *asking) room(units uint32) uint32 {
	if a.size == 0 {
		a.size = firstAsked
	}
	if free := int32(a.size - (a.asked - a.arrived)); free > 0 {
		return (uint32(free) + units - 1) / units
	}
	a.limited = true
	return 0
}

// ask takes note of units asked for.
func (a *asking) ask(now int64, units uint32) {
	idle := a.asked == a.arrived
	a.asked += units
	if idle {
		a.begin(now)
		a.end-- // all asked for just now
	}
}

// begin begins a round.
func (a *asking) begin(now int64) {
	a.at, a.began, a.end, a.limited, a.cut = now, a.arrived, a.asked, false, false
}

// arrive takes note of units answered, and reports whether that ends a round.
func (a *asking) arrive(units uint32) bool {
	a.arrived += units
	if a.fast && a.limited {
		a.size = min(a.size+units, askedMost)
	}
	return int32(a.arrived-a.end) > 0
}

// learn ends a round and begins another, on a path of so long a round trip, ns.
func (a *asking) learn(now, base int64) {
	took := uint32(min(max(now-a.at, 1)>>6+1, 1<<32-1))
	if a.least == 0 || took < a.least {
		a.least = took
	}
	if a.limited && !a.cut {
		if !a.fast {
			a.sure = a.size
		}
		grown := a.sure + a.sure/64 + unitsOf(4096)
		path := min(2*uint64(a.arrived-a.began)*uint64(a.least)/uint64(took), askedMost)
		if a.most != 0 {
			path = min(path, uint64(a.most))
		}
		a.size = min(max(grown, uint32(path)), askedMost)
	}
	a.fast, a.sure = a.most == 0 && int64(took) <= (base+base/4)>>6, a.size
	a.begin(now)
}

// shorten takes note of a packet refused by the peer for want of memory.
func (a *asking) shorten(now int64) {
	if a.cut || a.size == 0 {
		return
	}
	a.size = max(a.size/2, 1)
	a.begin(now)
	a.most, a.cut, a.fast = a.size, true, false
}

// drop forgets units nothing more is expected for.
func (a *asking) drop(units uint32) {
	if a.arrived += units; int32(a.arrived-a.end) > 0 {
		a.end = a.arrived
	}
	a.began += units
}
