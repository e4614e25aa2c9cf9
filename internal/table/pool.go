// SPDX-License-Identifier: Apache-2.0

package table

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
)

var (
	// ErrConfig is wrapped by every error of [NewPool]; the message names the field.
	ErrConfig = errors.New("table: invalid configuration")

	// ErrExhausted is returned by [Pool.Claim] when every id is in use.
	ErrExhausted = errors.New("table: every id is in use")

	// ErrResting is returned by [Pool.Claim] when no id is free but some rest in
	// quarantine; [Pool.NextDue] says when the first comes back.
	ErrResting = errors.New("table: the remaining ids rest in quarantine")

	// ErrStale is returned for a handle whose life is over.
	ErrStale = errors.New("table: the handle's life is over")
)

// PoolConfig describes a [Pool]. Every field matters, zero is a plain value.
type PoolConfig struct {
	First uint16 // lowest id; 0 is refused, as no PDCID may be 0
	Count int    // number of ids, at least 1; First+Count-1 must be at most 65,535
	Hold  int64  // quarantine in nanoseconds before a released id may be claimed again
	Start uint16 // offset of the id that is claimed first, modulo Count; best random

	// Bare is a pool of words alone: nobody looks at Data, and ids come back by Return, without a
	// quarantine. Hold and Slots have to be zero.
	Bare bool

	// Slots, if given, are the slots behind the ids, shared by pools of the same id
	// space; First+Count are needed.
	Slots Slots
}

// validate names the field out of limits.
func (c *PoolConfig) validate() error {
	err := cmp.Or(
		check.Range(ErrConfig, "First", c.First, 1, math.MaxUint16),
		check.Range(ErrConfig, "Count", c.Count, 1, 1<<16-int(c.First)),
		check.AtLeast(ErrConfig, "Hold", c.Hold, 0),
	)
	if err == nil && c.Bare && (c.Hold != 0 || c.Slots.Len() != 0) {
		return fmt.Errorf("%w: Bare with Hold or Slots", ErrConfig)
	}
	if err == nil && c.Slots.Len() != 0 {
		err = check.AtLeast(ErrConfig, "number of Slots", c.Slots.Len(), int(c.First)+c.Count)
	}
	return err
}

// A Pool hands out 16-bit ids and keeps a slot for each, see [Slots]. Any goroutine may call
// any method, without waiting.
//
//	free --Claim--> claimed --Publish--> live --Release(now)--> quarantined
//	  ^                |                                            |
//	  +----Return------+------------Restore <---expired---Expire(now)+
//
// The generation counts at Publish (odd: live) and when the life ends (even), so
// a handle of an earlier life never matches. A quarantined id leaves through
// Expire, whose caller removes the traces of the old life (the table entry, hit by
// late packets until now) and then calls Restore.
//
// Ids come back in the order of release. An id is never handed out before the end of
// the quarantine, however great the demand.
type Pool struct {
	Slots
	first uint16
	count uint16
	hold  int64
	free  *ring
	held  *ring
}

// NewPool makes a pool with every id free. Errors wrap [ErrConfig].
func NewPool(c PoolConfig) (*Pool, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	p := &Pool{first: c.First, count: uint16(c.Count), hold: c.Hold, Slots: c.Slots, free: newRing(c.Count)}
	if c.Bare {
		p.Slots, p.held = Slots{words: make([]atomic.Uint64, int(c.First)+c.Count)}, newRing(1)
	} else {
		p.held = newRing(c.Count)
	}
	if p.Slots.Len() == 0 {
		p.Slots = NewSlots(int(c.First) + c.Count)
	}
	for i := range c.Count {
		p.free.push(c.First + uint16((i+int(c.Start))%c.Count))
	}
	return p, nil
}

// Claim takes a free id for the caller alone. Nobody can see the id until Publish;
// meanwhile the caller writes the slot's Data.
//
//uetcc:hot
func (p *Pool) Claim() (Handle, error) {
	id, ok := p.free.pop()
	if !ok {
		if p.held.len() > 0 {
			return None, ErrResting
		}
		return None, ErrExhausted
	}
	return NewHandle(id, p.Load(id).Generation()+1), nil
}

// Publish begins the life of a claimed id, with the user's 48 bits in the word.
func (p *Pool) Publish(h Handle, user uint64) {
	p.words[h.Index()].Store(user<<16 | uint64(h.Generation()))
}

// Return gives an id back at once, claimed, perhaps published, but never told to a
// peer: the loser of a race to open the same context. No quarantine. The result is
// the slot's last word.
func (p *Pool) Return(h Handle) SlotWord {
	w := p.words[h.Index()].Swap(uint64(h.Generation() + 1))
	p.free.push(h.Index())
	return SlotWord(w)
}

// Release ends the life of h and puts the id into quarantine until now + Hold. Of
// several concurrent calls one succeeds; later calls, and a stale handle, get
// [ErrStale] and change nothing.
//
//uetcc:hot
func (p *Pool) Release(h Handle, now int64) error {
	if !p.Owns(h.Index()) {
		return ErrStale
	}
	for {
		w := p.Load(h.Index())
		if w.Generation() != h.Generation() || !w.Live() {
			return ErrStale
		}
		if p.words[h.Index()].CompareAndSwap(uint64(w), uint64(w)&^0xffff|uint64(h.Generation()+1)) {
			p.until[h.Index()].Store(deadline.After(now, p.hold))
			p.held.push(h.Index())
			return nil
		}
	}
}

// Expire takes one id out of quarantine when due and returns the handle of the last
// life. The caller then owns the id and must call Restore.
func (p *Pool) Expire(now int64) (Handle, bool) {
	for {
		i, ok := p.held.front()
		if !ok {
			return None, false
		}
		due := p.until[i.id()].Load() <= now
		switch {
		case due && p.held.take(i):
			return NewHandle(i.id(), p.Load(i.id()).Generation()-1), true
		case !due && p.held.holds(i):
			return None, false
		}
	}
}

// Restore makes an id from Expire available to Claim.
func (p *Pool) Restore(h Handle) { p.free.push(h.Index()) }

// Free is the number of ids left for Claim, roughly while other goroutines claim.
func (p *Pool) Free() int { return p.free.len() }

// NextDue is the time at which the oldest quarantine ends, if any.
func (p *Pool) NextDue() (int64, bool) {
	for {
		i, ok := p.held.front()
		if !ok {
			return 0, false
		}
		until := p.until[i.id()].Load()
		if p.held.holds(i) {
			return until, true
		}
	}
}

// Live reports whether h is live now.
//
//uetcc:hot inlines
func (p *Pool) Live(h Handle) bool {
	return p.Owns(h.Index()) && h.Generation()&1 != 0 &&
		p.Load(h.Index()).Generation() == h.Generation()
}

// Owns reports whether id belongs to the pool.
func (p *Pool) Owns(id uint16) bool { return id-p.first < p.count }

// PoolStats counts the ids by state. While other goroutines change the pool the
// parts may not add up; on a quiet pool Free + Live + Resting = Capacity.
type PoolStats struct{ Capacity, Free, Live, Resting int }

// Stats counts.
func (p *Pool) Stats() PoolStats {
	s := PoolStats{Capacity: int(p.count), Free: p.free.len(), Resting: p.held.len()}
	for i := range int(p.count) {
		if p.Load(p.first + uint16(i)).Live() {
			s.Live++
		}
	}
	return s
}
