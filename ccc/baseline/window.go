// Package baseline has congestion controls that others are compared with: [DCTCP], [Cubic],
// [Swift] and a [Constant] window. Each is a [ccc.Algorithm] for one context, to run beside
// those of ccc.Control or alone with ccc.ControlNone; its zero value is ready, with the
// parameters of its paper. Plug it in before the context sends. Single writer.
//
// All see a round trip without the time that the destination kept the packet. A packet that
// was refused because a switch trimmed it counts as one that was lost, since these algorithms
// know no trimming.
package baseline

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
)

// firstPackets is the first window (RFC 6928).
const firstPackets = 10

// leastPackets is the smallest window, as RFC 5681 has it for the threshold.
const leastPackets = 2

// A window is what the window-based algorithms have in common: the window, how much of it is in
// use, and round trips told by data: one is over when all that was sent at its start has left
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

// begin takes the first window over when the context tells what a packet is.
func (w *window) begin(s ccc.Standing, initial int64) {
	if w.mtu == 0 {
		w.mtu = float64(s.MTU)
		w.cwnd = float64(cmp.Or(initial, firstPackets*s.MTU))
	}
}

// room is what fits beyond what is in flight: a packet at least if nothing is.
func (w *window) room(s ccc.Standing) int64 {
	if s.Inflight <= 0 {
		return max(int64(w.cwnd), s.MTU)
	}
	return int64(w.cwnd) - s.Inflight
}

// leave takes bytes out of flight, and reports whether the window had been in use: one that is
// not even half full says nothing about the path.
func (w *window) leave(bytes int64) (used bool) {
	used = 2*float64(w.sent-w.left) >= w.cwnd
	w.left += max(bytes, 0)
	return used
}

// outgoing is what an acknowledgement takes out of flight.
func outgoing(a *ccc.Ack) int64 { return a.Bytes - a.RtxBytes }

func (w *window) slowStart() bool { return w.ssthresh == 0 || w.cwnd < w.ssthresh }

// grow is RFC 5681: by what was acknowledged up to the threshold, beyond it by a packet a
// round trip.
func (w *window) grow(bytes float64) {
	if w.slowStart() {
		w.cwnd += bytes
		return
	}
	w.cwnd += w.mtu * bytes / w.cwnd
}

// reduce multiplies the window, once for each round trip, and reports whether it has.
func (w *window) reduce(factor float64) bool {
	if w.mtu == 0 || w.left < w.cut {
		return false
	}
	w.cut = w.sent + 1
	w.cwnd = max(w.cwnd*factor, leastPackets*w.mtu)
	w.ssthresh = w.cwnd
	return true
}
