package hw

import "sync/atomic"

// softRing is a software device's end of an event ring.
type softRing struct {
	ctl     uint32
	prod    uint32
	cons    uint32 // as last read
	lost    uint32
	entries []entry // none while it is off
	at      int     // of the next one
	phase   uint64  // of this lap
}

// takeRing acts on a change of ring i's control word.
func (d *SoftDevice) takeRing(i int) {
	r, base := &d.rings[i], d.ringAt(i)
	ctl := d.regs.Load32(base + RegRingCtl.Offset)
	if ctl == r.ctl {
		return
	}
	*r = softRing{ctl: ctl}
	addr := d.regs.Load64(base + RegRingAddr.Offset)
	log2 := ctl >> 4 & 15
	if ctl&1 != 0 {
		if log2 < 4 || addr%4096 != 0 || addr > 1<<32-4096 || addr+entryLen<<log2 > uint64(d.host.Size()) {
			d.fault |= FaultRing // off until the control word changes
			return
		}
		r.entries, r.phase = d.host.entries(uint32(addr), 1<<log2), phaseBit
	}
	d.regs.Store32(base+RegLost.Offset, 0)
}

// ringAt is where the registers of ring i lie.
func (d *SoftDevice) ringAt(i int) uint32 { return d.at.rings + uint32(i)*KindEvents.stride() }

// Post delivers events of contexts to their rings, with the generation of the
// context, the time and a serial number. The ring is the context's number modulo the
// number of rings; the engine sees consecutive events of one ring at once. If the
// ring is full or off an event is lost, and the context's next event says so.
func (d *SoftDevice) Post(events ...Event) {
	for i := range events {
		d.counted[events[i].Type]++
	}
	for len(events) > 0 {
		i := d.contexts[events[0].Context].ring
		n := d.put(i, events)
		if n == 0 {
			d.lose(i, &events[0])
			n = 1
		}
		events = events[n:]
	}
}

// put gives ring i the events before the first one of another ring, as many as it has
// room for, and returns their number.
func (d *SoftDevice) put(i uint8, events []Event) int {
	r := &d.rings[i]
	events = events[:min(d.room(i, len(events)), len(events))]
	if len(events) == 0 {
		return 0
	}
	f := filler{d.contexts, i, uint32(d.regs.Load64(atClock + RegNow.Offset))}
	first, last := &r.entries[r.at], events[0].last()|r.phase
	n := f.fill(r.entries[r.at:], events, r.phase, 1)
	if r.at += n; r.at == len(r.entries) {
		r.phase ^= phaseBit
		r.at = f.fill(r.entries, events[n:], r.phase, 0)
		n += r.at
	}
	r.prod += uint32(n)
	atomic.StoreUint64(&first[3], last)
	return n
}

// A filler turns events of a ring into entries.
type filler struct {
	contexts []softContext
	ring     uint8
	now      uint32 // for events without a stamp
}

// fill returns how many of the events it wrote: as many as there are entries, and none
// behind one of another ring. The entries before from lack their last word.
func (f *filler) fill(to []entry, events []Event, phase uint64, from int) int {
	to = to[:min(len(to), len(events))]
	contexts, now := f.contexts, f.now
	for k := range to {
		e, w := &events[k], &to[k]
		c := &contexts[e.Context]
		if c.ring != f.ring {
			return k
		}
		stamp := e.Stamp
		if stamp == 0 {
			stamp = now
		}
		w[0] = e.head(c.flags, c.gen)
		w[1] = uint64(stamp) | uint64(c.serial)<<32
		w[2] = uint64(e.Words[0]) | uint64(e.Words[1])<<32
		if k >= from {
			w[3] = e.last() | phase
		}
		c.serial++
		c.flags = 0
	}
	return len(to)
}

// room returns how many entries are free, and looks how far the engine is only where
// what is known is not enough for n.
func (d *SoftDevice) room(i uint8, n int) int {
	r := &d.rings[i]
	if free := r.free(); n <= free {
		return free
	}
	r.cons = d.regs.Load32(d.ringAt(int(i)) + RegCons.Offset)
	return r.free()
}

// free is how many entries are, 0 after an engine that claims more than it was given.
func (r *softRing) free() int {
	used, size := r.prod-r.cons, uint32(len(r.entries))
	return int(size - min(used, size))
}

func (d *SoftDevice) lose(i uint8, e *Event) {
	d.contexts[e.Context].flags = FlagLost
	r := &d.rings[i]
	r.lost++
	d.counters[CounterEventsLost]++
	d.regs.Store32(d.ringAt(int(i))+RegLost.Offset, r.lost)
}
