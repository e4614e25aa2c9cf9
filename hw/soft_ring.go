// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/prefetch"
)

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
	ctl := d.regs.Load32(base + Reg.RingCtl.Offset)
	if ctl == r.ctl {
		return
	}
	*r = softRing{ctl: ctl, lost: r.lost}
	d.regs.Store32(base+Reg.RingState.Offset, ctl)
	if ctl&1 == 0 {
		return
	}
	r.lost = 0
	d.regs.Store32(base+Reg.Lost.Offset, 0)
	addr := d.regs.Load64(base + Reg.RingAddr.Offset)
	log2 := ctl >> 4 & 15
	if log2 < minRingLog || addr%4096 != 0 || addr > 1<<32-4096 || addr+entryLen<<log2 > uint64(d.host.Size()) {
		d.fault |= FaultRing // off until the control word changes
		return
	}
	r.entries, r.phase = d.host.entries(uint32(addr), 1<<log2), phaseBit
}

// ringAt is where the registers of ring i lie.
func (d *SoftDevice) ringAt(i int) uint32 { return d.at.rings + uint32(i)*kindEvents.stride() }

// Post delivers events of contexts to their rings, with the generation of the
// context, the time and a serial number. The ring is the context's number modulo the
// number of rings; the engine sees consecutive events of the same ring at once. If the
// ring is full or off an event is lost, and the context's next event says so.
//
//uetcc:hot
func (d *SoftDevice) Post(events ...Event) {
	d.count(events)
	for len(events) > 0 {
		i := d.contexts[events[0].Context].ring
		n := d.put(i, events[:min(d.room(i, len(events)), len(events))])
		if n == 0 {
			d.lose(i, &events[0])
			n = 1
		}
		events = events[n:]
	}
}

// put writes the events before the first event of another ring to ring i, with room for
// all, and returns the number.
//
// put computes the marks first, and then only stores entries. Stores leave a core in order,
// and a store to a line read by the engine waits until the line is back, so any store
// between would wait too.
func (d *SoftDevice) put(i uint8, events []Event) (n int) {
	if len(events) == 0 {
		return 0
	}
	r, now := &d.rings[i], uint32(d.regs.Load64(atClock+Reg.Now.Offset))
	first, last := &r.entries[r.at], events[0].last()|r.phase
	for n < len(events) {
		part := events[n:min(n+len(d.marks), n+len(r.entries)-r.at, len(events))]
		if d.contexts[part[len(part)-1].Context].ring == i { // so will those before it be
			prefetch.Own(r.entries[r.at : r.at+len(part)])
		}
		k := d.mark(i, part)
		r.fill(part[:k], &d.marks, now, n == 0)
		if n += k; k < len(part) {
			break
		}
	}
	atomic.StoreUint64(&first[3], last)
	return n
}

// mark makes the marks of the events before the first event of a ring other than i, and
// returns the number. A mark is the device's part of an event: flags and generation in the
// lower half, as in word 0, the serial number in the upper half.
//
//uetcc:hot
func (d *SoftDevice) mark(i uint8, events []Event) (n int) {
	for n < len(events) {
		context := events[n].Context
		c := &d.contexts[context]
		if c.ring != i {
			break
		}
		m := uint64(c.flags)<<16 | uint64(c.gen)<<24 | uint64(c.serial)<<32
		for ; n < len(events) && events[n].Context == context; n++ {
			d.marks[n&(len(d.marks)-1)] = m
			m = m&^(0xff<<16) + 1<<32
		}
		c.serial, c.flags = uint32(m>>32), 0
	}
	return n
}

// fill writes events to the next entries, without wrapping around the end of the ring. At
// the start of a batch fill leaves out the first entry's last word, stored by put after all
// entries. The order is backwards because the engine polls the first entry: written first,
// the entry's line would go back to the engine before the remaining writes.
//
//uetcc:hot
func (r *softRing) fill(events []Event, marks *[32]uint64, now uint32, begins bool) {
	to := r.entries[r.at:]
	to = to[:min(len(to), len(events), len(marks))]
	for k := len(to) - 1; k >= 0; k-- {
		e, w, m := &events[k], &to[k], marks[k]
		stamp := e.Stamp
		if stamp == 0 {
			stamp = now
		}
		w[0] = e.head() | m&0xffff_ffff
		w[1] = uint64(stamp) | m>>32<<32
		w[2] = uint64(e.Words[0]) | uint64(e.Words[1])<<32
		if k > 0 || !begins {
			w[3] = e.last() | r.phase
		}
	}
	r.prod += uint32(len(to))
	if r.at += len(to); r.at == len(r.entries) {
		r.at, r.phase = 0, r.phase^phaseBit
	}
}

// room returns the number of free entries. The engine's count is read only if fewer than n
// are known to be free.
func (d *SoftDevice) room(i uint8, n int) int {
	r := &d.rings[i]
	if free := r.free(); n <= free {
		return free
	}
	r.cons = d.regs.Load32(d.ringAt(int(i)) + Reg.Cons.Offset)
	return r.free()
}

// free returns the number of entries known to be free, 0 if the engine claims to have given
// back more than received.
func (r *softRing) free() int {
	used, size := r.prod-r.cons, uint32(len(r.entries))
	return int(size - min(used, size))
}

func (d *SoftDevice) lose(i uint8, e *Event) {
	d.contexts[e.Context].flags = FlagLost
	r := &d.rings[i]
	r.lost++
	d.counters.EventsLost++
	d.regs.Store32(d.ringAt(int(i))+Reg.Lost.Offset, r.lost)
}

// count counts events by type, a run of the same type at once.
func (d *SoftDevice) count(events []Event) {
	for n := 0; n < len(events); {
		from, t := n, events[n].Type
		for n++; n < len(events) && events[n].Type == t; n++ {
		}
		d.counted[t] += uint64(n - from)
	}
}
