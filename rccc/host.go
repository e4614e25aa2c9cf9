// SPDX-License-Identifier: Apache-2.0

package rccc

// HostLimits are the backlogs of the way into host memory, in bytes, that slow
// credit: full speed up to Low, a thousandth above High, falling with the square
// of the room left below Full in between.
type HostLimits struct{ Low, High, Full int64 }

// DefaultHostLimits returns the limits of the simulator.
func DefaultHostLimits() HostLimits {
	return HostLimits{Low: 1_000_000, High: 4_750_000, Full: 5_000_000}
}

// Factor returns the rate factor for a backlog, to be combined with further
// factors by min and passed to [Receiver.SetFactor].
func (l HostLimits) Factor(backlog int64) float64 {
	switch {
	case backlog < l.Low:
		return 1
	case backlog > l.High || l.Full <= l.Low:
		return minFactor
	}
	room, all := float64(max(l.Full-backlog, 0)), float64(l.Full-l.Low)
	return max(room*room/(all*all), minFactor)
}
