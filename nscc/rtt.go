package nscc

import (
	"math"

	"github.com/uetcc/uetcc/internal/enum"
)

// tickNs is the unit of service_time on the wire.
const tickNs = 128

// ServiceTime is the time a destination kept a packet before it answered, as on
// the wire: units of 128 ns. The largest value also stands for everything longer.
type ServiceTime uint16

// ServiceTimeOf rounds ns down to units; it stops at 0 and at 8,388,480 ns.
func ServiceTimeOf(ns int64) ServiceTime {
	return ServiceTime(min(max(ns, 0)/tickNs, math.MaxUint16))
}

// Nanoseconds is the time in nanoseconds, 0 to 8,388,480.
func (s ServiceTime) Nanoseconds() int64 { return int64(s) * tickNs }

// Retransmits is how often a packet has been sent again: 0, 1, or more. Two bits
// suffice, which is what an embedder should keep per packet.
type Retransmits uint8

// The numbers of retransmissions.
const (
	RetransmitsNone Retransmits = iota
	RetransmitsOne
	RetransmitsMore
)

var retransmitsNames = [...]string{"none", "one", "more"}

// String is none, one or more.
func (r Retransmits) String() string { return enum.Name(retransmitsNames[:], r) }

// Again is r after one more retransmission.
func (r Retransmits) Again() Retransmits { return min(r+1, RetransmitsMore) }

// Unambiguous reports whether an acknowledgement with this echo of the retransmit
// flag can only belong to the last transmission, so that its round trip is known:
// the first with the echo clear, or the second with the echo set.
func (r Retransmits) Unambiguous(echo bool) bool {
	return r == RetransmitsNone && !echo || r == RetransmitsOne && echo
}

// RTT is the sample of a packet last transmitted at sent and acknowledged at
// arrival (nanoseconds), less the time the destination kept it. 0 is no sample:
// the clock went backwards or the destination claims more than the whole.
func RTT(arrival, sent int64, s ServiceTime) int64 {
	return max(arrival-sent-s.Nanoseconds(), 0)
}
