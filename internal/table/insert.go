package table

// Insert adds k with handle h unless k is there. It returns the handle that k
// has now: h if it was inserted, another if k was there before. [ErrFull] leaves
// the map unchanged. h must not be [None], its index must be below the capacity
// and belong to the caller (see [Map]); if it was not inserted, it still does.
//
// # Protocol
//
// After Purcell and Harris, "Non-blocking Hashtables with Open Addressing"
// (DISC 2005). The obvious way (claim a word, scan for an equal key in front of
// it, withdraw or publish) publishes a key twice as soon as a delete frees a word
// in front: the second inserter claims it behind the first one's scan. Here
// everybody's intention is visible before anybody scans:
//
//  1. Store the key under the index, then claim the first empty word as inserting.
//  2. Scan the whole probe range. An equal live key: collide the own word, done.
//     An equal inserting word behind the own: move it to collided.
//     An equal inserting word in front: settle that one instead, so that a
//     stalled goroutine holds up nobody.
//  3. Nothing found: move the own word from inserting to live with a CAS, which
//     fails if somebody collided it meanwhile; then inserting again, and 2.
//
// Of two words inserting at the same time, the later scan sees the other word, so
// one of them collides or yields; look-ups see live words only. The sequence
// number in the word is what keeps step 3's CAS from reviving an older attempt.
// TestInsertModel enumerates all interleavings of these steps; with the build tag
// tablestep this very code runs under every schedule of a few preemptions.
func (m *Map) Insert(k *Key, h Handle) (Handle, error) {
	hash := m.hasher.Sum(k)
	step()
	m.entries[h.Index()].store(k)
	p, word, ok := m.claim(hash, hash&tagMask|inserting|uint64(h))
	if !ok {
		return None, ErrFull
	}
	s := m.slot(hash, p)
	for {
		found := m.settle(k, hash, p, word)
		step()
		switch s.Load() {
		case word:
			// Another one's insertion was settled; now for this one.
		case word + collided - inserting:
			step()
			if found != None {
				s.Store((word + seqUnit) & seqMask)
				m.uncount(hash, p)
				return found, nil
			}
			word = word&^seqMask | (word+seqUnit)&seqMask
			s.Store(word)
		default:
			// It was live, whoever moved it there and whatever became of it since:
			// from inserting there is no other way out.
			return h, nil
		}
	}
}

func (e *entry) store(k *Key) {
	for i := range k {
		e.key[i].Store(k[i])
	}
}

// claim takes the first empty slot for word and counts the entry in the buckets
// it passes, before it can be seen behind them.
func (m *Map) claim(hash, word uint64) (place, uint64, bool) {
	for p := place(0); p < m.limit(); p++ {
		if s := m.slot(hash, p); !isOver(hash, p) {
			step()
			for w := s.Load(); w&stateMask == empty; w = s.Load() {
				step()
				if s.CompareAndSwap(w, word|w&seqMask) {
					return p, word | w&seqMask, true
				}
			}
		}
		if p%8 == 7 {
			step()
			m.buckets[(hash+uint64(p)/8)&m.mask][over].Add(1)
		}
	}
	m.uncount(hash, m.limit())
	return 0, 0, false
}

// uncount takes the entry at p out of the counts of the buckets in front of it.
func (m *Map) uncount(hash uint64, p place) {
	for n := range uint64(p) / 8 {
		step()
		m.buckets[(hash+n)&m.mask][over].Add(^uint64(0))
	}
}

// settle decides the insertion of k at place p, whose slot held word: live if k
// is nowhere else, collided if it is live already; then it returns that handle.
// Whoever scans may settle for another; the CAS on the exact word makes it sound.
func (m *Map) settle(k *Key, hash uint64, p place, word uint64) Handle {
	for q := place(0); q < m.limit(); q++ {
		switch w := m.rival(k, hash, q, p); {
		case w&stateMask == live:
			step()
			m.slot(hash, p).CompareAndSwap(word, word+collided-inserting)
			return Handle(w)
		case w&stateMask == inserting && q < p:
			p, word, q = q, w, ^place(0)
			continue
		case w&stateMask == inserting:
			// Only while p is undecided: one that was published by another and
			// deleted since would disturb those behind it for ever.
			if step(); m.slot(hash, p).Load() != word {
				return None
			}
			step()
			m.slot(hash, q).CompareAndSwap(w, w+collided-inserting)
			q--
			continue
		}
		if q%8 == 7 && !m.passed(hash, q) {
			break
		}
	}
	step()
	m.slot(hash, p).CompareAndSwap(word, word+live-inserting)
	return None
}

// rival returns the word at q, if that is another place than p and k is live or
// being inserted there; else 0. It repeats only when the slot changed, that is,
// when somebody got further.
func (m *Map) rival(k *Key, hash uint64, q, p place) uint64 {
	if q == p || isOver(hash, q) {
		return 0
	}
	s := m.slot(hash, q)
	for {
		step()
		w := s.Load()
		if st := w & stateMask; (w^hash)&tagMask != 0 || st != live && st != inserting {
			return 0
		}
		step()
		same := m.entries[uint16(w)].equal(k)
		if step(); s.Load() == w {
			if same {
				return w
			}
			return 0
		}
	}
}
