// SPDX-License-Identifier: Apache-2.0

package nscc

import "math"

// inflightMin and counterMax bound the byte counters of a window, reached only
// with a peer that acknowledges bytes never sent.
const (
	inflightMin = -1 << 40
	counterMax  = 1 << 32
)

// Window is the congestion window of one context with all state of the source
// (UE Specification 1.0.x table 3-83). A Window has no pointers, so contexts can
// lie in slabs. Single writer. The zero value is not usable: call [Window.Init].
//
// Invariants after every call: MTU <= cwnd <= [Params.MaxWnd] of the Params, the
// same in all calls, but for what MaxWnd says of guesses; for the first window of an
// htsim profile see [Config].InitialCwnd. Bytes in flight may exceed the window after a cut, and may
// be slightly negative, because rcvd_bytes counts in units of 256 bytes rounded
// up.
type Window struct {
	// First what few events need: the other 120 bytes lie in two cache lines of a context, see package ccc.
	lastDec int64 // when a decrease last cut the window

	inflight int64 // bytes
	cwnd     int64 // bytes

	base     int64   // smallest round trip seen, ticks
	ignored  uint64  // bytes_ignored, seen since a quick adapt; an event adds at most 2^32, so never wraps
	achieved int64   // achieved_bytes, acknowledged in the present quick-adapt period
	received int64   // received_bytes, acknowledged since the increase was last applied
	incr     float64 // inc_bytes, the accumulated increase, bytes squared; cleared together with received

	avg    float64 // averaged queueing delay, ticks
	qdelay int64   // of the last sample, ticks; for observers

	qaEnd      int64 // end of the quick-adapt period; 0: never armed
	lastAdjust int64 // when eta was last added
	lastSample int64 // time of the last sample, for Config.ForgettingFilter

	run int64 // fi_count, bytes acknowledged in a row at about no delay, with fastOn

	maxWnd uint32 // ceiling of cwnd: 1.5 x rate x base, never above Params.ceiling
	ignore uint32 // bytes_to_ignore, whose marks are stale after a quick adapt
	saved  uint32 // window before the destination's penalty; 0: none

	trigger bool  // trigger_qa: a trim asked for a quick adapt
	rough   uint8 // round trips until a loss without delay is over, see growAdaptive
	outcome
}

// An outcome is the effect of an event, for observers.
type outcome struct {
	action    Action
	fulfilled bool // the increase was applied
}

// fastOn is set in Window.run while fast increase is on: more than any window, so
// a single comparison tells whether fast increase is on or due.
const fastOn = 1 << 40

// Init starts a context with the base round trip (ticks) measured by an
// earlier context to the same destination. A value outside (0, config_base_rtt],
// such as 0, means config_base_rtt; with ProfileAdaptive any round trip is taken.
func (w *Window) Init(p *Params, now, baseRTT int64) {
	*w = Window{cwnd: p.initial, base: p.baseRTT, maxWnd: uint32(p.maxWnd)}
	if baseRTT > 0 && baseRTT != w.base && baseRTT <= p.mostBase() {
		w.rebase(p, baseRTT, startBDP(p.profile, p.unit, p.linkRate, baseRTT))
		w.trigger = p.profile == ProfileAdaptive // the first sample need not tell how wrong the configuration is
	}
	if !p.profile.htsim() || p.initial == p.maxWnd {
		w.cwnd = min(w.cwnd, int64(w.maxWnd))
	}
	if !p.profile.htsim() {
		w.lastAdjust, w.lastDec, w.lastSample = now, now, now
	}
	if p.profile == ProfileAdaptive {
		w.run, w.lastSample = fastOn, p.mostRTT()
	}
}

// CanSend reports whether the window has room for the next packet of size bytes:
// inflight + MTU <= cwnd. Asking for a whole MTU keeps the small packets of one
// PDC from starving the large packets of a second; only the htsim profiles ask for
// size.
//
//uetcc:hot inlines nobounds
func (w *Window) CanSend(p *Params, size int64) bool {
	if !p.exact {
		size = p.mtu
	}
	return w.inflight+size <= w.cwnd
}

// Full reports whether the window has no room for a whole MTU.
//
//uetcc:hot inlines nobounds
func (w *Window) Full(p *Params) bool { return w.cwnd-w.inflight < p.mtu }

// OnSend counts a packet of size bytes as in flight, first transmission or not.
//
//uetcc:hot inlines nobounds
func (w *Window) OnSend(size int64) { w.inflight += size }

