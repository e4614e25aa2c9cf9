// Package switchq models the queue in front of one egress port of a switch:
// three classes, ECN marking, packet trimming, tail drop, the two sides of
// priority flow control, and the choice of an uplink by entropy.
//
// It is a model without an event loop: packets go in by [Queue.Enqueue] and come
// out by [Queue.Dequeue] whenever the caller's clock says so. A [Queue] knows
// sizes and code points, never contents.
//
// Source: UE Specification 1.0.3 sections 3.6.4.4 and 3.6.17; the marking and
// the coin are those of htsim's composite queue.
package switchq

import (
	"math/bits"
	"math/rand/v2"
)

// A Queue is the state of one egress port: single writer. The zero Queue is
// empty and ready. It allocates only while it grows to its peak.
type Queue struct {
	rings  [numClasses]ring
	bytes  [numClasses]int64
	credit int64 // 1/256 bytes that TC_med may send ahead of waiting TC_low
	count  Counters
	_      [48]byte // a slab of queues has each on four lines of its own
}

// Counters of a queue since it was made. In packets unless the name says bytes.
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

// Verdict is what [Queue.Enqueue] did.
type Verdict uint8

// The verdicts.
const (
	Queued  Verdict = iota // all is in the queue as it was
	Trimmed                // one packet lost its payload and waits in TC_med
	Dropped                // one packet is gone
)

// String names the verdict.
func (v Verdict) String() string { return name(v, "queued", "trimmed", "dropped") }

// Counters is a copy of the queue's counters.
func (q *Queue) Counters() Counters { return q.count }

// Bytes waiting in class c.
func (q *Queue) Bytes(c Class) int64 { return q.bytes[c] }

// Len is how many packets wait, over all classes.
func (q *Queue) Len() int {
	return int(q.rings[ClassLow].n + q.rings[ClassMed].n + q.rings[ClassHigh].n)
}

// Imbalance is how far the queue is from the conservation laws of [Counters];
// anything but 0, 0 is a bug in this package.
func (q *Queue) Imbalance() (packets, bytes int64) {
	c := &q.count
	queued := q.bytes[ClassLow] + q.bytes[ClassMed] + q.bytes[ClassHigh]
	return c.In - c.Out - int64(q.Len()) - c.Dropped,
		c.InBytes - c.OutBytes - queued - c.CutBytes - c.DroppedBytes
}

// Enqueue offers pkt to the queue. On [Dropped] the packet that is gone has the
// handle lost: with [VictimCoin] it need not be the one that arrived. rnd is
// used only for the coin and may be nil without it.
func (q *Queue) Enqueue(p *Params, pkt Packet, rnd rand.Source) (v Verdict, lost uint32) {
	q.count.In++
	q.count.InBytes += int64(pkt.Size)
	switch c := pkt.DSCP.Class(); {
	case c == ClassLow && q.bytes[ClassLow]+int64(pkt.Size) > p.c.LowLimit:
		return q.overflow(p, pkt, rnd)
	case c == ClassMed && q.bytes[ClassMed]+int64(pkt.Size) > p.c.MedLimit,
		c == ClassHigh && q.bytes[ClassHigh]+int64(pkt.Size) > p.c.HighLimit:
		return q.drop(pkt)
	default:
		q.push(c, pkt)
		return Queued, 0
	}
}

// overflow chooses the victim between pkt and the newest waiting packet and
// trims or drops it.
func (q *Queue) overflow(p *Params, pkt Packet, rnd rand.Source) (Verdict, uint32) {
	low := &q.rings[ClassLow]
	if p.c.Victim == VictimCoin && low.n > 0 && rnd.Uint64()>>63 != 0 {
		last := low.newest()
		if q.bytes[ClassLow]-int64(last.Size)+int64(pkt.Size) <= p.c.LowLimit {
			q.bytes[ClassLow] += int64(pkt.Size) - int64(last.Size)
			q.count.PeakLow = max(q.count.PeakLow, q.bytes[ClassLow])
			*last, pkt = pkt, *last
		}
	}
	if !p.c.Trim || !pkt.DSCP.Trimmable() {
		return q.drop(pkt)
	}
	return q.trim(p, pkt)
}

func (q *Queue) trim(p *Params, pkt Packet) (Verdict, uint32) {
	left := min(pkt.Size, p.c.HeaderBytes)
	q.count.CutBytes += int64(pkt.Size - left)
	pkt.Size = left
	pkt.DSCP = DSCPTrimmed
	if p.c.LastHop {
		pkt.DSCP = DSCPTrimmedLastHop
	}
	if q.bytes[ClassMed]+int64(left) > p.c.MedLimit {
		return q.drop(pkt)
	}
	q.count.Trimmed++
	q.push(ClassMed, pkt)
	return Trimmed, 0
}

func (q *Queue) drop(pkt Packet) (Verdict, uint32) {
	q.count.Dropped++
	q.count.DroppedBytes += int64(pkt.Size)
	return Dropped, pkt.ID
}

func (q *Queue) push(c Class, pkt Packet) {
	q.rings[c].push(pkt)
	q.bytes[c] += int64(pkt.Size)
	if c == ClassLow {
		q.count.PeakLow = max(q.count.PeakLow, q.bytes[ClassLow])
	}
}

// Dequeue takes the packet that leaves next: TC_high first, then TC_med within
// its share, then TC_low; classes in paused stay. It reports false when nothing
// may leave. A packet of TC_low is marked here, by what waits behind it.
// rnd is used only between the two ECN thresholds.
func (q *Queue) Dequeue(p *Params, paused ClassSet, rnd rand.Source) (Packet, bool) {
	low := q.rings[ClassLow].n > 0 && !paused.Has(ClassLow)
	switch {
	case q.rings[ClassHigh].n > 0 && !paused.Has(ClassHigh):
		return q.take(ClassHigh), true
	case q.rings[ClassMed].n > 0 && !paused.Has(ClassMed) && (!low || q.credit > 0 || p.medPerLow < 0):
		pkt := q.take(ClassMed)
		if low {
			q.credit -= 256 * int64(pkt.Size)
		}
		return pkt, true
	case low:
		pkt := q.take(ClassLow)
		earned := p.medPerLow * int64(pkt.Size)
		q.credit = min(q.credit+earned, earned)
		q.mark(p, &pkt, rnd)
		return pkt, true
	default:
		return Packet{}, false
	}
}

func (q *Queue) take(c Class) Packet {
	pkt := q.rings[c].pop()
	q.bytes[c] -= int64(pkt.Size)
	q.count.Out++
	q.count.OutBytes += int64(pkt.Size)
	return pkt
}

// mark sets CE by the bytes that are left: not up to the minimum, always above
// the maximum, in between with a probability that rises in proportion.
func (q *Queue) mark(p *Params, pkt *Packet, rnd rand.Source) {
	left := q.bytes[ClassLow]
	if left <= p.c.ECNMin || p.c.NoECN {
		return
	}
	if left <= p.c.ECNMax {
		draw, _ := bits.Mul64(rnd.Uint64(), uint64(p.c.ECNMax-p.c.ECNMin))
		if int64(draw) >= left-p.c.ECNMin {
			return
		}
	}
	pkt.CE = true
	q.count.Marked++
}
