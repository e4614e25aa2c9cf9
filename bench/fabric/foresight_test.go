// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// schedules are collective operations of 16 ranks, some with calculations, and those of micro.txt,
// which ask for one rule each.
func schedules(t *testing.T) map[string]*goal.Schedule {
	t.Helper()
	const dir = "../goal/testdata/"
	list := map[string]*goal.Schedule{}
	files, err := filepath.Glob(dir + "*.goal.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		s, err := goal.Read(f)
		require.NoError(t, err, f)
		list[filepath.Base(f)] = s
	}
	b, err := os.ReadFile(dir + "micro.txt")
	require.NoError(t, err)
	for _, text := range strings.Split("\n"+string(b), "\n-- ")[1:] {
		name, text, _ := strings.Cut(text, " --\n")
		s, err := goal.Parse(name, []byte(text))
		require.NoError(t, err, name)
		list[micro+name] = s
	}
	for _, p := range goal.Patterns() {
		s, err := p.Make(goal.Job{
			Ranks: 16, Bytes: 60_000, Pieces: 4, Reduce: 0.1, Forward: 9_000, Backward: 14_000,
			Sizes: "web-search", Load: 0.3, Rate: 400e9, Duration: 30_000,
		})
		require.NoError(t, err, p.Name)
		list["gen "+p.Name] = s
	}
	return list
}

const micro = "micro "

// apart is a fabric where each of 16 hosts has a leaf, and so a part of a run, to itself.
func apart() *Topology {
	tier := Tier{DownRate: 400e9, DownLatency: link.Microsecond, RadixDown: 1, RadixUp: 2}
	return &Topology{Nodes: 16, Tiers: []Tier{tier, {DownRate: 400e9, DownLatency: link.Microsecond, RadixDown: 16}}}
}

// A divided run of an application is the same on any number of workers, byte for byte, in results and
// in what functions are told. Where no switch tosses a coin the run is that of a fabric not
// divided, to the picosecond.
func TestApplicationInParts(t *testing.T) {
	workers := []int{1, 2, 3, 8}
	if testing.Short() {
		workers = []int{1, 3}
	}
	kinds := map[string]func(*Config){
		"acked":   func(c *Config) {},
		"arrival": func(c *Config) { c.Application.Arrival = true },
		"eager":   func(c *Config) { c.Application.Eager, c.Control = 1<<20, ccc.ControlBoth },
		"htsim":   func(c *Config) { c.Rules, c.PairRTT = RulesHTSim, true },
		"broken": func(c *Config) {
			c.Application.Arrival, c.NoTrim, c.Reroute = true, true, 3*link.Microsecond
			for _, text := range []string{"host3:loss=0.1@0", "leaf5.1:down@4-30", "host9:rate=0.5@2-20"} {
				f, err := ParseFault(text)
				require.NoError(t, err)
				c.Faults = append(c.Faults, f)
			}
		},
	}
	for name, s := range schedules(t) {
		for kind, change := range kinds {
			if strings.HasSuffix(name, ".gz") && kind != "acked" && kind != "arrival" {
				continue // large
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				c := Config{Topology: apart(), Application: &Application{Schedule: s, Eager: -1}, parts: 16}
				change(&c)
				n, parts := onWorkers(t, c, workers)
				require.Equal(t, 16, n)
				c.parts = 1
				whole, err := Run(c)
				require.NoError(t, err)
				require.Equal(t, whole.Unfinished, parts.Unfinished)
				require.Equal(t, whole.Application.Waiting, parts.Application.Waiting)
				switch {
				case strings.HasPrefix(name, micro) && kind != "broken":
					require.Equal(t, whole.Application, parts.Application)
					require.Equal(t, whole.SimTime, parts.SimTime)
					require.Equal(t, whole.Totals, parts.Totals)
				case kind != "broken":
					require.InEpsilon(t, whole.Application.Makespan, parts.Application.Makespan, 0.05)
				}
			})
		}
	}
}

