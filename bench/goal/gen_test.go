// SPDX-License-Identifier: Apache-2.0

package goal_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/goal"
)

func made(t testing.TB, name string, j goal.Job) *goal.Schedule {
	t.Helper()
	p, err := goal.FindPattern(name)
	require.NoError(t, err)
	s, err := p.Make(j)
	require.NoError(t, err)
	return s
}

// Schedules made here are those that others made, byte for byte.
func TestPatternsEqualRecordedSchedules(t *testing.T) {
	for file, s := range map[string]*goal.Schedule{
		"ring_8_64KiB":     made(t, "ring", goal.Job{Ranks: 8, Bytes: 64 << 10}),
		"ringcalc_16_1MiB": made(t, "ring", goal.Job{Ranks: 16, Bytes: 1 << 20, Reduce: 10_000. / (1 << 20)}),
		"pipe_8_1MiB":      made(t, "pipeline", goal.Job{Ranks: 8, Bytes: 1 << 20, Pieces: 8, Forward: 40_000, Backward: 80_000}),
	} {
		want, err := goal.Read("testdata/" + file + ".bin.gz")
		require.NoError(t, err)
		require.Equal(t, goal.AppendBinary(nil, want), goal.AppendBinary(nil, s), file)
	}
}

// On a network where only bytes and latency count, each pattern takes what the literature
// says, and nothing is left over: a step takes 2,000 ns until the source knows, a byte 1 ns.
func TestPatternTimes(t *testing.T) {
	const s, n, alpha = 1 << 16, 16, 1000
	chunk := int64(s / n)
	for _, c := range []struct {
		name string
		job  goal.Job
		want int64 // last receive
	}{
		{"ring", goal.Job{}, 2 * (n - 1) * (alpha + chunk)},
		{"ring", goal.Job{Reduce: 0.5}, 2*(n-1)*(alpha+chunk) + (n-1)*chunk/2},
		{"recursive-doubling", goal.Job{}, 4 * (alpha + s)},
		{"recursive-doubling", goal.Job{Ranks: 11}, 4 * (alpha + s)}, // of five, one is beside those that need no fold
		{"halving-doubling", goal.Job{}, 8*alpha + 2*s*(n-1)/n},
		{"all-gather", goal.Job{}, (n - 1) * (alpha + chunk)},
		{"reduce-scatter", goal.Job{Reduce: 1}, (n - 1) * (alpha + 2*chunk)},
		{"all-to-all", goal.Job{}, alpha + chunk},
		{"broadcast", goal.Job{}, 4 * (alpha + s)},
		{"barrier", goal.Job{}, 4 * (alpha + 1)},
		{"barrier", goal.Job{Ranks: 9}, 4 * (alpha + 1)},
		{"incast", goal.Job{}, alpha + s},
		{"permutation", goal.Job{}, alpha + s},
		{"tree", goal.Job{Pieces: 1, Ranks: 15}, 6 * (alpha + s)},
		{"pipeline", goal.Job{Ranks: 4, Pieces: 1, Forward: 50, Backward: 70}, 6*(alpha+s) + 4*(50+70)},
		{"pipeline", goal.Job{Ranks: 4, Pieces: 8, Forward: 100_000, Backward: 100_000}, 6*(alpha+s) + (8+3)*200_000},
	} {
		j := c.job
		if j.Bytes = s; j.Ranks == 0 {
			j.Ranks = n
		}
		w := &wire{latency: alpha}
		w.Machine = goal.NewMachine(made(t, c.name, j), math.MaxInt64, w)
		w.run()
		require.True(t, w.Done(), c.name)
		var end int64
		for r := range j.Ranks {
			end = max(end, w.End(r))
		}
		require.GreaterOrEqual(t, end, c.want, "%s %+v", c.name, j)
		require.LessOrEqual(t, end, c.want+alpha, "%s %+v", c.name, j) // a sender knows of its end a latency later
	}
}

// The two halves of an all-reduce send and receive the bytes that they must.
func TestPatternBytes(t *testing.T) {
	for _, n := range []int{2, 3, 7, 16} {
		for _, name := range []string{"ring", "all-gather", "reduce-scatter", "all-to-all", "all-to-allv", "tree", "recursive-doubling"} {
			s := made(t, name, goal.Job{Ranks: n, Bytes: 1003, Pieces: 5, Seed: 3})
			var sent, received int64
			for _, r := range s.Ranks {
				for _, o := range r.Ops {
					if o.Kind == goal.KindSend {
						sent += o.Size
					} else {
						received += o.Size
					}
				}
			}
			require.Equal(t, sent, received, name)
			if name == "all-gather" || name == "reduce-scatter" {
				require.EqualValues(t, 1003*(n-1), sent)
			}
			w := &wire{latency: 1}
			w.Machine = goal.NewMachine(s, -1, w)
			w.run()
			require.True(t, w.Done(), "%s of %d", name, n)
		}
	}
}

// Means of the tables as their sources' own points give them, and flows of the load asked for.
func TestPoisson(t *testing.T) {
	for name, mean := range map[string]float64{"web-search": 1_711_250, "data-mining": 12_658_199, "hadoop": 120_421} {
		table, err := goal.FindSizes(name)
		require.NoError(t, err)
		require.InDelta(t, mean, table.Mean(), 1)
		require.EqualValues(t, 1, table.Quantile(0))
	}
	j := goal.Job{Ranks: 32, Sizes: "hadoop", Load: 0.6, Rate: 100e9, Duration: 20e6, Seed: 4}
	s := made(t, "poisson", j)
	var bytes float64
	for _, r := range s.Ranks {
		for _, o := range r.Ops {
			if o.Kind == goal.KindSend {
				bytes += float64(o.Size)
			}
		}
	}
	require.InEpsilon(t, 0.6*32*100e9/8*20e-3, bytes, 0.03)
	w := &wire{latency: 1}
	w.Machine = goal.NewMachine(s, -1, w)
	w.run()
	require.True(t, w.Done())
	require.Less(t, w.sent[len(w.sent)-1], j.Duration)
}

func TestPatternErrors(t *testing.T) {
	for name, j := range map[string]goal.Job{
		"ring": {Ranks: 1}, "halving-doubling": {Ranks: 12}, "tree": {Ranks: 4}, "pipeline": {Ranks: 4, Pieces: 1, Forward: -1},
		"poisson": {Ranks: 4, Load: 1, Rate: 1e9, Duration: 1, Sizes: "none"}, "incast": {Ranks: 4, Bytes: 1 << 31},
	} {
		p, err := goal.FindPattern(name)
		require.NoError(t, err)
		_, err = p.Make(j)
		require.ErrorIs(t, err, goal.ErrSchedule, name)
	}
	_, err := goal.FindPattern("circle")
	require.ErrorContains(t, err, "there are: ring, recursive-doubling,")
}
