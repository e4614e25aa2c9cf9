// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A peer learns half of the seed of the keys of lent regions from its first rendezvous send,
// and that of the paths from a few of them. With a step from one seed to the next that is the
// same for all endpoints it would know the seeds of the hashes too, and what collides.
func TestSeedsDoNotTellOfEachOther(t *testing.T) {
	seen := map[uint64]bool{}
	unshift := func(x uint64) uint64 { return x ^ x>>29 ^ x>>58 } // the inverse of x ^ x>>29
	for u := seedIDs; u < seedLentRegions; u++ {
		var first [2]int64
		for seed := range uint64(64) {
			c := Config{Seed: seed}
			a, b := c.seedFor(u), c.seedFor(u+1)
			require.False(t, seen[a], "%d %d", u, seed)
			seen[a] = true
			for i, step := range []uint64{b - a, unshift(b) - unshift(a)} {
				if seed == 0 {
					first[i] = int64(step)
					continue
				}
				distance := int64(step) - first[i]
				require.Greater(t, max(distance, -distance), int64(1<<40), "%d %d", u, seed)
			}
		}
	}
}
