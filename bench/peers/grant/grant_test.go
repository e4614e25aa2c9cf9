// SPDX-License-Identifier: Apache-2.0

package grant

import (
	"container/heap"
	"container/list"
	"fmt"
	"maps"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

func TestFloorServesAllAlike(t *testing.T) {
	f := NewFloor(8192)
	want, got := map[int]int{}, map[int]int{}
	for i := uint32(3); i < 8192; i += 517 {
		f.Demand(i, 5*Quantum)
		want[int(i)] = 5
	}
	for now := range int64(1000) {
		if i, _ := f.Grant(now * 1000); i >= 0 {
			got[i]++
		}
	}
	if !maps.Equal(got, want) {
		t.Fatal(got, want)
	}
}

type sender struct {
	credit  uint32
	backlog int64
	finish  uint64
	id      uint32
}

func (s *sender) serve() uint64 {
	s.backlog -= Quantum
	s.credit += Quantum
	return uint64(s.credit)
}

// byFinish is fair queueing the usual way: a heap by finish time.
type byFinish []*sender

func (h byFinish) Len() int           { return len(h) }
func (h byFinish) Less(i, j int) bool { return h[i].finish < h[j].finish }
func (h byFinish) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byFinish) Push(x any)        { *h = append(*h, x.(*sender)) }
func (h *byFinish) Pop() any {
	o := *h
	x := o[len(o)-1]
	*h = o[:len(o)-1]
	return x
}

var sink uint64

// BenchmarkGrant makes one grant; all n senders always wait for one.
func BenchmarkGrant(b *testing.B) {
	for _, n := range []int{64, 1 << 10, 1 << 16} {
		b.Run(fmt.Sprintf("n=%d/floor-rr", n), func(b *testing.B) {
			b.ReportAllocs()
			f := NewFloor(n)
			for i := range n {
				f.Demand(uint32(i), 1<<60)
			}
			for now := int64(1000); b.Loop(); now += 1000 {
				_, c := f.Grant(now)
				sink += uint64(c)
			}
		})
		b.Run(fmt.Sprintf("n=%d/container-list-rr", n), func(b *testing.B) {
			b.ReportAllocs()
			l := list.New()
			for i := range n {
				l.PushBack(&sender{id: uint32(i), backlog: 1 << 60})
			}
			for b.Loop() {
				e := l.Front()
				sink += e.Value.(*sender).serve()
				l.MoveToBack(e)
			}
		})
		b.Run(fmt.Sprintf("n=%d/container-heap-wfq", n), func(b *testing.B) {
			b.ReportAllocs()
			h := make(byFinish, n)
			for i := range h {
				h[i] = &sender{id: uint32(i), backlog: 1 << 60, finish: uint64(i)}
			}
			for b.Loop() {
				s := h[0]
				sink += s.serve()
				s.finish += uint64(n) + uint64(s.id&7)
				heap.Fix(&h, 0)
			}
		})
		b.Run(fmt.Sprintf("n=%d/xtime-rate", n), func(b *testing.B) {
			b.ReportAllocs()
			limits := make([]*rate.Limiter, n)
			for i := range limits {
				limits[i] = rate.NewLimiter(1e12, 1<<40)
			}
			now := time.Now()
			for i := 0; b.Loop(); i = (i + 1) & (n - 1) {
				if limits[i].AllowN(now, Quantum) {
					sink++
				}
			}
		})
	}
}
