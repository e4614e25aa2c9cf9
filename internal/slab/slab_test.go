package slab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMake(t *testing.T) {
	type odd [3]uint64
	for _, n := range []int{0, 1, 1000, hugePage/48 - 1, hugePage/48 + 1, hugePage/24 + 1, 1 << 18} {
		s := Make[odd](n)
		require.Len(t, s, n)
		require.Equal(t, n, cap(s))
		for i := range s {
			require.Zero(t, s[i])
			s[i][0] = uint64(i)
		}
		for i := range s {
			require.EqualValues(t, i, s[i][0])
		}
	}
	require.Len(t, Make[struct{}](1<<30), 1<<30)
}
