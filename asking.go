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
//	asked - arrived <= size and a packet
//	open < peer, once the peer has refused some
//
// The window grows to twice the data that a round of the shortest time would have brought: two
// bandwidth-delay products at the rate of path and peer. The next round shows whether that was
// right, unless a round took no longer than an idle round trip: then the window grows with each
// answer, by as much. Beyond, the window grows by a 64th and a packet in a round. Delay cuts
// nothing: answers held by the peer's congestion control wait there under any window, and a path
// grown longer, unlike a full path, needs the window. Totals are over the life of the PDC, modulo 2^32.
//
// A peer short of memory for answers refuses packets, and so shows for how many there is room at once,
// whatever the sizes. A refused packet goes again with the next answer: the room of that answer is free
// when the acknowledgement has arrived. After a pause without a refusal peer is raised, by one packet, and by
// twice as many after a raise without a refusal; otherwise the next pause is twice as long.
//
// What a peer keeps until it hears that the answer has arrived, the responses of atomics, takes room there for
// longer: a CLEAR tells of answers in order, so that room behind a packet without an answer is not free. Four hosts
// with 3,000 atomics each took 28 times the ideal time where each answer counted as room.
//
// The specification bounds reads by PSNs alone, and has the peer refuse the rest
// (NO_SES_MSG_AVAIL, NO_GTD_DEL_AVAIL), each packet for NACK_Retx_Time.
type asking struct {
	size    uint32 // 0: nothing is known yet
	asked   uint32
	arrived uint32
	end     uint32 // the round is over when arrived is beyond
	began   uint32 // arrived at the round's begin
	at      int64  // begin of the round
	least   uint32 // the shortest round, units of 64 ns; 0: no whole round yet
	sure    uint32 // size without what this round has added
	open    uint32 // packets asked for and not answered, those included that wait to be sent again
	peer    uint32 // the most packets open; 0: no limit is known
	spare   uint32 // answers whose room at the peer is free, as far as known
	raised  uint32 // by how much peer was raised last; 0: a refusal followed
	pause   uint8  // rounds before peer is raised
	calm    uint8  // rounds since the last raise or refusal in which peer has kept a packet back
	limited bool   // size has kept a packet back in the present round
	scarce  bool   // peer has
	fast    bool   // the last round met no queue: this one grows by what arrives
	keeps   bool   // the peer has refused for want of room to keep answers
	kept    uint16 // of spare, and not free yet: the peer keeps these answers until a CLEAR tells of their arrival

	beside pdc.Handle // the last PDC beside, see source.beside
}

// An asked is what a message has asked for and not got.
type asked struct{ units, packets uint32 }

// pauseLeast and pauseMost are the rounds before a raise. Where the peer has room for one packet, 1.6 % of requests
// are refused in the end; a reader that shares the peer with others finds room soon after those have ended.
const (
	pauseLeast = 32
	pauseMost  = 64
)

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
	free := int32(a.size - (a.asked - a.arrived))
	if free <= 0 {
		a.limited = true
		return 0
	}
	n := (uint32(free) + units - 1) / units
	open := a.open
	if open != 0 { // else no answer is to come that tells of room again
		open += uint32(a.kept)
	}
	if a.peer != 0 && open+n > a.peer {
		a.scarce = true
		n = max(a.peer, open) - open
	}
	return n
}

// ask takes note of packets asking for so many units each.
func (a *asking) ask(now int64, packets, units uint32) {
	idle := a.open == 0
	a.asked += packets * units
	a.open += packets
	a.spare -= min(a.spare, packets)
	if idle {
		a.spare = 0
		a.begin(now)
		a.end-- // all asked for just now
	}
}

// begin begins a round.
func (a *asking) begin(now int64) {
	a.at, a.began, a.end, a.limited, a.scarce = now, a.arrived, a.asked, false, false
}

// arrive takes note of an answer of so many units, and reports whether that ends a round.
func (a *asking) arrive(units uint32) bool {
	a.arrived += units
	a.open -= min(a.open, 1)
	a.spare++
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
	if a.limited {
		if !a.fast {
			a.sure = a.size
		}
		grown := a.sure + a.sure/64 + unitsOf(4096)
		path := min(2*uint64(a.arrived-a.began)*uint64(a.least)/uint64(took), askedMost)
		a.size = min(max(grown, uint32(path)), askedMost)
	}
	if a.scarce {
		a.calm++
		well := a.raised != 0 && a.calm == 2 // the refusals would have come
		if well {
			a.pause = pauseLeast
		}
		if well || a.calm > a.pause {
			a.raised = min(2*a.raised, a.peer/4) + 1
			a.peer, a.calm = a.peer+a.raised, 0
		}
	}
	a.fast, a.sure = int64(took) <= (base+base/4)>>6, a.size
	a.begin(now)
}

// refuse takes note of a packet refused by the peer for want of memory. So many packets wait to be sent again.
func (a *asking) refuse(waiting uint32) {
	if a.peer == 0 {
		a.peer, a.pause = a.open, pauseLeast
	}
	if a.raised != 0 {
		a.pause = 2 * min(a.pause, pauseMost/2)
	}
	held := max(a.open+a.spare, waiting+1) - waiting
	a.peer, a.calm, a.raised = min(a.peer, held), 0, 0
}

// drop forgets what nothing more is expected for.
func (a *asking) drop(of asked) {
	if a.arrived += of.units; int32(a.arrived-a.end) > 0 {
		a.end = a.arrived
	}
	a.began += of.units
	a.open -= min(a.open, of.packets)
}
