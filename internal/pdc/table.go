// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"iter"
	"net/netip"

	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// A Table finds the PDCs of one FEP and hands out PDCIDs. Package pdctable, its face, says what a caller
// has to know of the methods, and names the errors.
type Table struct {
	slots    table.Slots // by id; 0 is never live
	general  *pool
	reserved *pool // nil without one
	beside   *pool // of second PDCs, see Manager.Beside; nil without one
	keys     *table.Map
	held     *table.Quota // by SYN packets, of each source
	proven   *table.Quota // part of held: PDCs whose peer has named the local PDCID
	kept     int
	scarce   int // number of free ids from which on a source has only a share, see TableConfig.PerSource

	quarantine int64
}

// The content of a slot's word. A peer of 0 is still unknown.
const (
	slotPeer   = 0xffff
	slotTarget = 1 << 16 // opened by a SYN packet, charged to the source
	slotProven = 1 << 17 // the peer has named the local PDCID, so receives
)

// ByID returns the live PDC with the given id, 0 without one. The peer is not checked.
//
//uetcc:hot inlines
func (t *Table) ByID(id pds.PDCID) Handle {
	if int(id) < t.slots.Len() {
		if w := t.slots.Load(uint16(id)); w.Live() {
			return makeHandle(id, w.Generation())
		}
	}
	return 0
}

func (t *Table) pool(id pds.PDCID) *pool {
	switch {
	case t.besides(id):
		return t.beside
	case t.general.Owns(uint16(id)) || t.reserved == nil:
		return t.general
	}
	return t.reserved
}

// besides reports whether an id is of the pool for second PDCs.
func (t *Table) besides(id pds.PDCID) bool { return t.beside != nil && t.beside.Owns(uint16(id)) }

// Match finds the PDC of a packet without the SYN flag.
//
//uetcc:hot
func (t *Table) Match(dpdcid pds.PDCID, source netip.Addr, spdcid pds.PDCID) (Handle, error) {
	if int(dpdcid) >= t.slots.Len() {
		return 0, ErrUnknown
	}
	id, from := uint16(dpdcid), t.slots.Data(uint16(dpdcid))
	hi, lo := table.AddrWords(source)
	for {
		w := t.slots.Load(id)
		if !w.Live() {
			return 0, ErrUnknown
		}
		right, peer := from[0].Load() == hi && from[1].Load() == lo, pds.PDCID(w.User()&slotPeer)
		if t.slots.Load(id) != w {
			continue // released, or the peer became known: twice in a life at most
		}
		if !right || peer != spdcid && peer != 0 && spdcid != 0 {
			return 0, ErrPeer
		}
		if w.User()&(slotTarget|slotProven) == slotTarget && spdcid != 0 && !t.prove(id, w) {
			continue
		}
		return makeHandle(dpdcid, w.Generation()), nil
	}
}

// prove records the proof of the address of a PDC's peer, for a PDC opened by SYN.
func (t *Table) prove(id uint16, w table.SlotWord) bool {
	src := t.source(id)
	t.proven.Take(src) // before the flag, or a release in between would give first
	if t.slots.Update(id, w, w.User()|slotProven) {
		return true
	}
	t.proven.Give(src)
	return false
}

// proves is prove for the owner of a live PDC, who alone changes the record.
func (t *Table) proves(h Handle) {
	if id := uint16(h.ID()); t.unproven(h.ID()) {
		t.prove(id, t.slots.Load(id))
	}
}

// unproven reports whether the PDC with an id, live or resting, was opened by a peer
// that has not shown that it receives.
func (t *Table) unproven(id pds.PDCID) bool {
	return t.slots.Load(uint16(id)).User()&(slotTarget|slotProven) == slotTarget
}

// source is the source charged for the PDC at id.
func (t *Table) source(id uint16) table.Source {
	from := t.slots.Data(id)
	return t.sourceIn(t.pool(pds.PDCID(id)), from[0].Load(), from[1].Load())
}

// sourceIn is the source charged for a PDC of a pool: second PDCs leave the quota of first PDCs alone.
func (t *Table) sourceIn(p *pool, hi, lo uint64) table.Source {
	if p == t.beside {
		hi = ^hi
	}
	return t.held.Source(hi, lo)
}

// provenIn reports whether an address has shown that it receives, on a PDC of a pool.
func (t *Table) provenIn(p *pool, src Addr) bool {
	return t.proven.Held(t.sourceIn(p, src.Hi, src.Lo)) != 0
}

// Learn records the PDCID of the peer of h, and reports whether that is the peer's PDCID now.
func (t *Table) Learn(h Handle, peer pds.PDCID) bool {
	if int(h.ID()) >= t.slots.Len() {
		return false
	}
	id := uint16(h.ID())
	for {
		w := t.slots.Load(id)
		known := pds.PDCID(w.User() & slotPeer)
		switch {
		case !w.Live() || w.Generation() != h.Generation() || known != 0 && known != peer:
			return false
		case known == peer || t.slots.Update(id, w, w.User()|uint64(peer)):
			return true
		}
	}
}

// Live reports whether h names a live PDC.
func (t *Table) Live(h Handle) bool { return h != 0 && t.ByID(h.ID()) == h }

// Target returns the PDC of a SYN packet with the given key.
//
//uetcc:hot
func (t *Table) Target(k *TargetKey) (Handle, error) {
	var key table.Key
	fillTarget(k, &key)
	return t.target(&key)
}

func (t *Table) target(key *table.Key) (Handle, error) {
	h := t.keys.Lookup(key)
	if h == table.None {
		return 0, ErrUnknown
	}
	return t.alive(h)
}

func (t *Table) alive(h table.Handle) (Handle, error) {
	if !t.Live(Handle(h)) {
		return Handle(h), ErrResting
	}
	return Handle(h), nil
}

// Initiator returns the PDC for new messages of k, 0 without one.
func (t *Table) Initiator(k *InitiatorKey) Handle {
	var key table.Key
	fillInitiator(k, &key)
	return Handle(t.keys.Lookup(&key))
}

// All iterates over the live PDCs in the order of ids.
func (t *Table) All() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		for id := range t.slots.Len() {
			if h := t.ByID(pds.PDCID(id)); h != 0 && !yield(h) {
				return
			}
		}
	}
}

// Stats counts, in time proportional to the size.
func (t *Table) Stats() TableStats {
	s := TableStats{General: PoolStats(t.general.Stats())}
	if t.reserved != nil {
		s.Reserved = PoolStats(t.reserved.Stats())
	}
	return s
}

// ids is the number of PDCIDs of a table; the ids are 1 to ids.
func (t *Table) ids() int { return t.slots.Len() - 1 }

// The last word of a table key, so both roles share one table:
//
//	target     0 {unused 47, SPDCID 16}
//	initiator  1 {unused 13, ordered 1, reserved 1, context 16, TC 8, JobID 24}
const initiatorRole = 1 << 63

func fillTarget(k *TargetKey, key *table.Key) { key.Set(k.Source, k.Destination, uint64(k.SPDCID)) }

func fillInitiator(k *InitiatorKey, key *table.Key) {
	w := uint64(k.Context)<<32 | uint64(k.TC)<<24 | uint64(k.JobID&0xff_ffff) | initiatorRole
	if k.Reserved {
		w |= 1 << 48
	}
	if k.Ordered {
		w |= 1 << 49
	}
	key.Set(k.Source, k.Destination, w)
}

func makeHandle(id pds.PDCID, generation uint16) Handle {
	return Handle(generation)<<16 | Handle(id)
}
