// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/link"
)

func loadTopology(t testing.TB, name string) *Topology {
	t.Helper()
	topo, err := ReadTopology(filepath.Join("testdata", name))
	require.NoError(t, err)
	return topo
}

func TestParseTopologyShippedFiles(t *testing.T) {
	for _, tc := range []struct {
		file                         string
		nodes, leaves, middle, cores int
		over                         float64
		rtt                          link.Ps // of 4,150 and 64 bytes
	}{
		{"leaf_spine_tiny.topo", 32, 4, 2, 0, 4, 9_348_480},
		{"leaf_spine_1024.topo", 1024, 32, 32, 0, 1, 9_348_480},
		{"leaf_spine_1024_oversub.topo", 1024, 32, 8, 0, 4, 9_348_480},
		{"fat_tree_128_1os.topo", 128, 32, 4, 16, 1, 14_022_720},
		{"fat_tree_128_4os.topo", 128, 32, 4, 4, 4, 14_022_720},
		{"fat_tree_1024_1os.topo", 1024, 128, 8, 64, 1, 13_011_360},
	} {
		t.Run(tc.file, func(t *testing.T) {
			topo := loadTopology(t, tc.file)
			require.Equal(t, tc.nodes, topo.Nodes)
			require.Equal(t, tc.leaves, topo.leaves())
			require.Equal(t, tc.middle, topo.middle())
			require.Equal(t, tc.cores, topo.cores())
			require.InDelta(t, tc.over, topo.oversubscription(), 1e-9)
			require.Equal(t, tc.rtt, topo.BaseRTT(4150, 64))
		})
	}
}

// The generated tree is the one that the shipped file spells out.
func TestFatTreeIsHtsimsDefault(t *testing.T) {
	got, want := FatTree(128, 100e9, link.Microsecond), loadTopology(t, "fat_tree_128_1os.topo")
	for i := range want.Tiers {
		want.Tiers[i].Bundle = 0
	}
	require.Equal(t, want, got)
	for nodes, fits := range map[int]int{1: 2, 2: 2, 3: 16, 16: 16, 17: 54, 128: 128, 129: 250, 1024: 1024} {
		topo := FatTree(nodes, 100e9, 0)
		require.Equal(t, fits, topo.Nodes)
		require.NoError(t, topo.Validate())
	}
}

func TestTopologyBaseRTTCountsSwitches(t *testing.T) {
	topo := FatTree(16, 100e9, 0)
	none := topo.BaseRTT(4150, 64)
	for i := range topo.Tiers {
		topo.Tiers[i].SwitchLatency = link.Ps(i+1) * link.Microsecond
	}
	require.Equal(t, none+2*(2*1+2*2+3)*link.Microsecond, topo.BaseRTT(4150, 64))
}

func TestTopologyBaseRTTStaysBelowAnIdleTier(t *testing.T) {
	topo := Topology{Nodes: 4, Tiers: []Tier{
		{DownRate: 100e9, DownLatency: 100 * link.Nanosecond, RadixDown: 4, RadixUp: 1},
		{DownRate: 100e9, DownLatency: link.Second, RadixDown: 1},
	}}
	require.NoError(t, topo.Validate())
	require.Equal(t, 2*(200*link.Nanosecond+2*link.Serialization(1000, 100e9)), topo.BaseRTT(1000, 1000))
}

const tiny = `Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 500
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Downlink_Latency_ns 500
`

