package table

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

var (
	// ErrExhausted is returned by [Pool.Claim] when every id is in use.
	ErrExhausted = errors.New("table: every id is in use")

	// ErrResting is returned by [Pool.Claim] when no id is free but some rest in
	// quarantine; [Pool.NextDue] says when the first comes back.
	ErrResting = errors.New("table: the remaining ids rest in quarantine")

	// ErrStale is returned for a handle whose life is over.
	ErrStale = errors.New("table: the handle's life is over")
)

// PoolConfig describes a [Pool]. Every field matters, zero is a value like others.
type PoolConfig struct {
	First uint16 // lowest id; 0 is refused, as no PDCID may be 0
	Count int    // number of ids, at least 1; First+Count-1 must be at most 65,535
	Hold  int64  // quarantine in nanoseconds before a released id may be claimed again
	Start uint16 // offset of the id that is claimed first, modulo Count; best random

	// Slots, if given, is the array that the ids index, for pools of one id space to
	// share; it needs First+Count elements.
	Slots []Slot
}

// Validate names the field that is out of its limits.
func (c *PoolConfig) Validate() error {
	switch {
	case c.First == 0:
		return errors.New("table: PoolConfig.First is 0, which names no id")
	case c.Count < 1 || int(c.First)+c.Count > 1<<16:
		return fmt.Errorf("table: PoolConfig.Count is %d, want 1 to %d", c.Count, 1<<16-int(c.First))
	case c.Hold < 0:
		return fmt.Errorf("table: PoolConfig.Hold is %d, want at least 0", c.Hold)
	case c.Slots != nil && len(c.Slots) < int(c.First)+c.Count:
		return fmt.Errorf("table: PoolConfig.Slots has %d elements, want %d", len(c.Slots), int(c.First)+c.Count)
	}
	return nil
}

// A Pool hands out 16-bit ids and keeps a [Slot] for each. Any goroutine may call
// any method; none waits.
//
//	free --Claim--> claimed --Publish--> live --Release(now)--> quarantined
//	  ^                |                                            |
//	  +----Return------+------------Restore <---expired---Expire(now)+
//
// The generation counts at Publish (odd: live) and when the life ends (even), so
// a handle of an earlier life never matches. A quarantined id leaves through
// Expire, whose caller removes the traces of the old life (the table entry that
// had to be hit by late packets until now) and then calls Restore.
//
// Ids come back in the order in which they were released. An id is never handed
// out before its time, however great the demand.
type Pool struct {
	first uint16
	count uint16
	hold  int64
	slots []Slot // by id
	free  *ring
	held  *ring
}

// A Slot is what a look-up by id reads: the generation, and room for the identity
// of whoever is at the other end. Two share a cache line.
//
// The holder of a claimed id writes Data, then [Pool.Publish] stores the word.
// A reader loads the word, then Data, then the word again, and trusts Data only
// if both words are equal.
type Slot struct {
	word  atomic.Uint64 // the user's 48 bits, generation 16
	until atomic.Int64  // end of the quarantine, written before the id enters it
	Data  [2]atomic.Uint64
}

// Load returns the generation and the user's 48 bits.
func (s *Slot) Load() SlotWord { return SlotWord(s.word.Load()) }

// Update replaces the user's 48 bits of the life that w was read from; false if
// the word has changed since.
func (s *Slot) Update(w SlotWord, user uint64) bool {
	return s.word.CompareAndSwap(uint64(w), user<<16|uint64(w)&0xffff)
}

// A SlotWord is a slot's word at one instant.
type SlotWord uint64

// Generation of the id; odd while it is live.
func (w SlotWord) Generation() uint16 { return uint16(w) }

// Live reports whether the id was live.
func (w SlotWord) Live() bool { return w&1 != 0 }

// User is the 48 bits given to Publish or Update.
func (w SlotWord) User() uint64 { return uint64(w) >> 16 }

// NewPool makes a pool with every id free.
func NewPool(c PoolConfig) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Slots == nil {
		c.Slots = make([]Slot, int(c.First)+c.Count)
	}
	p := &Pool{
		first: c.First, count: uint16(c.Count), hold: c.Hold,
		slots: c.Slots, free: newRing(c.Count), held: newRing(c.Count),
	}
	for i := range c.Count {
		p.free.push(c.First + uint16((i+int(c.Start))%c.Count))
	}
	return p, nil
}

