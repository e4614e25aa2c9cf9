// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
)

// Endpoints finish as the light transport does, with the same sizes of packets: on the mean within
// 3 %, the last one within 5 %. Where four hosts share a link, paths drawn at random decide which
// transfer is the last: from seed to seed its end differs by 7 % with either node, so there the
// two are compared over eight seeds.
func TestEndpointsFinishAsTheLightTransportDoes(t *testing.T) {
	for _, tc := range []struct {
		matrix, topology string
		seeds            uint64
	}{
		{"perm_16n_16c_2MB.cm", "", 1}, {"perm_32n_32c_2MB.cm", "leaf_spine_tiny.topo", 1},
		{"perm_128n_128c_2MB.cm", "fat_tree_128_1os.topo", 1}, {"perm_128n_128c_2MB.cm", "fat_tree_128_4os.topo", 8},
		{"incast.cm", "", 1}, {"bidir.cm", "", 1}, {"outcast_incast.cm", "", 1}, {"test_cr_1f10m10p.cm", "", 1},
	} {
		c := Config{Entropy: ccc.EntropyConfig{Scheme: ccc.SchemeMixed}, PacketBytes: 4200}
		var err error
		c.Matrix, err = ReadMatrix("testdata/" + tc.matrix)
		require.NoError(t, err)
		if tc.topology != "" {
			c.Topology, err = ReadTopology("testdata/" + tc.topology)
			require.NoError(t, err)
		}
		var means, lasts [2]float64
		for c.Seed = 1; c.Seed <= tc.seeds; c.Seed++ {
			for c.Node = range NodeEndpoint + 1 {
				r, err := Run(c)
				require.NoError(t, err)
				require.Empty(t, r.Violations, tc.matrix)
				require.Zero(t, r.Unfinished, tc.matrix)
				means[c.Node] += r.FCT.Mean
				lasts[c.Node] += r.FCT.Max
			}
		}
		// Of 4,200 bytes an endpoint's packet has 4,096 of payload, a light one's 4,136.
		mean, last := means[NodeEndpoint]/means[NodeLight], lasts[NodeEndpoint]/lasts[NodeLight]
		t.Logf("%s %s: mean %.3f, max %.3f", tc.matrix, tc.topology, mean, last)
		require.InDelta(t, 1, mean, 0.03, tc.matrix)
		require.InDelta(t, 1, last, 0.05, tc.matrix)
	}
}
