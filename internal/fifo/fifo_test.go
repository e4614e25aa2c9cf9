// SPDX-License-Identifier: Apache-2.0

package fifo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Values come out in the order they went in, wherever in the array the queue begins, and there is
// room for as many as asked for.
func TestQueueKeepsTheOrder(t *testing.T) {
	for n := 1; n <= 9; n++ {
		q := Make[int](n)
		require.Nil(t, q.First())
		require.GreaterOrEqual(t, q.Free(), n)
		next, want := 0, 0
		for round := range 40 {
			for range 1 + round%n {
				if q.Free() == 0 {
					break
				}
				*q.Push() = next
				next++
			}
			require.Equal(t, next-want, q.Len())
			for range 1 + round%3 {
				if v := q.First(); v != nil {
					require.Equal(t, want, *v)
					want++
					q.Drop()
				}
			}
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 4, 64: 64, 65: 128} {
		require.Equal(t, want, Size(n))
	}
}
