// SPDX-License-Identifier: Apache-2.0

package nscc

import (
	"math"

	"github.com/uetcc/uetcc/internal/enum"
)

// tickNs is the unit of service_time on the wire.
const tickNs = 128

// ServiceTime is the time from a packet's arrival at the destination to the answer, as on the
// wire: units of 128 ns. The largest value also stands for everything longer.
type ServiceTime uint16

// ServiceTimeOf rounds ns down to units; limited to 0 to 8,388,480 ns.
func ServiceTimeOf(ns int64) ServiceTime {
	return ServiceTime(min(max(ns/tickNs, 0), math.MaxUint16))
}

// Nanoseconds is the time in nanoseconds, 0 to 8,388,480.
func (s ServiceTime) Nanoseconds() int64 { return int64(s) * tickNs }

// Retransmits is the number of retransmissions of a packet that may still be answered: 0, 1,
// or more. An embedder should keep it per packet, in two bits.
type Retransmits uint8

// The numbers of retransmissions.
const (
	retransmitsNone Retransmits = iota
	retransmitsOne
	retransmitsMore
)

var retransmitsNames = [...]string{"none", "one", "more"}

// String is none, one or more.
func (r Retransmits) String() string { return enum.Name(retransmitsNames[:], r) }

// Again is r after one more retransmission.
func (r Retransmits) Again() Retransmits { return min(r+1, retransmitsMore) }

// Refused is r after a NACK of the last transmission: the last copy is gone, so an
// acknowledgement with the echo set can belong only to the next copy. With more than one copy
// under way the NACK may be for any.
func (r Retransmits) Refused() Retransmits {
	if r == retransmitsOne {
		return retransmitsNone
	}
	return r
}

// Unambiguous reports whether an acknowledgement with the given echo of the retransmit flag
// can only belong to the last transmission, so the round trip is known: the first with the
// echo clear, or the second with the echo set.
func (r Retransmits) Unambiguous(echo bool) bool {
	return r == retransmitsNone && !echo || r == retransmitsOne && echo
}

// RTT is the sample of a packet last transmitted at sent and acknowledged at
// arrival (nanoseconds), less the destination's service time. 0 is no sample: the clock has
// not moved on, or the destination claims the whole time or more, or names the largest
// service time, also meaning any longer. Otherwise a single answer could lower the base round
// trip of a path, and so the ceiling of the window, to nothing.
//
//uetcc:hot inlines nobounds
func RTT(arrival, sent int64, s ServiceTime) int64 {
	if s == math.MaxUint16 {
		return 0
	}
	return max(arrival-sent-s.Nanoseconds(), 0)
}
