// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// reapPerOpen bounds the resting ids visited by an open, unless the open would be refused.
// Above 1, so a backlog of due ids shrinks with every open.
const reapPerOpen = 8

// OpenTarget returns the PDC of a SYN packet, opened if absent; opened tells so.
func (t *Table) OpenTarget(now int64, k *TargetKey, reserved bool) (h Handle, opened bool, err error) {
	return t.openTarget(now, k, opening{reserved: reserved})
}

// An opening is the content of a SYN packet beside the key.
type opening struct {
	reserved bool // the pool
	beside   bool // the source has a PDC here, and can do without a second
	shown    bool // the source is proven to receive

	// resting is a released PDC whose key the new PDC gets before the quarantine is over; 0: none.
	resting Handle
}

func (t *Table) openTarget(now int64, k *TargetKey, x opening) (h Handle, opened bool, err error) {
	var key table.Key
	fillTarget(k, &key)
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

// newTarget opens the PDC of a key after a failed look-up with error why.
func (t *Table) newTarget(key *table.Key, why error, x opening) (h Handle, opened bool, err error) {
	if why == ErrResting {
		if h, err = t.target(key); err == nil || err == ErrResting && h != x.resting {
			return h, false, err
		}
	}
	p, err := t.admit(key, x)
	if err != nil {
		return 0, false, err
	}
	return t.insertTarget(p, key, x.resting)
}

// admit chooses the pool and charges the source. Every error gives everything back.
func (t *Table) admit(key *table.Key, x opening) (*pool, error) {
	p := t.choose(x.reserved)
	if x.beside && t.beside != nil {
		p = t.beside
	}
	if p == nil {
		return nil, ErrNoPDC
	}
	src := t.sourceIn(p, key[0], key[1])
	free, held := p.Free(), t.proven.Held(src)
	switch {
	case p == t.general && free <= t.kept && held == 0 && !x.shown:
		return nil, ErrNoPDC
	case free > 0 && free <= t.scarce && free <= held, !t.held.Take(src):
		return nil, ErrQuota
	}
	return p, nil
}

// PDCs of unproven peers may be unprovenLeast, and more while holding less than the
// unprovenPart of a pool's free ids.
const (
	unprovenLeast = 8
	unprovenPart  = 4
)

// crowded reports whether PDCs of unproven peers hold more, so a SYN packet may open a
// further PDC only after a proof by the sender, or whether the PDCIDs left are kept for
// others. An empty table is crowded at a fifth of all PDCIDs: of peers beginning at the same
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
	free, n := p.Free(), t.held.Total()-t.proven.Total() // PDCs of peers known only by SYN packets, resting PDCs included
	return n >= unprovenLeast && free <= unprovenPart*n ||
		p == t.general && free <= t.kept && t.proven.Held(source) == 0
}

func (t *Table) choose(reserved bool) *pool {
	if reserved {
		return t.reserved
	}
	return t.general
}

func (t *Table) insertTarget(p *pool, key *table.Key, resting Handle) (Handle, bool, error) {
	src := t.sourceIn(p, key[0], key[1])
	h, err := p.Claim()
	if err != nil {
		t.held.Give(src)
		return 0, false, ErrNoPDC
	}
	from := t.slots.Data(h.Index())
	from[0].Store(key[0])
	from[1].Store(key[1])
	p.Publish(h, slotTarget|key[4]) // which is the peer's PDCID
	t.keys.Delete(table.Handle(resting))
	got, err := t.keys.Insert(key, h)
	if err == nil && got == h {
		return Handle(h), true, nil
	}
	t.discharge(src, p.Return(h)) // if proven, somebody guessed the id in the meantime
	if err != nil {
		return 0, false, ErrTableFull
	}
	first, err := t.alive(got)
	return first, false, err
}

// discharge takes a PDC with the last word w off the quotas of the source.
func (t *Table) discharge(src table.Source, w table.SlotWord) {
	if w.User()&slotProven != 0 {
		t.proven.Give(src)
	}
	t.held.Give(src)
}

// OpenInitiator returns the PDC for messages of a key, opened if absent; opened tells so.
func (t *Table) OpenInitiator(now int64, k *InitiatorKey) (h Handle, opened bool, err error) {
	var key table.Key
	fillInitiator(k, &key)
	if got := t.keys.Lookup(&key); got != table.None {
		return Handle(got), false, nil
	}
	p := t.choose(k.Reserved)
	id, err := t.publish(now, p, &key)
	if err != nil {
		return 0, false, err
	}
	got, err := t.keys.Insert(&key, id)
	if err == nil && got == id {
		return Handle(id), true, nil
	}
	p.Return(id)
	p.initiators.Add(-1)
	if err != nil {
		return 0, false, ErrTableFull
	}
	return Handle(got), false, nil
}

// openBeside is OpenInitiator for a second PDC to a peer, found by no key.
func (t *Table) openBeside(now int64, k *InitiatorKey) (Handle, error) {
	var key table.Key
	fillInitiator(k, &key)
	id, err := t.publish(now, t.beside, &key)
	return Handle(id), err
}

// publish takes an id of a pool for a PDC to the peer in an initiator's key.
func (t *Table) publish(now int64, p *pool, key *table.Key) (table.Handle, error) {
	if p == nil {
		return table.None, ErrNoPDC
	}
	t.Reap(now, reapPerOpen)
	id, err := p.claim()
	if err != nil && t.reapDue(now) {
		id, err = p.claim()
	}
	if err != nil {
		return table.None, err
	}
	to := t.slots.Data(id.Index())
	to[0].Store(key[2])
	to[1].Store(key[3])
	p.Publish(id, 0)
	return id, nil
}

// Retire takes the key of an initiator PDC out of the table, and reports whether the call did so.
func (t *Table) Retire(h Handle) bool {
	return t.Live(h) && t.slots.Load(uint16(h.ID())).User()&slotTarget == 0 && t.keys.Delete(table.Handle(h))
}

// Release ends the life of h and puts the PDCID into quarantine.
func (t *Table) Release(now int64, h Handle) error {
	t.Retire(h) // before the id can be anybody else's
	if t.pool(h.ID()).Release(table.Handle(h), now) != nil {
		return ErrUnknown
	}
	return nil
}

// forget is Release without a quarantine, for a target PDC that has taken no packet: a late
// SYN packet does no harm.
func (t *Table) forget(h Handle) {
	t.keys.Delete(table.Handle(h))
	src := t.source(uint16(h.ID()))
	t.discharge(src, t.pool(h.ID()).Return(table.Handle(h)))
}

// Reap frees at most limit PDCIDs of each pool after quarantine and returns the number.
func (t *Table) Reap(now int64, limit int) (n int) {
	for _, p := range [...]*pool{t.general, t.reserved, t.beside} {
		for left := limit; p != nil && left > 0; left-- {
			h, ok := p.Expire(now)
			if !ok {
				break
			}
			if w := t.slots.Load(h.Index()); w.User()&slotTarget != 0 {
				t.keys.Delete(h)
				t.discharge(t.source(h.Index()), w)
			} else {
				p.initiators.Add(-1)
			}
			p.Restore(h)
			n++
		}
	}
	return n
}

// reapDue frees all PDCIDs after quarantine and reports whether any. Each is freed once, by
// any caller.
func (t *Table) reapDue(now int64) bool { return t.Reap(now, t.slots.Len()) > 0 }

// rests reports whether the quarantine of an id released is not over.
func (t *Table) rests(id pds.PDCID, now int64) bool { return t.slots.Until(uint16(id)) > now }

// NextReap is the time at which the oldest quarantine ends, if any.
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
