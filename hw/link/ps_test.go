// SPDX-License-Identifier: Apache-2.0

package link

import (
	"math"
	"math/big"
	"math/rand/v2"
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
	require.Equal(t, 6*Microsecond, (5*Microsecond + 1).RoundUp(Microsecond))
	require.Equal(t, -Nanosecond, Ps(-1_500).RoundUp(Nanosecond))
	for want, d := range map[string]Ps{
		"0 ns": 0, "0.005 ns": 5, "-0.001 ns": -1, "1 ns": 1000, "100.5 ns": 100_500, "9007199254740.993 ns": 1<<53 + 1,
		"9223372036854775.807 ns": math.MaxInt64, "-9223372036854775.808 ns": math.MinInt64,
	} {
		require.Equal(t, want, d.String())
	}
}

// Sums and products are those of numbers without a limit, cut to the largest int64.
func TestArithmeticAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	edges := []int64{0, 1, 2, 3, 1<<31 - 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 8e12, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}
	number := func() int64 {
		if r.IntN(2) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return r.Int64() >> r.IntN(63)
	}
	for range 100_000 {
		a, b, c := number(), number(), max(number(), 1)
		x, y, z := big.NewInt(a), big.NewInt(b), big.NewInt(c)
		require.Equal(t, cut(new(big.Int).Add(x, y)), add(a, b), "%d + %d", a, b)
		x.Mul(x, y).Add(x, z).Sub(x, big.NewInt(1))
		require.Equal(t, cut(x.Div(x, z)), mulDivUp(a, b, c), "%d * %d / %d", a, b, c)
	}
	require.Zero(t, mulDivUp(-1, 1, 1))
	require.Zero(t, mulDivUp(1, -1, 1))
	require.Zero(t, mulDivUp(1, 1, 0))
	require.Zero(t, mulDivUp(1, 1, -1))
}

func cut(x *big.Int) int64 {
	if !x.IsInt64() {
		return math.MaxInt64
	}
	return x.Int64()
}
