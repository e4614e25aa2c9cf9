// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/table"
)

// The names, sizes, key stream and orders below are those of a reference suite of
// general-purpose maps (Keyed40/n=.../<map>/hit/g=1), so that medians of both
// outputs can be divided: 40-byte keys of two IPv4-mapped addresses, one fixed
// target, sources in a /12, looked up in random order but streamed in sequence.
var tableSizes = []struct {
	name string
	n    int
}{{"1k", 1 << 10}, {"64k", 1 << 16}}

func tableKeys(n int, seed uint64) []table.Key {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	dst := netip.AddrFrom4([4]byte{10, 128, 0, 1})
	ks := make([]table.Key, n)
	for i := range ks {
		var src [4]byte
		binary.BigEndian.PutUint32(src[:], 0x0a000000|r.Uint32()&0x000fffff)
		ks[i].Set(netip.AddrFrom4(src), dst, uint64(i)<<16|seed)
	}
	r.Shuffle(n, func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
	return ks
}

func tableOrder(n int) []int { return rand.New(rand.NewPCG(7, 11)).Perm(n) }

// fillTable inserts the keys and returns them in the order of look-up.
func fillTable(b *testing.B, m *table.Map, keys []table.Key) []table.Key {
	b.Helper()
	for i := range keys {
		if _, err := m.Insert(&keys[i], table.NewHandle(uint16(i), 1)); err != nil {
			b.Fatal(err)
		}
	}
	hit := make([]table.Key, len(keys))
	for i, j := range tableOrder(len(keys)) {
		hit[i] = keys[j]
	}
	return hit
}

var tableSink atomic.Uint64

// BenchmarkKeyed40 looks a 40-byte key up: a PDC by its tuple, a CCC by its pair.
func BenchmarkKeyed40(b *testing.B) {
	for _, sz := range tableSizes {
		b.Run("n="+sz.name+"/uetcc", func(b *testing.B) { keyed40(b, sz.n) })
	}
}

func keyed40(b *testing.B, n int) {
	keys, absent := tableKeys(n, 1), tableKeys(n, 2)
	m := table.NewMap(n, 0)
	hit := fillTable(b, m, keys)
	one := func(b *testing.B, ks []table.Key, want int) {
		b.ReportAllocs()
		i, s := 0, 0
		for b.Loop() {
			if m.Lookup(&ks[i]) != table.None {
				s++
			}
			i = (i + 1) & (n - 1)
		}
		if s > 0 != (want > 0) {
			b.Fatalf("%d keys found", s)
		}
	}
	two := func(b *testing.B, ks []table.Key) {
		b.ReportAllocs()
		var seed atomic.Uint64
		b.RunParallel(func(p *testing.PB) {
			i, s := int(seed.Add(1))*n/3&(n-1), uint64(0)
			for p.Next() {
				s += uint64(m.Lookup(&ks[i]))
				i = (i + 1) & (n - 1)
			}
			tableSink.Add(s)
		})
	}
	b.Run("hit/g=1", func(b *testing.B) {
		one(b, hit, 1)
		b.ReportMetric(float64(alloctest.Bytes(func() any { return table.NewMap(n, 0) }))/float64(n), "B/entry")
	})
	b.Run("miss/g=1", func(b *testing.B) { one(b, absent, 0) })
	b.Run("hit/g=2", func(b *testing.B) { two(b, hit) })
	b.Run("miss/g=2", func(b *testing.B) { two(b, absent) })
}

// BenchmarkKeyed40Cores is a look-up on several cores at once, all in one map; the
// time is that of a look-up on one of them. What grows with the cores is what they
// share: the peers' benchmark of the same name has the floor's.
func BenchmarkKeyed40Cores(b *testing.B) {
	for _, sz := range tableSizes {
		keys := tableKeys(sz.n, 1)
		m := table.NewMap(sz.n, 0)
		hit := fillTable(b, m, keys)
		onCores(b, "n="+sz.name+"/uetcc/", func(core, from, to int) {
			i, s := (core*sz.n/3+from)&(sz.n-1), uint64(0)
			for range to - from {
				s += uint64(m.Lookup(&hit[i]))
				i = (i + 1) & (sz.n - 1)
			}
			tableSink.Add(s)
		})
	}
}

// BenchmarkKeyed40Writer is one reader beside one writer that inserts and deletes
// 256 keys of its own without a pause; the map has room for them.
func BenchmarkKeyed40Writer(b *testing.B) {
	for _, sz := range tableSizes {
		n := min(sz.n, table.MaxCapacity-256)
		keys, churn := tableKeys(n, 1), tableKeys(256, 3)
		m := table.NewMap(n+256, 0)
		hit := fillTable(b, m, keys)
		read := func(b *testing.B) {
			b.ReportAllocs()
			i, s := 0, uint64(0)
			for b.Loop() {
				s += uint64(m.Lookup(&hit[i]))
				if i++; i == n {
					i = 0
				}
			}
			tableSink.Add(s)
		}
		write := func(w int) {
			k, h := &churn[w&255], table.NewHandle(uint16(n+w&255), uint16(2*w+1))
			m.Insert(k, h)
			m.Delete(h)
		}
		b.Run("n="+sz.name+"/uetcc/hit/g=1", read)
		b.Run("n="+sz.name+"/uetcc/hit/g=1+w", func(b *testing.B) {
			var stop atomic.Bool
			var done sync.WaitGroup
			writes := 0
			done.Go(func() {
				for ; !stop.Load(); writes++ {
					write(writes)
				}
			})
			read(b)
			stop.Store(true)
			done.Wait()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(writes+1), "ns/churn")
		})
		b.Run("n="+sz.name+"/uetcc/churn/g=1", func(b *testing.B) {
			b.ReportAllocs()
			for w := 0; b.Loop(); w++ {
				write(w)
			}
		})
	}
}

// BenchmarkHash40 compares the hash of the tables with xxhash over the same bytes.
func BenchmarkHash40(b *testing.B) {
	ks := tableKeys(1024, 1)
	h := table.NewHasher(1)
	bytes := make([][40]byte, len(ks))
	for i, k := range ks {
		for j, w := range k {
			binary.BigEndian.PutUint64(bytes[i][8*j:], w)
		}
	}
	b.Run("uetcc", func(b *testing.B) {
		i, s := 0, uint64(0)
		for b.Loop() {
			s += h.Sum(&ks[i])
			i = (i + 1) & 1023
		}
		tableSink.Add(s)
	})
	b.Run("xxhash", func(b *testing.B) {
		i, s := 0, uint64(0)
		for b.Loop() {
			s += xxhash.Sum64(bytes[i][:])
			i = (i + 1) & 1023
		}
		tableSink.Add(s)
	})
}
