// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuantaExtendComparesSerially(t *testing.T) {
	const top = 1 << 24
	for _, c := range []struct {
		name           string
		held, received int64 // quanta
		ahead          int64
	}{
		{"normal", 17, 81, 64},
		{"duplicate", 81, 81, 0},
		{"reordered", 81, 33, -48},
		{"wrap", 16_777_200, top + 48, 64},
		{"old value after wrap", top + 48, 16_777_200, -64},
		{"several lost updates", 81, 401, 320},
		{"target one quantum below", 81, 80, -1},
		{"furthest newer", 5, 5 + 1<<23 - 1, 1<<23 - 1},
		{"half the range counts as older", 5, 5 + 1<<23, -(1 << 23)},
		{"below zero", 0, -2, -2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := QuantaOf(c.received * 256).Extend(c.held * 256)
			require.Equal(t, (c.held+c.ahead)*256, got)
		})
	}
}

func TestQuantaExtendIgnoresBitsAboveTheWire(t *testing.T) {
	require.Equal(t, Quanta(81).Extend(0), Quanta(0xff00_0051).Extend(0))
}

// The total is rounded, never the increment, so the shortfall stays under one
// quantum however many grants there were.
func TestQuantaOfRoundsTheTotalDown(t *testing.T) {
	for _, c := range []struct{ total, quanta, usable int64 }{
		{12_500, 48, 12_288}, {25_000, 97, 24_832}, {37_500, 146, 37_376},
		{50_000, 195, 49_920}, {256_000_000, 1_000_000, 256_000_000},
	} {
		q := QuantaOf(c.total)
		require.Equal(t, Quanta(c.quanta), q)
		require.Equal(t, c.usable, q.Extend(c.total))
	}
	require.Equal(t, Quanta(1<<24-1), QuantaOf(-1), "totals below zero round down too")
}
