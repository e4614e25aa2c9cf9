// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/uetcc/uetcc/hw/switchq"
)

// BenchmarkSwitchQueue is one packet through an egress queue that holds depth
// others: into it and out of it. fifo is the floor: the same ring without
// classes, limits, counters or marks.
func BenchmarkSwitchQueue(b *testing.B) {
	pkt := switchq.Packet{ID: 1, Size: 4150, DSCP: switchq.DSCPTrimmable}
	run := func(name string, c switchq.Config, depth int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p, err := switchq.NewParams(c)
			if err != nil {
				b.Fatal(err)
			}
			rnd := rand.NewPCG(1, 2)
			var q switchq.Queue
			for range depth {
				q.Enqueue(&p, pkt, rnd)
			}
			for b.Loop() {
				q.Enqueue(&p, pkt, rnd)
				q.Dequeue(&p, 0, rnd)
			}
		})
	}
	run("op=pass/idle", switchq.Config{PlaneBDP: 75_000, Trim: true}, 0)
	run("op=pass/red", switchq.Config{PlaneBDP: 75_000, Trim: true}, 8)
	run("op=trim/coin", switchq.Config{PlaneBDP: 75_000, Trim: true, Coin: true}, 40)
	b.Run("op=floor/fifo", func(b *testing.B) {
		b.ReportAllocs()
		var ring [16]switchq.Packet
		var head, tail uint32
		var sum int64
		for b.Loop() {
			ring[tail&15] = pkt
			tail++
			sum += int64(ring[head&15].Size)
			head++
		}
	})
}

// BenchmarkSwitchUplink is one choice among 16 equal-cost links.
func BenchmarkSwitchUplink(b *testing.B) {
	b.ReportAllocs()
	var e uint16
	sum := 0
	for b.Loop() {
		e++
		sum += switchq.Uplink(12345, 77, e, 16)
	}
	if sum < 0 {
		b.Fatal(sum)
	}
}
