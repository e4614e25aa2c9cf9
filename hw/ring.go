// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"sync/atomic"

	"github.com/uetcc/uetcc/hw/pcc"
)

// Ring is the engine's end of an event ring. The device writes entries to host
// memory; the phase bit of an entry, flipping with each lap, marks new entries. A full
// ring loses the newest event, never an older one. Single writer.
type Ring struct {
	space   Space
	entries []entry
	at      int    // of the next one
	phase   uint64 // of this lap
	regs    uint32
	cons    uint32
	ctl     uint32
}

// Limits of the log2 of a ring's entries.
const (
	minRingLog = 4
	maxRingLog = 15
)

// Ring makes event ring i use 2^log2 entries (4..15) of 32 bytes at offset addr
// of the host memory, a multiple of 4,096, and turns it on. If the ring is on already,
// perhaps from an engine that has died, stop the ring and wait for [Ring.Stopped], or
// reset the device. Errors: [ErrFeature], [ErrIndex], [ErrRing].
func (d *Device) Ring(i int, host *Memory, addr, log2 uint32) (Ring, error) {
	if d.on&FeatureEvents == 0 {
		return Ring{}, ErrFeature
	}
	regs, err := d.offset(Reg.RingAddr, i)
	if err != nil {
		return Ring{}, err
	}
	old := d.space.Load32(regs + Reg.RingCtl.Offset)
	on := old&1 != 0 || d.space.Load32(regs+Reg.RingState.Offset)&1 != 0
	if on || log2 < minRingLog || log2 > maxRingLog || addr%4096 != 0 ||
		uint64(addr)+entryLen<<log2 > uint64(host.Size()) {
		return Ring{}, ErrRing
	}
	for off := uint32(0); off < entryLen<<log2; off += 8 {
		host.Store64(addr+off, 0)
	}
	d.space.Store32(regs+Reg.Cons.Offset, 0)
	d.space.Store64(regs+Reg.RingAddr.Offset, uint64(addr))
	d.space.Flush()
	ctl := 1 | log2<<4 | (old>>8+1)&0xff<<8 // another value than the last time, which is all that a device sees
	d.space.Store32(regs+Reg.RingCtl.Offset, ctl)
	d.space.Flush()
	return Ring{space: d.space, entries: host.entries(addr, 1<<log2), phase: phaseBit, regs: regs, ctl: ctl}, nil
}

// Drain moves new events to buf, oldest first, and returns the number. The entries go
// back to the device in one store for the whole batch.
//
//uetcc:hot
func (r *Ring) Drain(buf []Event) (n int) {
	entries, at, phase := r.entries, r.at, r.phase
	for ; n < len(buf); n++ {
		w := &entries[at]
		last := atomic.LoadUint64(&w[3])
		if int64(last^phase) < 0 { // of the last lap
			break
		}
		e := &buf[n]
		e.setHead(w[0], w[1])
		e.setRest(w[2], last)
		if at++; at == len(entries) {
			at, phase = 0, phase^phaseBit
		}
	}
	if n > 0 {
		r.at, r.phase = at, phase
		r.cons += uint32(n)
		r.space.Store32(r.regs+Reg.Cons.Offset, r.cons)
	}
	return n
}

// Lost returns the number of events the device dropped because the ring was
// full. The affected context's next event carries [FlagLost].
func (r *Ring) Lost() uint32 { return r.space.Load32(r.regs + Reg.Lost.Offset) }

// Stop turns the ring off. The device may write to the entries until [Ring.Stopped], so
// the memory is not free before Stopped reports true. Then drain the remaining events.
func (r *Ring) Stop() {
	r.space.Store32(r.regs+Reg.RingCtl.Offset, r.ctl&^1)
	r.space.Flush()
}

// Stopped reports whether the device has turned the ring off.
func (r *Ring) Stopped() bool { return r.space.Load32(r.regs+Reg.RingState.Offset)&1 == 0 }

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

// PCC returns the event for a [pcc] algorithm. Stamp, and the Words of an RTT event, must be in nanoseconds: with
// a tick other than 1,000 ps pass them through [Clock.Extend] and [Clock.Nanoseconds] first.
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

// Operations of a doorbell.
const (
	opTX    = 0 // packets up to the index wait to be sent
	opProbe = 3 // send a round-trip probe
)

// A doorbell is one 64-bit word:
//
//	 0              16   20             24        32                  64
//	+----------------+----+--------------+---------+-------------------+
//	|     index      | op |              |   gen   |      context      |
//	+----------------+----+--------------+---------+-------------------+
//
// A probe has no index and fills in the page's number of probes so far: a device
// ignores a repeated word.
func doorbellWord(index uint16, op uint64, gen uint8, context uint32) uint64 {
	return uint64(index) | op<<16 | uint64(gen)<<24 | uint64(context)<<32
}

// Doorbell is a doorbell page. Each sending goroutine owns one, so no lock
// is needed.
type Doorbell struct {
	space Space
	page  uint32
	on    Feature
	asked uint16
}

// Doorbell returns doorbell page i. The error is [ErrIndex].
func (d *Device) Doorbell(i int) (Doorbell, error) {
	page, err := d.offset(Reg.Ring, i)
	return Doorbell{space: d.space, page: page, on: d.on}, err
}

// Ring announces to the device the packets of a context up to index (absolute,
// modulo 2^16) that are ready in host memory. The same call twice changes
// nothing, and an older index is ignored. So is an index more than 32,767 beyond
// the last that the device has taken: half the numbers are older. The device counts
// both in [Counters.StaleDoorbells] alone, so keep at most 32,767 packets that the
// device has not sent, as Binding.Queue of package offload does. The word goes to the context's record
// first: where a page's doorbell is overtaken by the next doorbell, the device
// still finds the index in the record.
//
//uetcc:hot nobounds
func (b *Doorbell) Ring(c *Context, generation uint8, index uint16) {
	w := doorbellWord(index, opTX, generation, c.index)
	b.space.Flush()
	b.space.Store64(c.base+Reg.Record.Offset, w)
	b.space.Store64(b.page+Reg.Ring.Offset, w)
	b.space.Flush()
}

// Probe asks the device for a round-trip probe. The request may be lost if the page's next
// doorbell overtakes.
func (b *Doorbell) Probe(c *Context, generation uint8) {
	b.asked++
	b.space.Store64(b.page+Reg.Ring.Offset, doorbellWord(b.asked, opProbe, generation, c.index))
	b.space.Flush()
}

// Room returns how many doorbells the device can take; at 0, wait. Without
// [FeatureRoom] there is no limit.
func (b *Doorbell) Room() uint32 {
	if b.on&FeatureRoom == 0 {
		return 1<<32 - 1
	}
	return b.space.Load32(b.page + Reg.Room.Offset)
}