// OnSendRun is OnSend for packets of size bytes each, at most most and 2^30, until
// the window is full. The result is the number of packets.
//
//uetcc:hot inlines nobounds
func (w *Window) OnSendRun(p *Params, size int64, most int) (n int) {
	most = min(most, 1<<30) // times size is in range
	room := w.cwnd - w.inflight
	if all := size * int64(most); room+size-all >= p.mtu {
		w.inflight += all
		return most
	}
	for n < most && room >= p.mtu {
		room -= size
		n++
	}
	w.inflight = w.cwnd - room
	return n
}

// AckRequest reports whether the packet just counted by [Window.OnSend] should
// ask for an immediate acknowledgement: no further MTU fits, or the whole window
// is less than the destination collects before answering; with ProfileAdaptive
// less than four times as much.
//
//uetcc:hot inlines nobounds
func (w *Window) AckRequest(p *Params) bool {
	return w.Full(p) || w.cwnd < p.ackTrigger || w.cwnd < p.ackAll && int64(w.maxWnd) < adaptiveLong*p.ackAll
}

// OnUnmark puts size bytes back in flight: a packet that OnNACK or OnInferredLoss
// took out has been acknowledged before a retransmission, and the coming OnACK
// subtracts the bytes once more. Call OnUnmark before the OnACK.
//
//uetcc:hot inlines nobounds
func (w *Window) OnUnmark(size int64) { w.inflight += size }

// OnInferredLoss shrinks the window by a packet of size bytes timed out or found
// missing; with ProfileAdaptive by more, where queues overflow.
//
//uetcc:hot inlines nobounds
func (w *Window) OnInferredLoss(p *Params, size int64) { w.lose(p, clampBytes(size)) }

func (w *Window) lose(p *Params, size int64) {
	if p.profile == ProfileAdaptive {
		w.loseAdaptive(p, size, false)
		return
	}
	w.inflight = max(w.inflight-size, inflightMin)
	if p.profile == ProfileSpec {
		w.ignored += uint64(size)
	}
	w.cwnd = max(w.cwnd-size, p.mtu)
	w.did(ActionReduce)
}

// Cwnd is the window, bytes.
//
//uetcc:hot inlines nobounds
func (w *Window) Cwnd() int64 { return w.cwnd }

// Inflight is the number of bytes in flight; see [Window] for its bounds.
//
//uetcc:hot inlines nobounds
func (w *Window) Inflight() int64 { return w.inflight }

// BaseRTT is the smallest round trip seen, ticks: the argument for a later
// Init.
func (w *Window) BaseRTT() int64 { return w.base }

// SampleBase lowers the base round trip to the sample of a probe, ticks; a guessed one without any sample
// before follows the probe upwards, too. Samples <= 0 are none. OnACK lowers the base by the acknowledgements' samples.
//
//uetcc:hot inlines nobounds
func (w *Window) SampleBase(p *Params, rtt int64) {
	if rtt > 0 && (rtt < w.base || !w.trigger) {
		w.lowerByProbe(p, rtt)
	}
}

// lowerByProbe is setBase by the sample of a small packet. Where a good part of a full packet's round trip
// depends on the number of links, there are taken to be some, and full packets need no longer vouch for the
// base: at 2.5 Gb/s, over slow spines, a probe of 9 us made packets of 40 late for ever, and a permutation
// took 3.3 times the ideal time. With all links of a tree a base is too long on one hop, and queues too.
func (w *Window) lowerByProbe(p *Params, rtt int64) {
	if p.profile == ProfileAdaptive {
		if more := p.lacks(1, adaptiveTree/2); more > rtt/adaptiveDoubt {
			if rtt += more; rtt < w.base {
				w.lastAdjust = min(w.lastAdjust, w.lastDec)
			}
		}
	}
	switch {
	case rtt < w.base:
		w.setBase(p, rtt)
	case p.guess && p.profile == ProfileAdaptive && !w.trigger: // by nothing else, where NSCC takes no part
		w.setBase(p, min(rtt, p.mostRTT()))
		w.trigger = true
	}
}

// setBase sets a measured base round trip and the ceiling derived from the base.
// The window waits for the next increase to be clamped.
func (w *Window) setBase(p *Params, rtt int64) {
	w.rebase(p, rtt, sampledBDP(p.profile, p.unit, p.linkRate, rtt))
}

