// SPDX-License-Identifier: Apache-2.0

// Package alloctest asserts in tests that hot functions do not allocate, and measures the
// memory of values.
package alloctest

import (
	"runtime"
	"testing"
)

// Zero fails t if fn allocates. The counter is process-wide, so strangers can
// only add: the least of several samples is fn's own share. Let fn panic
// when the path under test did not run, or a fast error passes for success.
// Not for tests that call t.Parallel.
func Zero(t testing.TB, name string, fn func()) {
	t.Helper()
	least := testing.AllocsPerRun(1000, fn)
	for range 4 {
		if least == 0 {
			return
		}
		least = min(least, testing.AllocsPerRun(1000, fn))
	}
	if least != 0 {
		t.Errorf("%s: %v allocations a run, want 0", name, least)
	}
}

// Bytes returns the memory for making a value: the least of several samples, as for
// [Zero].
func Bytes(build func() any) int {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v := build()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(v)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return int(least)
}
