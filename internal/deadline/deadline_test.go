// SPDX-License-Identifier: Apache-2.0

package deadline

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAfterStopsAtTheEndOfTime(t *testing.T) {
	for _, c := range []struct{ now, d, want int64 }{
		{0, 0, 0}, {5, 7, 12}, {-7, 5, -2}, {math.MinInt64, 1, math.MinInt64 + 1}, {math.MinInt64, math.MaxInt64, -1},
		{math.MaxInt64 - 5, 5, math.MaxInt64}, {math.MaxInt64 - 5, 6, math.MaxInt64},
		{math.MaxInt64, 0, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64},
	} {
		require.Equal(t, c.want, After(c.now, c.d), "%+v", c)
	}
	require.Greater(t, After(math.MaxInt64, 1), int64(End), "never due")
}

func TestBackoffDoublesUpToItsCeiling(t *testing.T) {
	for n, want := range []int64{100, 200, 350, 350} {
		require.Equal(t, want, Backoff(100, uint8(n), 350))
	}
	require.Equal(t, int64(1<<62), Backoff(1, 62, math.MaxInt64))
	for n := range 256 {
		for _, d := range []int64{1, 3, 1 << 31, 1 << 62, math.MaxInt64} {
			got := Backoff(d, uint8(n), math.MaxInt64)
			require.GreaterOrEqual(t, got, d, "%d doubled %d times", d, n)
		}
	}
}
