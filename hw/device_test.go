// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOpen: an opened device tells what it has, and its clock.
func TestOpen(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	require.EqualValues(t, 100e9, dev.LineRate())
	require.EqualValues(t, 4096, dev.MTU())
	require.Equal(t, StatusReady|StatusLink, dev.Status())
	require.Equal(t, allFeatures, dev.Features())
	require.Equal(t, 4, dev.Count(Reg.Ctl))
	require.Equal(t, 2, dev.Count(Reg.Ring))
	require.Zero(t, dev.Count(Register{Kind: 0x99}))
	require.EqualValues(t, 128, dev.Clock().Nanoseconds(1))
	soft.Step(128 * 7)
	require.EqualValues(t, 7, dev.Clock().Ticks())
	soft.Step(5)
	require.EqualValues(t, 7, dev.Clock().Ticks(), "the clock never steps back")
	require.EqualValues(t, 7, dev.Clock().Ticks32())
}

// TestOpenRefusesOverlap: an array of elements must not lie over another block, known or not.
func TestOpenRefusesOverlap(t *testing.T) {
	cfg := softConfig()
	for _, tc := range []struct{ at, base, count uint32 }{
		{atContext, atDoorbell, 1}, // the headers of three blocks
		{atCapability, 0, 1},       // has no array: nothing is read
		{atCounters, atCounters + 0x18, 2},
	} {
		regs := NewMemory(cfg.SpaceSize())
		_, err := NewSoftDevice(cfg, regs, NewMemory(8))
		require.NoError(t, err)
		regs.Store32(atCounters+Reg.Next.Offset, atCounters+0x20)
		regs.Store32(atCounters+0x20, 0x99)
		_, err = Open(regs)
		require.NoError(t, err, "a block of an unknown kind")
		regs.Store32(tc.at+Reg.Base.Offset, tc.base)
		regs.Store32(tc.at+Reg.Geom.Offset, tc.count<<8|regs.Load32(tc.at+Reg.Geom.Offset)&0xff)
		_, err = Open(regs)
		require.Equal(t, tc.base != 0, errors.Is(err, ErrChain), "%#x", tc)
	}
}

// TestOpenArrayInFront: an array may lie in front of the block that describes it.
func TestOpenArrayInFront(t *testing.T) {
	cfg := softConfig()
	cfg.Owners = 1
	regs := NewMemory(cfg.SpaceSize() + 64)
	_, err := NewSoftDevice(cfg, regs, NewMemory(8))
	require.NoError(t, err)
	from, to := uint32(atCounters), cfg.SpaceSize()
	for off := uint32(0); off < headerLen; off += 4 {
		regs.Store32(to+off, regs.Load32(from+off))
	}
	regs.Store32(atEvents+Reg.Next.Offset, to)
	dev, err := Open(regs)
	require.NoError(t, err)
	require.EqualValues(t, counters, dev.Count(Reg.Counter))
	regs.Store32(to+Reg.Base.Offset, to-8) // into its own header
	_, err = Open(regs)
	require.ErrorIs(t, err, ErrChain)
	regs.Store32(to+Reg.Base.Offset, to+8)
	regs.Store32(to+Reg.Geom.Offset, regs.Load32(to+Reg.Geom.Offset)&0xff)
	_, err = Open(regs)
	require.NoError(t, err, "what is empty lies nowhere")
}

// TestOpenChainLeavesTheSpace: nothing is read where the chain leads out of the space, or to
// where no header can be.
func TestOpenChainLeavesTheSpace(t *testing.T) {
	cfg := softConfig()
	for _, next := range []uint32{cfg.SpaceSize(), cfg.SpaceSize() - 16, 1<<32 - 4, atCounters + 0x21, atCounters, atEvents} {
		regs := NewMemory(cfg.SpaceSize())
		_, err := NewSoftDevice(cfg, regs, NewMemory(8))
		require.NoError(t, err)
		regs.Store32(atCounters+Reg.Next.Offset, next)
		_, err = Open(regs)
		require.ErrorIs(t, err, ErrChain, "%#x", next)
	}
}

