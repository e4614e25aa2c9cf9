// SPDX-License-Identifier: Apache-2.0

package list

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lists with the same links against slices: whoever leaves, in whatever order, also one
// that is in none, and whoever comes, also behind another.
func TestLists(t *testing.T) {
	const entries = 12
	r := rand.New(rand.NewPCG(1, 2))
	s, lists, want := Make[uint16](entries), [3]List[uint16]{}, [3][]uint16{}
	for range 10_000 {
		i, in := uint16(1+r.IntN(entries)), -1
		for k := range want {
			if slices.Contains(want[k], i) {
				in = k
			}
		}
		k := r.IntN(len(lists))
		if in < 0 && r.IntN(3) == 0 {
			s.Push(&lists[k], i)
			want[k] = append(want[k], i)
		} else if at := r.IntN(len(want[k]) + 1); in < 0 && r.IntN(2) == 0 {
			after := uint16(0)
			if at > 0 {
				after = want[k][at-1]
			}
			s.Insert(&lists[k], after, i)
			want[k] = slices.Insert(want[k], at, i)
		} else if in < 0 || in == k {
			s.Remove(&lists[k], i)
			want[k] = slices.DeleteFunc(want[k], func(x uint16) bool { return x == i })
		}
		for k := range lists {
			var got, back []uint16
			for at := lists[k].Head; at != 0; at = s.Next(at) {
				got = append(got, at)
			}
			for at := lists[k].Tail; at != 0; at = s.Prev(at) {
				back = append(back, at)
			}
			slices.Reverse(back)
			require.True(t, slices.Equal(want[k], got) && slices.Equal(want[k], back), "%v %v %v", want[k], got, back)
		}
	}
}
