package table

// BatchSize is the number of keys that [Map.LookupBatch] works on at a time.
const BatchSize = 32

// LookupBatch looks up every key of ks and stores the handles in hs, [None] for
// absent ones; hs must be at least as long. Each result is that of a Lookup at
// some instant of the call.
//
// One cache miss takes 35 to 150 ns alone but 11 when many are under way. So the
// keys' slots are touched first, in short loops that leave the processor room for
// many misses at a time, and compared afterwards. A key whose first match was not
// the right one is looked up again alone.
func (m *Map) LookupBatch(hs []Handle, ks []Key) {
	for len(ks) > 0 {
		n := min(len(ks), BatchSize)
		m.lookupBatch(hs[:n], ks[:n])
		hs, ks = hs[n:], ks[n:]
	}
}

func (m *Map) lookupBatch(hs []Handle, ks []Key) {
	var wants [BatchSize]uint64
	var slots [BatchSize]*slot
	for i := range ks {
		hash := m.hasher.Sum(&ks[i])
		wants[i%BatchSize] = hash<<tagShift | live
		g := m.home(hash)
		hits := matches(m.bytes[g].Load(), hash)
		if hits == 0 {
			g, hits = m.candidate(hash)
		}
		slots[i%BatchSize] = m.first(g, hits)
	}
	touched := uint64(0)
	for i := range ks {
		touched += slots[i%BatchSize].word.Load()
	}
	keep(touched)
	for i := range ks {
		s := slots[i%BatchSize]
		w := s.word.Load()
		if w^wants[i%BatchSize] <= restMask && s.holds(&ks[i]) && s.word.Load() == w {
			hs[i] = Handle(w)
			continue
		}
		hs[i] = m.Lookup(&ks[i])
	}
}

// candidate is the first group behind its home, and what in it, has a byte of hash;
// without one any slot will do.
func (m *Map) candidate(hash uint64) (g, hits uint64) {
	for p := place(8); p < m.limit(); p += 8 {
		g = m.group(hash, p)
		bytes := m.bytes[g].Load()
		if hits = matches(bytes, hash); hits != 0 {
			return g, hits
		}
		if bytes < passUnit {
			break
		}
	}
	return 0, ones
}

// keep makes the touching loads count as used, though the compiler never removes
// an atomic load as it is.
//
//go:noinline
func keep(uint64) {}
