// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"errors"
	"iter"
	"net/netip"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/table"
)

// Errors of a [Table]. After an error nothing has changed.
var (
	// ErrNoCCC: every context is in use, or no place is left for the key's hash, as an attack
	// may have it; the answer to a SYN packet is a NACK with NO_CCC_AVAIL.
	ErrNoCCC = errors.New("ccc: no context free")

	// ErrNamed: the context has a ccc_id already, or another context has the id.
	ErrNamed = errors.New("ccc: ccc_id in use")

	// errUnknown: the life of the handle is over.
	errUnknown = errors.New("ccc: no such context")
)

// MaxContexts is the largest number of contexts in a [Table].
const MaxContexts = 1<<16 - 1

// Key is the key of a context. IPv4 addresses equal their IPv4-mapped
// IPv6 form. (UE Specification 1.0.x, section 3.6.12; Reserved is rsv_ccc.)
type Key struct {
	Source      netip.Addr
	Destination netip.Addr
	TC          uint8  // traffic class of the requests
	Reserved    uint16 // number of a reserved context; 0 for the shared context
}

func (k *Key) fill(key *table.Key) {
	key.Set(k.Source, k.Destination, uint64(k.Reserved)<<8|uint64(k.TC))
}

// A Table finds the contexts of one FEP by {source, destination, traffic class} and
// by {peer, ccc_id}, and hands out the contexts' handles. Any goroutine may call any
// method, but only its owner names a context; no call waits or allocates.
//
// A Table knows identities only: the contexts lie in a [Manager], to be opened there
// after [Table.Open], by a single owner at a time. An index may serve a new context
// as soon as the old is closed; the generation in the handle tells both apart.
//
// ccc_id has 8 bits on the wire and is the source's to choose, so a destination
// can tell 256 contexts of one peer apart, and only together with the peer's
// address.
type Table struct {
	slots *table.Pool
	keys  *table.Map
	ids   *table.Map // nil without names
	n     int
}

// NewTable makes a table for n contexts, 1 to [MaxContexts]. The indices are 1 to n,
// so the [Manager] needs room for n+1. names makes room for ccc_ids, which credit of
// receivers needs: without, [Table.Name] and [Table.ByID] panic. Seed 0 draws a random seed
// for the hashes, as a network needs. Errors wrap [ErrConfig].
func NewTable(n int, names bool, seed uint64) (*Table, error) {
	if err := check.Range(ErrConfig, "number of contexts", n, 1, MaxContexts); err != nil {
		return nil, err
	}
	slots, err := table.NewPool(table.PoolConfig{First: 1, Count: n, Bare: true})
	t := &Table{slots: slots, keys: table.NewMap(n+1, seed), n: n}
	if names {
		t.ids = table.NewMap(n+1, seed)
	}
	return t, err
}

// Lookup returns the context of k, 0 without one.
//
//uetcc:hot
func (t *Table) Lookup(k *Key) Handle {
	var key table.Key
	k.fill(&key)
	return Handle(t.keys.Lookup(&key))
}

// Live reports whether the life of h goes on.
func (t *Table) Live(h Handle) bool { return t.slots.Live(table.Handle(h)) }

// Open returns the handle of the context of k, beginning a life if k has none; opened
// tells so. Of several cores missing the same key at the same time, one opens the
// context and the rest get the same handle. The error is [ErrNoCCC].
func (t *Table) Open(k *Key) (h Handle, opened bool, err error) {
	var key table.Key
	k.fill(&key)
	if h := t.keys.Lookup(&key); h != table.None {
		return Handle(h), false, nil
	}
	n, err := t.slots.Claim()
	if err != nil {
		return 0, false, ErrNoCCC
	}
	t.slots.Publish(n, 0)
	got, err := t.keys.Insert(&key, n)
	if err == nil && got == n {
		return Handle(n), true, nil
	}
	t.slots.Return(n)
	if err != nil {
		return 0, false, ErrNoCCC
	}
	return Handle(got), false, nil
}

