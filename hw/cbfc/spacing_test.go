// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpacingOfUpdates keeps CF_Updates between the two spacings and CC_Updates at their
// period.
func TestSpacingOfUpdates(t *testing.T) {
	s, err := NewSpacing(0, 0, 0)
	require.NoError(t, err)
	require.False(t, s.CFUpdate(6399, true))
	require.True(t, s.CFUpdate(6400, true))
	require.False(t, s.CFUpdate(6400+defaultCFMax-1, false))
	require.True(t, s.CFUpdate(6400+defaultCFMax, false))
	require.False(t, s.CCUpdate(255_999))
	require.True(t, s.CCUpdate(256_000))
	require.False(t, s.CCUpdate(256_001))
	for _, c := range [][3]int64{{800, 16 << 10, 1000}, {16 << 10, 16 << 10, 1000}, {800, 1 << 20, 250_000_000}} {
		_, err := NewSpacing(c[0], c[1], c[2])
		require.NoError(t, err, "%v", c)
	}
	for _, c := range [][3]int64{{799, 1 << 20, 1000}, {800, 1<<20 + 1, 1000}, {800, 1<<20 + 16<<10, 1000}, {800, 1 << 13, 1000}, {1 << 15, 1 << 14, 1000}, {800, 1 << 20, 999}, {800, 16<<10 + 1, 1000}, {800, 1<<20 - 1, 1000}, {800, 1 << 20, 250_000_001}} {
		_, err := NewSpacing(c[0], c[1], c[2])
		require.ErrorIs(t, err, ErrConfig, "%v", c)
	}
}
