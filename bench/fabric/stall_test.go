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

// Under the specification's rules no sender freezes at one packet a round trip: 144 staggered
// incasts, with three seeds of each, beside htsim's rules. When any copy of a packet that had
// been sent three times gave no round trip, 55 of the 144 took more than 1.2 times as long
// as with htsim's rules, the slowest 12.5 times, and their ends came up to 7.3 times as late. Now
// the mean over all is 0.97.
//
// Which sender comes last is chance: with other random numbers htsim's own slowest differs by
// up to 1.49, in 3 of 144 by more than 1.2; so the seeds are taken together.
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
					var last, end [2]float64
					for seed := range uint64(3) {
						m := staggered(fan, size, rate, seed)
						for rules := range RulesHTSim + 1 {
							r := run(t, Config{Matrix: m, Rate: rate, Seed: seed, Rules: rules})
							last[rules] += r.FCT.Max
							latest := 0.0
							for i := range r.Transfers {
								latest = max(latest, r.Transfers[i].Finished)
							}
							end[rules] += latest
						}
					}
					require.LessOrEqual(t, last[RulesSpec]/last[RulesHTSim], 1.2)
					require.LessOrEqual(t, end[RulesSpec]/end[RulesHTSim], 1.1)
				})
			}
		}
	}
}
