// SPDX-License-Identifier: Apache-2.0

package hw

import "sync/atomic"

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
// reset the device. Errors: [ErrFeature], [ErrMissing], [ErrIndex], [ErrRing].
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
