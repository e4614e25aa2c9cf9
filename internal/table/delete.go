package table

import "iter"

// Delete removes the entry that was inserted with handle h and reports whether
// this call did it: of several concurrent calls exactly one returns true. A stale
// handle, or one never inserted, is harmless. After true, the index belongs to
// the caller again.
func (m *Map) Delete(h Handle) bool {
	if int(h.Index()) >= len(m.entries) || h == None {
		return false
	}
	k := m.entries[h.Index()].load()
	hash := m.hasher.Sum(&k)
	for p := place(0); p < m.limit(); p++ {
		if s := m.slot(hash, p); !isOver(hash, p) {
			step()
			w := s.Load()
			if Handle(w) == h && w&stateMask == live {
				step()
				if !s.CompareAndSwap(w, (w+seqUnit)&seqMask) {
					return false
				}
				m.uncount(hash, p)
				return true
			}
		}
		if p%8 == 7 && !m.passed(hash, p) {
			return false
		}
	}
	return false
}

func (e *entry) load() (k Key) {
	for i := range k {
		k[i] = e.key[i].Load()
	}
	return k
}

// All iterates over the entries in no particular order without stopping anybody.
// Every entry that lives through the whole iteration is seen exactly once; one
// inserted or deleted meanwhile may or may not be.
func (m *Map) All() iter.Seq2[Key, Handle] {
	return func(yield func(Key, Handle) bool) {
		for i := range m.buckets {
			for j := range over {
				s := &m.buckets[i][j]
				w := s.Load()
				if w&stateMask != live {
					continue
				}
				k := m.entries[uint16(w)].load()
				if s.Load() == w && !yield(k, Handle(w)) {
					return
				}
			}
		}
	}
}
