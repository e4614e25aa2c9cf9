// SPDX-License-Identifier: Apache-2.0

package hbm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPenaltyGrowsAndEpisodesEnd: the penalty grows with the bytes waiting, an episode has a clear
// end, and the restore flag stays.
func TestPenaltyGrowsAndEpisodesEnd(t *testing.T) {
	p, err := NewPolicy(PolicyConfig{Low: 1000, High: 3000, Resume: 400, Max: 127})
	require.NoError(t, err)
	for _, c := range []struct {
		waiting int64
		pend    uint8
		restore bool
	}{
		{0, 0, false},
		{1000, 0, false},
		{1001, 1, false},
		{2000, 64, false},
		{3000, 127, false},
		{9000, 127, false},
		{900, 1, false}, // between resume and low the episode goes on
		{400, 0, true},
		{0, 0, true},
		{1000, 0, true},
		{2000, 64, false},
	} {
		pend, restore := p.Mark(c.waiting)
		require.Equal(t, c.pend, pend, "%+v", c)
		require.Equal(t, c.restore, restore, "%+v", c)
	}
	for _, good := range []PolicyConfig{{High: 1, Max: 1}, {Low: 1<<56 - 1, High: 1 << 56, Resume: 1<<56 - 1, Max: 127}} {
		_, err := NewPolicy(good)
		require.NoError(t, err)
	}
	p, err = NewPolicy(PolicyConfig{Low: 10, High: 12, Resume: 4, Max: 127})
	require.NoError(t, err)
	pend, _ := p.Mark(12)
	require.EqualValues(t, 127, pend)
	pend, _ = p.Mark(9)
	require.EqualValues(t, 1, pend, "however little there is between")
	for _, bad := range []PolicyConfig{
		{Low: -1, High: 1, Max: 1}, {Low: 1 << 56, High: 1<<56 + 1, Max: 1},
		{Low: 1, High: 1, Max: 1}, {Low: 1, High: 2, Resume: 2, Max: 1}, {Low: 1, High: 2, Resume: -1, Max: 1},
		{Low: 1, High: 2}, {Low: 1, High: 2, Max: 128}, {Low: math.MaxInt64, High: 2, Max: 1}, {High: 1<<56 + 1, Max: 1},
	} {
		_, err := NewPolicy(bad)
		require.ErrorIs(t, err, ErrConfig)
	}
}

// TestPolicyOfLargeThresholds: between thresholds as far apart as they can be the penalty grows
// evenly too.
func TestPolicyOfLargeThresholds(t *testing.T) {
	p, err := NewPolicy(PolicyConfig{High: 1 << 56, Max: 127})
	require.NoError(t, err)
	for waiting, want := range map[int64]uint8{1: 1, 1 << 55: 64, 1<<56 - 1: 126, 1 << 56: 127, math.MaxInt64: 127} {
		pend, _ := p.Mark(waiting)
		require.Equal(t, want, pend, waiting)
	}
}
