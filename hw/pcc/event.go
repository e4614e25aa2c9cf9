// SPDX-License-Identifier: Apache-2.0

package pcc

import "github.com/uetcc/uetcc/internal/enum"

// EventType names an event of a flow. The numbers are those of the DOCA PCC
// device interface.
type EventType uint8

// Event types. Other values change nothing.
const (
	eventNull         EventType = 0
	eventFW           EventType = 1 // deprecated
	EventCNP          EventType = 2 // a congestion notification came
	EventTX           EventType = 3 // a burst of the flow has left
	EventACK          EventType = 4
	EventNACK         EventType = 5
	EventRTT          EventType = 6  // the response to a probe came
	EventTXForAckNack EventType = 31 // an ACK or NACK packet has left
)

var eventNames = [...]string{
	eventNull: "null", eventFW: "fw", EventCNP: "cnp", EventTX: "tx", EventACK: "ack", EventNACK: "nack",
	EventRTT: "rtt", EventTXForAckNack: "tx-for-ack-nack", 8: "ack-cc", 9: "trim-nack", 10: "no-credit", // of package hw
}

// String returns a short name.
func (t EventType) String() string { return enum.Name(eventNames[:], t) }

// ProbeSent is the flag of a TX event that says a probe left with the
// burst.
const ProbeSent = 1 << 2

// Event is one event of one flow. Events can be coalesced and lost; an algorithm
// survives either. Times are nanoseconds modulo 2^32.
type Event struct {
	Type        EventType
	Subtype     uint8  // NACK: 0 none, 1 receiver not ready, 2 out of sequence, 3 duplicate read
	Flags       uint8  // TX: see [ProbeSent]
	Time        uint32 // on the sender's clock
	Utilisation uint32 // of the port, fxp16: 65,536 is fully used; 0 if not measured
	Stamps             // RTT events only
}

// Decision is an algorithm's answer to an event.
type Decision struct {
	Rate  Rate
	Probe bool // measure the round trip with the flow's next burst
}

// Rate is a fraction of the line rate with 20 fraction bits, 0 < r <= [LineRate].
type Rate uint32

// LineRate is the whole line rate.
const LineRate Rate = 1 << 20

// Bits returns the rate in bits per second on a line of the given bits per
// second.
func (r Rate) Bits(line int64) int64 {
	return line>>20*int64(r) + line&(1<<20-1)*int64(r)>>20
}

// fxp16 is a factor with 16 fraction bits.
type fxp16 uint32

// mul returns r times f. The product truncates, as the device's primitive does,
// and keeps the low 32 bits.
func (r Rate) mul(f fxp16) Rate { return Rate(uint64(r) * uint64(f) >> 16) }
