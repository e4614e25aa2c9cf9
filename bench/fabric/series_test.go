// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/link"
)

// incastOf is n hosts that send size bytes each to host 0.
func incastOf(n int, size int64) Config {
	m := &Matrix{Nodes: 16}
	for i := range n {
		m.Flows = append(m.Flows, Flow{Src: i + 1, Dst: 0, Size: size})
	}
	return Config{Matrix: m}
}

// The samples of a run, however few points they are kept in, have the same extremes and the
// same mean, and the link to the host has sent the bytes of all transfers.
func TestSeriesKeepExtremes(t *testing.T) {
	for _, node := range []NodeKind{NodeLight, NodeEndpoint} {
		t.Run(node.String(), func(t *testing.T) {
			c := incastOf(7, 200_000)
			c.Node = node
			c.Series = &SeriesConfig{Interval: link.Microsecond, Points: 1 << 12, Lines: 128}
			all, err := Run(c)
			require.NoError(t, err)
			c.Series = &SeriesConfig{Interval: link.Microsecond, Points: 16, Lines: 128}
			few, err := Run(c)
			require.NoError(t, err)
			require.Equal(t, all.Totals, few.Totals)
			require.Equal(t, all.Series.Sampled, all.Series.Interval)
			require.Zero(t, all.Series.Left)
			require.Equal(t, len(all.Series.Lines), len(few.Series.Lines))
			for i, l := range all.Series.Lines {
				f := few.Series.Lines[i]
				require.Equal(t, l.Name, f.Name)
				require.LessOrEqual(t, len(f.Mean), 16)
				require.Equal(t, slices.Max(l.Max), slices.Max(f.Max), l.Name)
				require.Equal(t, slices.Min(l.Min), slices.Min(f.Min), l.Name)
				require.Equal(t, l.Max, l.Min, "a sample a point")
			}
			hop := all.Series.Lines[0]
			require.Equal(t, SeriesQueue, hop.Kind)
			require.Equal(t, "leaf 0 to host 0", hop.Name)
			require.Positive(t, slices.Max(hop.Max))
			require.LessOrEqual(t, slices.Max(hop.Max), float64(all.Queues[0].Peak))
			sent := 0.0
			for _, rate := range all.Series.Lines[1].Mean {
				sent += rate / 8e6
			}
			require.InEpsilon(t, all.LowerBound*12_500, sent, 0.05, "and headers of what was trimmed")
			window := all.Series.Lines[len(all.Series.Lines)-1]
			require.Equal(t, "6: 7 to 0", window.Name)
			if node == NodeLight { // endpoints have no context before the first answer
				require.EqualValues(t, all.Parameters.InitialCwnd, window.Mean[0])
			}
			require.Positive(t, window.Mean[len(window.Mean)-1])
			require.Less(t, window.Mean[len(window.Mean)-1], slices.Max(window.Max))
		})
	}
}

// A run that is idle for long is sampled all the time, and names say which ports have lines.
func TestSeriesOfFewPorts(t *testing.T) {
	c := incastOf(2, 10_000)
	c.Matrix.Flows[1].Start = 3000 * link.Microsecond
	c.Series = &SeriesConfig{Points: 4, Lines: 1, Port: func(name string) bool { return name == "leaf 1 to agg 1" }}
	r, err := Run(c)
	require.NoError(t, err)
	require.Len(t, r.Series.Lines, 3)
	require.Equal(t, 1, r.Series.Left, "a connection")
	require.GreaterOrEqual(t, float64(len(r.Series.Lines[0].Mean))*r.Series.Interval, 3000.0)
	b, err := json.Marshal(r.Series.Lines[2])
	require.NoError(t, err)
	require.Contains(t, string(b), `"kind":"window","name":"0: 1 to 0"`)
	for _, bad := range []SeriesConfig{{Points: 3}, {Points: -2}, {Interval: -1}, {Lines: -1}} {
		c.Series = &bad
		_, err := Run(c)
		require.ErrorIs(t, err, ErrConfig)
	}
}
