// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/switchq"
)

func fault(t testing.TB, text string) Fault {
	t.Helper()
	f, err := ParseFault(text)
	require.NoError(t, err)
	return f
}

func TestParseFault(t *testing.T) {
	const us = link.Microsecond
	for text, want := range map[string]Fault{
		"leaf0.1:down@100-400":   {Place: Place{0, 0, 1}, From: 100 * us, Until: 400 * us},
		"spine2:down@0":          {Place: Place{1, 2, -1}},
		"core4:down@0.5":         {Place: Place{2, 4, -1}, From: us / 2},
		"spine3.0:rate=0.25@7":   {Place: Place{1, 3, 0}, Kind: FaultRate, Value: 0.25, From: 7 * us},
		"host5:loss=0.01@10-9e3": {Place: Place{-1, 5, -1}, Kind: FaultLoss, Value: 0.01, From: 10 * us, Until: 9000 * us},
	} {
		require.Equal(t, want, fault(t, text), text)
		require.Equal(t, want, fault(t, want.String()), text)
	}
	require.Equal(t, Place{1, 3, -1}, fault(t, "agg3:down@1").Place)
	for _, text := range []string{
		"", "leaf0", "leaf0:down", "leaf0@1", "leaf:down@1", "leaf-1:down@1", "leaf0.:down@1", "leaf0.1.2:down@1", "core0.1:down@1",
		"host1.0:down@1", "tor1:down@1", "leaf0:up@1", "leaf0:down=1@1", "leaf0:rate@1", "leaf0:rate=0@1", "leaf0:rate=1@1", "leaf0:loss=nan@1",
		"leaf0:loss=2@1", "leaf0:down@", "leaf0:down@-1", "leaf0:down@x", "leaf0:down@5-5", "leaf0:down@5-x", "leaf0:down@1e9", "leaf99999999:down@1",
	} {
		_, err := ParseFault(text)
		require.ErrorIs(t, err, ErrConfig, text)
	}
}

// sprayed are 32 hosts that all send to another leaf, over 8 spines and 64 entropy values.
func sprayed(t testing.TB, kind NodeKind, faults ...string) Config {
	c := Config{Matrix: loadMatrix(t, "perm_32n_32c_2MB.cm"), Topology: &Topology{Nodes: 32, PodSize: 32, Tiers: []Tier{
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 8, RadixUp: 8},
		{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 4},
	}}, Entropy: mixed, Node: kind}
	for _, f := range faults {
		c.Faults = append(c.Faults, fault(t, f))
	}
	return c
}

// sound runs c, and wants all transfers to finish and all packets to be accounted for.
func sound(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(c)
	require.NoError(t, err)
	require.Empty(t, r.Violations)
	require.Zero(t, r.Unfinished)
	return r
}

// Whatever breaks and comes back, all data arrives in the end, what was lost is counted, and the
// same run gives the same result.
func TestFaults(t *testing.T) {
	for _, kind := range []NodeKind{NodeLight, NodeEndpoint} {
		for _, faults := range [][]string{
			{"leaf0.0:down@50-150"},
			{"spine1:down@20-300"},
			{"leaf2:down@40-90"},
			{"host3:down@60-100"},
			{"leaf0.0:down@50-150", "spine0:down@100-200", "leaf0.0:down@120-180"}, // overlapping
			{"host3:loss=0.05@0-100", "leaf1.2:loss=0.3@20-80", "leaf1.2:loss=0.3@50"},
		} {
			c := sprayed(t, kind, faults...)
			r := sound(t, c)
			require.Len(t, r.Faults, len(faults))
			for i, f := range r.Faults {
				require.Equal(t, c.Faults[i].String(), f.Fault)
				require.LessOrEqual(t, f.LostData, f.Lost)
				if f.Until != 0 {
					require.LessOrEqual(t, f.Recovery, f.Until-f.From)
				}
			}
			require.Positive(t, r.Faults[0].Lost, "%v %v", kind, faults)
			require.Equal(t, digest(t, r), digest(t, sound(t, c)))
		}
		clean := sound(t, sprayed(t, kind, "leaf0.0:down@90000"))
		require.Zero(t, clean.Faults[0].Lost)
	}
}

// A link at a quarter of its rate takes four times as long, and the usual time once it is well.
func TestFaultRate(t *testing.T) {
	c := Config{Matrix: matrix(t, "Nodes 16\nConnections 2\n0->13 start 0 size 4000\n0->13 start 50 size 4000\n")}
	c.Faults = []Fault{fault(t, "host13:rate=0.25@0-40")}
	r := sound(t, c)
	data, ack := link.Serialization(4064, 100e9), link.Serialization(64, 100e9)
	require.InDelta(t, float64(3*(data+ack))/1e6, r.Transfers[0].FCT-r.Transfers[1].FCT, 0.01)
	c.Faults = append(c.Faults, fault(t, "host13:rate=0.5@20-60")) // on top of each other, and not in the order of their ends
	require.Greater(t, sound(t, c).Transfers[1].FCT, r.Transfers[1].FCT)
}

