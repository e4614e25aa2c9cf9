package faultnet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The hash of a run depends on everything that was noted, and on the order.
func TestHash(t *testing.T) {
	hash := func(all ...uint64) uint64 {
		var n Net
		for _, x := range all {
			n.Note(x)
		}
		return n.Hash()
	}
	seen := map[uint64][]uint64{}
	for _, all := range [][]uint64{{}, {1}, {2}, {1, 2}, {2, 1}, {1, 2, 3}, {1 << 63}, {1 << 63, 1}} {
		h := hash(all...)
		require.NotContains(t, seen, h, "%v and %v", all, seen[h])
		seen[h] = all
		require.Equal(t, h, hash(all...))
	}
}
