// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpaces: memory and BAR agree on byte order, and refuse what is not whole aligned words.
func TestSpaces(t *testing.T) {
	aligned := make([]byte, 64)[:61]
	mem, err := WrapMemory(aligned)
	require.NoError(t, err)
	bar, err := WrapBAR(aligned)
	require.NoError(t, err)
	for _, s := range []Space{mem, bar} {
		s.Store64(8, 0x1122334455667788)
		require.EqualValues(t, 0x55667788, s.Load32(8), "little-endian")
		require.EqualValues(t, 0x11223344, s.Load32(12))
		s.Store32(12, 0xaabbccdd)
		require.EqualValues(t, uint64(0xaabbccdd55667788), s.Load64(8))
		s.Flush()
		require.EqualValues(t, 56, s.Size(), "whole words")
	}
	least, err := WrapBAR(make([]byte, 8))
	require.NoError(t, err)
	least.Store64(0, 1)
	require.EqualValues(t, 1, least.Load64(0))
	for _, bad := range [][]byte{nil, aligned[:7], aligned[1:]} {
		_, err := WrapMemory(bad)
		require.ErrorIs(t, err, ErrConfig)
		_, err = WrapBAR(bad)
		require.ErrorIs(t, err, ErrConfig)
	}
}
