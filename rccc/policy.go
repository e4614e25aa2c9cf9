// SPDX-License-Identifier: Apache-2.0

package rccc

// Grant is one decision of the pacer: tell Sender the cumulative credit, now Cum. The
// message is absolute, so a loss costs only time. A Grant rides on an ACK_CC or a Credit
// control packet, as QuantaOf(Cum).
type Grant struct {
	Sender Handle
	Bytes  int64 // added by the decision; 0 when the message only repeats Cum
	Cum    int64 // bytes
	Wait   int64 // how long the pacer rests, picoseconds
}

// GrantPolicy decides the next sender, the amount, and the rest of the pacer. A policy
// may keep state; the Receiver calls the methods from a single goroutine.
type GrantPolicy interface {
	// Start is called when a sleeping pacer has work again, and returns the time of the
	// next run, in nanoseconds, not before now.
	Start(now int64) int64

	// Update is called after the sender in i asked for more than ever before, or
	// after a message wanting an answer (owed). Update moves the sender to the right
	// list.
	Update(t *Senders, i Slot, owed bool)

	// Next serves one sender. A Grant to the zero Handle only makes the pacer rest for
	// the Grant's Wait; false sends the pacer to sleep until an arrival wakes it.
	Next(t *Senders, p *Pace) (Grant, bool)
}

// Pace is the speed at which credit may be handed out now.
type Pace struct {
	rate    int64 // bytes a second
	quantum int64 // picoseconds for 256 bytes
}

// TimeFor returns how long n bytes, up to 2^18, take, in picoseconds, rounded up.
func (p *Pace) TimeFor(n int64) int64 { return (n*p.quantum + QuantumBytes - 1) / QuantumBytes }

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
