package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
)

// Endpoints finish as the light transport does, with the same sizes of packets: on the mean within
// 3 %, at most 5 % later.
func TestEndpointsFinishAsTheLightTransportDoes(t *testing.T) {
	for _, tc := range []struct{ matrix, topology string }{
		{"perm_16n_16c_2MB.cm", ""}, {"perm_32n_32c_2MB.cm", "leaf_spine_tiny.topo"}, {"perm_128n_128c_2MB.cm", "fat_tree_128_1os.topo"},
		{"perm_128n_128c_2MB.cm", "fat_tree_128_4os.topo"}, {"incast.cm", ""}, {"bidir.cm", ""}, {"outcast_incast.cm", ""}, {"test_cr_1f10m10p.cm", ""},
	} {
		c := Config{Entropy: ccc.EntropyConfig{Scheme: ccc.SchemeMixed}, PacketBytes: 4200, Seed: 1}
		var err error
		c.Matrix, err = ReadMatrix("testdata/" + tc.matrix)
		require.NoError(t, err)
		if tc.topology != "" {
			c.Topology, err = ReadTopology("testdata/" + tc.topology)
			require.NoError(t, err)
		}
		light, err := Run(c)
		require.NoError(t, err)
		c.Node = NodeEndpoint
		own, err := Run(c)
		require.NoError(t, err)
		require.Empty(t, own.Violations, tc.matrix)
		require.Zero(t, own.Unfinished, tc.matrix)
		// Of 4,200 bytes an endpoint's packet has 4,096 of payload, a light one's 4,136.
		mean, last := own.FCT.Mean/light.FCT.Mean, own.FCT.Max/light.FCT.Max
		t.Logf("%s %s: mean %.3f, max %.3f", tc.matrix, tc.topology, mean, last)
		require.InDelta(t, 1, mean, 0.03, tc.matrix)
		require.InDelta(t, 1, last, 0.05, tc.matrix)
	}
}
