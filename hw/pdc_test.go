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
	p.SetMPR(1024)
	p.SetEntropy(77)
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
	for i, reg := range []Register{RegPSNTX, RegPSNRX, RegService} {
		dev.space.Store32(p.base+reg.Offset, 0x1_0007+uint32(i))
	}
	require.EqualValues(t, 0x1_0007, p.NextPSN())
	require.EqualValues(t, 0x1_0008, p.ReceivedPSN())
	require.EqualValues(t, 9, p.ServiceTicks(), "16 bits")
	for reg, want := range map[Register]uint64{RegMPR: 1024, RegEntropy: 77} {
		got, err := dev.Load(reg, 3)
		require.NoError(t, err)
		require.Equal(t, want, got, reg.Name)
	}
	bare := PDC{space: p.space, base: p.base}
	bare.SetEntropy(78)
	require.EqualValues(t, 77, dev.space.Load32(p.base+RegEntropy.Offset), "without the feature nothing is stored")
	require.Zero(t, bare.ServiceTicks())
	_, err = dev.PDC(4)
	require.ErrorIs(t, err, ErrIndex)

	state := dev.block(KindPDC).base + 3*64 + RegPDC.Offset
	dev.space.Store32(state, dev.space.Load32(state)|1<<16) // dies while it changes the pair
	_, _, ok = p.Acked()
	require.False(t, ok)
}
