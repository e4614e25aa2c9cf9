// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// maxBlocks ends the walk of an impossibly long chain.
const maxBlocks = 256

// headerLen is the length of a block header; only version 1 is known.
const (
	headerLen    = 0x14
	knownVersion = 1
)

// A block is a register block the walk found.
type block struct {
	kind  kind
	at    uint32
	count uint32
	base  uint32
}

// An extent is a range of bytes in a space.
type extent struct{ from, end uint64 }

func (e extent) meets(o extent) bool { return max(e.from, o.from) < min(e.end, o.end) }

// array returns where the block's elements lie.
func (b *block) array() extent {
	return extent{uint64(b.base), uint64(b.base) + uint64(b.count)*uint64(b.kind.stride())}
}

// element returns the offset of a register in an array element.
func (b *block) element(index int, off uint32) (uint32, error) {
	if uint64(index) >= uint64(b.count) {
		return 0, ErrIndex
	}
	return b.base + uint32(index)*b.kind.stride() + off, nil
}

// Device is a NIC's register space after discovery: the features, and access to the blocks.
// Use one Device from one goroutine to negotiate; the values handed out then have separate
// owners.
type Device struct {
	space  Space
	blocks []block
	on     Feature
	resets uint32 // RESETS when the device was opened, or told to reset
}

// Open walks the chain of register blocks in a space and returns the device,
// with no feature enabled. The walk terminates on any contents and reads nothing outside
// the space. Blocks of unknown kind, vendor or major version are skipped. Errors:
// [ErrChain].
func Open(space Space) (*Device, error) {
	d := &Device{space: space}
	heads, err := d.walk(make([]extent, 0, maxBlocks))
	if err != nil {
		return nil, err
	}
	for i := range d.blocks {
		if slices.ContainsFunc(heads, d.blocks[i].array().meets) {
			return nil, ErrChain
		}
	}
	if d.block(kindCapability) == nil || d.block(kindClock) == nil {
		return nil, ErrChain
	}
	d.resets = space.Load32(d.reg(Reg.Resets))
	return d, nil
}

// walk reads the chain of blocks and appends to heads where each begins, known or not.
func (d *Device) walk(heads []extent) ([]extent, error) {
	at := uint32(0)
	for range maxBlocks {
		if at%4 != 0 || uint64(at)+headerLen > uint64(d.space.Size()) {
			return nil, ErrChain
		}
		b, err := d.readHeader(at)
		if err != nil {
			return nil, err
		}
		if b.kind != 0 {
			d.blocks = append(d.blocks, b)
		}
		heads = append(heads, extent{uint64(at), uint64(at) + max(headerLen, b.kind.fixedLen())})
		next := d.space.Load32(at + Reg.Next.Offset)
		if next == 0 {
			return heads, nil
		}
		if next <= at { // strictly forward, so that the walk ends
			return nil, ErrChain
		}
		at = next
	}
	return nil, ErrChain
}

// readHeader reads the block at offset at and checks its geometry. A block to be skipped
// comes back without a kind.
func (d *Device) readHeader(at uint32) (block, error) {
	typ, version := d.space.Load32(at+Reg.Type.Offset), d.space.Load32(at+Reg.Version.Offset)
	b := block{kind: kind(typ), at: at}
	if typ>>16 != 0 || version>>24 != knownVersion || b.kind.fixedLen() == 0 {
		return block{}, nil
	}
	size := uint64(d.space.Size())
	if d.block(b.kind) != nil || uint64(at)+b.kind.fixedLen() > size || at%8 != 0 {
		return block{}, ErrChain
	}
	stride := b.kind.stride()
	if stride == 0 {
		return b, nil
	}
	geom := d.space.Load32(at + Reg.Geom.Offset)
	b.count, b.base = geom>>8, d.space.Load32(at+Reg.Base.Offset)
	array := b.array()
	if uint32(bits.TrailingZeros32(stride)) != geom&0xff || b.base%min(64, stride) != 0 || array.end > size ||
		slices.ContainsFunc(d.blocks, func(o block) bool { return o.array().meets(array) }) {
		return block{}, ErrChain
	}
	return b, nil
}

// fixedLen returns the bytes of a kind's block at the block's base, 0 for an unknown kind.
func (k kind) fixedLen() uint64 {
	switch k {
	case kindCapability:
		return 0x50
	case kindClock:
		return 0x30
	case kindContext, kindPDC, kindDoorbell, kindEvents, kindCounters:
		return headerLen
	}
	return 0
}

// block returns the block of a kind, or nil.
func (d *Device) block(k kind) *block {
	for i := range d.blocks {
		if d.blocks[i].kind == k {
			return &d.blocks[i]
		}
	}
	return nil
}

// Count returns the number of array elements that have a register, 0 without such a block.
func (d *Device) Count(r Register) int {
	if b := d.block(kind(r.Kind)); b != nil {
		return int(b.count)
	}
	return 0
}

// reg returns the offset of a register in a block present on every device.
func (d *Device) reg(r Register) uint32 { return d.block(kind(r.Kind)).at + r.Offset }

