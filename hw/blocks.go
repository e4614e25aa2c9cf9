package hw

import "github.com/uetcc/uetcc/internal/enum"

// Kind is the kind of a register block.
type Kind uint16

// Kinds of blocks. Every device has the first two, and others if it needs
// them. Unknown kinds are skipped.
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

// stride returns the distance of a kind's array elements, 0 if it has none.
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

// Feature is a set of things that a device can do.
type Feature uint64

// Features. The engine does in software what a device does not offer.
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

// Registers of a block header, which starts every block.
var (
	RegType    = Register{Name: "TYPE", Offset: 0x00, Width: 32}    // vendor[31:16], kind[15:0]; vendor 0 is this model
	RegVersion = Register{Name: "VERSION", Offset: 0x04, Width: 32} // major[31:24] minor[23:16]; an unknown major skips the block
	RegNext    = Register{Name: "NEXT", Offset: 0x08, Width: 32}    // offset of the next block from the start of the space, 0 = end
	RegGeom    = Register{Name: "GEOM", Offset: 0x0c, Width: 32}    // elements[31:8], log2 of the stride[7:0]
	RegBase    = Register{Name: "BASE", Offset: 0x10, Width: 32}    // offset of element 0 from the start of the space
)

// Registers of the capability block.
var (
	RegDeviceID   = Register{Name: "DEV_ID", Kind: KindCapability, Offset: 0x14, Width: 32}
	RegFeatures   = Register{Name: "FEATURES", Kind: KindCapability, Offset: 0x18, Width: 64}
	RegFeaturesOn = Register{Name: "FEATURES_ON", Kind: KindCapability, Offset: 0x20, Width: 64, Access: RW, Order: OrderProgram}
	RegLineRate   = Register{Name: "LINE_RATE", Kind: KindCapability, Offset: 0x28, Width: 64}                            // bits per second
	RegLimits     = Register{Name: "LIMITS", Kind: KindCapability, Offset: 0x30, Width: 64}                               // log2 max window[7:0], log2 event ring[15:8], contexts[47:16], MTU[63:48] in 64 B
	RegReset      = Register{Name: "RESET", Kind: KindCapability, Offset: 0x38, Width: 32, Access: WO, Order: OrderFlush} // "RST!" + RESETS
	RegStatus     = Register{Name: "STATUS", Kind: KindCapability, Offset: 0x3c, Width: 32, Order: OrderAfter}
	RegFault      = Register{Name: "FAULT", Kind: KindCapability, Offset: 0x40, Width: 32}
	RegFaultClear = Register{Name: "FAULT_CLEAR", Kind: KindCapability, Offset: 0x44, Width: 32, Access: RW, Order: OrderFlush} // faults[15:0], serial[31:16]
	RegResets     = Register{Name: "RESETS", Kind: KindCapability, Offset: 0x48, Width: 32, Order: OrderAfter}                  // done so far, modulo 2^32
)

// Registers of the clock block.
var (
	RegNow       = Register{Name: "NOW", Kind: KindClock, Offset: 0x18, Width: 64}        // ticks, never steps back
	RegTickPs    = Register{Name: "TICK_PS", Kind: KindClock, Offset: 0x28, Width: 32}    // picoseconds of a tick
	RegStampBits = Register{Name: "STAMP_BITS", Kind: KindClock, Offset: 0x2c, Width: 32} // width of stamps in events
)

