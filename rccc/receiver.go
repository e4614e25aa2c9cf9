// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/enum"
)

// ReceiverConfig describes the destination half of one port.
type ReceiverConfig struct {
	// Senders is the capacity of the active sender table, 1 to 65,536.
	// Required.
	Senders int

	// Rate is the speed of the link, of all its ports together, in bytes a
	// second, 125,000 (1 Mb/s) to 10^12. Required.
	Rate int64

	// Utilisation is the part of Rate handed out as credit, 0.1 to 1. Default 0.99.
	Utilisation float64

	// MaxCredit is W of the senders, in bytes, up to 2^29. Required.
	MaxCredit int64

	// MaxDemand is the most an honest sender asks for at a time, in bytes, up to 2^29.
	// Default MaxCredit.
	MaxDemand int64

	// Timeout is the silence allowed to a sender holding credit, in nanoseconds, up to
	// 2^56, before [Receiver.Expire] forgets the sender. Default 1 ms: give 8 round trips
	// of the farthest sender if longer, since the use of credit takes a round trip.
	Timeout int64

	// Policy shares the rate. Required; a policy serves a single receiver.
	Policy GrantPolicy
}

// Receiver is the destination half of receiver-credit congestion control for one
// port: the active sender table, and the pacer that hands out credit at the
// speed of the link, one [Grant] at a time.
//
// The owner reports arrivals, polls at the time of [Receiver.Deadline], and sends each
// grant's cumulative value to the sender. Credit granted in any interval of t nanoseconds
// is at most the link's bytes in t+1 nanoseconds, plus a grant. With a [slicePolicy] the
// bound is as much plus a slice, and a byte for each unit of weight.
//
// Single writer. The work of every call is independent of the number of senders.
type Receiver struct {
	policy GrantPolicy
	due    int64 // when the pacer runs next, ns; meaningful while awake
	early  int64 // part of a nanosecond by which the exact time was earlier, ps: 0 to 999
	awake  bool
	pace   Pace
	t      Senders

	full     Pace  // at factor 1
	maxNeed  int64 // the most a target is ahead of the source's credit, without debts; bytes in whole quanta
	maxAhead int64 // how far a target may run ahead of answered credit, bytes
	timeout  int64
	most     uint8 // doublings of maxAhead
}

const (
	minRate = 125_000 // 1 Mb/s
	maxRate = 1e12    // bytes a second

	minUtilisation = 0.1

	// minFactor bounds the rate factor from below: a quantum's time stays in
	// range and a stopped host cannot stop credit for ever.
	minFactor = 0.001
)

// NewReceiver validates c. Errors wrap [ErrConfig].
func NewReceiver(c ReceiverConfig) (*Receiver, error) {
	c.MaxDemand = cmp.Or(c.MaxDemand, c.MaxCredit)
	c.Timeout = cmp.Or(c.Timeout, 1_000_000)
	c.Utilisation = cmp.Or(c.Utilisation, 0.99)
	if c.Policy == nil {
		return nil, fmt.Errorf("%w: Policy is missing", ErrConfig)
	}
	err := cmp.Or(
		check.Range(ErrConfig, "Senders", c.Senders, 1, maxSenders),
		check.Range(ErrConfig, "Rate", c.Rate, minRate, maxRate),
		check.Range(ErrConfig, "Utilisation", c.Utilisation, minUtilisation, 1),
		check.Range(ErrConfig, "MaxCredit", c.MaxCredit, 1, maxTotal),
		check.Range(ErrConfig, "MaxDemand", c.MaxDemand, 1, maxTotal),
		check.Range(ErrConfig, "Timeout", c.Timeout, 1, maxTime),
	)
	if err != nil {
		return nil, err
	}
	onLink := (QuantumBytes*1e12 + c.Rate - 1) / c.Rate // ps
	r := &Receiver{
		policy: c.Policy, timeout: c.Timeout, maxNeed: roundUp(c.MaxDemand),
		maxAhead: max(2*(c.MaxDemand+c.MaxCredit), QuantumBytes), // less cannot be told
		most:     doublings(max(c.MaxDemand, c.MaxCredit)),
		full: Pace{
			rate: int64(float64(c.Rate) * c.Utilisation),
			// cut to picoseconds, as in the simulator, but not below the time on the link
			quantum: max(int64(QuantumBytes*1e12/float64(c.Rate)/c.Utilisation), onLink),
		},
	}
	r.pace = r.full
	r.t.init(c.Senders)
	return r, nil
}

// Senders returns the active sender table.
func (r *Receiver) Senders() *Senders { return &r.t }

// Pace returns the speed in force.
func (r *Receiver) Pace() Pace { return r.pace }

// SetFactor slows credit to f times the configured rate, from the next grant on.
// f is limited to 0.001 to 1; NaN counts as 1.
func (r *Receiver) SetFactor(f float64) {
	if !(f < 1) {
		r.pace = r.full
		return
	}
	f = max(f, minFactor)
	r.pace.rate = int64(float64(r.full.rate) * f)
	r.pace.quantum = int64(float64(r.full.quantum) / f)
}

