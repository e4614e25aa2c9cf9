// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"200000": Bytes(200_000), "5b": Bytes(5), "50p": Packets(50), "1.5bdp": BDPs(1.5), "0": {}, "0.5p": {0.5, UnitPackets},
	} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := ParseSize(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	for _, text := range []string{"", "p", "bdp", "-1", "1e13", "5x", "nan", "inf", "1 p"} {
		_, err := ParseSize(text)
		require.ErrorIs(t, err, ErrConfig, text)
	}
}

// Sizes of queues in bytes, packets and round trips, by both rules. By htsim's the packet that is
// being sent counts, and products are whole packets.
func TestQueueSizes(t *testing.T) {
	c := Config{
		Matrix:  matrix(t, "Nodes 16\nConnections 1\n0->13 start 0 size 1\n"),
		Queue:   &Queue{Limit: BDPs(2), ECNMin: Packets(3), ECNMax: Bytes(99_999)},
		BaseRTT: 6 * link.Microsecond, // 75,000 bytes, 19 packets
	}
	r, err := Run(c)
	require.NoError(t, err)
	p := r.Parameters
	require.Equal(t, [3]int64{150_000, 12_450, 99_999}, [3]int64{p.QueueLimit, p.ECNMin, p.ECNMax})
	c.Rules = RulesHTSim
	r, err = Run(c)
	require.NoError(t, err)
	p = r.Parameters
	require.Equal(t, [3]int64{37 * 4150, 2 * 4150, 99_999 - 4150}, [3]int64{p.QueueLimit, p.ECNMin, p.ECNMax})
	c.Queue = &Queue{ECNMin: Packets(3)}
	r, err = Run(c)
	require.NoError(t, err)
	p = r.Parameters
	require.Equal(t, [3]int64{18 * 4150, 2 * 4150, 15 * 4150}, [3]int64{p.QueueLimit, p.ECNMin, p.ECNMax})
	for _, q := range []Queue{{Limit: Size{N: -1}}, {ECNMin: BDPs(1e13)}, {ECNMax: Size{N: 1e300, Unit: UnitPackets}}} {
		c.Queue = &q
		_, err = Run(c)
		require.ErrorIs(t, err, ErrConfig)
	}
}

// Latencies of NICs and switches are part of the base round trip, and of what a packet takes.
func TestLatencies(t *testing.T) {
	c := Config{Matrix: matrix(t, "Nodes 18\nConnections 2\n0->17 start 0 size 1000\n0->1 start 50 size 1000\n"), Tiers: 2}
	plain, err := Run(c)
	require.NoError(t, err)
	require.Len(t, plain.Parameters.Tiers, 2)
	require.Equal(t, 18, plain.Parameters.Nodes)
	c.NICLatency, c.SwitchLatency = 300*link.Nanosecond, 100*link.Nanosecond
	slow, err := Run(c)
	require.NoError(t, err)
	require.InDelta(t, 4*0.3+6*0.1, slow.Parameters.BaseRTT-plain.Parameters.BaseRTT, 1e-9)
	require.InDelta(t, 4*0.3+6*0.1, slow.Transfers[0].FCT-plain.Transfers[0].FCT, 1e-9)
	require.InDelta(t, 4*0.3+2*0.1, slow.Transfers[1].FCT-plain.Transfers[1].FCT, 1e-9)
}

// With PairRTT each window begins with the round trip of its own two hosts.
func TestPairRTT(t *testing.T) {
	c := Config{
		Matrix: matrix(t, "Nodes 16\nConnections 3\n0->1 start 0 size 1\n0->2 start 0 size 1\n0->13 start 0 size 1\n"), PairRTT: true,
		Rules: RulesHTSim,
	}
	base := map[uint32]int64{}
	c.Context = func(s *ContextState) {
		if _, seen := base[s.Conn]; !seen {
			base[s.Conn] = s.Window.BaseRTT
		}
	}
	_, err := Run(c)
	require.NoError(t, err)
	require.Equal(t, map[uint32]int64{0: 4675, 1: 9349, 2: 14023}, base)
}

// A host that has more to answer than its link can carry beside its data: in turn the data gets a
// share of the link, and behind answers as many as there are it waits.
func TestHostQueue(t *testing.T) {
	c := Config{
		Matrix:   matrix(t, "Nodes 16\nConnections 3\n8->0 start 0 size 100000\n12->0 start 0 size 100000\n0->4 start 20 size 100000\n"),
		AckBytes: 1, PacketBytes: 66, End: 60 * link.Microsecond,
	}
	arrived := map[HostQueue]int64{}
	for _, q := range []HostQueue{HostFair, HostPriority} {
		c.HostQueue = q
		r, err := Run(c)
		require.NoError(t, err)
		require.Equal(t, q.String(), r.Parameters.HostQueue)
		arrived[q] = r.Uplinks[0].DataPackets
	}
	require.Greater(t, arrived[HostFair], 2*arrived[HostPriority])
}

// What htsim can switch off: samples of refusals, and credit at the rate of the fabric.
func TestRateAndSampleSwitches(t *testing.T) {
	c := Config{Matrix: loadMatrix(t, "incast.cm"), Rules: RulesHTSim}
	with := sound(t, c)
	c.NoNackRTT = true
	require.NotEqual(t, with.FCT, sound(t, c).FCT)
	c = Config{Matrix: loadMatrix(t, "perm_128n_128c_2MB.cm"), Topology: loadTopology(t, "fat_tree_128_4os.topo"), Rules: RulesHTSim}
	c.Control = ccc.ControlRCCC
	with = sound(t, c)
	c.NoFabricRate = true
	require.Greater(t, sound(t, c).Totals.Trimmed, with.Totals.Trimmed)
}
