// SPDX-License-Identifier: Apache-2.0

package atomics

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uetcc/uetcc/bench/peers/cores"

	"github.com/puzpuzpuz/xsync/v4"
	"golang.org/x/sync/semaphore"
)

func TestRingKeepsOrder(t *testing.T) {
	var q ring[uint64]
	var v [batch]uint64
	in, out := uint64(0), uint64(0)
	for round := range 1000 {
		w := v[:1+round%batch]
		for i := range w {
			w[i] = in + uint64(i)
		}
		if q.push(w) {
			in += uint64(len(w))
		}
		for _, x := range v[:q.pop(v[:round%7])] {
			if x != out {
				t.Fatalf("%d came out, want %d", x, out)
			}
			out++
		}
	}
	if in-out > ringSize || q.push(make([]uint64, ringSize+1)) {
		t.Fatal(in, out)
	}
}

// BenchmarkAlone is one operation on a word of one's own.
func BenchmarkAlone(b *testing.B) {
	var v atomic.Int64
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
	run("add", func() { v.Add(1) })
	run("store", func() { v.Store(1) })
	run("cas", func() { v.CompareAndSwap(v.Load(), 1) })
	var mu sync.Mutex
	run("mutex", func() { mu.Lock(); v.Load(); mu.Unlock() })
}

// A limit admits bytes and takes them back.
type limit struct {
	name  string
	admit func(n int64) bool
	back  func(n int64)
}

func limits() []limit {
	const most = 1 << 30
	var room atomic.Int64
	room.Store(most)
	sem := semaphore.NewWeighted(most)
	var mu sync.Mutex
	left := int64(most)
	return []limit{
		{"floor-cas", func(n int64) bool {
			for {
				v := room.Load()
				if v < n {
					return false
				}
				if room.CompareAndSwap(v, v-n) {
					return true
				}
			}
		}, func(n int64) { room.Add(n) }},
		{"mutex", func(n int64) bool {
			mu.Lock()
			ok := left >= n
			if ok {
				left -= n
			}
			mu.Unlock()
			return ok
		}, func(n int64) { mu.Lock(); left += n; mu.Unlock() }},
		{"semaphore", sem.TryAcquire, sem.Release},
	}
}

// BenchmarkAdmit reserves bytes against one limit and gives them back, by one
// goroutine and by all cores.
func BenchmarkAdmit(b *testing.B) {
	for _, l := range limits() {
		b.Run(l.name+"/alone", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if l.admit(4096) {
					l.back(4096)
				}
			}
		})
		b.Run(l.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if l.admit(4096) {
						l.back(4096)
					}
				}
			})
		})
	}
}

// BenchmarkAdmitCores is floor-cas on several cores at once, each with a limit of
// its own; the time is that on one of them.
func BenchmarkAdmitCores(b *testing.B) {
	type own struct {
		room atomic.Int64
		_    [120]byte
	}
	rooms := make([]own, runtime.GOMAXPROCS(0))
	for i := range rooms {
		rooms[i].room.Store(1 << 30)
	}
	cores.Run(b, "floor-cas/", func(core, from, to int) {
		room := &rooms[core].room
		for range to - from {
			if v := room.Load(); v >= 4096 && room.CompareAndSwap(v, v-4096) {
				room.Add(4096)
			}
		}
	})
}

// stop is the value that ends a stream.
const stop = math.MaxUint64

// stream sends one value an iteration to a goroutine that adds them up.
func stream(b *testing.B, push func(uint64), pop func() uint64) {
	b.ReportAllocs()
	done := make(chan uint64)
	go func() {
		sum := uint64(0)
		for v := pop(); v != stop; v = pop() {
			sum += v
		}
		done <- sum
	}()
	n := uint64(0)
	for b.Loop() {
		push(1)
		n++
	}
	push(stop)
	if sum := <-done; sum != n {
		b.Fatalf("%d of %d arrived", sum, n)
	}
}

// BenchmarkHop hands a value to another goroutine.
func BenchmarkHop(b *testing.B) {
	b.Run("stream/chan-128", func(b *testing.B) {
		c := make(chan uint64, 128)
		stream(b, func(v uint64) { c <- v }, func() uint64 { return <-c })
	})
	b.Run("stream/xsync-mpmc", func(b *testing.B) {
		q := xsync.NewMPMCQueue[uint64](ringSize)
		stream(b, func(v uint64) {
			for !q.TryEnqueue(v) {
				runtime.Gosched()
			}
		}, func() uint64 {
			for {
				if v, ok := q.TryDequeue(); ok {
					return v
				}
				runtime.Gosched()
			}
		})
	})
	b.Run("stream/floor-spsc-by-32", func(b *testing.B) {
		var q ring[uint64]
		var out, in [batch]uint64
		sent, got, at := 0, 0, 0
		stream(b, func(v uint64) {
			out[sent] = v
			if sent++; sent == batch || v == stop {
				for !q.push(out[:sent]) {
					runtime.Gosched()
				}
				sent = 0
			}
		}, func() uint64 {
			for ; at == got; runtime.Gosched() {
				if got, at = q.pop(in[:]), 0; got > 0 {
					break
				}
			}
			at++
			return in[at-1]
		})
	})
	b.Run("stream/floor-spsc-32B-by-32", func(b *testing.B) {
		var q ring[wide]
		var out, in [batch]wide
		sent, got, at := 0, 0, 0
		stream(b, func(v uint64) {
			out[sent] = wide{v, v, v, v}
			if sent++; sent == batch || v == stop {
				for !q.push(out[:sent]) {
					runtime.Gosched()
				}
				sent = 0
			}
		}, func() uint64 {
			for ; at == got; runtime.Gosched() {
				if got, at = q.pop(in[:]), 0; got > 0 {
					break
				}
			}
			at++
			return in[at-1][3]
		})
	})
}
