// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// tfcScript is a reproducible random script.
func tfcScript(seed uint64, steps int) []byte {
	return randomBytes(rand.New(rand.NewPCG(seed, 7)), steps)
}

func TestTFCInvariants(t *testing.T) {
	for _, inv := range tfcInvariants {
		t.Run(inv.name, func(t *testing.T) {
			for seed := range uint64(40) {
				w := newTFCWorld(t, 0)
				for i, b := range tfcScript(seed, 600) {
					w.step(b)
					require.True(t, inv.holds(w), "seed %d step %d: %+v", seed, i, w)
				}
				require.Greater(t, len(w.packets), 20, "the script does not get anywhere")
			}
		})
	}
	t.Run("T5 nothing leaks", func(t *testing.T) {
		for seed := range uint64(40) {
			w := newTFCWorld(t, 0)
			for _, b := range tfcScript(seed, 600) {
				w.step(b)
			}
			w.drain()
			require.Equal(t, w.limit, w.src.Allowed(), "seed %d", seed)
			require.Zero(t, w.dst.Occupancy())
		}
	})
	t.Run("T7 both ends compute the same cost", func(t *testing.T) {
		here, err := tfc.NewParams(tfcConfig)
		require.NoError(t, err)
		there, err := tfc.NewParams(tfcConfig)
		require.NoError(t, err)
		last := int64(0)
		for size := range int64(10_000) {
			cost := here.Cost(size)
			require.Equal(t, cost, there.Cost(size))
			require.GreaterOrEqual(t, cost, max(last, 1))
			require.GreaterOrEqual(t, cost*256, size+32)
			last = cost
		}
	})
	t.Run("T8 a limit below a full packet is refused", func(t *testing.T) {
		c := tfcConfig
		c.Limit = 16
		_, err := tfc.NewParams(c)
		require.ErrorIs(t, err, tfc.ErrConfig)
	})
	t.Run("T9 no offset changes a decision", func(t *testing.T) {
		for _, offset := range []int64{1 << 23, 1<<24 - 200, 1<<24 - 40, 1 << 24} {
			for seed := range uint64(5) {
				plain, moved := newTFCWorld(t, tfcConfig.Limit), newTFCWorld(t, offset)
				for i, b := range tfcScript(seed, 600) {
					plain.step(b)
					moved.step(b)
					require.Equal(t, plain.log, moved.log, "offset %d seed %d step %d", offset, seed, i)
				}
			}
		}
	})
}
