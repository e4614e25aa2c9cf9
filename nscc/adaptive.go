// SPDX-License-Identifier: Apache-2.0

package nscc

import "math"

// ProfileAdaptive. Some fields of a window have other meanings here: lastAdjust is the time when
// the search for the smallest round trip began, or is to begin, lastSample the smallest since, trigger whether any
// sample has come, incr the window's missing part of a byte, or the stray bytes of a search, achieved and received the most in
// flight in the present round trip, until qaEnd, and in the last.

const (
	adaptiveFirst  = 3       // packets of the first window, or
	adaptivePart   = 128     // the bandwidth-delay product / adaptivePart, which as many senders fill,
	adaptiveBurst  = 16      // up to so many packets
	adaptiveRoom   = 5       // packets of the smallest ceiling: acknowledgements wait for packets of the other way
	adaptiveBegin  = 2       // packets of the first window of transfers of more than adaptiveFew packets,
	adaptiveFew    = 6       // which take two round trips, and fewer than adaptiveMany
	adaptiveMany   = 100     // with one lost in a hundred at worst
	adaptiveJump   = 6       // packets of the window at the first acknowledgement, if that comes without delay
	adaptiveFast   = 2       // bytes added by each byte without delay while the path is empty
	adaptiveShare  = 64      // a round trip without delay adds a bandwidth-delay product / adaptiveShare
	adaptiveRounds = 8       // round trips that prove the base too short,
	adaptiveOwn    = 32      // with a window of no more than the ceiling / adaptiveOwn: no queue is its own
	adaptiveTrust  = 1000    // round trips for which a sample near the base vouches for the base,
	adaptiveMost   = 10      // seconds, at most, as with BBR
	adaptiveWrong  = 3       // targets above the base of a first round trip that prove the same
	adaptiveClean  = 4       // windows in a row without delay that prove an empty path
	adaptiveNear   = 2       // the target / adaptiveNear is a short delay, and at none
	adaptiveBoost  = 7       // so many times as much is added
	adaptiveClear  = 4       // the target / adaptiveClear, and a burst, is about no delay
	adaptiveDeep   = 8       // the target / adaptiveDeep is a queue that may overflow
	adaptiveEMA    = 1. / 8  // weight of one sample in the delay average
	adaptiveCut    = 1. / 7  // the least cut by a delay above the target
	adaptiveLoss   = 7. / 10 // of the window is left when queues overflow
	adaptiveCare   = 8       // round trips after a loss without delay in which a window no more than doubles
	adaptiveLinks  = 2       // a packet is stored and forwarded once at least
	adaptiveTree   = 6       // links of a fat tree of three tiers
	adaptiveDoubt  = 4       // the base / adaptiveDoubt is a good part
	adaptiveLate   = 8       // the base / adaptiveLate, and a burst, is a delay by a queue
	adaptiveEdge   = 16      // the target / adaptiveEdge below the target proves no base: told just half, all samples come there
	adaptiveStray  = 4       // packets may be late on their own, and one for so many in time
	adaptiveAlike  = 32      // the base / adaptiveAlike, and a packet, is no difference,
	adaptiveSure   = 3       // and where queues mark so many round trips without one prove as much as adaptiveRounds

	// adaptiveAsks: below so many times the bytes a destination collects before answering, each
	// packet asks for an answer. A window of one and a half bandwidth-delay products has room for
	// the bytes on the path and the collected bytes only from three times on: a write at 1.6 Gb/s
	// and 40 us took 1.74 times the ideal time. Not on paths holding adaptiveLong times as much:
	// so small a window has just begun there, and flows beginning later would get less of the
	// path.
	adaptiveAsks = 4
	adaptiveLong = 16
)

