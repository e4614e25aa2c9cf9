package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAccess: the access class of every register is kept by Load and Store.
func TestAccess(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	for _, r := range []Register{RegFeatures, RegStatus, RegNow, RegSent, RegPDC, RegRoom, RegLost, RegCounter} {
		require.ErrorIs(t, dev.Store(r, 0, 1), ErrAccess, r.Name)
	}
	for _, r := range []Register{RegReset, RegCommit, RegRing} {
		require.NoError(t, dev.Store(r, 0, 1))
		v, err := dev.Load(r, 0)
		require.NoError(t, err)
		require.Zero(t, v, r.Name)
	}
	_, err := dev.Load(RegCwnd, 4)
	require.ErrorIs(t, err, ErrIndex)
	_, err = dev.Load(RegCwnd, -1)
	require.ErrorIs(t, err, ErrIndex)
	_, err = dev.Load(Register{Kind: 0x99}, 0)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorIs(t, dev.Store(Register{Kind: 0x99, Access: RW}, 0, 0), ErrMissing)
}

// TestLines: what the engine writes and what the device writes lie in different
// cache lines of a context.
func TestLines(t *testing.T) {
	for _, r := range []Register{RegCtl, RegRate, RegCwnd, RegCredit, RegBacklog, RegBurst, RegCommit, RegRecord} {
		require.Less(t, r.Offset+uint32(r.Width)/8, uint32(65), r.Name)
		require.NotEqual(t, RO, r.Access, r.Name)
	}
	for _, r := range []Register{RegState, RegLastTX, RegSent, RegAcked, RegCreditUsed} {
		require.GreaterOrEqual(t, r.Offset, uint32(64), r.Name)
		require.Equal(t, RO, r.Access, r.Name)
	}
}
