// SPDX-License-Identifier: Apache-2.0

package rccc

import "github.com/uetcc/uetcc/internal/enum"

// Arrival is the kind of packet that brought a credit target.
type Arrival uint8

// The kinds of arrivals.
const (
	// ArrivalData is a data packet, also a duplicate.
	ArrivalData Arrival = iota

	// ArrivalTrimmed is a packet without its payload and not received before: the sender has
	// something to resend. A trimmed packet received before is only acknowledged.
	ArrivalTrimmed

	// ArrivalRequest is a Credit Request.
	ArrivalRequest
)

var arrivalNames = [...]string{"data", "trimmed", "request"}

// String returns the name of a.
func (a Arrival) String() string { return enum.Name(arrivalNames[:], a) }

// OnArrival takes the credit target of a packet from the sender named h: cumulative bytes,
// [Quanta.Extend] of the wire's value near [Receiver.Target]. The result reports whether h
// named a sender. A target not newer changes nothing.
//
// A target counts only up to twice the sum of MaxDemand and MaxCredit, and a quantum at least,
// above the sender's credit at the last packet of data, since data shows use of credit; a
// request moves the mark at most once a timeout. So no peer gets more credit than honest peers
// would ask for.
//
// Report data when committed to memory, so credit follows the host's speed.
//
//uetcc:hot
func (r *Receiver) OnArrival(h Handle, now int64, a Arrival, target int64) bool {
	s := r.t.find(h)
	if s == nil {
		return false
	}
	if a != ArrivalRequest || now-s.spentAt > r.timeout {
		s.spent, s.spentAt = s.cum, now
	}
	s.seen = now
	target = min(target, s.spent+r.maxAhead)
	newer, owed := target > s.target, a != ArrivalData
	s.target = max(s.target, target)
	if newer || owed {
		r.policy.Update(&r.t, h.Slot(), owed)
		r.wake(now)
	}
	return true
}

// wake starts a sleeping pacer when a sender waits for service.
func (r *Receiver) wake(now int64) {
	if !r.awake && r.t.active.n+r.t.idle.n > 0 {
		r.awake = true
		r.due, r.early = r.policy.Start(now), 0
	}
}

// Credit returns the cumulative credit of the sender named h, in bytes, and false when gone.
func (r *Receiver) Credit(h Handle) (cum int64, ok bool) {
	if s := r.t.find(h); s != nil {
		return s.cum, true
	}
	return 0, false
}

// Target returns the newest target of the sender named h, in bytes, 0 when gone.
//
//uetcc:hot inlines
func (r *Receiver) Target(h Handle) int64 {
	if s := r.t.find(h); s != nil {
		return s.target
	}
	return 0
}