// ackAdaptive is OnACK of ProfileAdaptive. A mark takes half a packet off the window at any delay,
// so flows under marks share by marks, and need not agree about the base round trip. Delay above
// the target matters where nothing marks.
func (w *Window) ackAdaptive(p *Params, now int64, s signal) {
	n := clampBytes(s.bytes)
	if s.bits&(restoreBit|pendMask<<pendShift) != 0 {
		w.penalise(p, n, s.bits.pend())
	}
	round := now >= w.qaEnd
	peak := w.peak(p, now, round)
	if round {
		w.rough = max(w.rough, 1) - 1
	}
	w.inflight = max(w.inflight-n, inflightMin)
	w.ignored += uint64(n)
	w.did(ActionNone)
	if s.rtt > 0 {
		lacks := p.lacks(n, adaptiveLinks)
		w.learn(p, now, min(s.rtt, p.mostRTT()-lacks)+lacks, p.unsure(n))
	}
	target := w.targetAdaptive(p)
	late := max(target, p.hostDelay)
	switch {
	case s.rtt <= 0 && !s.bits.marked() && (!w.trigger || w.qdelay >= late): // no sample now; none before, or a late one
	case w.run == seeking && !s.bits.marked() && s.bits.pend() == 0 && s.rtt > 0 && w.seek(p, now, n, peak, round):
	case s.bits.marked():
		w.found(p, now, adaptiveSure) // flows under marks need not agree about the base
		w.run = 0
		w.cwnd = max(w.cwnd-min(n, p.mtu)/2, p.mtu)
		w.did(ActionDecrease)
	case w.qdelay >= late && w.avg > float64(late):
		w.run = 0
		w.did(ActionConsidered)
		if now-w.lastDec > w.base+w.qdelay {
			excess := (w.avg - float64(late)) / w.avg
			w.cwnd = max(int64(float64(w.cwnd)*max(1-max(p.gamma*excess, adaptiveCut), p.maxMDJump)), p.mtu)
			w.lastDec = now
			w.did(ActionDecrease)
		}
	case s.bits.pend() != 0:
		w.did(ActionHold)
	default:
		w.growAdaptive(p, n, target, peak)
	}
	w.cwnd = min(w.cwnd, int64(w.maxWnd))
}

// Begin tells a window that nothing has been sent of yet how many bytes wait. With ProfileAdaptive a
// transfer that needs more than two round trips, but for which each lost packet counts, begins with a packet less than
// others, and makes up at the first acknowledgement unless that is late: 64 senders at once of 3
// packets each overflowed a queue for 144, so of 256 KiB each 1.1 % were dropped, of 64 KiB 4.4 %.
func (w *Window) Begin(p *Params, waiting int64) {
	if p.begin != 0 && waiting > adaptiveFew*p.mtu && waiting < adaptiveMany*p.mtu && w.run == fastOn && w.inflight == 0 {
		w.cwnd, w.run = min(w.cwnd, p.begin), begun
	}
}

// begun is Window.run from Begin until the first acknowledgement, of no fewer bytes than a header.
const begun = fastOn + 1

// peak is the most that has been in flight in the present round trip or the last: an unused window
// does not grow. round tells that the next one begins. Acknowledgements in a row find less and less in flight. A window without room for an
// MTU is used, whatever the size of the packets: with a packet of 104 bytes in flight a window of one
// full packet stayed so for good.
func (w *Window) peak(p *Params, now int64, round bool) int64 {
	if round {
		w.qaEnd = now + w.base + w.qdelay
		w.achieved, w.received = 0, w.achieved
	}
	used := w.inflight
	if w.Full(p) {
		used = max(used, w.cwnd)
	}
	w.achieved = max(w.achieved, used)
	return max(w.achieved, w.received)
}

