// SPDX-License-Identifier: Apache-2.0

package cc

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/uetcc/uetcc/bench/peers/cores"
)

func TestShapeStaysInBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s := NewShape()
	for i := range int64(100_000) {
		s.OnAck(i*80, r.Int64N(50_000), 4096, r.IntN(2) == 0)
		if s.Cwnd < s.minCwnd || s.Cwnd > s.maxCwnd {
			t.Fatalf("step %d: window %d", i, s.Cwnd)
		}
	}
}

// BenchmarkWindowShape applies the yardstick: one context, and contexts in random
// order from sets that do and do not fit the caches.
func BenchmarkWindowShape(b *testing.B) {
	type signal struct {
		delay int64
		mark  bool
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, mix := range []string{"quiet", "mixed"} {
		signals := make([]signal, 4096)
		for i := range signals {
			signals[i].delay = r.Int64N(3000)
			if mix == "mixed" {
				signals[i] = signal{r.Int64N(18_000), r.IntN(3) == 0}
			}
		}
		for _, c := range []struct {
			name string
			n    int
		}{{"1-context", 1}, {"1k-contexts", 1 << 10}, {"64k-contexts", 1 << 16}} {
			b.Run(mix+"/"+c.name, func(b *testing.B) {
				shapes, order := make([]Shape, c.n), make([]int32, 1<<20)
				for i := range shapes {
					shapes[i] = NewShape()
				}
				for i := range order {
					order[i] = int32(r.IntN(c.n))
				}
				b.ReportAllocs()
				i, now := 0, int64(0)
				for b.Loop() {
					s := &signals[i&4095]
					shapes[order[i&(1<<20-1)]].OnAck(now, s.delay, 4096, s.mark)
					now += 80
					i++
				}
			})
		}
	}
}

// BenchmarkWindowShapeCores is mixed/1k-contexts on several cores at once, each with
// contexts of its own; the time is that on one of them.
func BenchmarkWindowShapeCores(b *testing.B) {
	const contexts = 1 << 10
	type signal struct {
		delay int64
		mark  bool
	}
	r := rand.New(rand.NewPCG(1, 1))
	signals, order := make([]signal, 4096), make([]int32, 1<<20)
	for i := range signals {
		signals[i] = signal{r.Int64N(18_000), r.IntN(3) == 0}
	}
	for i := range order {
		order[i] = int32(r.IntN(contexts))
	}
	own := make([][]Shape, runtime.GOMAXPROCS(0))
	for k := range own {
		own[k] = make([]Shape, contexts)
		for i := range own[k] {
			own[k][i] = NewShape()
		}
	}
	cores.Run(b, "", func(core, from, to int) {
		shapes := own[core]
		for i := from; i < to; i++ {
			s := &signals[i&4095]
			shapes[order[i&(1<<20-1)]].OnAck(int64(i)*80, s.delay, 4096, s.mark)
		}
	})
}
