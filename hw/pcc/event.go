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

// giveUp is how long the answer to a probe is awaited at first, in nanoseconds.
const giveUp = 300000

// A Probe keeps one probe of a flow under way and asks again when probe or
// answer is lost.
type Probe struct {
	SentAt   uint32 // when the burst that carried the probe left
	Backoff  uint8  // times in a row that the probe was given up
	InFlight bool   // a probe has left and its answer is awaited
	Wait     uint8  // bursts since the request that carried no probe
}

// onTX takes a burst and reports whether to ask for a probe. age is the time
// since SentAt, which counts only while a probe is out. A probe given
// up is still welcome later, so the probe stays in flight.
func (b *Probe) onTX(e *Event, age uint32) (ask bool) {
	if e.Flags&ProbeSent != 0 && !b.InFlight {
		b.InFlight, b.Wait, b.SentAt = true, 0, e.Time
		return false
	}
	if !b.InFlight {
		b.Wait++
	}
	late := b.InFlight && age > giveUp<<(b.Backoff&31) // as processors shift; the sample's language leaves 32 and more open
	if !late && b.Wait <= 2 {
		return false
	}
	if late {
		b.Backoff++
	}
	b.Wait = 1
	return true
}

// onAnswer takes the answer to a probe. The next probe is asked for at once, so
// a probe is always under way.
func (b *Probe) onAnswer() { b.InFlight, b.Backoff, b.Wait = false, 0, 1 }

// Stamps are the three times a probe collects before the return, in
// nanoseconds modulo 2^32. The fourth is the time of the RTT event.
//
//	sender                                   receiver
//	1  the algorithm asks for a probe
//	2  it leaves behind the next burst
//	   ReqSend (t1)   ---------------->  3   ReqRecv (t2)
//	5  Event.Time (t4) <---------------  4   RespSend (t3)
//
// Source: DOCA ZTR-RTT, "RTT Measurement Flow".
type Stamps struct {
	ReqSend  uint32 // t1, sender's clock
	ReqRecv  uint32 // t2, receiver's clock
	RespSend uint32 // t3, receiver's clock
}

// Network returns (t4 - t1) - (t3 - t2): the network's share of the round trip.
// The result is 0 where a coarse or drifting clock makes the residence the longer
// of the two.
//
//uetcc:hot inlines nobounds
func (s Stamps) Network(t4 uint32) uint32 {
	total, residence := t4-s.ReqSend, s.RespSend-s.ReqRecv
	if residence > total {
		return 0
	}
	return total - residence
}