// growAdaptive adds the worth of n bytes with a delay below the target: n again while the path is
// empty, as assumed until the first delay, and again after some windows without delay; else a
// constant increase. That is much for a window of few packets, such as losses leave, or many senders have:
// after a delay the window no more than trebles in a round trip, and where packets were lost without delay, as by a
// queue that holds a few of a burst, no more than doubles. With 400 Gb/s, 2 ms and 20 KB one ACK added the worth of
// 370 packets and more, and 71 % of packets were lost; 96 senders of four packets each, at 100 Gb/s and 60 us, overflowed
// a queue of four bandwidth-delay products each time that it had run empty: 5.5 % were lost.
func (w *Window) growAdaptive(p *Params, n, target, peak int64) {
	near := target / adaptiveNear
	none := target/adaptiveClear + p.burst
	if w.run >= fastOn {
		none = near + p.burst
	}
	if w.qdelay < none {
		if w.run == begun && w.qdelay < max(target/adaptiveDeep, p.burst) {
			w.cwnd, w.achieved, peak = adaptiveJump*p.mtu, adaptiveJump*p.mtu, adaptiveJump*p.mtu
		}
		if w.run += n; w.run > adaptiveClean*w.cwnd {
			w.run = min(w.run|fastOn, seeking-1) // 4 GiB in a row are no search
			if w.cwnd >= (1+adaptiveFast)*peak {
				w.did(ActionHold)
				return
			}
			w.cwnd = min(w.cwnd+adaptiveFast*n, (1+adaptiveFast)*peak)
			if p.unrated { // a faster link than guessed
				w.maxWnd = uint32(min(max(w.cwnd, int64(w.maxWnd)), p.mostWnd))
			}
			w.did(ActionFast)
			return
		}
	} else {
		w.run = 0
	}
	tight := w.cwnd >= adaptiveFirst*p.mtu && int64(w.maxWnd) <= adaptiveRoom*p.mtu // adaptiveRoom is not for a queue
	if w.cwnd > peak+peak/4+2*p.mtu || tight && w.qdelay >= near {
		w.did(ActionHold)
		return
	}
	path := w.path(p)
	if p.unrated { // all add alike, whoever has found a faster link
		path = min(path, sampledBDP(p.profile, p.unit, p.linkRate, w.base))
	}
	step := max(path/adaptiveShare, float64(p.mtu)/2)
	if w.qdelay < near {
		step *= 1 + adaptiveBoost*float64(near-w.qdelay)/float64(near)
	}
	switch {
	case w.rough != 0:
		step = min(step, float64(w.cwnd))
	case w.avg >= float64(near):
		step = min(step, float64(adaptiveFast*w.cwnd))
	}
	w.incr += step * float64(n) / float64(w.cwnd)
	whole := int64(w.incr)
	w.cwnd += whole
	w.incr -= float64(whole)
	w.did(ActionProportional)
}

// seeking is Window.run of a window whose first round trip was well above the configured one, by a queue or
// for good, see seek. In a [Snapshot] it is fast increase with the largest count.
const seeking = fastOn + math.MaxUint32

// seek takes in a sample while seeking: the window grows as on an empty path, and avg is the least delay
// since qaEnd, until adaptiveRounds round trips were alike, which those through a queue under control are
// not: of 672 flows, most of which joined others, eight found three in a row alike, and Jain's index of eight
// flows was 0.26. The result is false where a queue ends the search: all samples are late then, and not a few, see strays.
// Told half a round trip of 200 us at 400 Gb/s, a message of 10 MB took 26 times the ideal time, and of 100 us, with one
// packet in a thousand late or lost, one of 33 MB 8 times.
func (w *Window) seek(p *Params, now, n, peak int64, round bool) bool {
	rtt, alike := w.base+w.qdelay, p.alike(w.base)
	late := rtt > w.lastSample+w.base/adaptiveLate+p.burst+p.onLink(w.received)
	if rtt < w.lastSample-alike || late && !w.strays(p, n, peak) || round && w.base+int64(w.avg) > w.lastSample+alike {
		w.run, w.avg, w.incr = 0, 0, 0
		return false
	}
	w.lastSample = min(w.lastSample, rtt)
	if w.avg = min(w.avg, float64(w.qdelay)); round {
		w.avg = float64(w.qdelay)
	}
	if late {
		w.did(ActionHold)
		return true
	}
	w.incr = max(w.incr-float64(n)/adaptiveStray, 0)
	w.found(p, now, adaptiveRounds)
	w.cwnd = max(w.cwnd, min(w.cwnd+adaptiveFast*n, (1+adaptiveFast)*peak))
	w.did(ActionFast)
	return true
}

