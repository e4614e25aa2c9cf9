// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/uetcc/uetcc/hw/pcc"
	"github.com/uetcc/uetcc/internal/check"
)

// SoftConfig describes a [SoftDevice].
type SoftConfig struct {
	Contexts int     // congestion contexts, 1..65,536
	PDCs     int     // packet delivery contexts, 0..65,536
	Owners   int     // doorbell pages and event rings, 1..64
	Features Feature // what it offers
	LineRate int64   // bits per second, 1 to 2^43
	MTU      int64   // bytes of every packet, a multiple of 64 up to 65,472
	TickPs   uint32  // tick of the clock; 0 is 128 ns
}

// SoftDevice is a NIC in software: acting on a register space shared with the engine,
// whenever the owner calls [SoftDevice.Step]. It may live in another goroutine or,
// over a shared mapping, in another process. All packets have the same MTU. All
// writes of the engine count as hostile. Single writer.
type SoftDevice struct {
	cfg      SoftConfig
	regs     *Memory
	host     *Memory
	at       layout
	contexts []softContext
	pdcs     []uint64 // binding last seen
	rings    []softRing
	pages    []uint64 // doorbell last seen
	counters Counters
	counted  [256]uint64 // events by type
	marks    [32]uint64  // of the events that are being posted
	fault    Fault
	cleared  uint32 // FAULT_CLEAR last seen
	resets   uint32
	now      int64 // of the last step, ns
	portFree int64 // when the port has sent its last packet
	portPart int64 // and a fraction of a nanosecond, in 1/LineRate
	turn     int   // context that is asked first
}

// layout holds where the blocks' arrays lie.
type layout struct{ contexts, pdcs, doorbells, rings, counters, end uint32 }

// The device's values of LIMITS and ROOM.
const (
	softWindowLog = 40 // 1 TiB
	softRoom      = 64 // doorbells: none waits longer than a step
)

// Offsets of the blocks' headers.
const (
	atCapability = 0x000
	atClock      = 0x080
	atContext    = 0x0c0
	atPDC        = 0x0e0
	atDoorbell   = 0x100
	atEvents     = 0x120
	atCounters   = 0x140
	atArrays     = 0x180
)

func (c *SoftConfig) validate() error {
	err := cmp.Or(
		check.Range(ErrConfig, "Contexts", c.Contexts, 1, 1<<16),
		check.Range(ErrConfig, "PDCs", c.PDCs, 0, 1<<16),
		check.Range(ErrConfig, "Owners", c.Owners, 1, 64),
		check.Range(ErrConfig, "LineRate", c.LineRate, 1, 1<<43),
		check.Range(ErrConfig, "MTU", c.MTU, mtuUnit, 1023*mtuUnit),
	)
	if err == nil && c.MTU%mtuUnit != 0 {
		err = fmt.Errorf("%w: MTU is %d, want a multiple of %d", ErrConfig, c.MTU, mtuUnit)
	}
	return err
}

func (c *SoftConfig) layout() (l layout, err error) {
	if err := c.validate(); err != nil {
		return l, err
	}
	l.contexts = atArrays
	l.pdcs = l.contexts + uint32(c.Contexts)*kindContext.stride()
	l.rings = l.pdcs + uint32(c.PDCs)*kindPDC.stride()
	l.counters = l.rings + uint32(c.Owners)*kindEvents.stride()
	l.doorbells = (l.counters + counters*8 + 4095) &^ 4095
	l.end = l.doorbells + uint32(c.Owners)*kindDoorbell.stride()
	return l, nil
}

// SpaceSize returns the bytes of register space the device needs, 0 if the
// configuration is out of range.
func (c SoftConfig) SpaceSize() uint32 {
	l, err := c.layout()
	if err != nil {
		return 0
	}
	return l.end
}

