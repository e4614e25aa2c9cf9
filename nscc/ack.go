// SPDX-License-Identifier: Apache-2.0

package nscc

import (
	"math"

	"github.com/uetcc/uetcc/internal/enum"
)

// SampleKind is the permitted use of an [Ack]'s round trip. Only the htsim
// profiles tell the kinds apart.
type SampleKind uint8

// The kinds of samples.
const (
	SampleNormal   SampleKind = iota // may lower the base round trip
	SampleKeepBase                   // htsim: delay only
	SampleProbe                      // htsim: answer to a probe
)

var sampleNames = [...]string{"normal", "keep-base", "probe"}

// String is normal, keep-base or probe.
func (k SampleKind) String() string { return enum.Name(sampleNames[:], k) }

// Ack is the news of one acknowledgement. Build RTT with [RTT] and Bytes with
// [RcvdTracker.Advance]. With ProfileSpec an acknowledgement without a sample moves the
// window only by a penalty or the penalty's end, so sample retransmitted packets too, where
// the echo of the retransmit flag can be for the last transmission only (Karn's rule, UE
// Specification 1.0.x section 3.6.10): the first with the echo clear, the second with the echo set.
//
// A packet is ambiguous through copies that may still be answered. A copy refused by a NACK
// is gone: when each copy counted, a window whose packets had been
// trimmed twice got no samples and stayed at one packet a round trip, in staggered incasts at
// 800 Gb/s for up to 12 times the completion time. A packet timed out twice still gives no
// sample, since the living copies are unknown: a window brought down to one packet by
// time-outs stays there for a round trip for each such packet at the front, 63 at worst.
// htsim, and ProfileHTSim with it, goes by the average delay instead.
type Ack struct {
	Bytes   int64 // newly received, from rcvd_bytes; may be 0
	RTT     int64 // sample, ticks; <= 0: no valid one
	ECN     bool  // pds.flags.m
	Restore bool  // rc: flow control at the destination is over
	Pend    uint8 // rcv_cwnd_pend, 0 to 127; the eighth bit is ignored
	Kind    SampleKind
}

// A PlainAck is an [Ack] with only newly received bytes, a round trip and a mark. The zero
// value has none.
type PlainAck struct{ signal }

// A signal is an Ack in the window's form. The mark is a number, since the compiler would
// branch on a bool, and marks cannot be predicted.
type signal struct {
	bytes, rtt int64
	bits       ackBits
}

// ackBits packs the small fields of an Ack. Mark and verdict of [Window.held] are at
// quadrantOf's bits; rare fields lie above usual.
type ackBits uint64

const (
	markBit    ackBits = quadHold
	heldBit    ackBits = quadHeld
	restoreBit ackBits = usual
	pendShift          = 40
	kindShift          = 48
)

func (b ackBits) marked() bool { return b&markBit != 0 }
func (b ackBits) pend() int64  { return int64(b >> pendShift & pendMask) }

// markBits is the mark as a number.
func markBits(marked bool) (b ackBits) {
	if marked {
		b = 1
	}
	return b * markBit
}

// MakePlainAck returns an acknowledgement with the given fields of an [Ack].
//
//uetcc:hot inlines nobounds
func MakePlainAck(bytes, rtt int64, ecn bool) PlainAck {
	return PlainAck{signal{bytes, rtt, markBits(ecn)}}
}

// Bytes returns the newly received bytes.
func (a PlainAck) Bytes() int64 { return a.bytes }

// ECN reports whether there is a mark.
func (a PlainAck) ECN() bool { return a.bits.marked() }

// Marks is the number of marks, 0 or 1.
//
//uetcc:hot inlines nobounds
func (a PlainAck) Marks() uint64 { return uint64(a.bits / markBit) }

// Ack returns a as an [Ack].
func (a PlainAck) Ack() Ack { return Ack{Bytes: a.bytes, RTT: a.rtt, ECN: a.ECN()} }

// OnACK takes in an acknowledgement that arrived at now. UE Specification 1.0.x,
// section 3.6.13: counters, penalty, base round trip, delay average, quick adapt,
// a step of four cases, application of the accumulated increase.
//
//uetcc:hot nobounds
func (w *Window) OnACK(p *Params, now int64, a Ack) {
	s := signal{a.Bytes, a.RTT, markBits(a.ECN) | ackBits(a.Pend&pendMask)<<pendShift | ackBits(a.Kind)<<kindShift}
	if a.Restore {
		s.bits |= restoreBit
	}
	w.onACK(p, now, s)
}

// OnPlainACK is [Window.OnACK] of a plain acknowledgement, handed over in registers.
//
//uetcc:hot inlines nobounds
func (w *Window) OnPlainACK(p *Params, now int64, a PlainAck) { w.onACK(p, now, a.signal) }

// onACK is OnACK. Every branch is either rarely taken or predictable, changing no faster than
// the path does; the differences between the four cases come from the table.
//
//uetcc:hot nobounds
func (w *Window) onACK(p *Params, now int64, s signal) {
	s.rtt -= w.base
	if uint64(s.bytes|s.rtt)|uint64(s.bits) >= p.usual {
		var ok bool
		if s, ok = w.unusual(p, now, s); !ok {
			return
		}
	}
	n, q := s.bytes, s.rtt
	w.count(n)
	w.qdelay = q
	d := &p.quadrants[quadrantOf(s.bits, q, p.target)]
	avg := w.average(p, d.sample(q, w.base>>2))
	if w.ignored < uint64(w.ignore) && d.marked {
		w.skip()
		return
	}
	if now >= w.qaEnd && !p.qaOff {
		cut := (w.trigger || q > p.qaThreshold) && w.quickAdapt(p)
		w.openPeriod(p, now)
		if cut {
			return
		}
	}
	w.outcome = d.outcome
	cwnd, incr := float64(w.cwnd), w.incr
	switch run := w.streak(d, n, q); {
	case run > w.cwnd && d.countMask != 0:
		cwnd = w.fastIncrease(p, n)
	case avg > p.targetAvg && now-w.lastDec > w.base && d.action == ActionConsidered:
		cwnd = w.decrease(p, now)
	default:
		slack := float64(p.target - q)
		incr += float64(float64(n) * (float64(d.slope*slack) + d.level))
	}
	w.fulfil(p, now, cwnd, incr)
}

