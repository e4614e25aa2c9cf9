package pdc

import (
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// reapPerOpen bounds the resting ids that an open looks at, unless it would be refused.
// Above one, so that a backlog of ids whose time has come shrinks with every open.
const reapPerOpen = 8

// OpenTarget returns the PDC that a SYN packet belongs to and opens it if there is
// none; opened tells which. Of several cores that receive SYN packets of one PDC
// at the same time, one opens it and the others get that one. reserved is the
// packet's use_rsv_pdc. The errors are [ErrResting], with the handle that the PDC had,
// [ErrQuota], [ErrNoPDC] and [ErrTableFull].
//
// The PDC is visible at once: its owner must be able to hold back what the others
// bring until its state is set up.
func (t *Table) OpenTarget(now int64, k *TargetKey, reserved bool) (h Handle, opened bool, err error) {
	return t.openTarget(now, k, opening{reserved: reserved})
}

// An opening is what a SYN packet says beside its key.
type opening struct {
	reserved bool // the pool
	shown    bool // its source receives what is sent to it
}

func (t *Table) openTarget(now int64, k *TargetKey, x opening) (h Handle, opened bool, err error) {
	var key table.Key
	k.fill(&key)
	h, err = t.target(&key)
	if err == nil {
		return h, false, nil
	}
	t.Reap(now, reapPerOpen)
	h, opened, err = t.newTarget(&key, err, x)
	if err != nil && t.reapDue(now) {
		return t.newTarget(&key, ErrResting, x)
	}
	return h, opened, err
}

// newTarget opens the PDC of a key of which the last look-up said why not.
func (t *Table) newTarget(key *table.Key, why error, x opening) (h Handle, opened bool, err error) {
	if why == ErrResting {
		if h, err = t.target(key); err != ErrUnknown {
			return h, false, err
		}
	}
	p, err := t.admit(key, x)
	if err != nil {
		return 0, false, err
	}
	return t.insertTarget(p, key)
}

// admit chooses the pool and charges the source. Every error gives back all.
func (t *Table) admit(key *table.Key, x opening) (*pool, error) {
	p, src := t.choose(x.reserved), t.held.Source(key[0], key[1])
	if p == nil {
		return nil, ErrNoPDC
	}
	free, held := p.Free(), t.proven.Held(src)
	switch {
	case p == t.general && free <= t.kept && held == 0 && !x.shown:
		return nil, ErrNoPDC
	case free > 0 && free <= t.scarce && free <= held, !t.held.Take(src):
		return nil, ErrQuota
	}
	return p, nil
}

// PDCs whose peers have not shown that they receive what is sent to them may be unprovenLeast, and
// more while they hold less than the unprovenPart of what is free of a pool.
const (
	unprovenLeast = 8
	unprovenPart  = 4
)

// crowded reports whether such PDCs hold more, so that a SYN packet may open another one only if
// its sender shows that first, or whether the PDCIDs that are left are kept for others. In an
// empty table it takes a fifth of all PDCIDs to come to that: of peers that begin at the same
// time few notice.
func (t *Table) crowded(now int64, source table.Source, reserved bool) bool {
	p := t.choose(reserved)
	if p == nil || !t.crowds(p, source) {
		return false
	}
	t.Reap(now, reapPerOpen)
	return p.Free() > 0 && t.crowds(p, source)
}

func (t *Table) crowds(p *pool, source table.Source) bool {
	free, n := p.Free(), t.doubtful()
	return n >= unprovenLeast && free <= unprovenPart*n ||
		p == t.general && free <= t.kept && t.proven.Held(source) == 0
}

// doubtful is how many PDCs there are of peers that have only sent SYN packets, resting ones
// included.
func (t *Table) doubtful() int { return t.held.Total() - t.proven.Total() }

func (t *Table) choose(reserved bool) *pool {
	if reserved {
		return t.reserved
	}
	return t.general
}

func (t *Table) insertTarget(p *pool, key *table.Key) (Handle, bool, error) {
	src := t.held.Source(key[0], key[1])
	h, err := p.Claim()
	if err != nil {
		t.held.Give(src)
		return 0, false, ErrNoPDC
	}
	from := t.slots.Data(h.Index())
	from[0].Store(key[0])
	from[1].Store(key[1])
	p.Publish(h, slotTarget|key[4]) // which is the peer's PDCID
	got, err := t.keys.Insert(key, h)
	if err == nil && got == h {
		return Handle(h), true, nil
	}
	t.withdraw(p, h, src)
	if err != nil {
		return 0, false, ErrTableFull
	}
	first, err := t.alive(got)
	return first, false, err
}

// withdraw takes back a PDC that was published and whose key another core had entered.
func (t *Table) withdraw(p *pool, h table.Handle, src table.Source) {
	if p.Return(h).User()&slotProven != 0 {
		t.proven.Give(src) // somebody guessed the id in the meantime
	}
	t.held.Give(src)
}

// OpenInitiator returns the PDC that messages of a key go on and opens it if there is none;
// opened tells which. Of several cores that miss the key at the same time, one opens it and
// the others get that one. Its PDCID comes from the pool that the key names. The errors are
// [ErrInitiators], [ErrNoPDC] and [ErrTableFull].
func (t *Table) OpenInitiator(now int64, k *InitiatorKey) (h Handle, opened bool, err error) {
	var key table.Key
	k.fill(&key)
	if got := t.keys.Lookup(&key); got != table.None {
		return Handle(got), false, nil
	}
	p := t.choose(k.Reserved)
	if p == nil {
		return 0, false, ErrNoPDC
	}
	t.Reap(now, reapPerOpen)
	id, err := p.claim()
	if err != nil && t.reapDue(now) {
		id, err = p.claim()
	}
	if err != nil {
		return 0, false, err
	}
	to := t.slots.Data(id.Index())
	to[0].Store(key[2])
	to[1].Store(key[3])
	p.Publish(id, 0)
	got, err := t.keys.Insert(&key, id)
	if err == nil && got == id {
		return Handle(id), true, nil
	}
	p.giveBack(id)
	if err != nil {
		return 0, false, ErrTableFull
	}
	return Handle(got), false, nil
}

// Retire takes the key of an initiator PDC out of the table, so that no new
// message finds it while it closes; Match still does. It reports whether this
// call did it. The key of a target PDC stays until its quarantine is over.
func (t *Table) Retire(h Handle) bool {
	return t.Live(h) && t.slots.Load(uint16(h.ID())).User()&slotTarget == 0 && t.keys.Delete(table.Handle(h))
}

// Release ends the life of h and puts its PDCID into quarantine. A handle whose
// life is over gets [ErrUnknown], so of several calls one succeeds.
func (t *Table) Release(now int64, h Handle) error {
	t.Retire(h) // before the id can be anybody else's
	if t.pool(h.ID()).Release(table.Handle(h), now) != nil {
		return ErrUnknown
	}
	return nil
}

// forget is Release without a quarantine, for a target PDC that has taken no packet: a late
// SYN packet of it does no harm.
func (t *Table) forget(h Handle) {
	t.keys.Delete(table.Handle(h))
	src := t.source(uint16(h.ID()))
	if t.pool(h.ID()).Return(table.Handle(h)).User()&slotProven != 0 {
		t.proven.Give(src)
	}
	t.held.Give(src)
}

// Reap frees at most limit PDCIDs of each pool whose quarantine is over and
// returns how many. Opens do it by themselves; call it when idle to forget keys in
// time, and with no harm at any time.
func (t *Table) Reap(now int64, limit int) int {
	n := t.reap(t.general, now, limit)
	if t.reserved != nil {
		n += t.reap(t.reserved, now, limit)
	}
	return n
}

// reapDue frees all PDCIDs whose quarantine is over and reports whether there were any.
// Each is freed once, whoever comes across it.
func (t *Table) reapDue(now int64) bool { return t.Reap(now, t.slots.Len()) > 0 }

func (t *Table) reap(p *pool, now int64, limit int) int {
	for n := range limit {
		h, ok := p.Expire(now)
		if !ok {
			return n
		}
		if user := t.slots.Load(h.Index()).User(); user&slotTarget != 0 {
			t.keys.Delete(h)
			src := t.source(h.Index())
			t.held.Give(src)
			if user&slotProven != 0 {
				t.proven.Give(src)
			}
		} else {
			p.initiators.Add(-1)
		}
		p.Restore(h)
	}
	return limit
}

// rests reports whether the quarantine of an id that was released is not over.
func (t *Table) rests(id pds.PDCID, now int64) bool { return t.slots.Until(uint16(id)) > now }

// NextReap is the time at which the oldest quarantine ends, if there is one.
func (t *Table) NextReap() (int64, bool) {
	at, ok := t.general.NextDue()
	if t.reserved == nil {
		return at, ok
	}
	if r, has := t.reserved.NextDue(); has && (!ok || r < at) {
		return r, true
	}
	return at, ok
}
