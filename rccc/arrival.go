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

// Add puts a sender in the table, when the first packet of its context arrives; which
// peer and context the handle is for is the caller's to remember. weight is its share
// relative to others, 0 means 1. start is the cumulative credit that it has already, in
// bytes: 0, the initial credit where both sides count that, or [Receiver.Resume] for a
// context that was forgotten. The only error is [ErrFull].
func (r *Receiver) Add(now int64, weight uint16, start int64) (Handle, error) {
	return r.t.add(now, max(weight, 1), start)
}

// Resume returns the start for a context that the destination forgot while its
// source did not: one W below the target of its first packet. The need that a
// source expresses is at most W, so this is never ahead of what the source has;
// the first grants may repeat what it knows.
func (r *Receiver) Resume(target int64) int64 { return target - roundDown(r.maxCredit) }

// Remove drops a sender, when its context closes, and writes off its credit. It
// reports whether h named one.
func (r *Receiver) Remove(h Handle) bool {
	if r.t.find(h) == nil {
		return false
	}
	r.t.remove(h.Slot())
	return true
}

// OnArrival takes the credit target of a packet from the sender that h names:
// cumulative bytes, [Quanta.Extend] of the wire's value near [Receiver.Target].
// It reports whether h named one. A target that is not newer changes nothing.
//
// What a target asks for counts up to twice the sum of MaxDemand and MaxCredit above
// the credit that the sender had at its last packet of data, which shows that credit
// is used, and with requests alone once a timeout: a peer cannot ask for more than an
// honest one would.
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
	if newer {
		s.target = target
	}
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

// Publish makes the newest credit and target of the sender that h names visible
// to [Senders.Load] in other goroutines. Owners that share nothing need not
// call it.
func (r *Receiver) Publish(h Handle) {
	if r.t.find(h) != nil {
		r.t.publish(h.Slot())
	}
}

// expireVisits bounds the work of one Expire.
const expireVisits = 32

// Expire forgets a sender from which nothing arrived for the credit timeout while
// it holds credit that it did not use, and all that it asked for, and returns its
// handle. Each call looks at the next 32 slots; call it until it returns false, at
// least as often as once a timeout for every 32 slots of the table.
func (r *Receiver) Expire(now int64) (Handle, bool) {
	t := &r.t
	for range min(expireVisits, len(t.slab)) {
		i := t.hand
		t.hand++
		if t.hand == len(t.slab) {
			t.hand = 0
		}
		s, m := &t.slab[i], &t.arrivals[i]
		if s.generation&1 == 1 && s.list != ListActive && s.cum > m.spent && now-m.seen > r.timeout {
			h := s.handle(Slot(i))
			t.remove(Slot(i))
			return h, true
		}
	}
	return 0, false
}
