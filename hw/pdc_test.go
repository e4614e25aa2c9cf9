// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPDC: what the engine binds to a PDC the device opens, and what it receives there the
// engine reads back as CACK and SACK.
func TestPDC(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	p, err := dev.PDC(3)
	require.NoError(t, err)
	b := Binding{Local: 0x4001, Remote: 0x8001, Context: 2, Generation: 5, Open: true, Ordered: true}
	require.Equal(t, b, bindingOf(b.word()))
	p.Bind(b)
	require.NoError(t, dev.Store(Reg.MPR, 3, 1024))
	require.NoError(t, dev.Store(Reg.Entropy, 3, 77))
	soft.Step(1)
	open, gen := p.State()
	require.True(t, open)
	require.EqualValues(t, 5, gen)
	soft.Received(3, 0x12003, 0xf0)
	cack, sack, ok := p.Acked()
	require.True(t, ok)
	require.EqualValues(t, 0x12003, cack)
	require.EqualValues(t, 0xf0, sack)
	b.Open = false
	p.Bind(b)
	soft.Step(2)
	open, gen = p.State()
	require.False(t, open)
	require.EqualValues(t, 5, gen)
	for i, reg := range []Register{Reg.PSNTX, Reg.PSNRX, Reg.Service} {
		dev.space.Store32(p.base+reg.Offset, 7+uint32(i))
	}
	for reg, want := range map[Register]uint64{Reg.MPR: 1024, Reg.Entropy: 77, Reg.PSNTX: 7, Reg.PSNRX: 8, Reg.Service: 9} {
		got, err := dev.Load(reg, 3)
		require.NoError(t, err)
		require.Equal(t, want, got, reg.Name)
	}
	bare := Device{space: dev.space, blocks: dev.blocks}
	require.NoError(t, bare.Store(Reg.Entropy, 3, 78))
	require.EqualValues(t, 77, dev.space.Load32(p.base+Reg.Entropy.Offset), "without the feature nothing is stored")
	_, err = dev.PDC(4)
	require.ErrorIs(t, err, ErrIndex)

	state := dev.block(kindPDC).base + 3*64 + Reg.PDC.Offset
	dev.space.Store32(state, dev.space.Load32(state)|1<<16) // dies while it changes the pair
	_, _, ok = p.Acked()
	require.False(t, ok)
}
