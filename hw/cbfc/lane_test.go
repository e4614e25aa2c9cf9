// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSendRule holds the wrap and edge table of the send rule.
func TestSendRule(t *testing.T) {
	for _, c := range []struct {
		fctbs, fccl uint16
		blocks      int64
		allowed     bool
	}{
		{4090, 14, 10, true},
		{4, 14, 11, false},
		{4, 14, 10, true},
		{0, 2048, 1, true},
		{0, 2048, 2048, true},
		{0, 0, 1, false},
		{100, 99, 1, false}, // past its limit
		{0, 2049, 1, true},
		{0, 2050, 1, false}, // a limit that nobody can have granted: further behind it
		{2047, 4095, 66, true},
		{0, 2048, 2049, false},
		{0, 2049, 2049, false}, // more than can be granted, whatever the limit says
		{0, 0, 4096, false},    // a whole turn of the counter is no free ride
		{0, 10, -1, false},
		{0, 0, 2048, true}, // where the rule of the specification goes wrong
		{1981, 0, 66, false},
		{1982, 0, 66, true},
	} {
		tx := Tx{FCTBS: c.fctbs, Limit: c.fccl, Open: true}
		require.Equal(t, c.allowed, tx.CanSend(c.blocks), "%+v", c)
	}
	tx := Tx{FCTBS: 4090, Limit: 14, Open: true}
	tx.OnSend(10)
	require.EqualValues(t, 4, tx.FCTBS)
	tx.OnFlowControl(4096 + 15)
	limit, ok := tx.Limit, tx.Open
	require.True(t, ok)
	require.EqualValues(t, 15, limit)
	require.False(t, (&Tx{}).CanSend(1), "nothing before the first limit")
	require.False(t, (&Tx{}).CanSend(0), "nothing before the first limit")
}

// TestLaneWorked walks the worked table: eight blocks, a lost packet, a lost
// update, and the resynchronisation that heals both.
func TestLaneWorked(t *testing.T) {
	var a Tx
	b, err := newRx(8)
	require.NoError(t, err)
	a.OnFlowControl(b.FCCL())
	state := func(fctbs, limit, balance, abr, occupied, announce int64) {
		t.Helper()
		fccl := a.Limit
		require.Equal(t, []int64{fctbs, limit, balance, abr, occupied, announce},
			[]int64{int64(a.FCTBS), int64(fccl), int64(a.Credits()), int64(b.ABR), b.Occupied, int64(b.FCCL())})
	}
	state(0, 8, 8, 0, 0, 8)
	a.OnSend(3)
	state(3, 8, 5, 0, 0, 8)
	a.OnSend(4)
	state(7, 8, 1, 0, 0, 8)
	require.False(t, a.CanSend(2))
	require.True(t, b.Receive(3))
	state(7, 8, 1, 3, 3, 8)
	b.Release(3) // the packet of four is lost
	state(7, 8, 1, 3, 0, 11)
	a.OnFlowControl(b.FCCL()) // the first copy of this update is lost
	state(7, 11, 4, 3, 0, 11)
	b.OnFlowControl(a.FCTBS)
	state(7, 11, 4, 7, 0, 15)
	a.OnFlowControl(b.FCCL())
	state(7, 15, 8, 7, 0, 15)
}

// TestLargeBuffer grants 128 KiB ahead, never more.
func TestLargeBuffer(t *testing.T) {
	b, err := newRx(3500)
	require.NoError(t, err)
	b.OnFlowControl(4000)
	require.EqualValues(t, 1952, b.FCCL())
	require.True(t, b.Receive(100))
	require.EqualValues(t, 4, b.ABR, "modulo 4096")
	b.OnFlowControl(4096 + 7)
	require.EqualValues(t, 7, b.ABR)
	require.EqualValues(t, 128<<10, MaxGrant*BlockSize)
	_, err = newRx(-1)
	require.ErrorIs(t, err, ErrConfig)
}

func TestBlocks(t *testing.T) {
	for bytes, blocks := range map[int64]int64{1: 1, 64: 1, 65: 2, 4096 + 26: 65, 128 << 10: 2048} {
		require.Equal(t, blocks, Blocks(bytes), "%d bytes", bytes)
	}
}

func TestRxOverrun(t *testing.T) {
	b, _ := newRx(4)
	require.True(t, b.Receive(4))
	require.True(t, b.Receive(0))
	require.False(t, b.Receive(1))
	require.False(t, b.Receive(-1))
	require.EqualValues(t, 2, b.Overruns)
	require.EqualValues(t, 4, b.ABR, "a discarded packet is not counted as received")
	b.Release(-1)
	require.EqualValues(t, 4, b.Occupied)
	b.Release(9)
	require.Zero(t, b.Occupied, "no more is released than is held")
}
