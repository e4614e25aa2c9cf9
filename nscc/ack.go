package nscc

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

// The quadrants of mark and delay, as indices.
const (
	quadProportional = iota // unmarked, below target
	quadFair                // unmarked, at or above target
	quadHold                // marked, below target
	quadDecrease            // marked, at or above target
)

// quadrantOf classifies one sample. A delay equal to the target counts as long.
func quadrantOf(marked bool, qdelay, target int64) int {
	i := quadProportional
	if qdelay >= target {
		i = quadFair
	}
	if marked {
		i |= quadHold
	}
	return i
}

// OnACK takes in an acknowledgement that arrived at now. UE Specification 1.0.x,
// section 3.6.13: counters, penalty, base round trip, delay average, quick adapt,
// one of four cases, application of the accumulated increase.
func (w *Window) OnACK(p *Params, now int64, a Ack) {
	if p.profile != ProfileSpec {
		w.ackHTSim(p, now, a)
		return
	}
	n := clampBytes(a.Bytes)
	w.count(n)
	w.action, w.fulfilled = ActionNone, false
	pend := a.Pend & pendMask
	if pend != 0 || a.Restore {
		w.penalise(p, n, int64(pend))
	}
	if a.RTT <= 0 {
		return
	}
	if a.RTT < w.base {
		w.lowerBase(p, a.RTT)
	}
	q := min(a.RTT, never) - w.base
	w.qdelay = q
	if p.filter == FilterForgetting {
		w.forget(now, q)
	} else {
		w.average(p, q, a.ECN)
	}
	if w.ignored < w.ignore && a.ECN {
		w.skip()
		return
	}
	if now >= w.qaEnd && w.endPeriod(p, now, signal{qdelay: q}) {
		return
	}
	i := quadrantOf(a.ECN, q, p.target)
	if (pend != 0 || w.inflight+n+p.fullSlack <= w.cwnd) && !a.ECN {
		i = quadHold
	}
	w.adjust(p, now, n, q, i)
}

// count takes n acknowledged bytes out of flight and into the counters.
func (w *Window) count(n int64) {
	w.inflight = max(w.inflight-n, inflightMin)
	w.received += n
	w.achieved += n
	w.ignored = addSat(w.ignored, n)
}

// adjust applies one of the four cases, then the accumulated increase if it is
// due. Its branches are the rare ones; what differs between the cases comes out
// of the table.
func (w *Window) adjust(p *Params, now, n, q int64, i int) {
	d := &p.quadrants[i&3]
	action := ActionProportional + Action(i)
	run, fast := addSat(w.fastCount, n&d.countMask), w.fast
	if q >= d.clearAt {
		run = 0
	}
	if q >= d.clearAt {
		fast = 0
	}
	w.fastCount, w.fast = run, fast
	switch {
	case (fast != 0 || int64(run) > w.cwnd) && q < d.fastBelow:
		w.fastIncrease(p, n)
		action = ActionFast
	case w.avg > p.targetAvg && now-w.lastDec > w.base && i == quadDecrease:
		w.decrease(p, now)
		action = ActionDecrease
	default:
		slack := float64(p.target - q)
		w.incr += float64(float64(n) * (float64(d.slope*slack) + d.level))
	}
	w.action = action
	if w.received > p.adjustBytes || now-w.lastAdjust >= p.adjustPeriod {
		w.fulfil(p, now)
	}
}

// fastIncrease grows the window by a share of what was acknowledged.
func (w *Window) fastIncrease(p *Params, n int64) {
	w.cwnd = grown(w.cwnd, float64(p.fastScale*float64(n)), w.maxWnd)
	w.fast = 1
}

// decrease cuts the window by the average delay's excess over the target. The
// average is above the target, so it is not 0.
func (w *Window) decrease(p *Params, now int64) {
	excess := (w.avg - float64(p.target)) / w.avg
	factor := max(1-float64(p.gamma*excess), p.maxMDJump)
	w.cwnd = max(int64(float64(w.cwnd)*factor), p.mtu)
	w.lastDec = now
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
