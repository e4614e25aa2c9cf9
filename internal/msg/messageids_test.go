// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/ses"
)

// Any number of live ids in a list are told apart, and leave in any order.
func TestMessageIDs(t *testing.T) {
	const slots = 5
	r := rand.New(rand.NewPCG(1, 2))
	x := newMessageIDs(slots)
	require.Len(t, x.first, 8)
	ids := [slots]ses.MessageID{}
	for range 10_000 {
		slot := uint16(r.IntN(slots))
		if id := ids[slot]; id != 0 {
			x.strike(id, slot)
			x.strike(id, slot) // no longer in there
			ids[slot] = 0
		} else {
			ids[slot] = ses.MessageID(8*r.IntN(1<<13) + 1 + r.IntN(2)) // two lists
			x.enter(ids[slot], slot)
		}
		listed, live := 0, 0
		for l := range x.first {
			for i := x.first[l]; i != 0; i = x.next[i-1] {
				require.Equal(t, l, int(ids[i-1])%8)
				listed++
			}
		}
		for _, id := range ids {
			live += int(min(id, 1))
		}
		require.Equal(t, live, listed)
	}
	require.Len(t, newMessageIDs(1).first, 1)
	require.Len(t, newMessageIDs(maxSlots-1).first, maxSlots)
}
