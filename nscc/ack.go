package nscc

import "math"

// SampleKind says what the round trip of an [Ack] may be used for. Only the htsim
// profiles tell the kinds apart.
type SampleKind uint8

// The kinds of samples.
const (
	SampleNormal   SampleKind = iota // may lower the base round trip
	SampleKeepBase                   // htsim: delay only
	SampleProbe                      // htsim: answer to a probe
)

// Ack is what one acknowledgement says. Build RTT with [RTT] and Bytes with
// [RcvdTracker.Advance].
type Ack struct {
	Bytes   int64 // newly received, from rcvd_bytes; may be 0
	RTT     int64 // sample, ticks; <= 0: no valid one
	ECN     bool  // pds.flags.m
	Restore bool  // rc: flow control at the destination is over
	Pend    uint8 // rcv_cwnd_pend, 0 to 127; the eighth bit is ignored
	Kind    SampleKind
}

// A signal is an Ack that fits into registers, with a mark that is a number: on a
// bool the compiler branches, and nobody can predict marks.
type signal struct {
	bytes, rtt int64
	bits       ackBits
}

// ackBits packs the small fields of an Ack. The mark is where quadrantOf wants it.
type ackBits uint32

const (
	restoreBit ackBits = 1
	markBit    ackBits = quadHold
	pendShift          = 8
	kindShift          = 16
)

func (b ackBits) marked() bool { return b&markBit != 0 }
func (b ackBits) pend() int64  { return int64(b >> pendShift & pendMask) }

// The quadrants of mark and delay, as indices.
const (
	quadProportional = 0 // unmarked, below target
	quadFair         = 1 // unmarked, at or above target
	quadHold         = 2 // marked, below target
	quadDecrease     = 3 // marked, at or above target
)

// quadrantOf classifies one sample. A delay equal to the target counts as long.
func quadrantOf(b ackBits, qdelay, target int64) int {
	long := 0
	if qdelay >= target {
		long = quadFair
	}
	return int(b&markBit) | long
}

// OnACK takes in an acknowledgement that arrived at now. UE Specification 1.0.x,
// section 3.6.13: counters, penalty, base round trip, delay average, quick adapt,
// one of four cases, application of the accumulated increase.
func (w *Window) OnACK(p *Params, now int64, a Ack) {
	s := signal{a.Bytes, a.RTT, markBits(a.ECN) | ackBits(a.Pend&pendMask)<<pendShift | ackBits(a.Kind)<<kindShift}
	if a.Restore {
		s.bits |= restoreBit
	}
	w.onACK(p, now, s)
}

// OnPlainACK is [Window.OnACK] of an acknowledgement with nothing in it but newly
// received bytes, a round trip and a mark, handed over in registers.
func (w *Window) OnPlainACK(p *Params, now, bytes, rtt int64, marked bool) {
	w.onACK(p, now, signal{bytes, rtt, markBits(marked)})
}

// markBits is the mark as a number.
func markBits(marked bool) (b ackBits) {
	if marked {
		b = 1
	}
	return b * markBit
}

