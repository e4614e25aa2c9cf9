// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSLToVLMapsAndDrops(t *testing.T) {
	m, err := NewSLToVL(4, 8)
	require.NoError(t, err)
	vl, ok := m.Lane(0, 3, 9)
	require.True(t, ok)
	require.EqualValues(t, 1, vl)
	m.Set(0, 3, 9, managementLane)
	_, ok = m.Lane(0, 3, 9)
	require.False(t, ok)
	m.Set(0, 3, 16+10, 16+managementLane)
	_, ok = m.Lane(0, 3, 32+10)
	require.False(t, ok, "both have four bits")
	_, ok = m.Lane(3, 0, 9)
	require.True(t, ok, "the way back is another entry")
	for _, port := range []int{-1, 4} {
		require.Panics(t, func() { m.Set(1, port, 0, 3) }, "the entry of another input port")
		require.Panics(t, func() { m.Lane(port, 1, 0) })
	}
	m.Set(3, 3, 15, 6)
	vl, ok = m.Lane(3, 3, 15)
	require.True(t, ok)
	require.EqualValues(t, 6, vl)
	m, err = NewSLToVL(2, 3)
	require.NoError(t, err)
	for sl := range uint8(16) {
		vl, _ = m.Lane(0, 1, sl)
		require.Equal(t, sl%3, vl)
	}
	for _, c := range [][2]int{{1, 1}, {255, MaxLanes}} {
		_, err = NewSLToVL(c[0], c[1])
		require.NoError(t, err)
	}
	for _, c := range [][2]int{{4, 16}, {4, 0}, {0, 1}, {256, 1}} {
		_, err = NewSLToVL(c[0], c[1])
		require.ErrorIs(t, err, ErrConfig)
	}
}