// Name gives the context of h the ccc_id used in the peer's packets, or in packets to
// the peer. The errors are [ErrNamed], errUnknown and [ErrNoCCC]. Only the
// context's owner may call Name.
func (t *Table) Name(h Handle, peer netip.Addr, id uint8) error {
	if !t.slots.Owns(h.Index()) {
		return errUnknown
	}
	w := t.slots.Load(h.Index())
	switch {
	case !w.Live() || w.Generation() != h.Generation():
		return errUnknown
	case w.User() != 0 || !t.slots.Update(h.Index(), w, 1):
		return ErrNamed
	}
	key := idKey(peer, id)
	got, err := t.ids.Insert(&key, table.Handle(h))
	if err == nil && got == table.Handle(h) {
		return nil
	}
	t.slots.Update(h.Index(), t.slots.Load(h.Index()), 0)
	if err != nil {
		return ErrNoCCC
	}
	return ErrNamed
}

// nameStride is the distance between the names of two lives of an index: odd, so all
// 256 come up before a repetition, and not small, so neighbours differ.
const nameStride = 61

// NameAny gives the context of h a ccc_id without another context towards peer, now
// and a while ago: the peer may still count the last context's credit under the id.
// Errors as for [Table.Name]; ErrNamed means all 256 in use, or a context already
// named.
func (t *Table) NameAny(h Handle, peer netip.Addr) (id uint8, err error) {
	first := uint8(h.Index()) + uint8(h.Generation()>>1)*nameStride
	for id = first; ; {
		if err = t.Name(h, peer, id); err != ErrNamed {
			return id, err
		}
		if id++; id == first {
			return 0, ErrNamed
		}
	}
}

// ByID returns the context named {peer, id}, 0 without one.
//
//uetcc:hot
func (t *Table) ByID(peer netip.Addr, id uint8) Handle {
	key := idKey(peer, id)
	return Handle(t.ids.Lookup(&key))
}

func idKey(peer netip.Addr, id uint8) (key table.Key) {
	key.Set(peer, netip.Addr{}, uint64(id))
	return key
}

// Close ends the life of h; [Manager.Unbind] tells the time for Close. The handle of
// a past life gets errUnknown, so of several calls one succeeds.
func (t *Table) Close(h Handle) error {
	if !t.slots.Live(table.Handle(h)) {
		return errUnknown
	}
	if t.ids != nil {
		t.ids.Delete(table.Handle(h))
	}
	if !t.keys.Delete(table.Handle(h)) {
		return errUnknown
	}
	t.slots.Return(table.Handle(h))
	return nil
}

// Has reports whether k has a context, or more than spare contexts are free, unless
// taken by others meanwhile.
func (t *Table) Has(k *Key, spare int) bool { return t.slots.Free() > spare || t.Lookup(k) != 0 }

// All iterates over the contexts in the order of indices without stopping anybody. A
// context opened or closed meanwhile may or may not be seen.
func (t *Table) All() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		for n := 1; n <= t.n; n++ {
			w := t.slots.Load(uint16(n))
			if w.Live() && !yield(NewHandle(uint16(n), w.Generation())) {
				return
			}
		}
	}
}

// Stats counts the contexts alive, and how many there can be, in time proportional to the size.
func (t *Table) Stats() (live, capacity int) {
	s := t.slots.Stats()
	return s.Live, s.Capacity
}

// A Handle names one life of a context or of a PDC: the index in the low 16 bits,
// the position in every slab, and the generation in the high 16. The generation of
// a life is odd, so the zero Handle names nothing, and a handle of a past life
// matches no later one but each 32,768th at the same index: do not keep a handle for
// so long. Handles come with indices: from the tables of packages ccc and
// pds/pdctable, or [NewHandle].
type Handle uint32

// NewHandle builds a handle from index and generation.
func NewHandle(index, generation uint16) Handle { return Handle(generation)<<16 | Handle(index) }

// Index is the position in the slabs.
func (h Handle) Index() uint16 { return uint16(h) }

// Generation tells the lives at an index apart.
func (h Handle) Generation() uint16 { return uint16(h >> 16) }
