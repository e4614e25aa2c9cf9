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