// strays takes in n bytes that were late or lost while seeking, and reports whether those are so few that they tell of no queue.
func (w *Window) strays(p *Params, n, peak int64) bool {
	w.incr += float64(n)
	return w.incr <= float64(max(adaptiveStray*p.mtu, peak/adaptiveLate))
}

// found ends a search after so many round trips alike: those are the path's.
func (w *Window) found(p *Params, now, rounds int64) {
	if w.run != seeking || now-w.lastAdjust < rounds*w.lastSample || p.onLink(w.received) <= w.base/2 {
		return
	}
	rtt := w.base + w.qdelay
	w.setBase(p, w.lastSample)
	w.qdelay, w.run, w.lastAdjust, w.incr = max(rtt-w.base, 0), fastOn, w.trusts(p, now), 0
	w.avg = float64(w.qdelay)
}

// alike is by how much the shortest samples of two round trips differ without a queue.
func (p *Params) alike(base int64) int64 { return base/adaptiveAlike + p.onLink(p.mtu) }

// onLink is the time that n bytes take on the sender's link.
func (p *Params) onLink(n int64) int64 {
	return int64(float64(n) / float64(p.linkRate) * float64(p.unit.perSecond()))
}

// lacks is the time by which n bytes, less than a full packet, pass so many links sooner than a
// full packet, the measure of the base round trip. The sender's and the receiver's there are
// always: at 1.6 Gb/s read requests of 100 bytes brought the base down from 83 us to 41, and the packets
// behind met a false delay.
func (p *Params) lacks(n, links int64) int64 {
	if uint64(n-1) >= uint64(p.mtu) {
		return 0
	}
	return p.onLink(links * (p.mtu - n))
}

// unsure is the time by which a full packet may take longer than a sample with [Params.lacks] says,
// where the last of n bytes came in a small packet, over more than two links.
func (p *Params) unsure(n int64) int64 {
	switch {
	case n == 0: // of a packet counted before
		return p.lacks(1, adaptiveTree)
	case n > p.mtu:
		return p.lacks(n%p.mtu, adaptiveTree)
	}
	return p.lacks(n, adaptiveTree-adaptiveLinks)
}

// doubts reports whether a sample below the base says no more than that the packet was small: the base is
// that of a full packet on more links, and a good part of the base depends on their number. At 10 Gb/s and
// 8 us, in a fat tree, small packets brought the base down from 28 us to 14 to 21, full packets were late
// for ever, and a permutation took 7.4 times the ideal time.
func (w *Window) doubts(rtt, unsure int64) bool {
	return unsure > w.base/adaptiveDoubt && rtt+unsure >= w.base
}

// targetAdaptive is the target delay: TargetQdelay scaled from the configured to the found base
// round trip.
func (w *Window) targetAdaptive(p *Params) int64 {
	return max(int64(float64(w.base)*p.targetPart), 1)
}

// path is the bandwidth-delay product that the ceiling is made of, bytes.
func (w *Window) path(p *Params) float64 { return float64(w.maxWnd) / (1.5 * p.hosts(w.base)) }

// hosts is the factor by which the bytes that the hosts delay lift a window's ceiling, 1 or more.
func (p *Params) hosts(base int64) float64 {
	if base >= p.hostDelay {
		return 1
	}
	return float64(p.hostDelay) / float64(base)
}

// ceiling is above every window's ceiling.
func (p *Params) ceiling() int64 {
	if p.profile == ProfileAdaptive {
		return p.mostWnd
	}
	return p.maxWnd
}

// mostRTT is the longest valid round trip.
func (p *Params) mostRTT() int64 { return maxRTTSec * p.unit.perSecond() }

// mostBase is the longest base round trip a window may have found.
func (p *Params) mostBase() int64 {
	if p.profile == ProfileAdaptive {
		return p.mostRTT()
	}
	return p.baseRTT
}

