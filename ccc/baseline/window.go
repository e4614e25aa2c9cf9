// SPDX-License-Identifier: Apache-2.0

// Package baseline has congestion controls for comparison: [DCTCP], [Cubic],
// [Swift], a [Constant] window, and the receiver credit of [EQDS] as a configuration. The others
// are a [ccc.Algorithm] for one context, to run beside
// the built-in controls of ccc.Control or alone with ccc.ControlNone; the zero value is ready,
// with the parameters of the paper. Plug the Algorithm in before the context sends. Single
// writer.
//
// The round trip excludes the time the destination kept the packet. A packet refused after
// trimming by a switch counts as lost, since the algorithms know no trimming.
package baseline

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
)

// firstPackets is the first window (RFC 6928).
const firstPackets = 10

// leastPackets is the smallest window, as in RFC 5681 for the threshold.
const leastPackets = 2

// A window is the common part of the window-based algorithms: the window, the used part, and
// round trips told by data: a round trip is over when all data sent before the start has left
// the flight.
type window struct {
	mtu      float64 // bytes; 0: no Allow yet
	cwnd     float64 // bytes
	ssthresh float64 // bytes; 0: none
	sent     int64   // bytes, ever
	left     int64   // of these, what is no longer in flight
	cut      int64   // no second decrease before so much has left
}

// Cwnd is the window, bytes; 0 before the first Allow.
func (w *window) Cwnd() int64 { return int64(w.cwnd) }

// OnSend is for [ccc.Algorithm].
func (w *window) OnSend(_, size int64, _ bool) { w.sent += size }

// begin takes the first window over when the context tells the packet size.
func (w *window) begin(s ccc.Standing, initial int64) {
	if w.mtu == 0 {
		w.mtu = float64(s.MTU)
		w.cwnd = float64(cmp.Or(initial, firstPackets*s.MTU))
	}
}

// room is the bytes that fit beside the bytes in flight: a packet at least if none are.
func (w *window) room(s ccc.Standing) int64 {
	if s.Inflight <= 0 {
		return max(int64(w.cwnd), s.MTU)
	}
	return int64(w.cwnd) - s.Inflight
}

// leave takes bytes out of flight, and reports whether the window had been in use: a window
// not even half full says nothing about the path.
func (w *window) leave(bytes int64) (used bool) {
	used = 2*float64(w.sent-w.left) >= w.cwnd
	w.left += max(bytes, 0)
	return used
}

// outgoing is the bytes an acknowledgement takes out of flight.
func outgoing(a *ccc.Ack) int64 { return a.Bytes - a.RtxBytes }

func (w *window) slowStart() bool { return w.ssthresh == 0 || w.cwnd < w.ssthresh }

// grow is RFC 5681: by the bytes acknowledged up to the threshold, beyond by a packet a
// round trip.
func (w *window) grow(bytes float64) {
	if w.slowStart() {
		w.cwnd += bytes
		return
	}
	w.cwnd += w.mtu * bytes / w.cwnd
}

// reduce multiplies the window, once for each round trip, and reports whether reduced now.
func (w *window) reduce(factor float64) bool {
	if w.mtu == 0 || w.left < w.cut {
		return false
	}
	w.cut = w.sent + 1
	w.cwnd = max(w.cwnd*factor, leastPackets*w.mtu)
	w.ssthresh = w.cwnd
	return true
}
