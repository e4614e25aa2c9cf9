// SPDX-License-Identifier: Apache-2.0

package hw

// kind is the kind of a register block.
type kind uint16

// Kinds of blocks. Every device has the first two, and more as needed. Unknown kinds
// are skipped.
const (
	kindCapability kind = 0x0001
	kindClock      kind = 0x0010
	kindContext    kind = 0x0020 // array, stride 128: one for each congestion control context
	kindPDC        kind = 0x0021 // array, stride 64
	kindDoorbell   kind = 0x0030 // array, stride 4,096: one page for each owner
	kindEvents     kind = 0x0040 // array, stride 64: one ring for each owner
	kindCounters   kind = 0x0050 // array, stride 8
)

// stride returns the distance of a kind's array elements, 0 for a single block.
func (k kind) stride() uint32 {
	switch k {
	case kindContext:
		return 128
	case kindPDC, kindEvents:
		return 64
	case kindDoorbell:
		return 4096
	case kindCounters:
		return 8
	}
	return 0
}

// Feature is a set of things a device can do.
type Feature uint64

// Features. A feature absent from the device is done in software by the engine.
const (
	FeatureWindow  Feature = 1 << 0  // enforces CWND (NSCC)
	FeatureCredit  Feature = 1 << 1  // enforces CREDIT (RCCC)
	FeatureRate    Feature = 1 << 2  // paces
	FeatureTXStamp Feature = 1 << 3  // stamps departures
	FeatureService Feature = 1 << 5  // inserts the service time
	FeatureEvents  Feature = 1 << 8  // posts events to rings
	FeatureRoom    Feature = 1 << 12 // tells how many doorbells it can take
	FeatureEntropy Feature = 1 << 17 // takes the entropy value from the PDC block
)

// registers is the map of the registers. The bits of a register are counted from 0.
type registers struct {
	// Registers of a block header, the start of every block.
	Type    Register // vendor[31:16], kind[15:0]; vendor 0 is this model
	Version Register // major[31:24] minor[23:16]; an unknown major skips the block
	Next    Register // offset of the next block from the start of the space, 0 = end
	Geom    Register // elements[31:8], log2 of the stride[7:0]
	Base    Register // offset of element 0 from the start of the space

	// Registers of the capability block.
	DeviceID   Register
	Features   Register
	FeaturesOn Register
	LineRate   Register // bits per second
	Limits     Register // log2 max window[7:0], log2 event ring[15:8], contexts[47:16], MTU[63:48] in 64 B
	Reset      Register // "RST!" + RESETS
	Status     Register
	Fault      Register
	FaultClear Register // faults[15:0], serial[31:16]
	Resets     Register // done so far, modulo 2^32

	// Registers of the clock block.
	Now       Register // ticks, never steps back
	TickPs    Register // picoseconds of a tick
	StampBits Register // width of stamps in events

	// Registers of a congestion context: the engine's line, then the device's.
	Ctl        Register // enable[0], mode[3:1], gen[15:8], traffic class[23:16], serial[31:24]
	Rate       Register // 2^20: line rate, 0: unpaced
	Cwnd       Register // bytes
	Credit     Register // cumulative, 256 bytes
	Backlog    Register // bytes waiting
	Burst      Register // bytes, depth of the token bucket
	Commit     Register // gen[7:0], serial[31:8], with the low bits of CTL; applies CTL, RATE, BURST
	Record     Register // the newest doorbell of the context
	State      Register // ready[0], blocked by window[1], credit[2], rate[3], gen[15:8]
	LastTX     Register // low ticks, departure
	Sent       Register // cumulative bytes
	Acked      Register // cumulative bytes
	CreditUsed Register // cumulative, 256 bytes

	// Registers of a packet delivery context.
	Bind    Register // local id[15:0], remote id[31:16], context[47:32], gen[55:48], open[56], syn[57], ordered[58]
	PSNTX   Register
	MPR     Register // packets allowed in flight
	CACK    Register
	PSNRX   Register
	SACK    Register
	Entropy Register
	Service Register // ticks, low 16 bits
	PDC     Register // open[0], gen[15:8], sequence[31:16]: odd while CACK and SACK change

	// Registers of a doorbell page and of an event ring.
	Ring      Register
	Room      Register // doorbells the device can take
	RingAddr  Register
	RingCtl   Register // enable[0], log2 of the entries[7:4], serial[15:8]
	Cons      Register
	Prod      Register // as of the device's last look around; the phase tells new entries
	Lost      Register
	RingState Register // the RING_CTL the device works with

	Counter Register // element of the counter block, in the order of [Counters]
}

