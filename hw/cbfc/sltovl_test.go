package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSLToVL(t *testing.T) {
	m, err := NewSLToVL(4, 8)
	require.NoError(t, err)
	vl, ok := m.Lane(0, 3, 9)
	require.True(t, ok)
	require.EqualValues(t, 1, vl)
	m.Set(0, 3, 9, ManagementLane)
	_, ok = m.Lane(0, 3, 9)
	require.False(t, ok)
	_, ok = m.Lane(3, 0, 9)
	require.True(t, ok, "the way back is another entry")
	_, err = NewSLToVL(4, 16)
	require.ErrorIs(t, err, ErrConfig)
}
