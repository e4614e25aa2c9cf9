// SPDX-License-Identifier: Apache-2.0

// Package switchq models the queue in front of one egress port of a switch:
// three classes, ECN marking, packet trimming, tail drop, the two sides of
// priority flow control, and the choice of an uplink by entropy.
//
// The model has no event loop: packets go in by [Queue.Enqueue] and come
// out by [Queue.Dequeue] whenever the caller's clock says so. A [Queue] knows
// sizes and code points, never contents.
//
// Source: UE Specification 1.0.3 sections 3.6.4.4 and 3.6.17; marking and coin as in
// htsim's composite queue.
package switchq

import (
	"math/bits"
	"math/rand/v2"

	"github.com/uetcc/uetcc/internal/enum"
)

// A Queue is the state of one egress port: single writer. The zero Queue is
// empty and ready. A queue allocates only while growing to the peak.
//
// A queue has 216 bytes, and packets of TC_low touch only the last 88. With 40 bytes of a
// port's state behind the queue, TC_low touches only the last two cache lines.
type Queue struct {
	dropped           int64
	cut, droppedBytes int64
	marked, trimmed   int64
	credit            int64 // 1/65,536 bytes that TC_med may send ahead of waiting TC_low
	med               lane
	high              lane
	out, outBytes     int64
	ahead             uint32 // packets of med and high
	low               lane
	in, inBytes       int64
	peakLow           int64
}

// lane is the lane of class c.
func (q *Queue) lane(c Class) *lane {
	switch c {
	case ClassLow:
		return &q.low
	case ClassMed:
		return &q.med
	default:
		return &q.high
	}
}

// Counters of a queue since creation. In packets unless the name says bytes.
// At any time
//
//	InBytes = OutBytes + queued + CutBytes + DroppedBytes
//	In      = Out + queued + Dropped
type Counters struct {
	In, Out           int64
	InBytes, OutBytes int64
	PeakLow           int64 // most bytes of TC_low ever waiting

	Marked, Trimmed, Dropped int64
	CutBytes, DroppedBytes   int64
}

// Verdict is the result of [Queue.Enqueue].
type Verdict uint8

// The verdicts.
const (
	Queued  Verdict = iota // the packet is in the queue, unchanged
	Trimmed                // one packet lost the payload and waits in TC_med
	Dropped                // one packet is gone
)

// String names the verdict.
func (v Verdict) String() string { return enum.Name([]string{"queued", "trimmed", "dropped"}, v) }

// Counters is a copy of the queue's counters.
func (q *Queue) Counters() Counters {
	return Counters{
		In: q.in, Out: q.out, InBytes: q.inBytes, OutBytes: q.outBytes, PeakLow: q.peakLow,
		Marked: q.marked, Trimmed: q.trimmed, Dropped: q.dropped, CutBytes: q.cut, DroppedBytes: q.droppedBytes,
	}
}

// Bytes is the number of waiting bytes in class c.
func (q *Queue) Bytes(c Class) int64 { return q.lane(c).bytes }

// Len is the number of waiting packets of all classes.
func (q *Queue) Len() int { return int(q.low.n) + int(q.ahead) }

// Oldest is the handle of the packet that has waited longest in the highest class, as a
// rule the next to leave, or false for an empty queue.
func (q *Queue) Oldest() (id uint32, ok bool) {
	switch {
	case q.ahead == 0:
		return q.low.oldest()
	case q.high.n > 0:
		return q.high.oldest()
	default:
		return q.med.oldest()
	}
}

// Touch reads the place of the next packet of class c, so the wait for memory overlaps
// with other work. The result is meaningless: it keeps the compiler from dropping the
// read.
func (q *Queue) Touch(c Class) uint64 {
	l := q.lane(c)
	if len(l.buf) == 0 {
		return 0
	}
	return uint64(l.buf[(l.head+l.n)&uint32(len(l.buf)-1)])
}

// Imbalance is the distance from the conservation laws of [Counters];
// anything but 0, 0 is a bug in this package.
func (q *Queue) Imbalance() (packets, bytes int64) {
	waiting := int64(q.low.n) + int64(q.med.n) + int64(q.high.n)
	return q.in - q.out - waiting - q.dropped,
		q.inBytes - q.outBytes - q.low.bytes - q.med.bytes - q.high.bytes - q.cut - q.droppedBytes
}

// Enqueue offers pkt to the queue. On [Dropped] the dropped packet has the handle lost:
// with Coin not necessarily the arriving packet. rnd is used only for the coin
// and otherwise may be nil.
//
//uetcc:hot
func (q *Queue) Enqueue(p *Params, pkt Packet, rnd rand.Source) (v Verdict, lost uint32) {
	size := int64(pkt.Size)
	q.in++
	q.inBytes += size
	switch pkt.DSCP.Class() {
	case ClassLow:
		if q.low.bytes+size > p.c.LowLimit {
			return q.overflow(p, pkt, rnd)
		}
		q.low.push(pkt)
		q.peakLow = max(q.peakLow, q.low.bytes)
	case ClassMed:
		if q.med.bytes+size > p.c.MedLimit {
			return q.drop(pkt)
		}
		q.med.push(pkt)
		q.ahead++
	default:
		if q.high.bytes+size > p.c.HighLimit {
			return q.drop(pkt)
		}
		q.high.push(pkt)
		q.ahead++
	}
	return Queued, 0
}

