// SPDX-License-Identifier: Apache-2.0

package porttest

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leavings is the resources that opened things may leave.
type leavings struct {
	goroutines, descriptors int // descriptors: 0 where the system does not say
	heap                    uint64
}

func leftNow() (l leavings) {
	runtime.GC()
	runtime.GC() // what has finalizers, or lay in a pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	all, _ := os.ReadDir("/proc/self/fd")
	return leavings{runtime.NumGoroutine(), len(all), m.HeapAlloc}
}

// NoLeak calls f, which opens and closes, n times, in a short test n/10 times, and fails t if
// goroutines, descriptors or memory are left.
func NoLeak(t *testing.T, n int, f func(i int)) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // half of the time went there
	for i := range 10 {
		f(i)
	}
	before := leftNow()
	for i := range n {
		f(i)
	}
	const slack = 1 << 20 // what the runtime and the test itself keep
	var after leavings
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // goroutines that are at their end
		if after = leftNow(); after.goroutines <= before.goroutines && after.descriptors <= before.descriptors && after.heap <= before.heap+slack {
			return
		}
	}
	require.Fail(t, "a leak", "%+v before and %+v after %d times", before, after, n)
}
