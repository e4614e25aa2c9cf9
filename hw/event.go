package hw

import "github.com/uetcc/uetcc/hw/pcc"

// EventType is the type of a device event. Types 2 to 6 are those of
// [pcc.EventType].
type EventType uint8

// Event types.
const (
	EventCNP      EventType = 2
	EventTX       EventType = 3
	EventACK      EventType = 4
	EventNACK     EventType = 5
	EventRTT      EventType = 6
	EventACKCC    EventType = 8 // words: received bytes (256 B), service time (ticks), pend[6:0] restore[7] mark[8]
	EventTrimNACK EventType = 9
	EventNoCredit EventType = 10
)

func (t EventType) String() string {
	switch t {
	case EventACKCC:
		return "ack-cc"
	case EventTrimNACK:
		return "trim-nack"
	case EventNoCredit:
		return "no-credit"
	}
	return pcc.EventType(t).String()
}

// FlagLost says that events of this context were lost before this one: read the
// context's cumulative registers again.
const FlagLost = 1 << 7

// Event is an entry of an event ring.
//
//	word 0  type[7:0] subtype[15:8] flags[23:16] gen[31:24]
//	word 1  context
//	word 2  stamp, low 32 bits of the clock
//	word 3  serial number
//	word 4  \
//	word 5   > by type; RTT: request sent, request received, response sent
//	word 6  /
//	word 7  coalesced[15:0] port[23:16] phase[31]
type Event struct {
	Type       EventType
	Subtype    uint8
	Flags      uint8
	Generation uint8
	Context    uint32
	Stamp      uint32
	Serial     uint32
	Words      [3]uint32
	Coalesced  uint16
	Port       uint8
}

// PCC returns the event for a [pcc] algorithm. Stamps must be in nanoseconds.
func (e *Event) PCC() pcc.Event {
	return pcc.Event{
		Type: pcc.EventType(e.Type), Subtype: e.Subtype, Flags: e.Flags, Time: e.Stamp,
		Stamps: pcc.Stamps{ReqSend: e.Words[0], ReqRecv: e.Words[1], RespSend: e.Words[2]},
	}
}

const (
	entryWords = 4
	entryLen   = 8 * entryWords
	phaseShift = 63 // in the last word
)

// entryAt is the n-th entry of a ring of 2^k.
//
// Who finds the phase of an entry new may read the entry, and those behind it of the
// same batch: the device stores the last word of a batch's first entry last, as an
// atomic, and all other words before. It writes to an entry again after it has seen
// that the engine gave it back. So only that one word of a batch and the engine's
// count are atomics.
func entryAt(words []uint64, n uint32) *[entryWords]uint64 {
	at := int(n) * entryWords & (len(words) - 1)
	return (*[entryWords]uint64)(words[at:])
}

// get reads the entry whose last word is last.
func (e *Event) get(w *[entryWords]uint64, last uint64) {
	e.Type, e.Subtype, e.Flags, e.Generation = EventType(w[0]), uint8(w[0]>>8), uint8(w[0]>>16), uint8(w[0]>>24)
	e.Context = uint32(w[0] >> 32)
	e.Stamp, e.Serial = uint32(w[1]), uint32(w[1]>>32)
	e.Words = [3]uint32{uint32(w[2]), uint32(w[2] >> 32), uint32(last)}
	e.Coalesced, e.Port = uint16(last>>32), uint8(last>>48)
}
