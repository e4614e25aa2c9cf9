// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
)

// DefaultGrant is the credit of a turn: 64 quanta, four full packets.
const DefaultGrant = 64 * QuantumBytes

// PullConfig is for [NewPullPolicy].
type PullConfig struct {
	// MaxCredit is W in bytes, 256 to 2^29: spare credit stops when a sender holds W
	// beyond the target. Required unless NoIdleCredit.
	MaxCredit int64

	// Grant is the credit of one turn, in bytes, a multiple of 256 up to 2^18. Default
	// DefaultGrant.
	Grant int64

	// NoIdleCredit leaves spare time unused.
	NoIdleCredit bool

	// LikeHtsim repeats two habits of the htsim simulator, so recorded runs can be
	// replayed: any newer target queues the sender and a turn without demand costs
	// four quanta of pacer time, and a satisfied sender becomes idle even when holding
	// W already.
	LikeHtsim bool
}

// pullPolicy is what [NewPullPolicy] returns.
type pullPolicy struct {
	grant     int64
	idleCap   int64 // whole quanta, in bytes
	likeHtsim bool
}

// NewPullPolicy returns a policy that serves one sender a turn, round robin, and hands spare
// time to senders with satisfied demand, so such senders can start at once when demand
// returns. A sender of weight w has w grants in a turn (deficit round robin).
//
// Between two senders always wanting at least a grant the credit of any interval differs by
// at most one grant for each unit of weight. Errors wrap [ErrConfig].
func NewPullPolicy(c PullConfig) (GrantPolicy, error) {
	c.Grant = cmp.Or(c.Grant, DefaultGrant)
	least := int64(QuantumBytes)
	if c.NoIdleCredit {
		c.MaxCredit, least = 0, 0
	}
	err := cmp.Or(
		check.Range(ErrConfig, "Grant", c.Grant, QuantumBytes, maxGrant),
		check.Range(ErrConfig, "MaxCredit", c.MaxCredit, least, maxTotal),
	)
	if err != nil {
		return nil, err
	}
	if c.Grant%QuantumBytes != 0 {
		return nil, fmt.Errorf("%w: Grant is %d, want a multiple of %d", ErrConfig, c.Grant, QuantumBytes)
	}
	return &pullPolicy{grant: c.Grant, idleCap: roundDown(c.MaxCredit), likeHtsim: c.LikeHtsim}, nil
}

// maxGrant bounds a turn so the pacer time stays in range at any speed.
const maxGrant = 1 << 18

// Start lets the pacer run at once.
func (p *pullPolicy) Start(now int64) int64 { return now }

// Update makes a sender active if in need of credit or owed an answer, idle if ahead
// of the target by less than W.
//
//uetcc:hot
func (p *pullPolicy) Update(t *Senders, i Slot, owed bool) {
	s := &t.slab[i]
	switch {
	case s.list == ListActive:
	case owed || s.target > s.cum || p.likeHtsim:
		t.Move(i, ListActive)
	case s.list == ListNone && s.cum-s.target < p.idleCap:
		t.Move(i, ListIdle)
	}
}

// Next serves the head of the active list, or else of the idle list.
//
//uetcc:hot
func (p *pullPolicy) Next(t *Senders, pace *Pace) (Grant, bool) {
	if t.active.n == 0 {
		return p.serveIdle(t, pace)
	}
	i := t.active.head
	s := &t.slab[i]
	n := p.grant
	if need := s.target - s.cum; need <= n {
		n = max(need, 0)
		p.satisfy(t, i, n)
	} else if s.turn > 1 {
		s.turn--
	} else {
		s.turn = s.weight
		t.active.head = t.links[i].next
	}
	wait := pace.TimeFor(n)
	if n == 0 && p.likeHtsim {
		wait = 4 * pace.quantum
	}
	return t.Grant(i, n, wait), true
}

// satisfy takes the sender in i, about to receive the last n bytes asked for, off the
// active list.
func (p *pullPolicy) satisfy(t *Senders, i Slot, n int64) {
	s := &t.slab[i]
	s.turn = s.weight
	if s.cum+n-s.target < p.idleCap || p.likeHtsim {
		t.Move(i, ListIdle)
	} else {
		t.Move(i, ListNone)
	}
}

func (p *pullPolicy) serveIdle(t *Senders, pace *Pace) (Grant, bool) {
	if t.idle.n == 0 {
		return Grant{}, false
	}
	i := t.idle.head
	s := &t.slab[i]
	if s.cum+p.grant-s.target < p.idleCap {
		t.idle.head = t.links[i].next
	} else {
		t.Move(i, ListNone)
	}
	return t.Grant(i, p.grant, pace.TimeFor(p.grant)), true
}

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
// of the room left below Full in between. The zero value stands for [DefaultHostLimits].
type HostLimits struct{ Low, High, Full int64 }

