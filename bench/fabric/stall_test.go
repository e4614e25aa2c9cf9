// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/link"
)

// staggered is an incast whose senders begin at random times within nine tenths of the time
// that the receiver's link needs for all of it.
func staggered(fanIn int, size, rate int64, seed uint64) *Matrix {
	r := rand.New(rand.NewPCG(seed, uint64(fanIn)))
	spread := 0.9 * float64(fanIn) * float64(size) * 8 / float64(rate) * 1e6 // us
	m := &Matrix{Nodes: 128}
	for i := range fanIn {
		m.Flows = append(m.Flows, Flow{
			Src: i + 1, Size: size, Start: link.Ps(r.Float64()*spread) * link.Microsecond, Line: i + 1,
		})
	}
	return m
}

// Under the specification's rules no sender freezes at one packet a round trip: 192 staggered
// incasts, of endpoints and of the light transport, beside htsim's rules. When any copy of a packet
// that had been sent three times gave no round trip, the light transport took more than 1.2 times as
// long in 55 of 144, 12.5 times in the slowest, and the ends came up to 7.3 times as late. Endpoints
// whose receiver has fewer PDCIDs than five for each sender were asked for a Start_PSN, and ended up to
// 1.6 times as late.
//
// Which sender comes last is chance: with other random numbers htsim's own slowest differs by
// up to 1.9, in 6 of 144 by more than 1.2; so four seeds are taken together.
func TestStaggeredIncasts(t *testing.T) {
	fans, sizes := []int{16, 32, 64, 127}, []int64{256_000, 512_000, 1_000_000, 2_000_000}
	if testing.Short() {
		fans, sizes = fans[:2], sizes[:2]
	}
	for _, rate := range []int64{100e9, 400e9, 800e9} {
		for _, fan := range fans {
			for _, size := range sizes {
				t.Run(fmt.Sprintf("%dG/%d/%d", rate/1e9, fan, size), func(t *testing.T) {
					t.Parallel()
					kinds := []Config{{Rules: RulesHTSim}, {}, {Node: NodeEndpoint}}
					last, end := make([]float64, len(kinds)), make([]float64, len(kinds))
					for seed := range uint64(4) {
						m := staggered(fan, size, rate, seed)
						for i, c := range kinds {
							c.Matrix, c.Rate, c.Seed = m, rate, seed
							r := run(t, c)
							latest := 0.0
							for k := range r.Transfers {
								latest = max(latest, r.Transfers[k].Finished)
							}
							last[i] += r.FCT.Max
							end[i] += latest
						}
					}
					for i := range kinds {
						t.Logf("%v: slowest %.3f, end %.3f of htsim's rules", kinds[i].Node, last[i]/last[0], end[i]/end[0])
						require.LessOrEqual(t, last[i]/last[0], 1.2)
						require.LessOrEqual(t, end[i]/end[0], 1.1)
					}
				})
			}
		}
	}
}