// Registers of a congestion context: the engine's line, then the device's.
var (
	RegCtl        = element(KindContext, "CTL", 0x00, 32, RW, OrderProgram)                           // enable[0], mode[3:1], gen[15:8], traffic class[23:16], serial[31:24]
	RegRate       = element(KindContext, "RATE", 0x04, 32, RW, OrderProgram).needs(FeatureRate)       // 2^20 is the line rate, 0 unpaced
	RegCwnd       = element(KindContext, "CWND", 0x08, 64, RW, OrderProgram).needs(FeatureWindow)     // bytes
	RegCredit     = element(KindContext, "CREDIT", 0x10, 64, RW, OrderProgram).needs(FeatureCredit)   // cumulative, 256 bytes
	RegBacklog    = element(KindContext, "BACKLOG", 0x18, 64, RW, OrderNone).needs(FeatureCredit)     // bytes waiting
	RegBurst      = element(KindContext, "BURST", 0x20, 32, RW, OrderNone).needs(FeatureRate)         // bytes, depth of the token bucket
	RegCommit     = element(KindContext, "COMMIT", 0x24, 32, WO, OrderFlush)                          // gen[7:0], serial[31:8], whose low bits are those of CTL; applies CTL, RATE, BURST
	RegRecord     = element(KindContext, "RECORD", 0x28, 64, RW, OrderBefore)                         // the newest doorbell of this context
	RegState      = element(KindContext, "STATE", 0x40, 32, RO, OrderAfter)                           // ready[0], blocked by window[1], credit[2], rate[3], gen[15:8]
	RegLastTX     = element(KindContext, "LAST_TX", 0x44, 32, RO, OrderNone).needs(FeatureTXStamp)    // low ticks of the last departure
	RegSent       = element(KindContext, "SENT", 0x48, 64, RO, OrderNone)                             // cumulative bytes
	RegAcked      = element(KindContext, "ACKED", 0x50, 64, RO, OrderNone)                            // cumulative bytes
	RegCreditUsed = element(KindContext, "CREDIT_USED", 0x58, 64, RO, OrderNone).needs(FeatureCredit) // cumulative, 256 bytes
)

// Registers of a packet delivery context.
var (
	RegBind    = element(KindPDC, "BIND", 0x00, 64, RW, OrderProgram) // local id[15:0], remote id[31:16], context[47:32], gen[55:48], open[56], syn[57], ordered[58]
	RegPSNTX   = element(KindPDC, "PSN_TX", 0x08, 32, RO, OrderNone)
	RegMPR     = element(KindPDC, "MPR", 0x0c, 32, RW, OrderProgram) // packets allowed in flight
	RegCACK    = element(KindPDC, "CACK", 0x10, 32, RO, OrderAfter)
	RegPSNRX   = element(KindPDC, "PSN_RX", 0x14, 32, RO, OrderAfter)
	RegSACK    = element(KindPDC, "SACK", 0x18, 64, RO, OrderAfter)
	RegEntropy = element(KindPDC, "ENTROPY", 0x20, 32, RW, OrderNone).needs(FeatureEntropy)
	RegService = element(KindPDC, "SERVICE", 0x24, 32, RO, OrderNone).needs(FeatureService) // ticks, low 16 bits
	RegPDC     = element(KindPDC, "PDC_STATE", 0x28, 32, RO, OrderAfter)                    // open[0], gen[15:8], sequence[31:16]: odd while CACK and SACK change
)

// Registers of a doorbell page and of an event ring.
var (
	RegRing      = element(KindDoorbell, "RING", 0x00, 64, WO, OrderFlush)
	RegRoom      = element(KindDoorbell, "ROOM", 0x08, 32, RO, OrderNone).needs(FeatureRoom) // doorbells that the device can take
	RegRingAddr  = element(KindEvents, "RING_ADDR", 0x00, 64, RW, OrderProgram)
	RegRingCtl   = element(KindEvents, "RING_CTL", 0x08, 32, RW, OrderFlush) // enable[0], log2 of the entries[7:4], serial[15:8]
	RegCons      = element(KindEvents, "CONS", 0x0c, 32, RW, OrderProgram)
	RegProd      = element(KindEvents, "PROD", 0x10, 32, RO, OrderAfter) // as of the device's last look around; the phase says what is new
	RegLost      = element(KindEvents, "LOST", 0x14, 32, RO, OrderNone)
	RegRingState = element(KindEvents, "RING_STATE", 0x18, 32, RO, OrderAfter) // the RING_CTL that the device works with
)

// RegCounter is an element of the counter block; see [Counter] for the index.
var RegCounter = element(KindCounters, "COUNTER", 0x00, 64, RO, OrderNone)

func element(k Kind, name string, off uint32, width uint8, a Access, o Order) Register {
	return Register{Name: name, Kind: k, Offset: off, Width: width, Access: a, Order: o, Element: true}
}

// needs returns the register as one that is there only with a feature.
func (r Register) needs(f Feature) Register {
	r.Feature = f
	return r
}