// The simulator reads names in any case.
func TestParseTopologyNamesInAnyCase(t *testing.T) {
	want, err := ParseTopology("x", strings.NewReader(tiny))
	require.NoError(t, err)
	for _, text := range []string{strings.ToLower(tiny), strings.ToUpper(tiny)} {
		got, err := ParseTopology("x", strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err = ParseTopology("x", strings.NewReader(strings.Replace(tiny, "Radix_Up 2", "Radix_Up 2\nradix_up 2", 1)))
	require.EqualError(t, err, "x:8: radix_up is given twice, first in line 7")
}

// The simulator takes a file for three tiers that says Tiers 2.
func TestParseTopologyTwoTiersOfThree(t *testing.T) {
	want, err := ParseTopology("x", strings.NewReader(tiny))
	require.NoError(t, err)
	got, err := ParseTopology("x", strings.NewReader(tiny+"Radix_Up 2\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 8\n"))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestParseTopologyErrors(t *testing.T) {
	swap := func(old, new string) string {
		require.Contains(t, tiny, old)
		return strings.Replace(tiny, old, new, 1)
	}
	_, err := ParseTopology("x", strings.NewReader(tiny))
	require.NoError(t, err)
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", "x:1: field Nodes 0, want 1 to 1048576"},
		{"unknown header field", "Colour 3", `x:1: unknown field "Colour" before the first Tier`},
		{"unknown tier field", swap("Radix_Up 2", "Radix_Left 2"), `x:7: unknown field "Radix_Left" of a tier`},
		{"no number", swap("Nodes 8", "Nodes many"), `x:1: Nodes "many" is not a whole number`},
		{"nothing after the name", swap("Nodes 8", "Nodes"), "x:1: Nodes needs a number"},
		{"two numbers", swap("Nodes 8", "Nodes 8 9"), `x:1: unknown field "9"`},
		{"field twice", swap("Radix_Up 2", "Radix_Up 2\nRadix_Up 2"), "x:8: Radix_Up is given twice, first in line 7"},
		{"tier twice", swap("Tier 1", "Tier 0"), "x:9: Tier 0 is given twice, first in line 4"},
		{"tier out of range", swap("Tier 1", "Tier 3"), "x:9: Tier 3, want 0 to 2"},
		{"tier missing", swap("Tiers 2", "Tiers 3"), "x:12: the header says Tiers 3, Tier 2 is missing"},
		{"four tiers", swap("Tiers 2", "Tiers 4"), "x:2: Tiers 4, want 2 or 3"},
		{"tier before tiers", "Tier 0", "x:1: Tier before Tiers"},
		{"no nodes", swap("Nodes 8", "Nodes 0"), "x:12: field Nodes 0, want 1 to 1048576"},
		{"too many", swap("Nodes 8", "Nodes 99999999"), "x:12: field Nodes 1048577, want 1 to 1048576"},
		{"no speed", swap("Downlink_speed_Gbps 100\n", ""), "x:11: tier 0: field Downlink_speed_Gbps is missing or 0"},
		{"no radix", swap("Radix_Down 4\n", ""), "x:11: tier 0: field Radix_Down 0, want 1 to 1048576"},
		{"no uplinks", swap("Radix_Up 2\n", ""), "x:11: tier 0: field Radix_Up 0, want 1 to 1048576"},
		{"uplinks of the last tier", swap("Tiers 2", "Tiers 3") + "Radix_Up 2\nTier 2\nRadix_Down 1\nRadix_Up 1\nDownlink_speed_Gbps 100", "x:17: tier 2: field Radix_Up 1 in the last tier"},
		{"pod does not fit", swap("Radix_Down 4", "Radix_Down 3"), "x:12: field Podsize 8 must divide Nodes 8 and be a multiple of Tier 0 Radix_Down 3"},
		{"links that end nowhere", swap("Radix_Down 2", "Radix_Down 3"), "x:12: tier 1: Radix_Down 3, want 2 (2 leaves of a pod with 1 links each)"},
		{"bundle that does not fit", tiny + "Bundle 3", "x:13: tier 1: Bundle 3 does not divide the Radix_Up 2 below"},
		{"hosts with two links", swap("Tier 0", "Tier 0\nBundle 2"), "x:13: tier 0: Bundle 2, hosts have one link"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseTopology("x", strings.NewReader(tc.in))
			require.EqualError(t, err, tc.want)
			var pe *ParseError
			require.ErrorAs(t, err, &pe)
		})
	}
}

func TestTopologyValidateBoundsItsPorts(t *testing.T) {
	topo := Topology{Nodes: 1 << 20, Tiers: []Tier{
		{DownRate: 1, RadixDown: 1, RadixUp: 1 << 20},
		{DownRate: 1, RadixDown: 1 << 20},
	}}
	require.ErrorContains(t, topo.Validate(), "switch ports, want at most")
}