// TestOpenChainWithoutEnd: a chain of more blocks than any device has is refused.
func TestOpenChainWithoutEnd(t *testing.T) {
	const clock, others = 0x50, 0x80
	for blocks, want := range map[uint32]error{maxBlocks: nil, maxBlocks + 1: ErrChain} {
		regs := newChain(others+(blocks-2)*headerLen, clock)
		for i := range blocks - 3 {
			regs.Store32(others+i*headerLen+Reg.Next.Offset, others+(i+1)*headerLen)
		}
		regs.Store32(clock+Reg.Next.Offset, others)
		_, err := Open(regs)
		require.ErrorIs(t, err, want, "%d", blocks)
	}
	regs := newChain(others, clock)
	regs.Store32(clock+Reg.Type.Offset, 0)
	_, err := Open(regs)
	require.ErrorIs(t, err, ErrChain, "no clock")
}

// newChain returns a space with the two blocks that every device has.
func newChain(size, clock uint32) *Memory {
	regs := NewMemory(size)
	regs.Store32(Reg.Type.Offset, uint32(kindCapability))
	regs.Store32(Reg.Version.Offset, knownVersion<<24)
	regs.Store32(Reg.Next.Offset, clock)
	regs.Store32(clock+Reg.Type.Offset, uint32(kindClock))
	regs.Store32(clock+Reg.Version.Offset, knownVersion<<24)
	return regs
}

// TestOpenToTheEnd: blocks may end where the space does, one that is skipped right there too.
func TestOpenToTheEnd(t *testing.T) {
	const clock, end = 0x50, 0x80
	for _, tc := range []struct {
		size uint32
		want error
	}{{end, nil}, {end - 8, ErrChain}, {end + 0x18, nil}, {end + 0x10, ErrChain}} {
		regs := newChain(tc.size, clock)
		if tc.size > end {
			regs.Store32(clock+Reg.Next.Offset, end+4)
		}
		_, err := Open(regs)
		require.ErrorIs(t, err, tc.want, "%#x", tc.size)
	}
}

// TestOpenForeign: a block of another vendor or of another major version is skipped, whatever
// its kind.
func TestOpenForeign(t *testing.T) {
	cfg := softConfig()
	for reg, v := range map[Register]uint32{Reg.Type: 1<<16 | uint32(kindCounters), Reg.Version: (knownVersion + 1) << 24} {
		regs := NewMemory(cfg.SpaceSize())
		_, err := NewSoftDevice(cfg, regs, NewMemory(8))
		require.NoError(t, err)
		regs.Store32(atCounters+reg.Offset, v)
		dev, err := Open(regs)
		require.NoError(t, err)
		require.Zero(t, dev.Count(Reg.Counter), reg.Name)
		require.Zero(t, dev.Counters().TXPackets)
	}
}

// TestEnable: a feature that the device lacks leaves everything off, and the
// registers of a feature that is off read 0 and ignore stores.
func TestEnable(t *testing.T) {
	cfg := softConfig()
	cfg.Features = FeatureWindow
	dev, _, _ := newSoft(t, cfg)
	require.NoError(t, dev.Store(Reg.Cwnd, 0, 77))
	require.ErrorIs(t, dev.Enable(FeatureWindow|FeatureCredit), ErrFeature)
	require.Zero(t, dev.Enabled())
	v, err := dev.Load(Reg.Cwnd, 0)
	require.NoError(t, err)
	require.Zero(t, v)
	require.NoError(t, dev.Store(Reg.Cwnd, 0, 99))
	require.NoError(t, dev.Enable(FeatureWindow))
	v, _ = dev.Load(Reg.Cwnd, 0)
	require.EqualValues(t, 77, v)

	c, _ := dev.Context(0)
	c.SetCredit(5)
	c.SetBacklog(5)
	require.NoError(t, dev.Enable(0))
	require.Zero(t, c.CreditUsed())
	v, err = dev.Load(Reg.LastTX, 0)
	require.NoError(t, err)
	require.Zero(t, v)
	_, err = dev.Ring(0, NewMemory(4096), 0, 4)
	require.ErrorIs(t, err, ErrFeature)
}
