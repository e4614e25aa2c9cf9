// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"cmp"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
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
