// SPDX-License-Identifier: Apache-2.0

package table

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uetcc/uetcc/bench/peers/cores"
)

var sizes = []struct {
	name string
	n    int
}{{"1k", 1 << 10}, {"64k", 1 << 16}}

var sink atomic.Uint64

// heap is what is in use after a collection, bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// one looks the keys up by one goroutine, two by all cores.
func one[K comparable](b *testing.B, t tab[K], ks []K, want bool) {
	b.ReportAllocs()
	i, found := 0, 0
	for b.Loop() {
		if t.load(&ks[i]) != nil {
			found++
		}
		i = (i + 1) & (len(ks) - 1)
	}
	if found > 0 != want {
		b.Errorf("%d keys found", found)
	}
}

func two[K comparable](b *testing.B, t tab[K], ks []K) {
	b.ReportAllocs()
	var seed atomic.Uint64
	b.RunParallel(func(p *testing.PB) {
		i, found := int(seed.Add(1))*len(ks)/3&(len(ks)-1), 0
		for p.Next() {
			if t.load(&ks[i]) != nil {
				found++
			}
			i = (i + 1) & (len(ks) - 1)
		}
		sink.Add(uint64(found))
	})
}

// beside is one reader beside one writer that adds and removes without a pause.
func beside(b *testing.B, t tab[Key], hit []Key) {
	var stop atomic.Bool
	var writer sync.WaitGroup
	churn, c, writes := MakeKeys(256, 3), new(Ctx), 0
	writer.Go(func() {
		for ; !stop.Load(); writes++ {
			t.store(&churn[writes&255], c)
			t.del(&churn[writes&255])
		}
	})
	one(b, t, hit, true)
	stop.Store(true)
	writer.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(writes+1), "ns/churn")
}

// BenchmarkKeyed40 looks 40-byte keys up in random order, read in sequence.
// churn adds one key and removes it again.
func BenchmarkKeyed40(b *testing.B) {
	for _, sz := range sizes {
		keys, absent, churn := MakeKeys(sz.n, 1), MakeKeys(sz.n, 2), MakeKeys(256, 3)
		ctxs, hit := make([]Ctx, sz.n), make([]Key, sz.n)
		for i, j := range MakeOrder(sz.n) {
			hit[i] = keys[j]
		}
		run := func(b *testing.B, t tab[Key], empty uint64) {
			for i := range keys {
				t.store(&keys[i], &ctxs[i])
			}
			perEntry := (float64(heap()) - float64(empty)) / float64(sz.n)
			b.Run("hit/g=1", func(b *testing.B) {
				one(b, t, hit, true)
				b.ReportMetric(perEntry, "B/entry")
			})
			b.Run("miss/g=1", func(b *testing.B) { one(b, t, absent, false) })
			b.Run("churn/g=1", func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					t.store(&churn[i&255], &ctxs[0])
					t.del(&churn[i&255])
				}
			})
			if t.shared {
				b.Run("hit/g=2", func(b *testing.B) { two(b, t, hit) })
				b.Run("hit/g=1+w", func(b *testing.B) { beside(b, t, hit) })
			}
		}
		for _, mk := range append(makers[Key](), floor40) {
			b.Run("n="+sz.name+"/"+mk(1).name, func(b *testing.B) {
				empty := heap()
				run(b, mk(sz.n), empty)
			})
		}
	}
}

// BenchmarkKeyed16 looks 16-bit ids up.
func BenchmarkKeyed16(b *testing.B) {
	ctxs := make([]Ctx, 1<<16)
	for _, sz := range sizes {
		ids := make([]uint16, sz.n)
		for i, j := range MakeOrder(sz.n) {
			ids[i] = uint16(j)
		}
		for _, mk := range append(makers[uint16](), direct16) {
			t := mk(sz.n)
			for i := range ids {
				t.store(&ids[i], &ctxs[ids[i]])
			}
			b.Run("n="+sz.name+"/hit/"+t.name+"/g=1", func(b *testing.B) { one(b, t, ids, true) })
			if t.shared {
				b.Run("n="+sz.name+"/hit/"+t.name+"/g=2", func(b *testing.B) { two(b, t, ids) })
			}
		}
		b.Run("n="+sz.name+"/hit/direct-inline/g=1", func(b *testing.B) {
			b.ReportAllocs()
			t := new(Direct)
			for _, id := range ids {
				t[id].Store(&ctxs[id])
			}
			i, found := 0, 0
			for b.Loop() {
				if t[ids[i]].Load() != nil {
					found++
				}
				i = (i + 1) & (sz.n - 1)
			}
			if found == 0 {
				b.Error("nothing found")
			}
		})
	}
}

// BenchmarkKeyed40Cores and BenchmarkKeyed16Cores look up in one table on several
// cores at once.
func BenchmarkKeyed40Cores(b *testing.B) {
	for _, sz := range sizes {
		keys, ctxs, hit := MakeKeys(sz.n, 1), make([]Ctx, sz.n), make([]Key, sz.n)
		for i, j := range MakeOrder(sz.n) {
			hit[i] = keys[j]
		}
		t := NewFloor(sz.n)
		for i := range keys {
			t.Store(&keys[i], &ctxs[i])
		}
		cores.Run(b, "n="+sz.name+"/floor/", func(core, from, to int) {
			i, found := (core*sz.n/3+from)&(sz.n-1), 0
			for range to - from {
				if t.Load(&hit[i]) != nil {
					found++
				}
				i = (i + 1) & (sz.n - 1)
			}
			sink.Add(uint64(found))
		})
	}
}

func BenchmarkKeyed16Cores(b *testing.B) {
	t, ctxs, ids := new(Direct), make([]Ctx, 1<<16), make([]uint16, 1<<16)
	for i, j := range MakeOrder(1 << 16) {
		ids[i] = uint16(j)
		t[j].Store(&ctxs[j])
	}
	cores.Run(b, "n=64k/direct/", func(core, from, to int) {
		i, found := (core*len(ids)/3+from)&(1<<16-1), 0
		for range to - from {
			if t[ids[i]].Load() != nil {
				found++
			}
			i = (i + 1) & (1<<16 - 1)
		}
		sink.Add(uint64(found))
	})
}
