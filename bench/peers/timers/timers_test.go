// SPDX-License-Identifier: Apache-2.0

package timers

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func TestWheelUnlinksInAnyOrder(t *testing.T) {
	w := newWheel(16)
	for i := range uint32(16) {
		w.arm(i, i%3)
	}
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(16) {
		w.cancel(uint32(i))
	}
	for i, s := range w.slot {
		if s != -1 {
			t.Fatalf("slot %d still leads to %d", i, s)
		}
	}
}

// BenchmarkArmCancel arms a time-out and cancels it, as each packet and its
// acknowledgement do, while others are pending.
func BenchmarkArmCancel(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 16} {
		pending := func() []*time.Timer {
			ts := make([]*time.Timer, n)
			for i := range ts {
				ts[i] = time.AfterFunc(time.Hour+time.Duration(i), func() {})
			}
			return ts
		}
		stop := func(ts []*time.Timer) {
			for _, t := range ts {
				t.Stop()
			}
		}
		b.Run(fmt.Sprintf("pending=%d/time.AfterFunc", n), func(b *testing.B) {
			b.ReportAllocs()
			ts := pending()
			for b.Loop() {
				time.AfterFunc(time.Minute, func() {}).Stop()
			}
			stop(ts)
		})
		b.Run(fmt.Sprintf("pending=%d/time.Timer.Reset", n), func(b *testing.B) {
			b.ReportAllocs()
			ts := pending()
			for i := 0; b.Loop(); i = (i + 1) & (n - 1) {
				ts[i].Reset(time.Hour)
			}
			stop(ts)
		})
		b.Run(fmt.Sprintf("pending=%d/floor-wheel", n), func(b *testing.B) {
			b.ReportAllocs()
			w := newWheel(2 * n)
			for i := range n {
				w.arm(uint32(i), uint32(i*7+3))
			}
			for i := uint32(0); b.Loop(); i++ {
				id := uint32(n) + i&uint32(n-1)
				w.arm(id, i+100)
				w.cancel(id)
			}
		})
	}
}

type event struct {
	at, seq uint64
	who     uint32
}

// events is container/heap as it is commonly used: pointers behind an interface.
type events []*event

func (h events) Len() int { return len(h) }
func (h events) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *events) Push(x any)   { *h = append(*h, x.(*event)) }
func (h *events) Pop() any {
	o := *h
	x := o[len(o)-1]
	*h = o[:len(o)-1]
	return x
}

// BenchmarkHold takes the next event out and puts one in later: the inner step
// of a simulator.
func BenchmarkHold(b *testing.B) {
	const spread = 1 << 15
	for _, n := range []int{1 << 10, 1 << 14} {
		b.Run(fmt.Sprintf("n=%d/container-heap", n), func(b *testing.B) {
			b.ReportAllocs()
			r := rand.New(rand.NewPCG(1, 2))
			gaps := make([]uint64, 4096)
			for i := range gaps {
				gaps[i] = r.Uint64N(spread) + 1
			}
			h := make(events, n)
			for i := range h {
				h[i] = &event{at: r.Uint64N(spread), seq: uint64(i)}
			}
			heap.Init(&h)
			for i := 0; b.Loop(); i++ {
				e := heap.Pop(&h).(*event)
				e.at += gaps[i&4095]
				heap.Push(&h, e)
			}
		})
	}
}
