// SPDX-License-Identifier: Apache-2.0

package nscc

import "math"

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
	LastSample    int64   // Config.ForgettingFilter only
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
	}
}

// Resume continues from s under p. Values out of range are clamped, so the
// invariants of [Window] hold for any s.
func (w *Window) Resume(p *Params, s Snapshot) {
	bytes := func(v int64) int64 { return min(max(v, 0), counterMax) }
	*w = Window{
		inflight: min(max(s.Inflight, inflightMin), counterMax),
		base:     min(max(s.BaseRTT, 1), p.mostBase()),
		maxWnd:   uint32(min(max(s.MaxWnd, p.mtu), p.ceiling())),
		cwnd:     min(max(s.Cwnd, p.mtu), max(p.ceiling(), p.initial)),
		saved:    savedCwnd(p, s.SavedCwnd), qdelay: max(s.QDelay, 0), avg: float64(max(s.AvgDelay, 0)),
		outcome:  outcome{s.Action, s.Fulfilled},
		achieved: bytes(s.AchievedBytes), received: bytes(s.ReceivedBytes), incr: finite(s.IncBytes),
		run: int64(small(s.FastCount)) | flag(s.Fast), trigger: s.TriggerQA, qaEnd: s.QAEnd,
		ignore: small(s.BytesToIgnore), ignored: uint64(small(s.BytesIgnored)),
		lastAdjust: s.LastAdjust, lastDec: s.LastDecrease, lastSample: s.LastSample,
	}
}

// savedCwnd is a window to come back to, 0 for none.
func savedCwnd(p *Params, v int64) uint32 {
	if v <= 0 {
		return 0
	}
	return small(max(v, p.mtu))
}

func flag(fast bool) int64 {
	if fast {
		return fastOn
	}
	return 0
}

// finite is v if a possible accumulator, else 0.
func finite(v float64) float64 {
	if v >= 0 && v < 1<<62 {
		return v
	}
	return 0
}