// Features returns the features offered by the device.
func (d *Device) Features() Feature { return Feature(d.space.Load64(d.reg(Reg.Features))) }

// Enabled returns the enabled features.
func (d *Device) Enabled() Feature { return d.on }

// Enable turns on exactly the features of want. The error is [ErrFeature] if the
// device refuses, or does not offer a feature; then nothing is on.
func (d *Device) Enable(want Feature) error {
	d.on = 0
	at := d.reg(Reg.FeaturesOn)
	if d.Features()&want != want {
		d.space.Store64(at, 0)
		return ErrFeature
	}
	d.space.Store64(at, uint64(want))
	if Feature(d.space.Load64(at)) != want {
		return ErrFeature
	}
	d.on = want
	return nil
}

// LineRate returns the port's rate in bits per second, at least 0.
func (d *Device) LineRate() int64 {
	return int64(min(d.space.Load64(d.reg(Reg.LineRate)), math.MaxInt64))
}

// MTU returns the largest packet in bytes.
func (d *Device) MTU() int64 { return int64(d.space.Load64(d.reg(Reg.Limits))>>48) * mtuUnit }

// mtuUnit is the unit of the MTU in LIMITS, bytes.
const mtuUnit = 64

// Status is the device's state.
type Status uint32

// Bits of a status.
const (
	StatusReady Status = 1 << 0
	StatusFault Status = 1 << 1
	StatusLink  Status = 1 << 2
)

// Status returns the device's state.
func (d *Device) Status() Status { return Status(d.space.Load32(d.reg(Reg.Status))) }

// Fault is the set of errors since the last clearing.
type Fault uint32

// Bits of a fault.
const (
	FaultDoorbell Fault = 1 << 0 // a doorbell named a context that does not exist
	FaultCommit   Fault = 1 << 1 // a commit's generation was not that of CTL, or there is no such mode
	FaultRing     Fault = 1 << 2 // a ring lies outside the host memory
)

// Faults returns the sticky fault bits, [Device.ClearFaults] clears the given bits.
func (d *Device) Faults() Fault { return Fault(d.space.Load32(d.reg(Reg.Fault))) }

// ClearFaults asks the device to clear the given bits at the next look. A call before the
// look replaces the last call.
func (d *Device) ClearFaults(f Fault) {
	at := d.reg(Reg.FaultClear)
	serial := d.space.Load32(at)>>16 + 1 // another value than the last time, which is all that a device sees
	d.space.Store32(at, uint32(f)&0xffff|serial<<16)
	d.space.Flush()
}

const resetMagic = 0x52535421 // "RST!"

// Reset asks the device to start afresh: no features, no contexts, all rings off. Earlier
// stores are lost with the rest: wait for [Device.ResetDone], then [Device.Enable] and
// program anew. Several calls before ResetDone ask for a single reset.
func (d *Device) Reset() {
	d.on = 0
	d.resets = d.space.Load32(d.reg(Reg.Resets))
	d.space.Store32(d.reg(Reg.Reset), resetMagic+d.resets)
	d.space.Flush()
}

// ResetDone reports whether the device has started afresh since the last [Device.Reset] and
// is ready. A dead device never does: wait with a time limit. Without a Reset before,
// ResetDone counts from [Open]: true then means the device died and restarted, or a second
// engine reset the device; features and contexts are lost all the same.
func (d *Device) ResetDone() bool {
	return d.space.Load32(d.reg(Reg.Resets)) != d.resets && d.Status()&StatusReady != 0
}

// Clock returns the device's clock.
func (d *Device) Clock() Clock {
	return Clock{
		space: d.space, now: d.reg(Reg.Now),
		tickPs:    max(d.space.Load32(d.reg(Reg.TickPs)), 1),
		stampBits: min(d.space.Load32(d.reg(Reg.StampBits)), 32), // an event holds no more of them
	}
}

// Counters of a device: never cleared, modulo 2^64. The counter block has them in this order.
type Counters struct {
	TXPackets, TXBytes uint64
	RXPackets, RXBytes uint64
	Marked             uint64
	NACKs              uint64
	CNPs               uint64
	EventsLost         uint64
	Doorbells          uint64
	StaleDoorbells     uint64 // an index not newer than the last
	StaleCredit        uint64 // a total of credit older than the last
	GenMismatch        uint64 // a doorbell or commit of another life of the context
	WindowBlockedNs    uint64 // summed over contexts
	CreditBlockedNs    uint64
	RateBlockedNs      uint64
}

// counters is the number of elements of the counter block.
const counters = uint32(unsafe.Sizeof(Counters{}) / 8)

// words are the counters in the order of the block.
func (c *Counters) words() *[counters]uint64 { return (*[counters]uint64)(unsafe.Pointer(c)) }

// Counters returns the device's counters, 0 where the device lacks a counter.
func (d *Device) Counters() (c Counters) {
	if b := d.block(kindCounters); b != nil {
		for i := range min(b.count, counters) {
			c.words()[i] = d.space.Load64(b.base + 8*i)
		}
	}
	return c
}