// DefaultHostLimits returns the limits of the simulator.
func DefaultHostLimits() HostLimits {
	return HostLimits{Low: 1_000_000, High: 4_750_000, Full: 5_000_000}
}

// Factor returns the rate factor for a backlog, to be combined with further
// factors by min and passed to [Receiver.SetFactor].
func (l HostLimits) Factor(backlog int64) float64 {
	if l == (HostLimits{}) {
		l = DefaultHostLimits()
	}
	switch {
	case backlog < l.Low:
		return 1
	case backlog > l.High || l.Full <= l.Low:
		return minFactor
	}
	room, all := float64(max(l.Full-backlog, 0)), float64(l.Full-l.Low)
	return max(room*room/(all*all), minFactor)
}

// SliceConfig is for [NewSlicePolicy].
type SliceConfig struct {
	// Slice is the length of a time slice, in nanoseconds, up to a million. Default 1000.
	Slice int64

	// Carry moves the remainder of a slice's division to the next slice; otherwise the
	// remainder is lost, unless nobody would get a byte.
	Carry bool
}

// slicePolicy is what [NewSlicePolicy] returns.
type slicePolicy struct {
	slice  int64 // ns
	keep   bool
	open   bool   // some sender of this slice is not served yet
	number uint32 // of the slice, modulo 2^32; stamps the senders served
	share  int64  // bytes for each unit of weight
	carry  int64  // left over by the division, billionths of a byte
}

// NewSlicePolicy returns a policy that divides the capacity of each time slice equally
// among the senders with demand at the slice's begin, in proportion to the weights. The
// unneeded part of a share stays unused. A joining sender waits for the next slice; a
// leaving sender keeps granted credit.
//
// The model is that of UET congestion chapter 8: 12,500 bytes a microsecond at 100 Gb/s,
// 6,250 each for two senders. Errors wrap [ErrConfig].
func NewSlicePolicy(c SliceConfig) (GrantPolicy, error) {
	c.Slice = cmp.Or(c.Slice, 1000)
	if err := check.Range(ErrConfig, "Slice", c.Slice, 1, maxSlice); err != nil {
		return nil, err
	}
	return &slicePolicy{slice: c.Slice, keep: c.Carry}, nil
}

// maxSlice keeps the capacity of a slice in range at any speed, ns.
const maxSlice = 1e6

// Start begins the first slice's grants at the end of the slice.
func (p *slicePolicy) Start(now int64) int64 {
	p.open = false
	return deadline.After(now, p.slice)
}

// Update makes a sender active, from the next slice on: no sender has more credit than
// asked for, so a sender asking for more has demand, and the rest are owed an answer.
//
//uetcc:hot
func (p *slicePolicy) Update(t *Senders, i Slot, _ bool) {
	if s := &t.slab[i]; s.list != ListActive {
		s.stamp = p.number
		t.Move(i, ListActive)
	}
}

// Next serves the next sender of the slice, in the order of joining; the last
// one's grant carries the wait for the next slice.
//
//uetcc:hot
func (p *slicePolicy) Next(t *Senders, pace *Pace) (Grant, bool) {
	if t.active.n == 0 {
		return Grant{}, false
	}
	i := t.active.head
	s := &t.slab[i]
	if !p.open {
		p.begin(t, pace)
	} else if s.stamp == p.number { // the rest of the slice's senders left meanwhile
		p.open = false
		return Grant{Wait: p.slice * 1000}, true
	}
	need := max(s.target-s.cum, 0)
	n := min(p.share*int64(s.weight), need)
	s.stamp = p.number
	g := t.Grant(i, n, 0)
	if n < need {
		t.active.head = t.links[i].next
	} else {
		t.Move(i, ListNone)
	}
	if t.active.n == 0 || t.slab[t.active.head].stamp == p.number { // every sender of the slice was served
		p.open = false
		g.Wait = p.slice * 1000
	}
	return g, true
}

// begin divides the capacity of a new slice. Capacity too small for a byte each is kept:
// lost slice by slice, the remainder would leave everybody without credit for ever.
func (p *slicePolicy) begin(t *Senders, pace *Pace) {
	p.open = true
	p.number++
	capacity := pace.rate*p.slice + p.carry
	each := t.weight * 1e9
	p.share = capacity / each
	p.carry = 0
	if p.keep || p.share == 0 {
		p.carry = capacity - p.share*each
	}
}
