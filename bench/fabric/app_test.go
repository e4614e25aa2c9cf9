// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// run16 runs a schedule on 16 hosts at 400 Gb/s.
func run16(t *testing.T, text string, change func(*Config)) *Result {
	t.Helper()
	s, err := goal.Parse("x.goal", []byte(text))
	require.NoError(t, err)
	c := Config{Application: &Application{Schedule: s, Eager: -1}, Rules: RulesHTSim, Topology: FatTree(16, 400e9, link.Microsecond)}
	change(&c)
	r, err := Run(c)
	require.NoError(t, err)
	require.Empty(t, r.Violations)
	return r
}

// A message of one packet takes 4,170 ns to the host beside it and back, and is there after
// 2,168; everything else is as the schedule says.
func TestApplicationRules(t *testing.T) {
	const one = "num_ranks 2\nrank 0 {\na: send 4096b to 1\nb: calc 7\nb requires a\n}\nrank 1 {\na: recv 4096b from 0\nb: calc 5\nb requires a\n}\n"
	for _, c := range []struct {
		name, text string
		arrival    bool
		ends       []float64 // us
	}{
		{"received when the source knows", one, false, []float64{4.177, 4.175}},
		{"received on arrival", one, true, []float64{4.177, 2.172}},
		{"nothing to send", "num_ranks 2\nrank 0 {\ncalc 1000\ncalc 1000\ncalc 1000 cpu 1\n}\nrank 1 {\n}\n", false, []float64{2, 0}},
		{"calculations and messages share a CPU",
			"num_ranks 2\nrank 0 {\ncalc 100000\nsend 4096b to 1\n}\nrank 1 {\nrecv 4096b from 0\n}\n", false, []float64{104.17, 104.17}},
		{"0 bytes are a packet of one", "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n", false, []float64{4.00516, 4.00516}},
		{"a host for each NIC", "num_ranks 2\nrank 0 {\nsend 1b to 1 nic 1\n}\nrank 1 {\nrecv 1b from 0\n}\n", false, []float64{8.010, 8.010}},
		{"a send to oneself", "num_ranks 1\nrank 0 {\nsend 9b to 0\na: recv 9b from 0\nb: calc 5000\nb requires a\n}\n", false, []float64{5}},
	} {
		r := run16(t, c.text, func(c2 *Config) { c2.Application.Arrival = c.arrival })
		require.InDeltaSlice(t, c.ends, r.Application.RankEnds, 0.001, c.name)
		require.Zero(t, r.Application.Unfinished, c.name)
	}
}

// What lacks its other side is reported.
func TestApplicationUnmatched(t *testing.T) {
	for _, node := range []NodeKind{NodeLight, NodeEndpoint} {
		r := run16(t, "num_ranks 2\nrank 0 {\nsend 10b to 1 tag 1\n}\nrank 1 {\nrecv 10b from 0 tag 2\n}\n", func(c *Config) {
			c.Node, c.Rules = node, RulesSpec
		})
		require.Equal(t, []string{
			"rank 0: send of 10 bytes to 1 tag 1 (line 3) has no recv", "rank 1: recv of 10 bytes from 0 tag 2 (line 6) has no message",
		}, r.Application.Waiting)
		require.Equal(t, 2, r.Application.Unfinished)
	}
}

func TestApplicationErrors(t *testing.T) {
	one := &goal.Schedule{Ranks: make([]goal.Rank, 1)}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Application: &Application{}}, "Application without a Schedule"},
		{Config{Application: &Application{Schedule: &goal.Schedule{}}}, "no ranks"},
		{Config{Application: &Application{Schedule: one}, Matrix: &Matrix{Nodes: 2}}, "Matrix and Application exclude each other"},
		{Config{Application: &Application{Schedule: one}}, "Application: operations"},
		{Config{Application: &Application{Schedule: &goal.Schedule{Ranks: make([]goal.Rank, 17)}}, Topology: FatTree(16, 1e9, 0)},
			"Application: ranks times NICs is 17, want 1 to 16"},
	} {
		_, err := Run(c.config)
		require.ErrorContains(t, err, c.want)
	}
}

// Without a window a transfer has no more records than packets: 255 units of 128 packets for each
// message were gigabytes.
func TestRecordsOfSmallMessages(t *testing.T) {
	s, err := goal.FindPattern("ring")
	require.NoError(t, err)
	ring, err := s.Make(goal.Job{Ranks: 16, Bytes: 1 << 20})
	require.NoError(t, err)
	c := Config{Node: NodeEndpoint, Mode: ccc.ModeOff, Application: &Application{Schedule: ring}}
	require.NoError(t, c.fill())
	for _, d := range c.degrees() {
		require.Equal(t, degree{out: 30, in: 30, chunks: 30 * 3}, d)
	}
}

// What each file of micro.txt asks for: 400 Gb/s, where a message of one packet takes 4,170 ns to
// the host beside it and back.
func TestMicro(t *testing.T) {
	want := map[string][]float64{ // us, of the first ranks
		"calc_and_send_same_cpu": {104.170, 104.170}, // the send waits for its CPU
		"calc_overlap":           {200, 104.170},     // sending takes the CPU no time
		"calc_two_cpus":          {2},
		"calc_zero_chain":        {0},
		"crlf":                   {0.004},
		"gap_wakeup":             {8.422, 4.170, 8.422, 182.824, 182.824}, // two sends wait for no gap
		"irequires_calc":         {10, 4.170},
		"irequires_send_recv":    {25.389, 25.389},
		"label_twice":            {0.016},
		"late_recv":              {100.001, 100.001}, // a send ends with its recv
		"recv_cpu_busy":          {100.001, 100.001},
		"recv_cpu_free":          {4.171, 100},
		"send_to_self":           {5},
		"size_differs":           {4.170, 4.170},
		"two_nics":               {30.913, 30.913},
		"two_sends_gap":          {50.855, 46.521, 50.855},
		"unmatched_recv":         {0},
		"unmatched_send":         {0},
		"wildcard_recv":          {4.170, 5.170},
		"zero_bytes":             {4.005, 4.005},
	}
	unfinished := map[string]int{"irequires_send_recv": 1, "unmatched_recv": 1, "unmatched_send": 2}
	seen := 0
	for name, s := range schedules(t) {
		name, ok := strings.CutPrefix(name, micro)
		if !ok {
			continue
		}
		seen++
		r, err := Run(Config{Application: &Application{Schedule: s, Eager: -1}, Rules: RulesHTSim, Seed: 1, Entropy: mixed, Topology: FatTree(16, 400e9, link.Microsecond)})
		require.NoError(t, err)
		require.Contains(t, want, name)
		require.InDeltaSlice(t, want[name], r.Application.RankEnds[:len(want[name])], 0.001, name)
		require.Equal(t, unfinished[name], r.Application.Unfinished, name)
	}
	require.Equal(t, len(want), seen)
}
