// SPDX-License-Identifier: Apache-2.0

package nscc

// The profile of the recorded simulator: order, strict comparisons, truncation
// after every real product, clamp after every acknowledgement.

// ackHTSim is OnACK of the htsim profiles.
func (w *Window) ackHTSim(p *Params, now int64, s signal) {
	n := clampBytes(s.bytes)
	w.inflight = max(w.inflight-n, inflightMin)
	w.achieved = min(w.achieved+n, counterMax)
	w.received = min(w.received+n, counterMax)
	w.ignored = uint64(uint32(w.ignored) + uint32(n))
	w.did(ActionNone)
	w.qdelay = w.delayHTSim(p, s)
	if w.quickAdaptHTSim(p, now, s.bits, w.trigger || w.qdelay > p.qaThreshold) {
		return
	}
	i := quadrantOf(s.bits, w.qdelay, p.target)
	w.did(ActionProportional + Action(i))
	switch i {
	case quadFair:
		w.accumulate(p, float64(p.fair*float64(n)))
	case quadProportional:
		if !w.fastHTSim(p, n) {
			w.accumulate(p, float64(float64(p.alpha*float64(n))*float64(p.target-w.qdelay)))
		}
	case quadDecrease:
		w.run = 0
		if w.avg > float64(p.target) && now-w.lastDec > w.base {
			w.decreaseHTSim(p, now)
		}
	}
	w.clamp(p)
	w.fulfilHTSim(p, now)
}

// delayHTSim is the queueing delay the simulator takes a sample for.
func (w *Window) delayHTSim(p *Params, s signal) int64 {
	if s.rtt <= 0 {
		return int64(w.avg)
	}
	if s.rtt < w.base {
		switch SampleKind(s.bits >> kindShift) {
		case SampleProbe:
			return 0
		case SampleKeepBase:
			return int64(w.avg)
		default:
			w.setBase(p, s.rtt)
		}
	}
	q := min(s.rtt, never) - w.base
	w.averageHTSim(p, q, s.bits)
	return q
}

// averageHTSim truncates to whole ticks. The quarter is taken of the product, as
// the simulator does; a power of two makes no difference.
func (w *Window) averageHTSim(p *Params, q int64, b ackBits) {
	sample := float64(q)
	if !b.marked() && q > p.target {
		sample = float64(w.base) * 0.25
	}
	w.avg = float64(int64(float64(p.gain*sample) + float64(p.keep*w.avg)))
}

// quickAdaptHTSim waits for now > end where the specification has >=, and lets
// the byte counters wrap.
func (w *Window) quickAdaptHTSim(p *Params, now int64, b ackBits, asked bool) bool {
	if p.qaOff {
		return false
	}
	if b.marked() && w.ignored < uint64(w.ignore) {
		w.skip()
		return true
	}
	if now <= w.qaEnd {
		return false
	}
	cut := asked && w.quickAdapt(p)
	if cut {
		w.ignore = uint32(w.inflight)
	}
	w.openPeriod(p, now)
	return cut
}

// fastHTSim reports whether the acknowledgement belongs to fast increase.
func (w *Window) fastHTSim(p *Params, n int64) bool {
	if w.qdelay >= p.fastDelay {
		w.run = 0
		return false
	}
	w.run = w.run&fastOn | int64(uint32(w.run)+uint32(n))
	if w.run <= w.cwnd {
		return false
	}
	w.cwnd = int64(min(float64(w.cwnd)+float64(float64(n)*p.fastScale), counterMax))
	w.run |= fastOn
	w.did(ActionFast)
	return true
}

func (w *Window) accumulate(p *Params, add float64) {
	sum := min(w.incr+add, 1<<63)
	if p.profile == ProfileHTSim {
		w.incr = float64(uint32(uint64(sum)))
		return
	}
	w.incr = float64(uint64(sum))
}

func (w *Window) decreaseHTSim(p *Params, now int64) {
	target := float64(p.target)
	factor := 1 - float64(p.gamma*(w.avg-target))/w.avg
	w.cwnd = max(int64(float64(w.cwnd)*max(factor, p.maxMDJump)), p.mtu)
	w.lastDec = now
	w.did(ActionDecrease)
}

func (w *Window) clamp(p *Params) { w.cwnd = max(min(w.cwnd, int64(w.maxWnd)), p.mtu) }

// fulfilHTSim applies the increase once the period has passed (>, eta: >=).
func (w *Window) fulfilHTSim(p *Params, now int64) {
	since := now - w.lastAdjust
	if w.received <= p.adjustBytes && since <= p.adjustPeriod {
		return
	}
	w.cwnd += int64(uint64(w.incr) / uint64(w.cwnd))
	if since >= p.adjustPeriod {
		w.cwnd = int64(float64(w.cwnd) + p.eta)
		w.lastAdjust = now
	}
	w.incr, w.received = 0, 0
	w.fulfilled = true
	w.clamp(p)
}

// nackHTSim is OnNACK of the htsim profiles: quick adapt still sees the packet in
// flight.
func (w *Window) nackHTSim(p *Params, now int64, n Nack) {
	w.did(ActionNone)
	if n.Reason == ReasonTrimmed || n.Reason == ReasonTrimmedLastHop {
		w.SampleBase(p, n.RTT)
		w.ignored = uint64(uint32(w.ignored) + uint32(n.Size))
		w.averageHTSim(p, p.baseRTT, markBit)
		w.trigger = true
		done := w.quickAdaptHTSim(p, now, markBit, true)
		if !done && !(p.rccc && n.Reason == ReasonTrimmedLastHop) {
			w.cwnd -= n.Size
			w.clamp(p)
			w.did(ActionReduce)
		}
	}
	w.inflight = max(w.inflight-n.Size, inflightMin)
}