// Reg has the registers of all blocks, in the order of the blocks.
var Reg = registers{
	// the header, the start of every block
	Type:    Register{Name: "TYPE", Offset: 0x00, Width: 32},
	Version: Register{Name: "VERSION", Offset: 0x04, Width: 32},
	Next:    Register{Name: "NEXT", Offset: 0x08, Width: 32},
	Geom:    Register{Name: "GEOM", Offset: 0x0c, Width: 32},
	Base:    Register{Name: "BASE", Offset: 0x10, Width: 32},

	// the capability block
	DeviceID:   kindCapability.register("DEV_ID", 0x14, 32, ro, orderNone),
	Features:   kindCapability.register("FEATURES", 0x18, 64, ro, orderNone),
	FeaturesOn: kindCapability.register("FEATURES_ON", 0x20, 64, rw, orderProgram),
	LineRate:   kindCapability.register("LINE_RATE", 0x28, 64, ro, orderNone),
	Limits:     kindCapability.register("LIMITS", 0x30, 64, ro, orderNone),
	Reset:      kindCapability.register("RESET", 0x38, 32, wo, orderFlush),
	Status:     kindCapability.register("STATUS", 0x3c, 32, ro, orderAfter),
	Fault:      kindCapability.register("FAULT", 0x40, 32, ro, orderNone),
	FaultClear: kindCapability.register("FAULT_CLEAR", 0x44, 32, rw, orderFlush),
	Resets:     kindCapability.register("RESETS", 0x48, 32, ro, orderAfter),

	// the clock block
	Now:       kindClock.register("NOW", 0x18, 64, ro, orderNone),
	TickPs:    kindClock.register("TICK_PS", 0x28, 32, ro, orderNone),
	StampBits: kindClock.register("STAMP_BITS", 0x2c, 32, ro, orderNone),

	// a congestion context: the engine's line, then the device's
	Ctl:        kindContext.register("CTL", 0x00, 32, rw, orderProgram),
	Rate:       kindContext.register("RATE", 0x04, 32, rw, orderProgram).needs(FeatureRate),
	Cwnd:       kindContext.register("CWND", 0x08, 64, rw, orderProgram).needs(FeatureWindow),
	Credit:     kindContext.register("CREDIT", 0x10, 64, rw, orderProgram).needs(FeatureCredit),
	Backlog:    kindContext.register("BACKLOG", 0x18, 64, rw, orderNone).needs(FeatureCredit),
	Burst:      kindContext.register("BURST", 0x20, 32, rw, orderNone).needs(FeatureRate),
	Commit:     kindContext.register("COMMIT", 0x24, 32, wo, orderFlush),
	Record:     kindContext.register("RECORD", 0x28, 64, rw, orderBefore),
	State:      kindContext.register("STATE", 0x40, 32, ro, orderAfter),
	LastTX:     kindContext.register("LAST_TX", 0x44, 32, ro, orderNone).needs(FeatureTXStamp),
	Sent:       kindContext.register("SENT", 0x48, 64, ro, orderNone),
	Acked:      kindContext.register("ACKED", 0x50, 64, ro, orderNone),
	CreditUsed: kindContext.register("CREDIT_USED", 0x58, 64, ro, orderNone).needs(FeatureCredit),

	// a packet delivery context
	Bind:    kindPDC.register("BIND", 0x00, 64, rw, orderProgram),
	PSNTX:   kindPDC.register("PSN_TX", 0x08, 32, ro, orderNone),
	MPR:     kindPDC.register("MPR", 0x0c, 32, rw, orderProgram),
	CACK:    kindPDC.register("CACK", 0x10, 32, ro, orderAfter),
	PSNRX:   kindPDC.register("PSN_RX", 0x14, 32, ro, orderAfter),
	SACK:    kindPDC.register("SACK", 0x18, 64, ro, orderAfter),
	Entropy: kindPDC.register("ENTROPY", 0x20, 32, rw, orderNone).needs(FeatureEntropy),
	Service: kindPDC.register("SERVICE", 0x24, 32, ro, orderNone).needs(FeatureService),
	PDC:     kindPDC.register("PDC_STATE", 0x28, 32, ro, orderAfter),

	// a doorbell page and of an event ring
	Ring:      kindDoorbell.register("RING", 0x00, 64, wo, orderFlush),
	Room:      kindDoorbell.register("ROOM", 0x08, 32, ro, orderNone).needs(FeatureRoom),
	RingAddr:  kindEvents.register("RING_ADDR", 0x00, 64, rw, orderProgram),
	RingCtl:   kindEvents.register("RING_CTL", 0x08, 32, rw, orderFlush),
	Cons:      kindEvents.register("CONS", 0x0c, 32, rw, orderProgram),
	Prod:      kindEvents.register("PROD", 0x10, 32, ro, orderAfter),
	Lost:      kindEvents.register("LOST", 0x14, 32, ro, orderNone),
	RingState: kindEvents.register("RING_STATE", 0x18, 32, ro, orderAfter),

	Counter: kindCounters.register("COUNTER", 0x00, 64, ro, orderNone),
}

