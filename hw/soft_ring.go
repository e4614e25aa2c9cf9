package hw

import "sync/atomic"

// softRing is a software device's end of an event ring.
type softRing struct {
	ctl   uint32
	log2  uint32
	words []uint64 // of its entries
	prod  uint32
	cons  uint32 // as last read
	lost  uint32
}

// takeRing acts on a change of ring i's control word.
func (d *SoftDevice) takeRing(i int) {
	r, base := &d.rings[i], d.at.rings+uint32(i)*KindEvents.stride()
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
		r.words, r.log2 = d.host.words[addr/8:][:entryWords<<log2], log2
	}
	d.regs.Store32(base+RegProd.Offset, 0)
	d.regs.Store32(base+RegLost.Offset, 0)
}

// Post delivers events of contexts to their rings, with the generation of the
// context, the time and a serial number. The ring is the context's number modulo the
// number of rings; the engine sees consecutive events of one ring at once. If the
// ring is full or off an event is lost, and the context's next event says so.
func (d *SoftDevice) Post(events ...Event) {
	for len(events) > 0 {
		i, n := d.ringOf(&events[0]), 1
		for n < len(events) && d.ringOf(&events[n]) == i {
			n++
		}
		d.post(i, events[:n])
		events = events[n:]
	}
}

func (d *SoftDevice) ringOf(e *Event) int { return int(e.Context) % len(d.rings) }

// post delivers to ring i.
func (d *SoftDevice) post(i int, events []Event) {
	r, base := &d.rings[i], d.at.rings+uint32(i)*KindEvents.stride()
	now := uint32(d.regs.Load64(atClock + RegNow.Offset))
	var first *uint64
	var held uint64
	for k := range events {
		e := &events[k]
		c := &d.contexts[e.Context]
		d.count(e.Type)
		if r.prod-r.cons >= uint32(len(r.words)/entryWords) && !r.hasRoom(d.regs, base) {
			d.lose(r, base, c)
			continue
		}
		w := entryAt(r.words, r.prod)
		last := c.put(w, e, now)
		last |= uint64(^r.prod>>r.log2&1) << phaseShift
		if first == nil {
			first, held = &w[3], last
		} else {
			w[3] = last
		}
		r.prod++
	}
	if first != nil {
		atomic.StoreUint64(first, held)
		d.regs.Store32(base+RegProd.Offset, r.prod)
	}
}

// put writes an event of the context to an entry, with what the device knows, all but
// the word that has the phase, which it returns without it.
func (c *softContext) put(w *[entryWords]uint64, e *Event, now uint32) uint64 {
	flags, stamp := e.Flags, e.Stamp
	if c.lost {
		flags |= FlagLost
		c.lost = false
	}
	if stamp == 0 {
		stamp = now
	}
	w[0] = uint64(e.Type) | uint64(e.Subtype)<<8 | uint64(flags)<<16 | uint64(c.gen)<<24 | uint64(e.Context)<<32
	w[1] = uint64(stamp) | uint64(c.serial)<<32
	w[2] = uint64(e.Words[0]) | uint64(e.Words[1])<<32
	c.serial++
	return uint64(e.Words[2]) | uint64(e.Coalesced)<<32 | uint64(e.Port)<<48
}

// hasRoom looks how far the engine is. A ring that is off has none.
func (r *softRing) hasRoom(regs *Memory, base uint32) bool {
	if r.words == nil {
		return false
	}
	r.cons = regs.Load32(base + RegCons.Offset)
	return r.prod-r.cons < 1<<r.log2
}

func (d *SoftDevice) lose(r *softRing, base uint32, c *softContext) {
	c.lost = true
	r.lost++
	d.counters[CounterEventsLost]++
	d.regs.Store32(base+RegLost.Offset, r.lost)
}

func (d *SoftDevice) count(t EventType) {
	switch t {
	case EventNACK, EventTrimNACK:
		d.counters[CounterNACKs]++
	case EventCNP:
		d.counters[CounterCNPs]++
	case EventACKCC:
		d.counters[CounterRXPackets]++
	}
}
