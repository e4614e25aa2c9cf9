// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"
	"sync/atomic"
)

// Direct is the floor for a 16-bit id: one load.
type Direct [1 << 16]atomic.Pointer[Ctx]

// Floor is the floor for a 40-byte key: open addressing with a line for the
// slot words and a line for the entry. One writer, readers without waiting, a
// fixed size; removed slots stay behind as tombstones.
//
// A slot word holds 16 bits of the hash, the 20-bit generation of the entry and
// the 28-bit index plus 1. A reader's result counts if the word is the same
// after the read as before.
type Floor struct {
	mask    uint64
	slots   []atomic.Uint64
	entries []floorEntry
	next    uint32
	free    []uint32
}

type floorEntry struct {
	key [5]atomic.Uint64
	ctx atomic.Pointer[Ctx]
	gen uint32
	_   [12]byte
}

const (
	indexMask = 1<<28 - 1
	tombstone = indexMask
)

// NewFloor makes a table for n entries, at most half full.
func NewFloor(n int) *Floor {
	size := 1 << bits.Len(uint(2*n-1))
	return &Floor{
		mask:    uint64(size - 1),
		slots:   make([]atomic.Uint64, size),
		entries: make([]floorEntry, n+n/8+256),
	}
}

func (e *floorEntry) is(w *[5]uint64) bool {
	return e.key[0].Load() == w[0] && e.key[1].Load() == w[1] && e.key[2].Load() == w[2] &&
		e.key[3].Load() == w[3] && e.key[4].Load() == w[4]
}

// Load finds a key, or nil.
func (t *Floor) Load(k *Key) *Ctx {
	w, h := k.words(), k.hash()
	for i := h & t.mask; ; i = (i + 1) & t.mask {
		s := t.slots[i].Load()
		if s == 0 {
			return nil
		}
		if s>>48 != h>>48 || s&indexMask == tombstone {
			continue
		}
		e := &t.entries[s&indexMask-1]
		if e.is(w) {
			c := e.ctx.Load()
			if t.slots[i].Load() == s {
				return c
			}
		}
	}
}

// Store adds an absent key.
func (t *Floor) Store(k *Key, c *Ctx) {
	at := t.next
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.next++
	}
	e := &t.entries[at]
	for j, v := range k.words() {
		e.key[j].Store(v)
	}
	e.ctx.Store(c)
	e.gen = (e.gen + 1) & (1<<20 - 1)
	h := k.hash()
	for i := h & t.mask; ; i = (i + 1) & t.mask {
		if s := t.slots[i].Load(); s == 0 || s&indexMask == tombstone {
			t.slots[i].Store(h>>48<<48 | uint64(e.gen)<<28 | uint64(at+1))
			return
		}
	}
}

// Delete removes a key.
func (t *Floor) Delete(k *Key) {
	w, h := k.words(), k.hash()
	for i := h & t.mask; ; i = (i + 1) & t.mask {
		s := t.slots[i].Load()
		if s == 0 {
			return
		}
		if s>>48 != h>>48 || s&indexMask == tombstone || !t.entries[s&indexMask-1].is(w) {
			continue
		}
		left := uint64(tombstone)
		if t.slots[(i+1)&t.mask].Load() == 0 {
			left = 0
		}
		t.slots[i].Store(left)
		t.free = append(t.free, uint32(s&indexMask-1))
		return
	}
}
