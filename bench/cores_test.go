// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"runtime"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// onCores runs fn on one core, on two and so on, b.N times on each. The time is that
// of one of them, and quiet-ns/op what one took while nothing disturbed that core:
// how that grows with the cores is what they share.
func onCores(b *testing.B, name string, fn func(core, from, to int)) {
	for cores := 1; cores <= runtime.GOMAXPROCS(0); cores *= 2 {
		b.Run(fmt.Sprintf("%scores=%d", name, cores), func(b *testing.B) {
			b.ReportAllocs()
			times := make([]float64, cores)
			var all sync.WaitGroup
			for core := range cores {
				all.Go(func() {
					times[core] = quiet(b.N, 2048, func(from, to int) { fn(core, from, to) })
				})
			}
			all.Wait()
			slowest := 0.0
			for _, t := range times {
				slowest = max(slowest, t)
			}
			b.ReportMetric(slowest, "quiet-ns/op")
		})
	}
}

// quiet runs n operations, so many at a time, and returns the first decile of what
// those took, ns an operation: what it takes while nothing interrupts it. A disturbed
// core makes a slice of some microseconds slower or not, and a whole benchmark always.
func quiet(n, slice int, run func(from, to int)) float64 {
	times := make([]float64, 0, n/slice+1)
	for at := 0; at < n; at += slice {
		to := min(at+slice, n)
		start := time.Now()
		run(at, to)
		times = append(times, float64(time.Since(start))/float64(to-at))
	}
	sort.Float64s(times)
	return times[(len(times)-1)/10]
}

func TestQuietRunsEachOperationOnce(t *testing.T) {
	for _, n := range []int{1, 3, 7, 12} {
		next := 0
		ns := quiet(n, 3, func(from, to int) {
			require.Equal(t, next, from)
			require.LessOrEqual(t, to-from, 3)
			next = to
		})
		require.Equal(t, n, next)
		require.Positive(t, ns)
	}
}