// learn takes in a round trip, of a full packet maybe longer by unsure. A shorter one is the base at
// once. A first round trip far above the configured base proves the configuration wrong, and one that is
// above it by half a target begins a search, see seek; later the proof takes adaptiveRounds in a row, all above the
// target while the window is so small that the queue is not the window's own. At the smallest alone no proof came
// where half the round trip was told and one packet in ten was late: four senders at 800 Gb/s and 100 us took 36 times
// the ideal time. Nor is the queue others' if a full packet's sample has come near the base not long ago: windows that took a full queue
// for a longer path grew at 8 senders' arrivals at 100 Mb/s and 40 KB, until the ninth found no room. How much longer a full
// packet takes than a small one over links of unknown rates nobody knows: a small one only interrupts the proof.
func (w *Window) learn(p *Params, now, rtt, unsure int64) {
	first := !w.trigger
	w.trigger = true
	switch {
	case rtt < w.base && !w.doubts(rtt, unsure), first && (p.guess || rtt > w.base+adaptiveWrong*w.targetAdaptive(p)):
		w.setBase(p, rtt)
		w.lastAdjust, w.lastSample = w.trusts(p, now), rtt
		if first {
			w.rough = 0 // time-outs knew nothing of the path
		}
	case w.run == seeking: // see seek
	case rtt+unsure < w.base+w.targetAdaptive(p)*(adaptiveEdge-1)/adaptiveEdge:
		if w.lastAdjust, w.lastSample = max(w.lastAdjust, now), rtt; unsure == 0 {
			w.lastAdjust = w.trusts(p, now)
		}
	case first || w.cwnd > max(2*p.mtu, int64(w.maxWnd)/adaptiveOwn) && rtt >= w.base+w.targetAdaptive(p): // the search begins
		w.lastAdjust, w.lastSample = max(w.lastAdjust, now), rtt
	case rtt < w.base+w.targetAdaptive(p): // too small a packet to tell
		w.lastSample = min(w.lastSample, rtt)
	default:
		w.lastSample = min(w.lastSample, rtt)
		if now-w.lastAdjust > adaptiveRounds*w.lastSample {
			w.setBase(p, w.lastSample)
			w.lastAdjust, w.lastSample, w.run = now, rtt, fastOn
		}
	}
	w.qdelay = max(rtt-w.base, 0)
	switch {
	case first && w.qdelay >= w.targetAdaptive(p)/adaptiveNear && p.alike(w.base) < 2*w.base/adaptiveAlike: // not of some packets only
		w.run, w.lastAdjust, w.lastSample, w.avg, w.incr = seeking, now, rtt, float64(w.qdelay), 0
	case w.run != seeking:
		w.avg += adaptiveEMA * (float64(w.qdelay) - w.avg)
	}
}

// trusts is the time until which the base stays proven by a sample at now.
func (w *Window) trusts(p *Params, now int64) int64 {
	return now + min(adaptiveTrust*w.base, adaptiveMost*p.unit.perSecond())
}

// loseAdaptive takes size bytes lost or trimmed out of flight. Behind a queue the loss means an
// overflow, once for all bytes in flight then; otherwise the packets were destroyed, and count by
// size alone. A trim always means an overflow.
func (w *Window) loseAdaptive(p *Params, size int64, trimmed bool) {
	w.inflight = max(w.inflight-size, inflightMin)
	w.ignored += uint64(size)
	seeks := w.run == seeking && !trimmed && w.strays(p, size, w.received)
	if !seeks {
		w.run = 0
	}
	switch {
	case seeks || !trimmed && w.qdelay < w.targetAdaptive(p)/adaptiveDeep:
		w.cwnd = max(w.cwnd-size, p.mtu)
		w.rough = adaptiveCare
	case w.ignored < uint64(w.ignore):
		w.did(ActionIgnore)
		return
	default:
		w.cwnd = max(int64(float64(w.cwnd)*adaptiveLoss), p.mtu)
		w.ignore, w.ignored = small(w.inflight), 0
	}
	w.did(ActionReduce)
}
