// SPDX-License-Identifier: Apache-2.0

package table

import "math/bits"

// Insert adds k with handle h unless k is there. The result is k's handle now: h
// if inserted, a different handle if k was there before. [ErrFull] leaves the map
// unchanged. h must not be [None], h's index must be below the capacity and belong
// to the caller (see [Map]); an index not inserted still does.
//
// # Protocol
//
// After Purcell and Harris, "Non-blocking Hashtables with Open Addressing"
// (DISC 2005). The obvious way (claim a slot, scan for an equal key in front,
// withdraw or publish) publishes a key twice as soon as a delete frees a slot in
// front: the second inserter claims the slot behind the first scan. Here every
// intention is visible before any scan:
//
//  1. Claim the first empty slot as held, write the key and the slot's byte, then
//     move on to inserting.
//  2. Scan the whole probe range. An equal live key: collide the own word, done.
//     An equal inserting word behind the own: move it to collided.
//     An equal inserting word in front: settle the other insertion instead, so a
//     stalled goroutine holds up nobody.
//  3. Nothing found: move the own word from inserting to live with a CAS, which
//     fails after a collision meanwhile; then inserting again, and 2.
//
// Of two words inserting at the same time, the later scan sees the earlier word,
// so one of the two collides or yields; look-ups see live words only. The scan may
// go by the bytes, since a slot's byte is there before the word is inserting. The
// sequence number in the word keeps step 3's CAS from reviving an older attempt.
// TestInsertModel enumerates all interleavings of the steps; with the build tag
// tablestep the same code runs under every schedule of a few preemptions.
//
//uetcc:hot
func (m *Map) Insert(k *Key, h Handle) (Handle, error) {
	hash := m.hasher.Sum(k)
	p, word, ok := m.claim(hash, hash<<tagShift|held|uint64(h))
	if !ok {
		return None, ErrFull
	}
	s, n := m.slot(hash, p), m.group(hash, p)*groupSize+uint64(p)%8
	s.store(k)
	m.places[h.Index()].Store(uint32(n))
	step()
	m.bytes[n/groupSize].Add(byteOf(hash) << (8 * (p % 8)))
	word = word&^stateMask | inserting
	step()
	s.word.Store(word)
	for {
		found := m.settle(k, hash, p, word)
		step()
		switch s.word.Load() {
		case word:
			// A rival's insertion was settled; now the own.
		case word + collided - inserting:
			if found != None {
				m.vacate(n, word)
				m.uncount(hash, uint64(p)/8)
				return found, nil
			}
			word = word&^seqMask | (word+seqUnit)&seqMask
			step()
			s.word.Store(word)
		default:
			// The word was live at some time: no other state follows inserting.
			return h, nil
		}
	}
}

func (s *slot) store(k *Key) {
	for i := range k {
		s.key[i].Store(k[i])
	}
}

// claim takes the first empty slot for word and counts the entry in the passed
// groups, before the entry can be seen behind those.
//
//uetcc:hot
func (m *Map) claim(hash, word uint64) (place, uint64, bool) {
	for p := place(0); p < m.limit(); p += 8 {
		g := m.group(hash, p)
		step()
		for free := zeros(m.bytes[g].Load()); free != 0; free &= free - 1 {
			q := p + place(bits.TrailingZeros64(free))/8
			s := m.slot(hash, q)
			step()
			w := s.word.Load()
			if w&stateMask != empty {
				continue
			}
			step()
			if s.word.CompareAndSwap(w, word|w&seqMask) {
				return q, word | w&seqMask, true
			}
		}
		if !m.pass(g) {
			m.uncount(hash, uint64(p)/8)
			return 0, 0, false
		}
	}
	m.uncount(hash, m.probe)
	return 0, 0, false
}

// pass counts an entry in group g, unless the count is at the limit, ten times what was seen in
// full maps.
func (m *Map) pass(g uint64) bool {
	for {
		step()
		w := m.bytes[g].Load()
		if w>>56 == maxPassed {
			return false
		}
		step()
		if m.bytes[g].CompareAndSwap(w, w+passUnit) {
			return true
		}
	}
}

// uncount takes an entry out of the counts of the n groups from the home group on.
func (m *Map) uncount(hash, n uint64) {
	for p := range place(n) {
		step()
		m.bytes[m.group(hash, p*8)].Add(-passUnit & (1<<64 - 1))
	}
}

// settle decides the insertion of k at place p, whose slot held word: live if k is
// nowhere else, collided if k is live already, with the live handle as the result.
// Any scanner may settle for another goroutine; the CAS on the exact word makes
// the help sound.
func (m *Map) settle(k *Key, hash uint64, p place, word uint64) Handle {
	bytes := uint64(0) // of the group of q
	for q := place(0); q < m.limit(); q++ {
		if q%8 == 0 {
			step()
			bytes = m.bytes[m.group(hash, q)].Load()
		}
		if q%8 == groupSize {
			if bytes < passUnit {
				break
			}
			continue
		}
		if q == p || bytes>>(8*(q%8))&0xff != byteOf(hash) {
			continue
		}
		switch w := m.rival(k, hash, q); {
		case w&stateMask == live:
			step()
			m.slot(hash, p).word.CompareAndSwap(word, word+collided-inserting)
			return Handle(w)
		case w&stateMask == inserting && q < p:
			p, word, q = q, w, ^place(0)
		case w&stateMask == inserting:
			// Only while p is undecided: an entry published by a helper and
			// deleted since would disturb later inserters for ever.
			if step(); m.slot(hash, p).word.Load() != word {
				return None
			}
			step()
			m.slot(hash, q).word.CompareAndSwap(w, w+collided-inserting)
			q--
		}
	}
	step()
	m.slot(hash, p).word.CompareAndSwap(word, word+live-inserting)
	return None
}

// rival returns the word at q if k is live or being inserted there; else 0. A
// retry follows only a changed slot, so progress by another goroutine.
func (m *Map) rival(k *Key, hash uint64, q place) uint64 {
	s := m.slot(hash, q)
	for {
		step()
		w := s.word.Load()
		if st := w & stateMask; st != live && st != inserting {
			return 0
		}
		step()
		same := s.holds(k)
		if step(); s.word.Load() == w {
			if same {
				return w
			}
			return 0
		}
	}
}

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
	m.uncount(hash, (n/groupSize+m.groups-m.home(hash))%m.groups/m.stride(hash))
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
