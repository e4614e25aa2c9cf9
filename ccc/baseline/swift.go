// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"cmp"
	"math"

	"github.com/uetcc/uetcc/ccc"
)

// Constants of Swift's flow scaling, decrease and limits, as in the paper and the simulator
// htsim.
const (
	swiftIncrease    = 1.0 // packets a round trip
	swiftDecrease    = 0.8 // beta: of the excess over the target
	swiftMaxDecrease = 0.5 // max_mdf
	swiftScaleMin    = 0.1 // fs_min_cwnd, packets
	swiftScaleMax    = 100 // fs_max_cwnd, packets
	swiftLeast       = 0.001
	swiftResetAfter  = 5 // RETX_RESET_THRESHOLD
)

// Swift is Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the
// Datacenter, SIGCOMM 2020, algorithm 1: the window follows a target delay, and below a packet
// the window becomes a pace. Of Swift's two delays the fabric's is here; the round trip excludes
// the time a destination keeps a packet.
type Swift struct {
	InitialCwnd int64 // bytes; 0: NSCC's first window, since there is no slow start
	Target      int64 // ns, for a window of 100 packets or more; 0: half as much again as the base round trip
	Scaling     int64 // fs_range, ns: how much longer it may be for small windows; 0: five times Target, below 0: nothing

	mtu     float64
	packets float64 // the window
	rtt     int64   // last sample, ns
	cut     int64   // when the window last shrank, ns
	shrunk  bool    // it has
	lost    int     // decreases by losses since something new arrived
	sentAt  int64   // ns
	target  int64   // ns
	scaling int64   // ns
}

// Cwnd is the window, bytes, maybe less than a packet; 0 before the first Allow.
func (w *Swift) Cwnd() int64 { return int64(w.packets * w.mtu) }

// OnSend is for [ccc.Algorithm].
func (w *Swift) OnSend(now, _ int64, _ bool) { w.sentAt = now }

// targetOf is the target delay for a window, ns (section 3.5): a smaller window means more flows,
// likely, and so a longer queue.
func (w *Swift) targetOf(packets float64) float64 {
	least, most := 1/math.Sqrt(swiftScaleMax), 1/math.Sqrt(swiftScaleMin)
	share := (1/math.Sqrt(packets) - least) / (most - least)
	return float64(w.target) + float64(w.scaling)*min(max(share, 0), 1)
}

// OnACK is for [ccc.Algorithm].
func (w *Swift) OnACK(now int64, a ccc.Ack) {
	if a.Bytes > 0 {
		w.lost = 0
	}
	if a.RTT <= 0 || w.mtu == 0 {
		return
	}
	w.rtt = a.RTT
	acked, target, delay := float64(a.Bytes)/w.mtu, w.targetOf(w.packets), float64(a.RTT)
	switch {
	case delay < target && w.packets >= 1:
		w.packets += swiftIncrease * acked / w.packets
	case delay < target:
		w.packets += swiftIncrease * acked
	default:
		w.shrink(now, max(1-swiftDecrease*(delay-target)/delay, 1-swiftMaxDecrease))
	}
}

// shrink multiplies the window, once a round trip, and reports whether shrunk now.
func (w *Swift) shrink(now int64, factor float64) bool {
	if w.shrunk && now-w.cut < w.rtt {
		return false
	}
	w.packets = max(w.packets*factor, swiftLeast)
	w.cut, w.shrunk = now, true
	return true
}

// OnNACK is for [ccc.Algorithm].
func (w *Swift) OnNACK(now int64, _ ccc.Nack) { w.shrink(now, 1-swiftMaxDecrease) }

// OnInferredLoss is for [ccc.Algorithm]. After many in a row the window is the smallest there is.
func (w *Swift) OnInferredLoss(now int64, _ ccc.Loss) {
	if !w.shrink(now, 1-swiftMaxDecrease) {
		return
	}
	if w.lost++; w.lost >= swiftResetAfter {
		w.packets = swiftLeast
	}
}

// Allow is for [ccc.Algorithm].
func (w *Swift) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	if w.mtu == 0 {
		w.mtu, w.rtt = float64(s.MTU), s.BaseRTT
		w.packets = float64(cmp.Or(w.InitialCwnd, s.Cwnd)) / w.mtu
		w.target = cmp.Or(w.Target, s.BaseRTT+s.BaseRTT/2)
		w.scaling = max(cmp.Or(w.Scaling, 5*w.target), 0)
	}
	if w.packets >= 1 {
		return w.Cwnd() - s.Inflight, 0
	}
	return s.MTU - s.Inflight, w.sentAt + int64(float64(w.rtt)/w.packets)
}