// NewSoftDevice lays the device's blocks out in regs, cleared first, and reports
// ready. Event rings lie in host. An engine that drove an earlier device in regs sees
// the new device as the old after a reset. Errors wrap [ErrConfig].
func NewSoftDevice(cfg SoftConfig, regs, host *Memory) (*SoftDevice, error) {
	l, err := cfg.layout()
	if err != nil {
		return nil, err
	}
	if regs.Size() < l.end {
		return nil, fmt.Errorf("%w: regs has %d bytes, want %d", ErrConfig, regs.Size(), l.end)
	}
	cfg.TickPs = cmp.Or(cfg.TickPs, uetTickPs)
	d := &SoftDevice{
		cfg: cfg, regs: regs, host: host, at: l,
		contexts: make([]softContext, cfg.Contexts), pdcs: make([]uint64, cfg.PDCs),
		rings: make([]softRing, cfg.Owners), pages: make([]uint64, cfg.Owners),
	}
	d.assignRings()
	d.resets = regs.Load32(Reg.Resets.Offset) + 1
	for off := uint32(0); off < l.end; off += 8 {
		regs.Store64(off, 0)
	}
	d.describe()
	d.start()
	return d, nil
}

// describe stores the constants: the chain of blocks, and the device's features.
func (d *SoftDevice) describe() {
	cfg, l, regs := &d.cfg, &d.at, d.regs
	d.header(atCapability, kindCapability, atClock, 0, 0)
	d.header(atClock, kindClock, atContext, 0, 0)
	d.header(atContext, kindContext, atPDC, uint32(cfg.Contexts), l.contexts)
	d.header(atPDC, kindPDC, atDoorbell, uint32(cfg.PDCs), l.pdcs)
	d.header(atDoorbell, kindDoorbell, atEvents, uint32(cfg.Owners), l.doorbells)
	d.header(atEvents, kindEvents, atCounters, uint32(cfg.Owners), l.rings)
	d.header(atCounters, kindCounters, 0, counters, l.counters)
	regs.Store64(Reg.Features.Offset, uint64(cfg.Features))
	regs.Store64(Reg.LineRate.Offset, uint64(cfg.LineRate))
	regs.Store64(Reg.Limits.Offset, softWindowLog|maxRingLog<<8|uint64(cfg.Contexts)<<16|uint64(cfg.MTU/mtuUnit)<<48)
	regs.Store32(atClock+Reg.TickPs.Offset, cfg.TickPs)
	regs.Store32(atClock+Reg.StampBits.Offset, 32)
	for i := range cfg.Owners {
		regs.Store32(l.doorbells+uint32(i)*kindDoorbell.stride()+Reg.Room.Offset, softRoom)
	}
}

func (d *SoftDevice) header(at uint32, k kind, next, count, base uint32) {
	d.regs.Store32(at+Reg.Type.Offset, uint32(k))
	d.regs.Store32(at+Reg.Version.Offset, knownVersion<<24)
	d.regs.Store32(at+Reg.Next.Offset, next)
	if k.stride() > 0 {
		d.regs.Store32(at+Reg.Geom.Offset, count<<8|uint32(bits.TrailingZeros32(k.stride())))
		d.regs.Store32(at+Reg.Base.Offset, base)
	}
}

// Step takes the engine's stores since the last step and sends the packets allowed by
// time now (nanoseconds). A device not stepped is dead: the clock stands still.
func (d *SoftDevice) Step(now int64) {
	now = max(now, d.now) // the clock never steps back
	d.regs.Store64(atClock+Reg.Now.Offset, nsToTicks(now, d.cfg.TickPs))
	if d.regs.Load32(Reg.Reset.Offset) == resetMagic+d.resets { // or it is done
		d.reset()
	}
	d.takeFaultClear()
	d.takePages()
	for i := range d.rings {
		d.takeRing(i)
	}
	for i := range d.contexts {
		d.takeContext(i, now)
	}
	for i := range d.pdcs {
		d.takePDC(i)
	}
	d.transmit(now)
	for i := range d.contexts {
		d.publish(i, now)
	}
	for i := range d.rings {
		d.regs.Store32(d.ringAt(i)+Reg.Prod.Offset, d.rings[i].prod)
	}
	d.publishFaults()
	d.counters.NACKs = d.counted[pcc.EventNACK] + d.counted[EventTrimNACK]
	d.counters.CNPs = d.counted[pcc.EventCNP]
	d.counters.RXPackets = d.counted[EventACKCC]
	for i, v := range d.counters.words() {
		d.regs.Store64(d.at.counters+uint32(i)*8, v)
	}
	d.now = now
}

