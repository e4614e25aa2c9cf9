package hw

// softRing is a software device's end of an event ring.
type softRing struct {
	ctl  uint32
	addr uint32
	log2 uint32
	prod uint32
	lost uint32
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
		r.addr, r.log2 = uint32(addr), log2
	}
	d.regs.Store32(base+RegProd.Offset, 0)
	d.regs.Store32(base+RegLost.Offset, 0)
}

// Post delivers an event of a context to its ring, which is the context's number
// modulo the number of rings, with the context's generation, the time and a
// serial number. If the ring is full or off the event is lost, and the context's
// next event says so.
func (d *SoftDevice) Post(e Event) {
	c := &d.contexts[e.Context]
	i := int(e.Context) % len(d.rings)
	r, base := &d.rings[i], d.at.rings+uint32(i)*KindEvents.stride()
	d.count(e.Type)
	if r.log2 == 0 || r.prod-d.regs.Load32(base+RegCons.Offset) >= 1<<r.log2 {
		c.lost = true
		r.lost++
		d.counters[CounterEventsLost]++
		d.regs.Store32(base+RegLost.Offset, r.lost)
		return
	}
	e.Generation, e.Serial = c.gen, c.serial
	c.serial++
	if e.Stamp == 0 {
		e.Stamp = uint32(d.regs.Load64(atClock + RegNow.Offset))
	}
	if c.lost {
		e.Flags |= FlagLost
		c.lost = false
	}
	e.put(d.host, r.addr+r.prod&(1<<r.log2-1)*entryLen, uint64(^r.prod>>r.log2&1))
	r.prod++
	d.regs.Store32(base+RegProd.Offset, r.prod)
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
