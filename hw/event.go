// SPDX-License-Identifier: Apache-2.0

package hw

import "github.com/uetcc/uetcc/hw/pcc"

// Event types of a device beside those of [pcc.EventType].
const (
	EventACKCC    pcc.EventType = 8 // words: received bytes (256 B), service time (ticks), pend[6:0] restore[7] mark[8]
	EventTrimNACK pcc.EventType = 9
	EventNoCredit pcc.EventType = 10
)

// FlagLost reports lost events of the context before the flagged event: read the
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
	Type       pcc.EventType
	Subtype    uint8
	Flags      uint8
	Generation uint8
	Context    uint32
	Stamp      uint32 // low bits of the clock, see [Clock.Extend]
	Serial     uint32
	Words      [3]uint32
	Coalesced  uint16
	Port       uint8
}

// PCC returns the event for a [pcc] algorithm. Stamps must be in nanoseconds.
func (e *Event) PCC() pcc.Event {
	return pcc.Event{
		Type: e.Type, Subtype: e.Subtype, Flags: e.Flags, Time: e.Stamp,
		Stamps: pcc.Stamps{ReqSend: e.Words[0], ReqRecv: e.Words[1], RespSend: e.Words[2]},
	}
}

// An entry is an event in a ring.
//
// The device writes a batch of entries with plain stores, except for the last word of the
// first entry. The last word holds the phase, and an atomic store of the word publishes the
// whole batch: an engine seeing a new phase may read the entry and the rest of the batch.
// The device reuses an entry only after reading in the engine's count that the entry was
// given back. So the only atomics are the count and a single word per batch.
type entry [4]uint64

const (
	entryLen = 32
	phaseBit = 1 << 63 // in the last word
)

// head is word 0 and 1 of the entry, without the generation.
func (e *Event) head() uint64 {
	w := uint32(e.Type) | uint32(e.Subtype)<<8 | uint32(e.Flags)<<16 | uint32(e.Generation)<<24
	return uint64(w&0xff_ffff) | uint64(e.Context)<<32
}

// last is word 6 and 7, without the phase.
func (e *Event) last() uint64 {
	return uint64(e.Words[2]) | uint64(e.Coalesced)<<32 | uint64(e.Port)<<48
}

// setHead reads words 0 to 3.
//
//uetcc:hot inlines nobounds
func (e *Event) setHead(w0, w1 uint64) {
	e.Type, e.Subtype, e.Flags, e.Generation = pcc.EventType(w0), uint8(w0>>8), uint8(w0>>16), uint8(w0>>24)
	e.Context = uint32(w0 >> 32)
	e.Stamp, e.Serial = uint32(w1), uint32(w1>>32)
}

// setRest reads words 4 to 7.
//
//uetcc:hot inlines nobounds
func (e *Event) setRest(w2, w3 uint64) {
	e.Words = [3]uint32{uint32(w2), uint32(w2 >> 32), uint32(w3)}
	e.Coalesced, e.Port = uint16(w3>>32), uint8(w3>>48)
}