// Claim takes a free id for the caller alone. Nobody can see it until Publish;
// meanwhile the caller writes the slot's Data.
func (p *Pool) Claim() (Handle, error) {
	id, ok := p.free.pop()
	if !ok {
		if p.held.len() > 0 {
			return None, ErrResting
		}
		return None, ErrExhausted
	}
	return NewHandle(id, p.slot(id).Load().Generation()+1), nil
}

// Publish begins the life of a claimed id, with 48 bits of the user's in its word.
func (p *Pool) Publish(h Handle, user uint64) {
	p.slot(h.Index()).word.Store(user<<16 | uint64(h.Generation()))
}

// Return gives back at once an id that was claimed, perhaps published, but never
// told to a peer: the loser of a race to open the same context. No quarantine. It
// returns the slot's word as it was at the end.
func (p *Pool) Return(h Handle) SlotWord {
	w := p.slot(h.Index()).word.Swap(uint64(h.Generation() + 1))
	p.free.push(h.Index())
	return SlotWord(w)
}

// Release ends the life of h and puts its id into quarantine until now + Hold. Of
// several concurrent calls one succeeds; the others, and a stale handle, get
// [ErrStale] and change nothing.
func (p *Pool) Release(h Handle, now int64) error {
	if !p.Owns(h.Index()) {
		return ErrStale
	}
	s := p.slot(h.Index())
	for {
		w := s.Load()
		if w.Generation() != h.Generation() || !w.Live() {
			return ErrStale
		}
		if s.word.CompareAndSwap(uint64(w), uint64(w)&^0xffff|uint64(h.Generation()+1)) {
			s.until.Store(later(now, p.hold))
			p.held.push(h.Index())
			return nil
		}
	}
}

// later is now + d, or the end of time if that overflows.
func later(now, d int64) int64 {
	if now > math.MaxInt64-d {
		return math.MaxInt64
	}
	return now + d
}

// Expire takes one id out of quarantine if its time has come and returns the
// handle of its last life. The caller then owns the id and must call Restore.
func (p *Pool) Expire(now int64) (Handle, bool) {
	for {
		i, ok := p.held.front()
		if !ok {
			return None, false
		}
		s := p.slot(i.id())
		due := s.until.Load() <= now
		switch {
		case due && p.held.take(i):
			return NewHandle(i.id(), s.Load().Generation()-1), true
		case !due && p.held.holds(i):
			return None, false
		}
	}
}

// Restore makes an id from Expire available to Claim.
func (p *Pool) Restore(h Handle) { p.free.push(h.Index()) }

// Free is the number of ids that Claim can hand out; beside others, nearly.
func (p *Pool) Free() int { return p.free.len() }

// NextDue is the time at which the oldest quarantine ends, if there is one.
func (p *Pool) NextDue() (int64, bool) {
	for {
		i, ok := p.held.front()
		if !ok {
			return 0, false
		}
		until := p.slot(i.id()).until.Load()
		if p.held.holds(i) {
			return until, true
		}
	}
}

// Live reports whether h is live now.
func (p *Pool) Live(h Handle) bool {
	return p.Owns(h.Index()) && h.Generation()&1 != 0 &&
		p.slot(h.Index()).Load().Generation() == h.Generation()
}

// Owns reports whether id is one of the pool's.
func (p *Pool) Owns(id uint16) bool { return id-p.first < p.count }

// Slot returns the slot of id, nil if it is not one of the pool's.
func (p *Pool) Slot(id uint16) *Slot {
	if !p.Owns(id) {
		return nil
	}
	return &p.slots[id]
}

func (p *Pool) slot(id uint16) *Slot { return &p.slots[id] }

// PoolStats counts the ids by what they are doing. While others change the pool
// the parts may not add up; on a quiet pool they do:
// Free + Live + Resting = Capacity.
type PoolStats struct{ Capacity, Free, Live, Resting int }

// Stats counts.
func (p *Pool) Stats() PoolStats {
	s := PoolStats{Capacity: int(p.count), Free: p.free.len(), Resting: p.held.len()}
	for i := range int(p.count) {
		if p.slots[int(p.first)+i].Load().Live() {
			s.Live++
		}
	}
	return s
}

// Bytes is the memory that the pool holds, its share of the slots included.
func (p *Pool) Bytes() int64 {
	return int64(unsafe.Sizeof(*p)) +
		int64(p.count)*int64(unsafe.Sizeof(Slot{})) + p.free.bytes() + p.held.bytes()
}
