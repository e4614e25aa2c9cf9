package pdc

import (
	"errors"
	"iter"
	"net/netip"

	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// Errors of a [Table]. None of them changes anything.
var (
	// ErrNoPDC: no PDCID is free now. The answer to a SYN packet is a NACK with
	// NO_PDC_AVAIL; a message waits.
	ErrNoPDC = errors.New("pdc: no PDCID free")

	// ErrQuota: the source holds as many PDCs as one source may.
	ErrQuota = errors.New("pdc: source at its quota")

	// ErrInitiators: initiators hold as many PDCIDs as they may, see
	// TableConfig.Initiators. A message waits.
	ErrInitiators = errors.New("pdc: initiators at their share of the PDCIDs")

	// ErrResting: the SYN packet is a late one of a PDC that was closed and rests
	// in quarantine. Drop it: opening a PDC would deliver its data again.
	ErrResting = errors.New("pdc: PDC in quarantine")

	// ErrTableFull: no place is left where the key's hash may lie, though the table has
	// room. With a random seed that takes an attack; the answer is that to ErrNoPDC.
	ErrTableFull = errors.New("pdc: no room in the table for the key")

	// ErrUnknown: the PDCID names no live PDC (INV_DPDCID), or the handle's has gone.
	ErrUnknown = errors.New("pdc: no such PDC")

	// ErrPeer: the PDC has another peer than the packet comes from.
	ErrPeer = errors.New("pdc: packet from another peer than the PDC's")
)

// A Table finds the PDCs of one FEP and hands out their PDCIDs. Any goroutine may
// call any method; none waits for another, and none allocates.
//
//	packet, syn=0    dpdcid, source, spdcid           Match: an index, no hash
//	packet, syn=1    TargetKey                        Target, OpenTarget
//	message          InitiatorKey                     Initiator, OpenInitiator
//
// It knows identities only. The PDCs themselves lie in an array of the caller's
// that the id indexes, each with one owner at a time; what a look-up returns may
// be released before the caller gets to it, and the handle then is stale.
//
// A released PDCID rests for TableConfig.Quarantine. The key of a target PDC rests
// with it, so that late SYN packets hit it and are dropped; [Table.Reap] forgets
// both. A stale handle or a wrong peer never matches.
type Table struct {
	slots    table.Slots // by id; 0 is never live
	general  *pool
	reserved *pool // nil without one
	keys     *table.Map
	held     *table.Quota // by SYN packets, of each source
	proven   *table.Quota // of these, PDCs whose peer has named our PDCID
	kept     int
	scarce   int // from so few free ids on a source has a share of them, see TableConfig.PerSource

	quarantine int64
}

// What the word of a slot says of its PDC. A peer of 0 is not known yet.
const (
	slotPeer   = 0xffff
	slotTarget = 1 << 16 // opened by a SYN packet, charged to its source
	slotProven = 1 << 17 // its peer has named our PDCID, so it receives what we send
)

// ByID returns the live PDC with the given id, 0 without one. It does not check
// the peer.
func (t *Table) ByID(id pds.PDCID) Handle {
	if int(id) < t.slots.Len() {
		if w := t.slots.Load(uint16(id)); w.Live() {
			return makeHandle(id, w.Generation())
		}
	}
	return 0
}

func (t *Table) pool(id pds.PDCID) *pool {
	if t.general.Owns(uint16(id)) || t.reserved == nil {
		return t.general
	}
	return t.reserved
}

// Match finds the PDC that a packet without the SYN flag belongs to: the one with
// its dpdcid, if the packet comes from that PDC's peer. While the peer's PDCID is
// not known any is right, and the spdcid 0 of a NACK is compared with nothing.
// The errors are [ErrUnknown] and [ErrPeer].
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
		right := from[0].Load() == hi && from[1].Load() == lo
		if t.slots.Load(id) != w {
			continue // released, or the peer became known: twice in a life at most
		}
		if !right || !named(w, spdcid) {
			return 0, ErrPeer
		}
		if w.User()&(slotTarget|slotProven) == slotTarget && spdcid != 0 && !t.prove(id, w) {
			continue
		}
		return makeHandle(dpdcid, w.Generation()), nil
	}
}

// named reports whether the peer of a PDC has that PDCID, as far as both are known.
func named(w table.SlotWord, spdcid pds.PDCID) bool {
	peer := pds.PDCID(w.User() & slotPeer)
	return peer == spdcid || peer == 0 || spdcid == 0
}

// prove records that the peer of a PDC opened by SYN is where it says it is.
func (t *Table) prove(id uint16, w table.SlotWord) bool {
	src := t.source(id)
	t.proven.Take(src) // before the flag, or a release in between would give first
	if t.slots.Update(id, w, w.User()|slotProven) {
		return true
	}
	t.proven.Give(src)
	return false
}

// proves is prove for the owner of a live PDC, who alone changes it.
func (t *Table) proves(h Handle) {
	if id := uint16(h.ID()); t.unproven(h.ID()) {
		t.prove(id, t.slots.Load(id))
	}
}

// unproven reports whether the PDC that has an id, or had it and rests, was opened by a peer
// that has not shown that it receives what is sent to it.
func (t *Table) unproven(id pds.PDCID) bool {
	return t.slots.Load(uint16(id)).User()&(slotTarget|slotProven) == slotTarget
}

// source is who the PDC at id is charged to.
func (t *Table) source(id uint16) table.Source {
	from := t.slots.Data(id)
	return t.held.Source(from[0].Load(), from[1].Load())
}

// Learn records the PDCID of the peer of h, which an initiator finds in the first
// packet from it. It reports whether that is the peer's PDCID now: false if h has
// gone or its peer is known under another.
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

// Target returns the PDC that a SYN packet with the given key belongs to. The errors are
// [ErrUnknown] if there is none, and [ErrResting] if it was closed a while ago; then the
// handle is the one that it had.
func (t *Table) Target(k *TargetKey) (Handle, error) {
	var key table.Key
	k.fill(&key)
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

// Initiator returns the PDC that new messages of k go on, 0 without one.
func (t *Table) Initiator(k *InitiatorKey) Handle {
	var key table.Key
	k.fill(&key)
	return Handle(t.keys.Lookup(&key))
}

// All iterates over the live PDCs in the order of their ids without stopping
// anybody. One that opens or closes meanwhile may or may not be seen.
func (t *Table) All() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		for id := range t.slots.Len() {
			if h := t.ByID(pds.PDCID(id)); h != 0 && !yield(h) {
				return
			}
		}
	}
}

// TableStats counts the PDCIDs of a [Table]. Beside changes the parts may not add
// up; on a quiet table they do.
type TableStats struct{ General, Reserved PoolStats }

// PoolStats counts the ids of one pool: Capacity = Free + Live + Resting.
type PoolStats struct{ Capacity, Free, Live, Resting int }

// Stats counts, in time proportional to the size.
func (t *Table) Stats() TableStats {
	s := TableStats{General: PoolStats(t.general.Stats())}
	if t.reserved != nil {
		s.Reserved = PoolStats(t.reserved.Stats())
	}
	return s
}

// ids is how many PDCIDs a table has; they are 1 to that.
func (t *Table) ids() int {
	s := t.Stats()
	return s.General.Capacity + s.Reserved.Capacity
}
