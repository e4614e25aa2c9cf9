// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// A transfer alone takes its ideal time, over any way and whatever its last packet is.
func TestIdealIsThatOfATransferAlone(t *testing.T) {
	uneven := &Topology{Nodes: 16, PodSize: 8, Tiers: []Tier{
		{DownRate: 100e9, DownLatency: 300_000, SwitchLatency: 50_000, RadixDown: 4, RadixUp: 2},
		{DownRate: 400e9, DownLatency: 500_000, SwitchLatency: 70_000, RadixDown: 2, RadixUp: 2},
		{DownRate: 50e9, DownLatency: 900_000, SwitchLatency: 90_000, RadixDown: 2},
	}}
	for _, topology := range []*Topology{nil, uneven} {
		for _, dst := range []int{1, 5, 15} {
			for _, size := range []int64{1, 4086, 4087, 50_000, 81_720} {
				c := Config{
					Matrix: &Matrix{Nodes: 16, Flows: []Flow{{Src: 0, Dst: dst, Size: size}}}, Topology: topology, Mode: ccc.ModeOff,
				}
				if topology != nil {
					c.Queue = &Queue{Limit: Bytes(1 << 20), ECNMin: Bytes(1 << 20), ECNMax: Bytes(1 << 20)}
				}
				r, err := Run(c)
				require.NoError(t, err)
				require.GreaterOrEqual(t, r.FCT.Max, r.Transfers[0].Ideal)
				if topology != nil && dst == 15 {
					continue // packets may meet at slow links above
				}
				require.InDelta(t, r.Transfers[0].Ideal, r.FCT.Max, 0.02, "%d bytes to %d: an acknowledgement ahead of the last", size, dst)
				require.InDelta(t, r.FCT.Max/r.Transfers[0].Ideal, r.Slowdown.P99, 1e-9)
			}
		}
	}
}

// A short last packet that goes ahead of all the others on its way was taken for one behind the first:
// transfers were quicker than their ideal.
func TestIdealOfAPacketAheadOfAll(t *testing.T) {
	for _, tiers := range []int{2, 3} {
		for _, size := range []int64{4_087, 4_900, 7_000, 8_173, 9_841, 10_800, 13_000} {
			best := 2.0
			for seed := range uint64(8) {
				r, err := Run(Config{Matrix: &Matrix{Nodes: 16, Flows: []Flow{{Dst: 15, Size: size}}}, Tiers: tiers, Seed: seed, Mode: ccc.ModeOff})
				require.NoError(t, err)
				require.GreaterOrEqual(t, r.Slowdown.Min, 1-1e-9, "%d bytes, %d tiers", size, tiers)
				best = min(best, r.Slowdown.Min)
			}
			require.InDelta(t, 1, best, 1e-9, "%d bytes, %d tiers: paths apart", size, tiers)
		}
	}
}

func TestResultBySize(t *testing.T) {
	m := &Matrix{Nodes: 16}
	for i, size := range []int64{1, 10_000, 10_001, 100_000, 20_000_000} {
		m.Flows = append(m.Flows, Flow{Src: i, Dst: 8 + i, Size: size})
	}
	r, err := Run(Config{Matrix: m, End: 1500 * link.Microsecond})
	require.NoError(t, err)
	require.Equal(t, 1, r.Unfinished)
	require.Len(t, r.Sizes, 2)
	require.Equal(t, []int64{0, 10_000, 10_000, 100_000}, []int64{r.Sizes[0].Above, r.Sizes[0].UpTo, r.Sizes[1].Above, r.Sizes[1].UpTo})
	require.Equal(t, []int{2, 2}, []int{r.Sizes[0].Transfers, r.Sizes[1].Transfers})
	require.Equal(t, r.Transfers[3].FCT, r.Sizes[1].FCT.Max)
	require.EqualValues(t, -1, r.Transfers[4].Slowdown)
}