// count takes n acknowledged bytes out of flight and into the counters.
//
//uetcc:hot inlines nobounds
func (w *Window) count(n int64) {
	w.ignored += uint64(n)
	w.achieved += n
	w.received += n
	w.inflight -= n
	if w.inflight < 0 {
		w.inflight = max(w.inflight, inflightMin)
	}
}

// did notes the effect of an event.
func (w *Window) did(a Action) { w.outcome = outcome{action: a} }

// streak counts the bytes acknowledged in a row at about no delay. The result is more than
// the window if the bytes, or a fast increase under way, allow a step of fast increase. No
// branch: none could be predicted here.
//
//uetcc:hot inlines nobounds
func (w *Window) streak(d *quadrant, n, q int64) int64 {
	run := w.run + n&d.countMask
	if q >= d.clearAt {
		run = 0
	}
	w.run = run
	return run
}

// fastIncrease grows the window by a share of the acknowledged bytes and returns the window
// with the fraction of a byte lost in rounding.
//
//uetcc:hot inlines nobounds
func (w *Window) fastIncrease(p *Params, n int64) float64 {
	cwnd := min(float64(w.cwnd)+float64(p.fastScale*float64(n)), float64(w.maxWnd))
	w.cwnd = int64(cwnd)
	w.run = fastOn | min(w.run&^fastOn, math.MaxUint32)
	w.did(ActionFast)
	return cwnd
}

// decrease cuts the window by the average delay's excess over the target and returns the
// window with the fraction of a byte lost in rounding. The average is above the target, so
// not 0.
//
//uetcc:hot inlines nobounds
func (w *Window) decrease(p *Params, now int64) float64 {
	excess := (w.avg - float64(p.target)) / w.avg
	factor := max(1-float64(p.gamma*excess), p.maxMDJump)
	cwnd := max(float64(float64(w.cwnd)*factor), float64(p.mtu))
	w.cwnd = int64(cwnd)
	w.lastDec = now
	w.did(ActionDecrease)
	return cwnd
}

// fulfil applies the accumulated increase to the window when enough bytes or a period
// have passed, and eta once a period. cwnd is the window with the fraction left over by the
// acknowledgement's cut or fast increase, so an event drops less than a byte in all.
//
//uetcc:hot inlines nobounds
func (w *Window) fulfil(p *Params, now int64, cwnd, incr float64) {
	add := 0.0
	if now-w.lastAdjust >= p.adjustPeriod {
		add = p.eta
		w.lastAdjust = now
	} else if w.received <= p.adjustBytes {
		w.incr = incr
		return
	}
	w.cwnd = int64(w.maxWnd)
	if cwnd += incr/cwnd + add; cwnd < float64(w.maxWnd) {
		w.cwnd = int64(cwnd)
	}
	w.incr, w.received = 0, 0
	w.fulfilled = true
}

// NackReason is the reason of a refusal, as far as congestion control cares. The
// values are the wire codes; every other code is a ReasonOther.
type NackReason uint8

// The reasons.
const (
	ReasonOther          NackReason = 0
	ReasonTrimmed        NackReason = 1 // UET_TRIMMED
	ReasonTrimmedLastHop NackReason = 2 // UET_TRIMMED_LASTHOP
)

var reasonNames = [...]string{"other", "trimmed", "trimmed-lasthop"}

// String is other, trimmed or trimmed-lasthop.
func (r NackReason) String() string { return enum.Name(reasonNames[:], r) }

// Nack is the news of one negative acknowledgement.
type Nack struct {
	Size   int64 // of the refused packet, bytes
	RTT    int64 // sample with a service time of 0, ticks; <= 0: no valid one
	Reason NackReason
}

// OnNACK takes in the refusal of one packet in flight; never call OnNACK for
// refusals of anything else. A reason other than a trim only takes the packet out
// of flight, good also for packets leaving without a verdict (a context torn
// down, a recovery scheme of the embedder's).
//
//uetcc:hot nobounds
func (w *Window) OnNACK(p *Params, now int64, n Nack) {
	n.Size = clampBytes(n.Size)
	if p.profile.htsim() {
		w.nackHTSim(p, now, n)
		return
	}
	trimmed := n.Reason == ReasonTrimmed || n.Reason == ReasonTrimmedLastHop
	w.did(ActionNone)
	w.SampleBase(p, n.RTT)
	if trimmed && p.profile == ProfileAdaptive {
		w.loseAdaptive(p, n.Size, true)
		return
	}
	w.inflight = max(w.inflight-n.Size, inflightMin)
	if !trimmed {
		return
	}
	if p.forgets {
		w.forget(now, p.baseRTT)
	} else {
		w.average(p, p.baseRTT)
	}
	w.ignored += uint64(n.Size)
	if n.Reason == ReasonTrimmedLastHop && p.rccc {
		return
	}
	w.trigger = true
	if w.ignored < uint64(w.ignore) {
		w.skip()
		return
	}
	if now >= w.qaEnd && !p.qaOff {
		cut := w.quickAdapt(p)
		w.openPeriod(p, now)
		if cut {
			return
		}
	}
	w.cwnd = max(w.cwnd-n.Size, p.mtu)
	w.did(ActionReduce)
}
