// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Rolls of the same places against slices: whoever leaves, in whatever order, also one
// that is in none.
func TestRolls(t *testing.T) {
	const messages = 12
	r := rand.New(rand.NewPCG(1, 2))
	s, rolls, want := newPlaces(messages), [3]roll{}, [3][]uint16{}
	for range 10_000 {
		i, in := uint16(1+r.IntN(messages)), -1
		for k := range want {
			if slices.Contains(want[k], i) {
				in = k
			}
		}
		k := r.IntN(len(rolls))
		if in < 0 && r.IntN(2) == 0 {
			s.enter(&rolls[k], i)
			want[k] = append(want[k], i)
		} else if in < 0 || in == k {
			s.strike(&rolls[k], i)
			want[k] = slices.DeleteFunc(want[k], func(x uint16) bool { return x == i })
		}
		for k := range rolls {
			var got, back []uint16
			for at := rolls[k].head; at != 0; at = s[at].next {
				got = append(got, at)
			}
			for at := rolls[k].tail; at != 0; at = s[at].prev {
				back = append(back, at)
			}
			slices.Reverse(back)
			require.True(t, slices.Equal(want[k], got) && slices.Equal(want[k], back), "%v %v %v", want[k], got, back)
		}
	}
}

// A packet needs one cache line of each.
func TestLayoutOfMessagesAndFlows(t *testing.T) {
	require.Zero(t, 64%unsafe.Sizeof(flow{}))
	require.LessOrEqual(t, unsafe.Sizeof(message{}), uintptr(64))
}
