// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClockExtend is exact for every age up to the last of the stamp's turn.
func TestClockExtend(t *testing.T) {
	for _, bits := range []uint32{8, 16, 32} {
		turn := uint64(1) << bits
		for _, now := range []uint64{turn, 5*turn - 1, 5 * turn, 5*turn + 1, 1 << 40} {
			for _, age := range []uint64{0, 1, turn / 2, turn - 1} {
				taken := now - age
				got := Clock{stampBits: bits}.Extend(uint32(taken&(turn-1)), now)
				require.Equal(t, taken, got, "bits %d now %d age %d", bits, now, age)
			}
		}
	}
	dev, soft, _ := newSoft(t, softConfig())
	soft.Step(1 << 40)
	now := dev.Clock().Ticks()
	require.Equal(t, now-1000, dev.Clock().Extend(uint32(now-1000), now))
}

func TestTicksRoundDown(t *testing.T) {
	require.EqualValues(t, 8_388_480, ticksToNs(65_535, uetTickPs), "the largest service time")
	require.EqualValues(t, 46, nsToTicks(6000, uetTickPs), "6 us are 46.875 ticks")
	for _, ns := range []int64{0, 1, 127, 128, 1 << 50} {
		back := ticksToNs(nsToTicks(ns, uetTickPs), uetTickPs)
		require.LessOrEqual(t, back, ns)
		require.Greater(t, back, ns-128)
	}
	require.Equal(t, int64(1<<50), ticksToNs(nsToTicks(1<<50, 1000), 1000))
}

// TestClockOfABrokenDevice: what a device says of its clock and port may be anything.
func TestClockOfABrokenDevice(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	now := uint64(5<<32 | 9)
	for bits, want := range map[uint32]uint64{16: now - 2, 32: now - 2, 64: now - 2, 33: now - 2, math.MaxUint32: now - 2, 0: now} {
		dev.space.Store32(dev.reg(Reg.StampBits), bits)
		require.Equal(t, want, dev.Clock().Extend(7, now), "%d bits", bits)
	}
	dev.space.Store32(dev.reg(Reg.TickPs), 0)
	require.Positive(t, nsToTicks(1, dev.Clock().tickPs))
	dev.space.Store64(dev.reg(Reg.LineRate), math.MaxUint64)
	require.Positive(t, dev.LineRate())
}

// TestTicks32 reads over a 32-bit bus while the low half passes zero.
func TestTicks32(t *testing.T) {
	s := &carrySpace{Memory: NewMemory(0x100)}
	s.Store64(0, 0x1_ffff_ffff)
	c := Clock{space: s, now: 0}
	require.EqualValues(t, uint64(0x2_0000_0000), c.Ticks32())
}

// carrySpace is a clock that passes a carry after its high half was read.
type carrySpace struct {
	*Memory
	loads int
}

func (s *carrySpace) Load32(off uint32) uint32 {
	v := s.Memory.Load32(off)
	if s.loads++; s.loads == 1 {
		s.Store64(0, 0x2_0000_0001)
	}
	return v
}
