package link

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPsRoundsAndPrints(t *testing.T) {
	require.EqualValues(t, 738, (737_280 * Ps(1)).Nanoseconds())
	require.EqualValues(t, 738, (738 * Nanosecond).Nanoseconds())
	require.EqualValues(t, -1, (-1_500 * Ps(1)).Nanoseconds())
	require.Equal(t, Ps(7), Ps(7).RoundUp(0))
	require.Equal(t, 6*Microsecond, (5_574_560 * Ps(1)).RoundUp(Microsecond))
	require.Equal(t, Ps(0), Ps(0).RoundUp(Microsecond))
	for want, d := range map[string]Ps{
		"0 ns": 0, "0.005 ns": 5, "-0.005 ns": -5, "1 ns": 1000, "100.5 ns": 100_500, "9007199254740.993 ns": 1<<53 + 1,
		"9223372036854775.807 ns": math.MaxInt64, "-9223372036854775.808 ns": math.MinInt64,
	} {
		require.Equal(t, want, d.String())
	}
}