// What cannot be foreseen is simulated as a whole.
func TestApplicationNotInParts(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"endpoint": func(c *Config) { c.Node = NodeEndpoint },
		"loss":     func(c *Config) { c.Loss = 0.01 },
		"late":     func(c *Config) { c.Reorder = 0.01 },
		"memory":   func(c *Config) { c.Memory = slowMemory },
	} {
		s, err := goal.FindPattern("ring")
		require.NoError(t, err)
		ring, err := s.Make(goal.Job{Ranks: 16, Bytes: 20_000})
		require.NoError(t, err)
		c := Config{Topology: apart(), Application: &Application{Schedule: ring, Eager: -1}, parts: 16, Workers: 3}
		change(&c)
		run, err := newSim(c)
		require.NoError(t, err, name)
		require.Len(t, run.parts, 1, name)
		run.loop()
		require.Zero(t, run.result().Application.Unfinished, name)
	}
}

// A calculation beyond the end of the run does not begin anything any more.
func TestApplicationInPartsEnds(t *testing.T) {
	s, err := goal.Parse("x", []byte("num_ranks 2\nrank 0 {\na: calc 90000\nb: send 5b to 1\nb requires a\n}\nrank 1 {\nrecv 5b from 0\n}\n"))
	require.NoError(t, err)
	for _, n := range []uint32{1, 16} {
		c := Config{Topology: apart(), Application: &Application{Schedule: s, Eager: -1}, parts: n, End: 80 * link.Microsecond}
		r, err := Run(c)
		require.NoError(t, err)
		require.EqualValues(t, 80, r.Stopped)
		require.Equal(t, 3, r.Application.Unfinished)
		require.Zero(t, r.Application.Makespan)
	}
}

// Whatever a schedule says, all parts together do what one goroutine does, and what was foreseen comes.
func FuzzApplicationInParts(f *testing.F) {
	b, err := os.ReadFile("../goal/testdata/micro.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, text := range strings.Split("\n"+string(b), "\n-- ")[1:] {
		_, text, _ = strings.Cut(text, " --\n")
		f.Add(text, i%2 == 0, i%3 == 0, int64(i*1000)-1)
	}
	f.Fuzz(func(t *testing.T, text string, arrival, lossy bool, eager int64) {
		s, err := goal.ParseText("x", strings.NewReader(text))
		if err != nil || len(text) > 2048 || len(s.Ranks)*s.NICs() > 16 {
			return
		}
		for r := range s.Ranks {
			for i := range s.Ranks[r].Ops {
				s.Ranks[r].Ops[i].Size = min(s.Ranks[r].Ops[i].Size, 200_000)
			}
		}
		c := Config{
			Topology: apart(), Application: &Application{Schedule: s, Eager: eager, Arrival: arrival}, NoTrim: lossy,
			Workers: 3, End: 20_000 * link.Microsecond, parts: 16,
		}
		parts, err := Run(c)
		if err != nil {
			return
		}
		c.Workers = 1
		again, err := Run(c)
		require.NoError(t, err)
		c.parts = 1
		whole, err := Run(c)
		require.NoError(t, err)
		require.Empty(t, parts.Violations)
		require.Equal(t, again, parts)
		require.Equal(t, whole.Application.Unfinished, parts.Application.Unfinished)
	})
}

// halving256 is an all-reduce of 256 ranks, simulated in parts.
func halving256(tb testing.TB, bytes int64) Config {
	p, err := goal.FindPattern("halving-doubling")
	require.NoError(tb, err)
	s, err := p.Make(goal.Job{Ranks: 256, Bytes: bytes})
	require.NoError(tb, err)
	return Config{Application: &Application{Schedule: s, Eager: -1, Arrival: true}, Topology: LeafSpine(256, 400e9, link.Microsecond)}
}

// Four times the packets take hardly another allocation.
func TestForesightDoesNotAllocate(t *testing.T) {
	allocs := func(bytes int64) float64 {
		return testing.AllocsPerRun(1, func() {
			s, err := newSim(halving256(t, bytes))
			require.NoError(t, err)
			require.Greater(t, len(s.parts), 1)
			s.loop()
			require.True(t, s.app.Done())
		})
	}
	few, many := allocs(250_000), allocs(1_000_000)
	t.Logf("%.0f and %.0f allocations", few, many)
	require.Less(t, many, 1.1*few)
}

func BenchmarkApplicationInParts(b *testing.B) {
	b.ReportAllocs()
	c := halving256(b, 100_000)
	var packets int64
	for b.Loop() {
		r, err := Run(c)
		require.NoError(b, err)
		packets += r.Totals.New
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
}
