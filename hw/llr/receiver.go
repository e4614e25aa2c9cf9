// SPDX-License-Identifier: Apache-2.0

package llr

import (
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/enum"
)

// receiverState is the state of a receiver.
type receiverState uint8

const (
	receiverOff      receiverState = iota // no LLR_INIT has come: numbered frames are dropped
	receiverSendACKs                      // in sequence
	receiverSendNACK                      // a NACK is due
	receiverNACKSent                      // until the missing frame comes only duplicates are answered
)

// String returns the name.
func (s receiverState) String() string {
	return enum.Name([]string{"OFF", "SEND_ACKS", "SEND_NACK", "NACK_SENT"}, s)
}

// Arrival is how a frame has come.
type Arrival uint8

const (
	ArrivalGood     Arrival = iota // the check sum is right
	ArrivalPoisoned                // the check sum was made wrong on purpose by a switch on the way
	ArrivalBad                     // damaged on the link: do not trust the preamble
)

// String returns a short name.
func (a Arrival) String() string { return enum.Name([]string{"good", "poisoned", "bad"}, a) }

// ReceiverStats counts frames.
type ReceiverStats struct {
	Good      uint64 // delivered in sequence
	Poisoned  uint64 // of the Good, to be dropped behind the link
	Duplicate uint64 // frames received before
	Skipped   uint64 // dropped behind a missing frame, before an LLR_INIT, or damaged
	NACKs     uint64
	Replays   uint64 // missing frames that came at last
}

// A Receiver is the receiving side of a link. Single writer.
type Receiver struct {
	state   receiverState
	next    Seq // next_rx_seq
	spacing int64
	ackAt   int64
	echo    Set // to be sent, if the Type is not 0
	stats   ReceiverStats
}

// NewReceiver returns a receiver that sends an ACK every so many nanoseconds, the time of 2,048
// bytes on the link by default of the specification. The error wraps [ErrConfig].
func NewReceiver(spacing int64) (*Receiver, error) {
	if err := check.AtLeast(ErrConfig, "spacing", spacing, 1); err != nil {
		return nil, err
	}
	return &Receiver{spacing: spacing, ackAt: never}, nil
}

// Stats returns the counters.
func (r *Receiver) Stats() ReceiverStats { return r.stats }

// Frame takes a frame with a number, or a damaged one of any kind, and reports whether to
// deliver the frame. Frames without a number are delivered whenever the check sum is right,
// without a call of Frame.
//
// A new receiver delivers no numbered frame before an LLR_INIT: where a receiver has started anew, the
// transmitter sends the frames again that its predecessor may have delivered.
func (r *Receiver) Frame(now int64, s Seq, how Arrival) (deliver bool) {
	if r.state == receiverOff {
		r.stats.Skipped++
		return false
	}
	switch d := s.diff(r.next); {
	case how != ArrivalBad && d == 0:
		if r.state != receiverSendACKs {
			r.state = receiverSendACKs
			r.stats.Replays++
		}
		if r.next = s.add(1); how == ArrivalPoisoned {
			r.stats.Poisoned++
		}
		r.stats.Good++
		if r.ackAt == never {
			r.ackAt = deadline.After(now, r.spacing)
		}
		return true
	case how != ArrivalBad && d < 0:
		r.stats.Duplicate++
		if r.ackAt == never && r.state != receiverSendNACK { // the acknowledgement may be lost, or the NACK of a frame not sent yet
			r.ackAt = deadline.After(now, r.spacing)
		}
	default:
		r.stats.Skipped++
		if r.state == receiverSendACKs {
			r.state = receiverSendNACK
		}
	}
	return false
}

// Receive takes an ordered set of the transmitter: LLR_INIT. Other sets change nothing.
func (r *Receiver) Receive(x *Set) {
	if x.Type == TypeInit {
		r.state, r.next, r.ackAt = receiverSendACKs, x.Seq, never
		r.echo = Set{Type: TypeInitEcho, Seq: x.Seq, Data: x.Data}
	}
}

// Set returns the ordered set due, or false: the echo of an LLR_INIT, one
// NACK for a gap, and otherwise an ACK at each interval with arrivals.
func (r *Receiver) Set(now int64) (Set, bool) {
	switch {
	case r.echo.Type != 0:
		x := r.echo
		r.echo = Set{}
		return x, true
	case r.state == receiverSendNACK:
		r.state, r.ackAt = receiverNACKSent, never
		r.stats.NACKs++
		return Set{Type: TypeNACK, Seq: r.next.add(-1)}, true
	case r.ackAt != never && now >= r.ackAt:
		r.ackAt = never
		return Set{Type: TypeACK, Seq: r.next.add(-1)}, true
	}
	return Set{}, false
}

// Deadline returns when Set has something to send next, math.MaxInt64 for never.
func (r *Receiver) Deadline(now int64) int64 {
	if r.echo.Type != 0 || r.state == receiverSendNACK {
		return now
	}
	return r.ackAt
}
