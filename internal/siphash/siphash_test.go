// SPDX-License-Identifier: Apache-2.0

package siphash

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// The vectors of the authors' reference implementation: key 00 01 .. 0f, input 00 01 .. up to
// its length, here those of whole words.
func TestSumAgainstVectors(t *testing.T) {
	k := Key{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	require.EqualValues(t, uint64(0x726fdb47dd0e0e31), k.Sum())
	require.EqualValues(t, uint64(0x93f5f5799a932462), k.Sum(0x0706050403020100))
}

func TestSumDependsOnEverything(t *testing.T) {
	k := Key{1, 2}
	seen := map[uint64]bool{}
	for _, s := range []uint64{k.Sum(1, 2), k.Sum(2, 1), k.Sum(1, 2, 0), k.Sum(1, 3), (&Key{1, 3}).Sum(1, 2), (&Key{2, 2}).Sum(1, 2)} {
		require.False(t, seen[s])
		seen[s] = true
	}
	alloctest.Zero(t, "Sum", func() { k.Sum(1, 2, 3, 4, 5, 6) })
}