// overflow chooses the victim between pkt and the newest waiting packet and
// trims or drops it.
//
//uetcc:hot
func (q *Queue) overflow(p *Params, pkt Packet, rnd rand.Source) (Verdict, uint32) {
	low := &q.low
	if p.c.Coin && low.n > 0 && rnd.Uint64()>>63 != 0 {
		last := low.newest().packet()
		if left := low.bytes - int64(last.Size) + int64(pkt.Size); left <= p.c.LowLimit {
			low.bytes = left
			q.peakLow = max(q.peakLow, left)
			*low.newest(), pkt = entryOf(pkt), last
		}
	}
	if !p.c.Trim || !pkt.DSCP.trimmable() {
		return q.drop(pkt)
	}
	return q.trim(p, pkt)
}

//uetcc:hot
func (q *Queue) trim(p *Params, pkt Packet) (Verdict, uint32) {
	left := min(pkt.Size, p.c.HeaderBytes)
	q.cut += int64(pkt.Size - left)
	pkt.Size = left
	pkt.DSCP = DSCPTrimmed
	if p.c.LastHop {
		pkt.DSCP = DSCPTrimmedLastHop
	}
	if q.med.bytes+int64(left) > p.c.MedLimit {
		return q.drop(pkt)
	}
	q.trimmed++
	q.med.push(pkt)
	q.ahead++
	return Trimmed, 0
}

func (q *Queue) drop(pkt Packet) (Verdict, uint32) {
	q.dropped++
	q.droppedBytes += int64(pkt.Size)
	return Dropped, pkt.ID
}

// Dequeue takes the next packet: TC_high first, then TC_med within
// its share, then TC_low; classes in paused stay. Dequeue reports false when nothing may
// leave. A packet of TC_low is marked here, by the bytes waiting behind the packet. rnd
// is used only between the two ECN thresholds.
//
//uetcc:hot
func (q *Queue) Dequeue(p *Params, paused ClassSet, rnd rand.Source) (Packet, bool) {
	low := q.low.n > 0 && !paused.Has(ClassLow)
	if q.ahead > 0 {
		switch {
		case q.high.n > 0 && !paused.Has(ClassHigh):
			q.ahead--
			return q.left(q.high.pop()), true
		case q.med.n > 0 && !paused.Has(ClassMed) && (!low || q.credit > 0 || p.medPerLow < 0):
			q.ahead--
			pkt := q.left(q.med.pop())
			if low {
				q.credit -= int64(pkt.Size) << 16
			}
			return pkt, true
		}
	}
	if !low {
		return Packet{}, false
	}
	pkt := q.left(q.low.pop())
	earned := p.medPerLow * int64(pkt.Size)
	q.credit = min(q.credit+earned, earned)
	pkt.CE = q.marks(p, rnd) || pkt.CE
	return pkt, true
}

// left counts a packet out.
//
//uetcc:hot inlines
func (q *Queue) left(pkt Packet) Packet {
	q.out++
	q.outBytes += int64(pkt.Size)
	return pkt
}

// marks decides on CE by the bytes left: not up to the minimum, always above
// the maximum, in between with a probability that rises in proportion.
//
//uetcc:hot
func (q *Queue) marks(p *Params, rnd rand.Source) bool {
	left := q.low.bytes
	if left <= p.c.ECNMin || p.c.NoECN {
		return false
	}
	if left <= p.c.ECNMax {
		draw, _ := bits.Mul64(rnd.Uint64(), uint64(p.c.ECNMax-p.c.ECNMin))
		if int64(draw) >= left-p.c.ECNMin {
			return false
		}
	}
	q.marked++
	return true
}

// An entry is a [Packet] in one word, so eight lie in a cache line: 32 bits of ID, 23
// of size, CE and 8 of DSCP.
type entry uint64

func entryOf(p Packet) entry {
	e := entry(p.ID)<<32 | entry(p.Size&(1<<23-1))<<9 | entry(p.DSCP)
	if p.CE {
		e |= 1 << 8
	}
	return e
}

func (e entry) packet() Packet {
	return Packet{ID: uint32(e >> 32), Size: int32(e >> 9 & (1<<23 - 1)), DSCP: DSCP(e), CE: e>>8&1 != 0}
}

// A lane holds the waiting packets of one class: a ring doubling when full and never
// shrinking, so a queue past the peak does not allocate.
type lane struct {
	head  uint32  // counts packets taken; index head & (len-1)
	n     uint32  // packets held
	bytes int64   // their sizes
	buf   []entry // length a power of two, or 0
}

func (l *lane) push(p Packet) {
	if int(l.n) == len(l.buf) {
		l.grow()
	}
	l.buf[(l.head+l.n)&uint32(len(l.buf)-1)] = entryOf(p)
	l.n++
	l.bytes += int64(p.Size)
}

// pop takes the oldest packet; the lane must not be empty.
//
//uetcc:hot inlines
func (l *lane) pop() Packet {
	p := l.buf[l.head&uint32(len(l.buf)-1)].packet()
	l.head++
	if l.n--; l.n == 0 {
		l.head = 0 // an empty queue keeps to the first line of the buffer
	}
	l.bytes -= int64(p.Size)
	return p
}

func (l *lane) oldest() (id uint32, ok bool) {
	if l.n == 0 {
		return 0, false
	}
	return l.buf[l.head&uint32(len(l.buf)-1)].packet().ID, true
}

// newest is the packet pushed last; the lane must not be empty.
func (l *lane) newest() *entry {
	return &l.buf[(l.head+l.n-1)&uint32(len(l.buf)-1)]
}

func (l *lane) grow() {
	buf := make([]entry, max(8, 2*len(l.buf)))
	for i := range l.n {
		buf[i] = l.buf[(l.head+i)&uint32(len(l.buf)-1)]
	}
	l.buf, l.head = buf, 0
}
