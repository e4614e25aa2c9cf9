// SPDX-License-Identifier: Apache-2.0

// Package cores measures work on several cores at once.
package cores

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// Run runs fn on one core, on two and so on, b.N times on each: from and to count the
// operations of a core. The time is per operation, and quiet-ns/op the time while
// nothing disturbed the core: the growth of quiet-ns/op with the cores is the price of
// sharing.
func Run(b *testing.B, name string, fn func(core, from, to int)) {
	for n := 1; n <= runtime.GOMAXPROCS(0); n *= 2 {
		b.Run(fmt.Sprintf("%scores=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			times := make([]float64, n)
			var all sync.WaitGroup
			for core := range n {
				all.Go(func() {
					times[core] = quiet(b.N, 2048, func(from, to int) { fn(core, from, to) })
				})
			}
			all.Wait()
			b.ReportMetric(slices.Max(times), "quiet-ns/op")
		})
	}
}

// quiet runs n operations, slice at a time, and returns the first decile of the
// slices' times, ns an operation: the time without interruptions. A disturbed core
// makes a slice of some microseconds slower or not, and a whole benchmark always.
func quiet(n, slice int, run func(from, to int)) float64 {
	times := make([]float64, 0, n/slice+1)
	for at := 0; at < n; at += slice {
		to := min(at+slice, n)
		start := time.Now()
		run(at, to)
		times = append(times, float64(time.Since(start))/float64(to-at))
	}
	slices.Sort(times)
	return times[(len(times)-1)/10]
}
