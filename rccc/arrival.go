package rccc

import "github.com/uetcc/uetcc/internal/enum"

// Arrival says what brought a credit target.
type Arrival uint8

// The kinds of arrivals.
const (
	// ArrivalData is a data packet, also a duplicate.
	ArrivalData Arrival = iota

	// ArrivalTrimmed is a packet that lost its payload and was not received
	// before: its sender has something to resend. A trimmed packet that was
	// received before is only acknowledged.
	ArrivalTrimmed

	// ArrivalRequest is a Credit Request.
	ArrivalRequest
)

var arrivalNames = [...]string{"data", "trimmed", "request"}

// String returns the name of a.
func (a Arrival) String() string { return enum.Name(arrivalNames[:], a) }

// OnArrival takes the credit target of a packet from the sender that h names:
// cumulative bytes, [Quanta.Extend] of the wire's value near [Receiver.Target].
// It reports whether h named one. A target that is not newer changes nothing.
//
// A target counts only up to twice the sum of MaxDemand and MaxCredit, and a quantum at least,
// above the credit that the sender had at its last packet of data, since data shows that it
// uses credit; a request moves that mark at most once a timeout. So no peer gets more credit
// than an honest one would ask for.
//
// Report data when it was committed to memory, so that credit follows what the
// host absorbed.
func (r *Receiver) OnArrival(h Handle, now int64, a Arrival, target int64) bool {
	s := r.t.find(h)
	if s == nil {
		return false
	}
	m := &r.t.arrivals[h.Slot()]
	if a != ArrivalRequest || now-m.spentAt > r.timeout {
		m.spent, m.spentAt = s.cum, now
	}
	m.seen = now
	target = min(target, m.spent+r.maxAhead)
	newer, owed := target > s.target, a != ArrivalData
	s.target = max(s.target, target)
	if newer || owed {
		r.policy.Update(&r.t, h.Slot(), owed)
		r.wake(now)
	}
	return true
}

// wake starts a sleeping pacer when there is somebody to serve.
func (r *Receiver) wake(now int64) {
	if !r.awake && r.t.active.n+r.t.idle.n > 0 {
		r.awake = true
		r.due, r.early = r.policy.Start(now), 0
	}
}

// Target returns the newest target of the sender that h names, in bytes, 0 when
// it is gone.
func (r *Receiver) Target(h Handle) int64 {
	if s := r.t.find(h); s != nil {
		return s.target
	}
	return 0
}
