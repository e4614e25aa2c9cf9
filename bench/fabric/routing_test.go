// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/hw/link"
)

// Switches that choose links themselves, beside htsim's runs with one entropy value: by its hash
// alone flows collide, and their mean is 375.1 us.
func TestRoutingAgainstHtsim(t *testing.T) {
	for routing, mean := range map[Routing]float64{
		RoutingEntropy: 375.1, RoutingAdaptive: 187.4, RoutingMixed: 257.6, RoutingRoundRobin: 190.1, // us
	} {
		c := Config{Matrix: loadMatrix(t, "perm_128n_128c_2MB.cm"), Rules: RulesHTSim, Routing: routing}
		c.Entropy.Values = 1
		r := sound(t, c)
		require.InEpsilon(t, mean, r.FCT.Mean, 0.05, routing.String())
		require.Equal(t, routing.String(), r.Parameters.Routing)
	}
}

// In every way of choosing a link all data arrives, on both kinds of nodes, with links that are dead
// from the beginning or die later, in bundles, and alike in every run.
func TestRoutings(t *testing.T) {
	for _, kind := range []NodeKind{NodeLight, NodeEndpoint} {
		for routing := range RoutingRoundRobin + 1 {
			c := sprayed(t, kind, "leaf1.3:down@40-120")
			c.Routing, c.Reroute = routing, 10*link.Microsecond
			c.Matrix.Failures = []Failure{{Tier: 0, Switch: 0, Link: 0}}
			r := sound(t, c)
			require.Equal(t, digest(t, r), digest(t, sound(t, c)))
		}
	}
	for routing := range RoutingRoundRobin + 1 {
		c := Config{Matrix: loadMatrix(t, "perm_32n_32c_2MB.cm"), Topology: &Topology{Nodes: 32, PodSize: 32, Tiers: []Tier{
			{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 8, RadixUp: 8},
			{DownRate: 100e9, DownLatency: link.Microsecond, RadixDown: 16, Bundle: 4},
		}}, Routing: routing, Faults: []Fault{fault(t, "leaf1.3:down@40")}, Reroute: 10 * link.Microsecond}
		r := sound(t, c)
		require.LessOrEqual(t, r.Faults[0].Recovery, 30.0)
	}
	_, err := Run(Config{Matrix: loadMatrix(t, "one.cm"), Routing: RoutingRoundRobin + 1})
	require.ErrorIs(t, err, ErrConfig)
}

// Round robin takes each uplink as often as any other.
func TestRoutingRoundRobinIsEven(t *testing.T) {
	c := sprayed(t, NodeLight)
	c.Routing = RoutingRoundRobin
	least, most := map[int]int64{}, map[int]int64{}
	for _, u := range sound(t, c).Uplinks {
		if _, seen := least[u.Leaf]; !seen {
			least[u.Leaf] = u.DataPackets
		}
		least[u.Leaf], most[u.Leaf] = min(least[u.Leaf], u.DataPackets), max(most[u.Leaf], u.DataPackets)
	}
	require.Len(t, least, 4)
	for leaf := range least {
		require.LessOrEqual(t, most[leaf]-least[leaf], int64(30), "leaf %d", leaf) // trimmed and small ones go by entropy
	}
}
