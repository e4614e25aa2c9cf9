// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Against a list that is sorted, stably, whenever something is taken from it.
func TestAgendaAgainstAList(t *testing.T) {
	type thing struct{ at, name int64 }
	r := rand.New(rand.NewPCG(1, 2))
	var a Agenda[int64]
	var list []thing
	for name := range int64(20_000) {
		if r.IntN(5) < 3 {
			at := r.Int64N(50) - 10
			a.Push(at, name)
			list = append(list, thing{at, name})
		}
		require.Equal(t, len(list), a.Len())
		at, ok := a.Next()
		require.Equal(t, len(list) > 0, ok)
		if !ok || r.IntN(5) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(x, y thing) int { return int(x.at - y.at) })
		require.Equal(t, list[0].at, at)
		at, got := a.Pop()
		require.Equal(t, list[0], thing{at, got})
		list = list[1:]
	}
}