// onACK is OnACK. Its branches are the rare ones or follow the path's mood; what
// differs between the four cases comes out of the table.
func (w *Window) onACK(p *Params, now int64, s signal) {
	if p.profile != ProfileSpec {
		w.ackHTSim(p, now, s)
		return
	}
	n := s.bytes
	if uint64(n) > counterMax {
		n = clampBytes(n)
	}
	w.count(n)
	w.action, w.fulfilled = ActionNone, false
	if s.bits&(restoreBit|pendMask<<pendShift) != 0 {
		w.penalise(p, n, s.bits.pend())
	}
	q := s.rtt - w.base
	if uint64(q) > usualDelay {
		if s.rtt <= 0 {
			return
		}
		q = w.unusualDelay(p, s.rtt)
	}
	w.qdelay = q
	if p.filter != FilterForgetting {
		w.average(p, q, s.bits)
	} else {
		w.forget(now, q)
	}
	if w.ignored < w.ignore && s.bits.marked() {
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
	i := quadrantOf(s.bits, q, p.target)
	if w.held(p, n, s.bits) && !s.bits.marked() {
		i = quadHold
	}
	i &= quadDecrease // tells the compiler that it is in range
	d := &p.quadrants[i]
	w.action = ActionProportional + Action(i)
	switch run := w.streak(d, n, q); {
	case run > w.cwnd && q < d.fastBelow:
		w.fastIncrease(p, n)
	case w.avg > p.targetAvg && now-w.lastDec > w.base && i == quadDecrease:
		w.decrease(p, now)
	default:
		slack := float64(p.target - q)
		w.incr += float64(float64(n) * (float64(d.slope*slack) + d.level))
	}
	if w.received > p.adjustBytes || now-w.lastAdjust >= p.adjustPeriod {
		w.fulfil(p, now)
	}
}

// usualDelay is what one comparison tells from a sample that is none, one that lowers
// the base round trip, and one that is beyond all measure.
const usualDelay = 1<<31 - 1

// unusualDelay is the queueing delay of a sample, ticks, after it has lowered the
// base round trip if it does.
func (w *Window) unusualDelay(p *Params, rtt int64) int64 {
	if rtt < w.base {
		w.lowerBase(p, rtt)
	}
	return min(rtt, never) - w.base
}

// count takes n acknowledged bytes out of flight and into the counters.
func (w *Window) count(n int64) {
	w.inflight -= n
	if w.inflight < 0 {
		w.inflight = max(w.inflight, inflightMin)
	}
	w.received += n
	w.achieved += n
	w.ignored = addSat(w.ignored, n)
}

// held reports whether an increase has to wait: the destination penalises, or the
// window was not full before these n bytes were acknowledged.
func (w *Window) held(p *Params, n int64, b ackBits) bool {
	return b&(pendMask<<pendShift) != 0 || p.onlyFull && w.inflight+n+p.mtu <= w.cwnd
}

// streak counts the bytes acknowledged in a row at about no delay. What it returns
// is above the window where they, or the fast increase that goes on, allow a step of
// it. A mask clears, because no branch can be predicted here.
func (w *Window) streak(d *quadrant, n, q int64) int64 {
	run := (w.run + n&d.countMask) & ((q - d.clearAt) >> 63)
	w.run = run
	return run
}

// fastIncrease grows the window by a share of what was acknowledged.
func (w *Window) fastIncrease(p *Params, n int64) {
	w.cwnd = grown(w.cwnd, float64(p.fastScale*float64(n)), w.maxWnd)
	w.run = fastOn | min(w.run&^fastOn, math.MaxUint32)
	w.action = ActionFast
}

// decrease cuts the window by the average delay's excess over the target. The
// average is above the target, so it is not 0.
func (w *Window) decrease(p *Params, now int64) {
	excess := (w.avg - float64(p.target)) / w.avg
	factor := max(1-float64(p.gamma*excess), p.maxMDJump)
	w.cwnd = max(int64(float64(w.cwnd)*factor), p.mtu)
	w.lastDec = now
	w.action = ActionDecrease
}

// fulfil applies the accumulated increase, and eta once a period.
func (w *Window) fulfil(p *Params, now int64) {
	add := w.incr / float64(w.cwnd)
	if now-w.lastAdjust >= p.adjustPeriod {
		add += p.eta
		w.lastAdjust = now
	}
	w.cwnd = grown(w.cwnd, add, w.maxWnd)
	w.incr, w.received = 0, 0
	w.fulfilled = true
}

// grown is cwnd + add, at most ceiling, without leaving int64 on the way.
func grown(cwnd int64, add float64, ceiling int64) int64 {
	if sum := float64(cwnd) + add; sum < float64(ceiling) {
		return int64(sum)
	}
	return ceiling
}