func (w *Window) rebase(p *Params, rtt int64, bdp float64) {
	if p.unrated && p.profile == ProfileAdaptive { // may have found a faster link
		bdp = max(bdp, w.path(p)*float64(rtt)/float64(w.base))
	}
	w.base = rtt
	if p.profile == ProfileAdaptive { // may find a longer base
		w.maxWnd = uint32(min(max(int64(1.5*bdp*p.hosts(rtt)), adaptiveRoom*p.mtu), p.mostWnd))
		return
	}
	w.maxWnd = uint32(max(min(int64(1.5*bdp), int64(w.maxWnd)), p.mtu))
}

// clampBytes bounds a number of bytes a peer named.
func clampBytes(n int64) int64 { return min(max(n, 0), counterMax) }

// small is n as a counter of 32 bits, limited to the range.
func small(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// Snapshot is the whole state of a [Window], for observers, for tests, and to
// carry a context elsewhere. Sizes are bytes, times and delays ticks.
type Snapshot struct {
	Cwnd, Inflight int64
	MaxWnd         int64 // current ceiling
	SavedCwnd      int64 // window before the destination's penalty, 0: none
	BaseRTT        int64
	QDelay         int64 // of the last sample; BaseRTT + QDelay is the round trip
	AvgDelay       int64
	Action         Action // of the last event
	Fulfilled      bool   // the last event applied the accumulated increase

	AchievedBytes int64   // acknowledged in the present quick-adapt period
	ReceivedBytes int64   // acknowledged since the increase was last applied
	IncBytes      float64 // accumulated increase, bytes squared
	FastCount     int64   // acknowledged in a row at about no delay
	Fast          bool    // fast increase is on
	TriggerQA     bool    // a trim asked for a quick adapt
	QAEnd         int64   // when the quick-adapt period ends; 0: none has begun
	BytesToIgnore int64   // in flight at the last quick adapt: their marks are stale
	BytesIgnored  int64   // part of BytesToIgnore accounted for since
	LastAdjust    int64   // when eta was last added
	LastDecrease  int64   // when a multiplicative decrease last cut the window
	LastSample    int64   // Config.ForgettingFilter and ProfileAdaptive only
	RoughRounds   uint8   // ProfileAdaptive only: round trips until a loss without delay is over
}

// Snapshot reads the state. Only the window's writer may call it.
func (w *Window) Snapshot() Snapshot {
	return Snapshot{
		Cwnd: w.cwnd, Inflight: w.inflight, MaxWnd: int64(w.maxWnd), SavedCwnd: int64(w.saved),
		BaseRTT: w.base, QDelay: w.qdelay, AvgDelay: int64(w.avg),
		Action: w.action, Fulfilled: w.fulfilled,
		AchievedBytes: w.achieved, ReceivedBytes: w.received, IncBytes: w.incr,
		FastCount: min(w.run&^fastOn, math.MaxUint32), Fast: w.run&fastOn != 0, TriggerQA: w.trigger, QAEnd: w.qaEnd,
		BytesToIgnore: int64(w.ignore), BytesIgnored: int64(min(w.ignored, math.MaxUint32)),
		LastAdjust: w.lastAdjust, LastDecrease: w.lastDec, LastSample: w.lastSample,
		RoughRounds: w.rough,
	}
}

// Resume continues from s under p. Values out of range are clamped, so the
// invariants of [Window] hold for any s.
func (w *Window) Resume(p *Params, s Snapshot) {
	*w = Window{
		inflight: min(max(s.Inflight, inflightMin), counterMax),
		base:     min(max(s.BaseRTT, 1), p.mostBase()),
		maxWnd:   uint32(min(max(s.MaxWnd, p.mtu), p.ceiling())),
		cwnd:     min(max(s.Cwnd, p.mtu), max(p.ceiling(), p.initial)),
		qdelay:   max(s.QDelay, 0), avg: float64(max(s.AvgDelay, 0)),
		outcome:  outcome{s.Action, s.Fulfilled},
		achieved: clampBytes(s.AchievedBytes), received: clampBytes(s.ReceivedBytes),
		run: int64(small(s.FastCount)), trigger: s.TriggerQA, qaEnd: s.QAEnd,
		ignore: small(s.BytesToIgnore), ignored: uint64(small(s.BytesIgnored)),
		lastAdjust: s.LastAdjust, lastDec: s.LastDecrease, lastSample: s.LastSample,
		rough: s.RoughRounds,
	}
	if s.SavedCwnd > 0 {
		w.saved = small(max(s.SavedCwnd, p.mtu))
	}
	if s.IncBytes >= 0 { // no NaN
		w.incr = min(s.IncBytes, 1<<62)
	}
	if s.Fast {
		w.run |= fastOn
	}
}
