// SPDX-License-Identifier: Apache-2.0

package table

// Delete removes the entry inserted with handle h and reports whether
// the call did the removal: of several concurrent calls exactly one returns true. A
// stale handle, or a handle never inserted, is harmless. After true, the index
// belongs to the caller again.
//
//uetcc:hot
func (m *Map) Delete(h Handle) bool {
	if int(h.Index()) >= len(m.places) {
		return false
	}
	step()
	n := uint64(m.places[h.Index()].Load())
	s := &m.slots[n]
	step()
	w := s.word.Load()
	if Handle(w) != h || w&stateMask != live {
		return false
	}
	k := s.load()
	step()
	if !s.word.CompareAndSwap(w, w&^stateMask|held) {
		return false
	}
	hash := m.hasher.Sum(&k)
	m.vacate(n, w)
	m.uncount(hash, (n/groupSize+m.groups-m.home(hash))%m.groups)
	return true
}

// vacate empties slot n, owned by the caller and with word w. The byte goes first:
// the slot's next claimant adds a byte.
func (m *Map) vacate(n, w uint64) {
	step()
	m.bytes[n/groupSize].Add(-(byteOf(w>>tagShift) << (8 * (n % groupSize))))
	step()
	m.slots[n].word.Store((w + seqUnit) & seqMask)
}

//uetcc:hot inlines nobounds
func (s *slot) load() (k Key) {
	for i := range k {
		k[i] = s.key[i].Load()
	}
	return k
}
