// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// TestFlowTellsFlowsApart: the direction, the address family and the protocol make different
// flows, and a change of the entropy moves a flow to another link.
func TestFlowTellsFlowsApart(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	v6 := netip.MustParseAddr("fd00::1")
	require.Equal(t, Flow(a, b, 17), Flow(netip.MustParseAddr("::ffff:10.0.0.1"), b, 17), "a mapped address is the same")
	seen := map[uint32]bool{}
	for _, f := range []uint32{Flow(a, b, 17), Flow(b, a, 17), Flow(a, b, 253), Flow(v6, b, 17), Flow(a, a, 17)} {
		require.False(t, seen[f])
		seen[f] = true
	}
	links := map[int]bool{}
	for ev := range uint16(64) {
		links[Uplink(7, Flow(a, b, 17), ev, 8)] = true
	}
	require.Len(t, links, 8)
	alloctest.Zero(t, "Flow", func() { Flow(v6, b, 17) })
}

func TestUplinkRange(t *testing.T) {
	require.Zero(t, Uplink(1, 2, 3, 1))
	require.Zero(t, Uplink(1, 2, 3, 0))
	for e := range uint16(10_000) {
		require.Less(t, Uplink(9, 9, e, 3), 3)
		require.Equal(t, Uplink(9, 9, e, 3), Uplink(9, 9, e, 3))
	}
}

// With n links and k flows of one entropy each, all k differ with probability
// n(n-1)...(n-k+1)/n^k; for the chapters' two flows on two uplinks it is 1/2.
func TestUplinkCollisions(t *testing.T) {
	for _, tc := range []struct {
		n, k int
		want float64
	}{{2, 2, 0.5}, {4, 2, 0.75}, {4, 3, 0.375}, {8, 4, 0.41015625}} {
		const rounds = 40_000
		rnd, distinct := rand.New(rand.NewPCG(3, 4)), 0
		for range rounds {
			salt, used := rnd.Uint32(), map[int]bool{}
			for flow := range tc.k {
				used[Uplink(salt, uint32(flow), uint16(rnd.Uint32()), tc.n)] = true
			}
			if len(used) == tc.k {
				distinct++
			}
		}
		require.InDelta(t, tc.want, float64(distinct)/rounds, 0.015, "%d links, %d flows", tc.n, tc.k)
	}
}

// Small entropies 0 to 63, as hosts really use them, must spread as well as
// random ones, and two tiers with salts of their own must not choose alike.
func TestUplinkSpreadsAndDoesNotPolarise(t *testing.T) {
	const n, flows = 8, 400
	var first, second [n]int
	for flow := range uint32(flows) {
		for e := range uint16(64) {
			first[Uplink(1, flow, e, n)]++
			if Uplink(1, flow, e, n) == 0 {
				second[Uplink(2, flow, e, n)]++
			}
		}
	}
	require.Less(t, chiSquare(first[:]), 24.3, "7 degrees of freedom, 0.1 %%")
	require.Less(t, chiSquare(second[:]), 24.3, "next tier, of what came over link 0")
}

func chiSquare(seen []int) (x float64) {
	total := 0
	for _, s := range seen {
		total += s
	}
	want := float64(total) / float64(len(seen))
	for _, s := range seen {
		x += (float64(s) - want) * (float64(s) - want) / want
	}
	return x
}
