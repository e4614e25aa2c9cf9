// SPDX-License-Identifier: Apache-2.0

package hw

import "github.com/uetcc/uetcc/internal/enum"

// Kind is the kind of a register block.
type Kind uint16

// Kinds of blocks. Every device has the first two, and more as needed. Unknown kinds
// are skipped.
const (
	KindCapability Kind = 0x0001
	KindClock      Kind = 0x0010
	KindContext    Kind = 0x0020 // array, stride 128: one for each congestion control context
	KindPDC        Kind = 0x0021 // array, stride 64
	KindDoorbell   Kind = 0x0030 // array, stride 4,096: one page for each owner
	KindEvents     Kind = 0x0040 // array, stride 64: one ring for each owner
	KindCounters   Kind = 0x0050 // array, stride 8
)

var kindNames = [...]string{
	KindCapability: "capability", KindClock: "clock", KindContext: "context", KindPDC: "pdc",
	KindDoorbell: "doorbell", KindEvents: "events", KindCounters: "counters",
}

// String returns a short name.
func (k Kind) String() string { return enum.Name(kindNames[:], k) }

// stride returns the distance of a kind's array elements, 0 for a single block.
func (k Kind) stride() uint32 {
	switch k {
	case KindContext:
		return 128
	case KindPDC, KindEvents:
		return 64
	case KindDoorbell:
		return 4096
	case KindCounters:
		return 8
	}
	return 0
}

// Feature is a set of things a device can do.
type Feature uint64

// Features. A feature absent from the device is done in software by the engine.
const (
	FeatureWindow   Feature = 1 << 0  // enforces CWND (NSCC)
	FeatureCredit   Feature = 1 << 1  // enforces CREDIT (RCCC)
	FeatureRate     Feature = 1 << 2  // paces
	FeatureTXStamp  Feature = 1 << 3  // stamps departures
	FeatureRXStamp  Feature = 1 << 4  // stamps arrivals
	FeatureService  Feature = 1 << 5  // inserts the service time
	FeatureProbe    Feature = 1 << 6  // sends and answers round-trip probes
	FeatureEvents   Feature = 1 << 8  // posts events to rings
	FeatureCoalesce Feature = 1 << 9  // merges events of one type
	FeatureRoom     Feature = 1 << 12 // tells how many doorbells it can take
	FeatureEntropy  Feature = 1 << 17 // takes the entropy value from the PDC block
	FeatureWide     Feature = 1 << 18 // registers can be accessed 64 bits at a time
)

// Registers of a block header, the start of every block.
var (
	// vendor[31:16], kind[15:0]; vendor 0 is this model
	RegType = Register{Name: "TYPE", Offset: 0x00, Width: 32}
	// major[31:24] minor[23:16]; an unknown major skips the block
	RegVersion = Register{Name: "VERSION", Offset: 0x04, Width: 32}
	// offset of the next block from the start of the space, 0 = end
	RegNext = Register{Name: "NEXT", Offset: 0x08, Width: 32}
	// elements[31:8], log2 of the stride[7:0]
	RegGeom = Register{Name: "GEOM", Offset: 0x0c, Width: 32}
	// offset of element 0 from the start of the space
	RegBase = Register{Name: "BASE", Offset: 0x10, Width: 32}
)

// Registers of the capability block.
var (
	RegDeviceID   = KindCapability.register("DEV_ID", 0x14, 32, RO, OrderNone)
	RegFeatures   = KindCapability.register("FEATURES", 0x18, 64, RO, OrderNone)
	RegFeaturesOn = KindCapability.register("FEATURES_ON", 0x20, 64, RW, OrderProgram)
	RegLineRate   = KindCapability.register("LINE_RATE", 0x28, 64, RO, OrderNone) // bits per second
	// log2 max window[7:0], log2 event ring[15:8], contexts[47:16], MTU[63:48] in 64 B
	RegLimits     = KindCapability.register("LIMITS", 0x30, 64, RO, OrderNone)
	RegReset      = KindCapability.register("RESET", 0x38, 32, WO, OrderFlush) // "RST!" + RESETS
	RegStatus     = KindCapability.register("STATUS", 0x3c, 32, RO, OrderAfter)
	RegFault      = KindCapability.register("FAULT", 0x40, 32, RO, OrderNone)
	RegFaultClear = KindCapability.register("FAULT_CLEAR", 0x44, 32, RW, OrderFlush) // faults[15:0], serial[31:16]
	RegResets     = KindCapability.register("RESETS", 0x48, 32, RO, OrderAfter)      // done so far, modulo 2^32
)

// Registers of the clock block.
var (
	RegNow       = KindClock.register("NOW", 0x18, 64, RO, OrderNone)        // ticks, never steps back
	RegTickPs    = KindClock.register("TICK_PS", 0x28, 32, RO, OrderNone)    // picoseconds of a tick
	RegStampBits = KindClock.register("STAMP_BITS", 0x2c, 32, RO, OrderNone) // width of stamps in events
)

