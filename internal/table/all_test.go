// SPDX-License-Identifier: Apache-2.0

package table

import "iter"

// All iterates over the entries in no particular order without stopping anybody.
// Every entry that lives through the whole iteration is seen exactly once; one
// inserted or deleted meanwhile may or may not be. The tables above list their
// contexts by index, so only tests look at a map in this way.
func (m *Map) All() iter.Seq2[Key, Handle] {
	return func(yield func(Key, Handle) bool) {
		for i := range m.slots {
			s := &m.slots[i]
			w := s.word.Load()
			if w&stateMask != live {
				continue
			}
			k := s.load()
			if s.word.Load() == w && !yield(k, Handle(w)) {
				return
			}
		}
	}
}