// Of what a lossy link carries the share is lost that it should be, in both directions.
func TestFaultLoss(t *testing.T) {
	r := sound(t, sprayed(t, NodeLight, "leaf1.2:loss=0.1@0"))
	var over int64
	for _, u := range r.Uplinks {
		if u.Leaf == 1 && u.Link == 2 {
			over = u.Packets // and about as many come down
		}
	}
	require.InEpsilon(t, 0.1*2*float64(over), r.Faults[0].Lost, 0.3)
}

// Once switches know of a dead link or switch none of them leads packets there, on the way up and on
// the way down, with two tiers and with three; and a path that is the only one is used again.
func TestFaultReroute(t *testing.T) {
	tree := Config{Matrix: loadMatrix(t, "perm_128n_128c_2MB.cm"), Entropy: mixed}
	for _, f := range []string{"leaf0.0:down@50", "agg0.1:down@50", "spine2:down@50", "core5:down@50", "leaf3.1:down@50"} {
		tree.Faults, tree.Reroute = []Fault{fault(t, f)}, 20*link.Microsecond
		r := sound(t, tree)
		require.Positive(t, r.Faults[0].LostData, f)
		require.LessOrEqual(t, r.Faults[0].Recovery, 20+20.0, f) // what was on its way then, and what waits
	}
	for _, f := range []string{"leaf0.0:down@50", "spine2:down@50"} {
		c := sprayed(t, NodeLight, f)
		c.Reroute = 20 * link.Microsecond
		require.LessOrEqual(t, sound(t, c).Faults[0].Recovery, 20+20.0, f)
	}
	c := Config{Matrix: matrix(t, "Nodes 16\nConnections 2\n0->13 start 0 size 400000\n1->0 start 0 size 400000\n"), Reroute: 10 * link.Microsecond}
	c.Faults = []Fault{fault(t, "host0:down@10-200")} // nobody can help
	r := sound(t, c)
	require.Greater(t, r.FCT.Min, 200.0)
}

// REPS does without routing: it stops to send into a dead link within a timeout of less than 100 us,
// and finishes much earlier than one that sprays obliviously.
func TestREPSReroutes(t *testing.T) {
	run := func(scheme ccc.Scheme, seed uint64) *Result {
		c := sprayed(t, NodeLight, "leaf0.0:down@50-1000")
		c.Entropy.Scheme, c.Seed = scheme, seed
		return sound(t, c)
	}
	for seed := range uint64(4) {
		reps, oblivious := run(ccc.SchemeREPS, seed), run(ccc.SchemeOblivious, seed)
		require.Less(t, reps.Faults[0].Recovery, 100.0, seed)
		require.Greater(t, oblivious.Faults[0].Recovery, 200.0, seed)
		require.Less(t, reps.FCT.Max, oblivious.FCT.Max, seed)
	}
}

// A link that the matrix has killed stays dead when a fault of it ends.
func TestFaultOfADeadLink(t *testing.T) {
	c := sprayed(t, NodeLight, "leaf0.0:down@20-40")
	c.Matrix.Failures = []Failure{{Tier: 0, Switch: 0, Link: 0}}
	r := sound(t, c)
	require.Less(t, r.Faults[0].Lost, r.Totals.DataDropped+r.Totals.AnswersDropped)
}

// A fault that nothing can be struck by is an error, with its text.
func TestFaultRejects(t *testing.T) {
	for _, f := range []string{
		"host32:down@1", "leaf4:down@1", "leaf0.8:down@1", "spine8:down@1", "spine0.0:down@1", "core0:down@1",
	} {
		_, err := Run(sprayed(t, NodeLight, f))
		require.ErrorIs(t, err, ErrConfig, f)
		require.ErrorContains(t, err, "Faults: "+f)
	}
	for _, f := range []Fault{
		{Kind: 3}, {Kind: FaultRate}, {Kind: FaultLoss, Value: 1}, {From: -1}, {From: 5, Until: 4}, {Place: Place{Tier: -2}}, {Place: Place{Number: -1}},
	} {
		c := sprayed(t, NodeLight)
		c.Faults = []Fault{f}
		_, err := Run(c)
		require.ErrorIs(t, err, ErrConfig, "%v", f)
	}
}

// Under flow control what a dead link takes is counted out as it was counted in.
func TestFaultUnderFlowControl(t *testing.T) {
	c := sprayed(t, NodeLight, "leaf0.0:down@50-150", "host3:loss=0.1@0-90")
	c.PFC = &switchq.PFCConfig{XOff: 40_000, XOn: 30_000, Pause: 100_000}
	require.Positive(t, sound(t, c).Faults[0].Lost)
}