// register describes a register of the block, or of each element of its array.
func (k kind) register(name string, off uint32, width uint8, a access, o order) Register {
	return Register{Name: name, Kind: uint16(k), Offset: off, Width: width, Element: k.stride() > 0, access: a, order: o}
}

// needs returns the register, present only with a feature.
func (r Register) needs(f Feature) Register {
	r.Feature = f
	return r
}

// access names the permitted accesses to a register.
type access uint8

// Kinds of access, seen from the engine.
const (
	ro access = iota // device writes, engine loads
	rw               // engine writes and loads
	wo               // engine writes; a load returns 0
)

// order is the ordering of a register's store or load against further accesses.
// [Device.Store] and the typed blocks provide the order of stores; see the recipes in
// the package comment.
type order uint8

// Order classes.
const (
	orderNone    order = iota
	orderProgram       // program order with other registers of the device is enough
	orderBefore        // payload in host memory must be visible before: [Space.Flush] first
	orderFlush         // must reach the device at once: [Space.Flush] after
	orderAfter         // a load that later loads of host memory depend on
)

// Register describes one register of a block.
type Register struct {
	Name    string
	Kind    uint16  // of the block, as in TYPE
	Offset  uint32  // from the block's base, or from its array element
	Width   uint8   // bits: 32 or 64
	Feature Feature // 0: always there
	Element bool    // lies in each element of the block's array

	access access
	order  order
}

// Load returns the value of a register; index names the array element, if it
// lies in one. A register that is write-only, or whose feature is off, reads as
// 0. For tools and tests: the typed blocks are faster. The error is [ErrIndex].
func (d *Device) Load(r Register, index int) (uint64, error) {
	off, err := d.offset(r, index)
	if err != nil || r.access == wo || d.on&r.Feature != r.Feature {
		return 0, err
	}
	if r.Width == 32 {
		return uint64(d.space.Load32(off)), nil
	}
	return d.space.Load64(off), nil
}

// Store writes a register. A store to a register whose feature is off changes nothing.
// Errors: [ErrIndex], and [ErrAccess] for a read-only register.
func (d *Device) Store(r Register, index int, v uint64) error {
	off, err := d.offset(r, index)
	switch {
	case err != nil:
		return err
	case r.access == ro:
		return ErrAccess
	case d.on&r.Feature != r.Feature:
		return nil
	}
	if r.order == orderBefore {
		d.space.Flush()
	}
	if r.Width == 32 {
		d.space.Store32(off, uint32(v))
	} else {
		d.space.Store64(off, v)
	}
	if r.order == orderFlush {
		d.space.Flush()
	}
	return nil
}

// offset returns where a register lies.
func (d *Device) offset(r Register, index int) (uint32, error) {
	b := d.block(kind(r.Kind))
	if b == nil {
		return 0, ErrIndex
	}
	if !r.Element {
		return b.at + r.Offset, nil
	}
	return b.element(index, r.Offset)
}
