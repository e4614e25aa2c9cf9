// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
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
	r := &Receiver{
		policy: c.Policy, timeout: c.Timeout, maxNeed: roundUp(c.MaxDemand),
		maxAhead: max(2*(c.MaxDemand+c.MaxCredit), QuantumBytes), // less cannot be told
		full:     fullPace(c.Rate, c.Utilisation),
	}
	r.pace = r.full
	r.t.init(c.Senders)
	return r, nil
}

// fullPace is the speed of a part of a link of rate bytes a second. A quantum's time is cut to
// picoseconds, as in the simulator, but not below the time on the link.
func fullPace(rate int64, part float64) Pace {
	onLink := (QuantumBytes*1e12 + rate - 1) / rate
	return Pace{
		rate:    int64(float64(rate) * part),
		quantum: max(int64(QuantumBytes*1e12/float64(rate)/part), onLink),
	}
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
