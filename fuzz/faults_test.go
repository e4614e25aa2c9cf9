// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
)

// The fault simulation: real endpoints over a network that goes wrong, in virtual
// time and out of one seed for each run.
//
//	go test ./fuzz -run TestFaults -seeds 100000               many runs
//	go test ./fuzz -run TestFaults -seeds 1000 -from 500000    others
//	go test ./fuzz -run TestFaults -seed 17                    one, and the end of its transcript
var (
	faultSeeds = flag.Int("seeds", 0, "TestFaults: how many seeds to run (default: enough for a million packets)")
	faultFrom  = flag.Uint64("from", 0, "TestFaults: the first of those seeds")
	faultSeed  = flag.Int64("seed", -1, "TestFaults: run this seed only")
)

const (
	faultSeedsDefault = 324 // 18 of each setting
	faultSteps        = 20_000_000
)

// faultResult is what a seed came to.
type faultResult struct {
	test   string // that runs it
	seed   uint64
	name   string
	sent   uint64
	hash   uint64
	counts faultnet.Counts
	err    error
	log    string
}

// runFaultSeed runs one seed to its end.
func runFaultSeed(seed uint64) (res faultResult) {
	n := uint64(len(faultSettings))
	return runPDCSeed("TestFaults/seeds", &faultSettings[seed%n], seed, 2+int(seed/n)%2)
}

// runPDCSeed runs a seed in a setting. Everything that goes wrong in it, a panic of the code under
// test included, becomes the result's error.
func runPDCSeed(test string, s *faultSetting, seed uint64, places int) (res faultResult) {
	res.test, res.seed, res.name = test, seed, s.name
	w := newPDCWorld(s, seed, places)
	tail := func(lines int) string { return w.log.tail(lines) + w.state() }
	defer func() {
		res.caught(recover(), tail)
		res.sent, res.hash, res.counts = w.net.Sent, w.net.Hash(), w.net.Counts
	}()
	w.run()
	if *faultSeed >= 0 {
		res.log = tail(200)
	}
	return res
}

// caught makes what ended a run, if anything did, the result's error; tail gives the
// end of its transcript.
func (r *faultResult) caught(x any, tail func(lines int) string) {
	if x == nil {
		return
	}
	r.err = fmt.Errorf("%v", x)
	if _, planned := x.(faultFailure); !planned {
		r.err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
	}
	lines := 60
	if *faultSeed >= 0 {
		lines = 500
	}
	r.log = tail(lines)
}

func (r *faultResult) String() string {
	return fmt.Sprintf("seed %d (%s): %v\n%s\nreplay: go test ./fuzz -run %s -seed %d", r.seed, r.name, r.err, r.log, r.test, r.seed)
}

func TestFaults(t *testing.T) {
	t.Run("seeds", func(t *testing.T) {
		if *faultSeed >= 0 {
			r := runFaultSeed(uint64(*faultSeed))
			t.Logf("%s\n%s%d packets, hash %#x\n%v", r.name, r.log, r.sent, r.hash, &r.counts)
			require.NoError(t, r.err)
			return
		}
		runFaultSeeds(t)
	})
	if *faultSeed < 0 {
		t.Run("deterministic", testFaultsDeterministic)
		t.Run("allocations", testFaultsAllocate)
	}
}

// faultTally counts, by setting, what seeds have come to.
type faultTally map[string]*struct{ seeds, packets, failed uint64 }

// count adds a result. Of the first failures it prints the end of the transcript.
func (y faultTally) count(t *testing.T, r *faultResult) {
	k := y[r.name]
	if k == nil {
		k = new(struct{ seeds, packets, failed uint64 })
		y[r.name] = k
	}
	k.seeds++
	k.packets += r.sent
	if r.err == nil {
		return
	}
	k.failed++
	if _, _, failed := y.sum(); failed <= 3 {
		t.Error(r)
		return
	}
	t.Errorf("seed %d (%s): %v", r.seed, r.name, r.err)
}

func (y faultTally) sum() (seeds, packets, failed uint64) {
	for _, k := range y {
		seeds, packets, failed = seeds+k.seeds, packets+k.packets, failed+k.failed
	}
	return seeds, packets, failed
}

func (y faultTally) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%-20s%10s%14s%10s", "setting", "seeds", "packets", "failed")
	for _, name := range slices.Sorted(maps.Keys(y)) {
		fmt.Fprintf(&s, "\n%-20s%10d%14d%10d", name, y[name].seeds, y[name].packets, y[name].failed)
	}
	seeds, packets, failed := y.sum()
	fmt.Fprintf(&s, "\n%-20s%10d%14d%10d", "all", seeds, packets, failed)
	return s.String()
}

// onAllCores runs n seeds from first on, on all cores, and gives each result to done, one
// at a time. Which core runs which makes no difference to any of them.
func onAllCores[R any](first uint64, n int, run func(seed uint64) R, done func(R)) {
	var next atomic.Uint64
	var all sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Inc() - 1; seed < uint64(n); seed = next.Inc() - 1 {
				r := run(first + seed)
				all.Lock()
				done(r)
				all.Unlock()
			}
		})
	}
	wg.Wait()
}

func runFaultSeeds(t *testing.T) {
	n := *faultSeeds
	if n == 0 {
		n = faultSeedsDefault
	}
	var counts faultnet.Counts
	tally := faultTally{}
	onAllCores(*faultFrom, n, runFaultSeed, func(r faultResult) {
		counts.Add(&r.counts)
		tally.count(t, &r)
	})
	t.Logf("%v\n%v", tally, &counts)
	if _, sent, _ := tally.sum(); *faultSeeds == 0 {
		require.GreaterOrEqual(t, sent, uint64(1_000_000), "packets in the default run")
	}
	if *faultSeeds == 0 || n >= 20*len(faultSettings) {
		require.Empty(t, counts.Missing(everyFault()), "faults that were never injected")
	}
}

func everyFault() (all []faultnet.Fault) {
	for f := range faultnet.NumFaults {
		all = append(all, f)
	}
	return all
}

// The same seed gives the same transcript, whatever runs beside it.
func testFaultsDeterministic(t *testing.T) {
	const n = 45
	var alone, beside [n]uint64
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for i := range alone {
		r := runFaultSeed(uint64(i))
		alone[i] = r.hash
	}
	runtime.GOMAXPROCS(4)
	var wg sync.WaitGroup
	for i := range beside {
		wg.Go(func() {
			r := runFaultSeed(uint64(i))
			beside[i] = r.hash
		})
	}
	wg.Wait()
	require.Equal(t, alone, beside)
}