// Deadline returns the next time for [Receiver.Poll], in nanoseconds, and false when only
// an arrival can bring work.
//
//uetcc:hot inlines
func (r *Receiver) Deadline() (int64, bool) { return r.due, r.awake }

// Poll makes one decision if due. Call Poll until false. A late call is harmless: no burst
// makes up for lost time.
//
//uetcc:hot
func (r *Receiver) Poll(now int64) (Grant, bool) {
	now = min(now, deadline.End)
	for r.awake && now >= r.due {
		g, ok := r.policy.Next(&r.t, &r.pace)
		if !ok {
			r.awake = false
			break
		}
		r.rest(now, g.Wait)
		if g.Sender != 0 {
			return g, true
		}
	}
	return Grant{}, false
}

// rest puts the next run off by wait picoseconds. Parts of a nanosecond are
// carried, so rounding does not change the rate.
func (r *Receiver) rest(now, wait int64) {
	if now > r.due {
		r.due, r.early = now, 0
	}
	if wait == 0 {
		return
	}
	wait -= r.early
	ns := (wait + 999) / 1000
	r.due = deadline.After(r.due, ns)
	r.early = ns*1000 - wait
}

// Add puts a sender in the table, when the first packet of its context arrives; the caller
// remembers the peer and context of the handle. weight is the sender's relative share, 0
// means 1. start is the sender's cumulative credit so far, in bytes: 0, the initial credit
// where both sides count the initial credit, or [Receiver.Resume] for a forgotten context.
// The only error is [ErrFull].
func (r *Receiver) Add(now int64, weight uint16, start int64) (Handle, error) {
	return r.t.add(now, max(weight, 1), start)
}

// Resume returns the start for a context forgotten by the destination only, by the target of
// the first packet: target - MaxDemand, as a source may ask ahead no farther. The start is
// never ahead of the source's credit, except by a debt of less than a packet, also asked for
// by the target. The first grants may repeat known credit.
func (r *Receiver) Resume(target int64) int64 { return target - r.maxNeed }

// Remove drops a sender, when the context closes, and writes off the sender's credit. The
// result reports whether h named a sender.
func (r *Receiver) Remove(h Handle) bool {
	if r.t.find(h) == nil {
		return false
	}
	r.t.remove(h.Slot())
	return true
}

// expireVisits bounds the work of an Expire.
const expireVisits = 32

// Expire forgets a sender from which nothing arrived for the credit timeout while the sender
// holds unused credit, and all credit asked for, and returns the handle. Each call looks at
// the next 32 slots; call Expire until false, at least as often as once a timeout for every
// 32 slots of the table.
func (r *Receiver) Expire(now int64) (Handle, bool) { return r.forget(now, false) }

// Displace is Expire for when a new sender needs a place: silent senders without unused
// credit are forgotten, too. A call looks at the next 32 slots; call Displace once.
func (r *Receiver) Displace(now int64) (Handle, bool) { return r.forget(now, true) }

// forget is Expire, or Displace.
func (r *Receiver) forget(now int64, displace bool) (Handle, bool) {
	t := &r.t
	for range min(expireVisits, len(t.slab)) {
		i := t.hand
		t.hand++
		if t.hand == len(t.slab) {
			t.hand = 0
		}
		s := &t.slab[i]
		if s.generation&1 == 1 && s.list != ListActive && (displace || s.cum > s.spent) && now-s.seen > r.timeout {
			h := s.handle(Slot(i))
			t.remove(Slot(i))
			return h, true
		}
	}
	return 0, false
}

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
// would ask for. A sender that wants more and has used as much has a longer path: as often as
// that is so, twice as much counts.
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
	if ahead := r.ahead(s); target > s.spent+ahead {
		target = s.spent + ahead
		if a != ArrivalRequest && s.cum-s.grown > ahead && s.reach < r.most {
			s.reach, s.grown = s.reach+1, s.cum
		}
	}
	newer, owed := target > s.target, a != ArrivalData
	s.target = max(s.target, target)
	if newer || owed {
		r.policy.Update(&r.t, h.Slot(), owed)
		if !r.awake && r.t.active.n+r.t.idle.n > 0 { // a sleeping pacer, and a sender that waits for service
			r.awake = true
			r.due, r.early = r.policy.Start(now), 0
		}
	}
	return true
}

// Ahead returns how far the target of the sender named h may be above or below its credit in use, in bytes.
func (r *Receiver) Ahead(h Handle) int64 {
	if s := r.t.find(h); s != nil {
		return r.ahead(s)
	}
	return r.maxAhead
}

// ahead is how far a target of s may run ahead of the credit in use.
func (r *Receiver) ahead(s *sender) int64 { return r.maxAhead << (s.reach & 31) }

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
