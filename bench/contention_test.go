// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
)

// waits are the functions of this module, outside of the tests, in whose callees
// somebody waited for a lock since the profile was last looked at.
func waits(seen map[[32]uintptr]int64) (names []string) {
	records := make([]runtime.BlockProfileRecord, 1000)
	n, _ := runtime.MutexProfile(records)
	for _, r := range records[:n] {
		before := seen[r.Stack0]
		if seen[r.Stack0] = r.Count; r.Count == before {
			continue
		}
		var stack []string
		for frames, more := runtime.CallersFrames(r.Stack()), true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			stack = append(stack, f.Function)
		}
		// The runtime's own locks are in the profile too: memory, stacks, timers.
		if strings.HasPrefix(stack[0], "runtime.") {
			continue
		}
		for _, f := range stack {
			if strings.HasPrefix(f, "github.com/uetcc/uetcc") {
				names = append(names, f)
				break
			}
		}
	}
	return names
}

// together runs the functions at the same time, rounds times each.
func together(rounds int, fns ...func(round int)) {
	var all sync.WaitGroup
	for _, fn := range fns {
		all.Go(func() {
			for i := range rounds {
				fn(i)
			}
		})
	}
	all.Wait()
}

// TestHotPathsWaitForNoLock has several cores look up, open and close in the same
// tables, reserve at the same context, and move packets through endpoints of their
// own, with every wait for a lock recorded.
func TestHotPathsWaitForNoLock(t *testing.T) {
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	seen := map[[32]uintptr]int64{}
	waits(seen) // of whatever ran before

	tab, keys, ids := typedTables(t, 1<<10)
	other, err := pdc.NewTable(pdc.TableConfig{General: 64})
	require.NoError(t, err)
	contexts, err := ccc.NewTable(64, true, 0)
	require.NoError(t, err)
	m := cccManager(t, 1, ccc.ManagerConfig{Params: cccParams(t, cccConfig()), Admission: true})
	gate := m.Gate(ccc.NewHandle(0, 1))
	ends := [2]*sourceSteps{newSourceSteps(t, 64, 1, "mixed", pathBatch, option{}), newSourceSteps(t, 64, 1, "mixed", pathBatch, option{})}

	find := func(i int) {
		k := i % len(keys)
		if _, err := tab.Match(ids[k], keys[k].Source, keys[k].SPDCID); err != nil || tab.ByID(ids[k]) == 0 {
			t.Error("not found")
		}
		if _, err := tab.Target(&keys[k]); err != nil {
			t.Error(err)
		}
	}
	open := func(i int) {
		k := pdc.TargetKey{Source: pathPeer(i % 8), Destination: pathPeer(1), SPDCID: 1}
		if h, _, err := other.OpenTarget(int64(i), &k, false); err == nil {
			other.Release(int64(i), h)
		}
		c, _, err := contexts.Open(&ccc.Key{Source: netip.IPv6Unspecified(), Destination: pathPeer(i % 8)})
		if err == nil {
			contexts.Close(c)
		}
		if gate.TryReserve(4096) {
			gate.GiveBack(4096)
		}
	}
	step := func(e *sourceSteps) func(int) { return func(int) { e.step() } }
	together(2000, find, find, open, open, step(ends[0]), step(ends[1]))
	require.Empty(t, waits(seen))

	// The profile would have shown a lock.
	var lock sync.Mutex
	n := 0
	slow := func(int) { lock.Lock(); n++; runtime.Gosched(); lock.Unlock() }
	for tries := 0; tries < 100; tries++ {
		together(1000, slow, slow)
		if len(waits(seen)) > 0 {
			return
		}
	}
	t.Error("no wait was seen for a lock that several held in turn")
}
