// SPDX-License-Identifier: Apache-2.0

package slab

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every array is zero, as long as it was asked for, and has its memory to itself.
func TestMake(t *testing.T) {
	type odd [3]uint64
	var all [][]odd
	for _, n := range []int{0, 1, 1000, hugePage/48 - 1, hugePage/48 + 1, 5000, hugePage/24 + 1, 5001, 1 << 18, 5002} {
		s := Make[odd](n)
		require.Len(t, s, n)
		require.Equal(t, n, cap(s))
		for i := range s {
			if s[i] != (odd{}) {
				t.Fatal("not zero", n, i)
			}
			s[i] = odd{uint64(n), uint64(i), 1}
		}
		all = append(all, s)
	}
	for _, s := range all {
		for i := range s {
			if want := (odd{uint64(len(s)), uint64(i), 1}); s[i] != want {
				t.Fatal("overwritten", want, s[i])
			}
		}
	}
	require.Len(t, Make[struct{}](1<<30), 1<<30)
}