// reset forgets all contexts and rings; cumulative counters go on. Seen doorbells are
// not forgotten, or the last of each page would ring again.
func (d *SoftDevice) reset() {
	d.regs.Store32(Reg.Status.Offset, uint32(StatusLink))
	clear(d.contexts)
	d.assignRings()
	clear(d.rings)
	clear(d.pdcs)
	for off := d.at.contexts; off < d.at.counters; off += 8 {
		d.regs.Store64(off, 0)
	}
	d.regs.Store64(Reg.FeaturesOn.Offset, 0)
	d.resets++
	d.start()
}

// start tells the engine the device is ready, with nothing of the last life.
func (d *SoftDevice) start() {
	d.regs.Store32(Reg.Resets.Offset, d.resets)
	d.regs.Store32(Reg.Status.Offset, uint32(StatusReady|StatusLink))
}

func (d *SoftDevice) assignRings() {
	for i := range d.contexts {
		d.contexts[i].ring = uint8(i % len(d.rings))
	}
}

func (d *SoftDevice) takeFaultClear() {
	if v := d.regs.Load32(Reg.FaultClear.Offset); v != d.cleared {
		d.cleared = v
		d.fault &^= Fault(v & 0xffff)
	}
}

func (d *SoftDevice) publishFaults() {
	status := StatusReady | StatusLink
	if d.fault != 0 {
		status |= StatusFault
	}
	d.regs.Store32(Reg.Fault.Offset, uint32(d.fault))
	d.regs.Store32(Reg.Status.Offset, uint32(status))
}

// takePages looks at the doorbell pages. A doorbell only says where to look: the
// context's record has the index.
func (d *SoftDevice) takePages() {
	for i := range d.pages {
		w := d.regs.Load64(d.at.doorbells + uint32(i)*kindDoorbell.stride() + Reg.Ring.Offset)
		if w == d.pages[i] {
			continue
		}
		d.pages[i] = w
		d.counters.Doorbells++
		context := uint32(w >> 32)
		if uint64(context) >= uint64(len(d.contexts)) {
			d.fault |= FaultDoorbell
			continue
		}
		if c := &d.contexts[context]; uint8(w>>24) != c.gen {
			d.counters.GenMismatch++
		} else if w>>16&15 == opProbe {
			c.probe = true
		}
	}
}

// takePDC acts on a change of a PDC's binding.
func (d *SoftDevice) takePDC(i int) {
	base := d.at.pdcs + uint32(i)*kindPDC.stride()
	w := d.regs.Load64(base + Reg.Bind.Offset)
	if w == d.pdcs[i] {
		return
	}
	d.pdcs[i] = w
	b := bindingOf(w)
	state := uint32(b.Generation) << 8
	if b.Open {
		state |= 1
	}
	seq := d.regs.Load32(base+Reg.PDC.Offset) &^ 0xffff
	d.regs.Store32(base+Reg.PDC.Offset, seq|state)
}

// Received sets the acknowledgements of PDC i: a cumulative PSN and the bitmap above.
func (d *SoftDevice) Received(i int, cack uint32, sack uint64) {
	base := d.at.pdcs + uint32(i)*kindPDC.stride()
	state := d.regs.Load32(base + Reg.PDC.Offset)
	d.regs.Store32(base+Reg.PDC.Offset, state+1<<16)
	d.regs.Store32(base+Reg.CACK.Offset, cack)
	d.regs.Store64(base+Reg.SACK.Offset, sack)
	d.regs.Store32(base+Reg.PDC.Offset, state+2<<16)
}
