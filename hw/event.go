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
	entryLen   = 32
	phaseShift = 63 // in the last 64-bit word
)

// put writes the event to the ring entry at off. The word with the phase is
// stored last.
func (e *Event) put(host Space, off uint32, phase uint64) {
	host.Store64(off, uint64(e.Type)|uint64(e.Subtype)<<8|uint64(e.Flags)<<16|uint64(e.Generation)<<24|uint64(e.Context)<<32)
	host.Store64(off+8, uint64(e.Stamp)|uint64(e.Serial)<<32)
	host.Store64(off+16, uint64(e.Words[0])|uint64(e.Words[1])<<32)
	host.Store64(off+24, uint64(e.Words[2])|uint64(e.Coalesced)<<32|uint64(e.Port)<<48|phase<<phaseShift)
}

// get reads the entry at off whose last word is last.
func (e *Event) get(host Space, off uint32, last uint64) {
	w := host.Load64(off)
	e.Type, e.Subtype, e.Flags, e.Generation = EventType(w), uint8(w>>8), uint8(w>>16), uint8(w>>24)
	e.Context = uint32(w >> 32)
	w = host.Load64(off + 8)
	e.Stamp, e.Serial = uint32(w), uint32(w>>32)
	w = host.Load64(off + 16)
	e.Words = [3]uint32{uint32(w), uint32(w >> 32), uint32(last)}
	e.Coalesced, e.Port = uint16(last>>32), uint8(last>>48)
}