// Registers of a congestion context: the engine's line, then the device's.
var (
	// enable[0], mode[3:1], gen[15:8], traffic class[23:16], serial[31:24]
	RegCtl  = KindContext.register("CTL", 0x00, 32, RW, OrderProgram)
	RegRate = KindContext.register("RATE", 0x04, 32, RW, OrderProgram).needs(FeatureRate)   // 2^20: line rate, 0: unpaced
	RegCwnd = KindContext.register("CWND", 0x08, 64, RW, OrderProgram).needs(FeatureWindow) // bytes
	// cumulative, 256 bytes
	RegCredit  = KindContext.register("CREDIT", 0x10, 64, RW, OrderProgram).needs(FeatureCredit)
	RegBacklog = KindContext.register("BACKLOG", 0x18, 64, RW, OrderNone).needs(FeatureCredit) // bytes waiting
	// bytes, depth of the token bucket
	RegBurst = KindContext.register("BURST", 0x20, 32, RW, OrderNone).needs(FeatureRate)
	// gen[7:0], serial[31:8], with the low bits of CTL; applies CTL, RATE, BURST
	RegCommit = KindContext.register("COMMIT", 0x24, 32, WO, OrderFlush)
	// the newest doorbell of the context
	RegRecord = KindContext.register("RECORD", 0x28, 64, RW, OrderBefore)
	// ready[0], blocked by window[1], credit[2], rate[3], gen[15:8]
	RegState  = KindContext.register("STATE", 0x40, 32, RO, OrderAfter)
	RegLastTX = KindContext.register("LAST_TX", 0x44, 32, RO, OrderNone).needs(FeatureTXStamp) // low ticks, departure
	RegSent   = KindContext.register("SENT", 0x48, 64, RO, OrderNone)                          // cumulative bytes
	RegAcked  = KindContext.register("ACKED", 0x50, 64, RO, OrderNone)                         // cumulative bytes
	// cumulative, 256 bytes
	RegCreditUsed = KindContext.register("CREDIT_USED", 0x58, 64, RO, OrderNone).needs(FeatureCredit)
)

// Registers of a packet delivery context.
var (
	// local id[15:0], remote id[31:16], context[47:32], gen[55:48], open[56], syn[57], ordered[58]
	RegBind    = KindPDC.register("BIND", 0x00, 64, RW, OrderProgram)
	RegPSNTX   = KindPDC.register("PSN_TX", 0x08, 32, RO, OrderNone)
	RegMPR     = KindPDC.register("MPR", 0x0c, 32, RW, OrderProgram) // packets allowed in flight
	RegCACK    = KindPDC.register("CACK", 0x10, 32, RO, OrderAfter)
	RegPSNRX   = KindPDC.register("PSN_RX", 0x14, 32, RO, OrderAfter)
	RegSACK    = KindPDC.register("SACK", 0x18, 64, RO, OrderAfter)
	RegEntropy = KindPDC.register("ENTROPY", 0x20, 32, RW, OrderNone).needs(FeatureEntropy)
	RegService = KindPDC.register("SERVICE", 0x24, 32, RO, OrderNone).needs(FeatureService) // ticks, low 16 bits
	// open[0], gen[15:8], sequence[31:16]: odd while CACK and SACK change
	RegPDC = KindPDC.register("PDC_STATE", 0x28, 32, RO, OrderAfter)
)

// Registers of a doorbell page and of an event ring.
var (
	RegRing = KindDoorbell.register("RING", 0x00, 64, WO, OrderFlush)
	// doorbells the device can take
	RegRoom     = KindDoorbell.register("ROOM", 0x08, 32, RO, OrderNone).needs(FeatureRoom)
	RegRingAddr = KindEvents.register("RING_ADDR", 0x00, 64, RW, OrderProgram)
	// enable[0], log2 of the entries[7:4], serial[15:8]
	RegRingCtl = KindEvents.register("RING_CTL", 0x08, 32, RW, OrderFlush)
	RegCons    = KindEvents.register("CONS", 0x0c, 32, RW, OrderProgram)
	// as of the device's last look around; the phase tells new entries
	RegProd = KindEvents.register("PROD", 0x10, 32, RO, OrderAfter)
	RegLost = KindEvents.register("LOST", 0x14, 32, RO, OrderNone)
	// the RING_CTL the device works with
	RegRingState = KindEvents.register("RING_STATE", 0x18, 32, RO, OrderAfter)
)

// RegCounter is an element of the counter block; see [Counter] for the index.
var RegCounter = KindCounters.register("COUNTER", 0x00, 64, RO, OrderNone)

// register describes a register of the block, or of each element of its array.
func (k Kind) register(name string, off uint32, width uint8, a Access, o Order) Register {
	return Register{Name: name, Kind: k, Offset: off, Width: width, Access: a, Order: o, Element: k.stride() > 0}
}

// needs returns the register, present only with a feature.
func (r Register) needs(f Feature) Register {
	r.Feature = f
	return r
}
