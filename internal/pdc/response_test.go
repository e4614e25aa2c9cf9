// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// Each PDC has a slot to itself, the last one too; none of them is shared, and all
// come back.
func TestResponseStoreOwnSlots(t *testing.T) {
	const pdcs, shared = 3, 2
	var s responseStore
	s.init(pdcs, shared, 0)
	var lists [pdcs + 1]respList
	taken := map[uint32]bool{}
	take := func(pdc uint32, lowest bool) {
		require.True(t, s.available(&lists[pdc], lowest))
		i := s.take(pdc, &lists[pdc])
		require.False(t, taken[i], "slot %d handed out twice", i)
		taken[i] = true
		s.slot[i].psn = pds.PSN(i)
		s.insert(&lists[pdc], i)
	}
	for range 3 {
		take(1, false)
		take(2, false)
		require.False(t, s.available(&lists[1], false))
		for pdc := uint32(1); pdc <= pdcs; pdc++ {
			take(pdc, true)
			require.False(t, s.available(&lists[pdc], true))
		}
		require.Len(t, taken, pdcs+shared)
		for pdc := range lists {
			s.freeAll(&lists[pdc])
			require.False(t, lists[pdc].ownUsed)
		}
		clear(taken)
	}
}
