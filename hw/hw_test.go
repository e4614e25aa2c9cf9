// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
	"github.com/uetcc/uetcc/internal/alloctest"
)

const allFeatures = FeatureWindow | FeatureCredit | FeatureRate | FeatureTXStamp | FeatureEvents |
	FeatureRoom | FeatureEntropy | FeatureService

func softConfig() SoftConfig {
	return SoftConfig{Contexts: 4, PDCs: 4, Owners: 2, Features: allFeatures, LineRate: 100e9, MTU: 4096}
}

// newSoft returns a software device and the engine's view of it, with all its
// features on.
func newSoft(t testing.TB, cfg SoftConfig) (*Device, *SoftDevice, *Memory) {
	host := NewMemory(1 << 20)
	regs := NewMemory(cfg.SpaceSize())
	soft, err := NewSoftDevice(cfg, regs, host)
	require.NoError(t, err)
	dev, err := Open(regs)
	require.NoError(t, err)
	require.NoError(t, dev.Enable(cfg.Features))
	return dev, soft, host
}

// start commits a context and steps the device once.
func start(t testing.TB, dev *Device, soft *SoftDevice, i int, v Control) *Context {
	c, err := dev.Context(i)
	require.NoError(t, err)
	v.Enable = true
	c.Commit(v)
	soft.Step(0)
	require.Equal(t, v.Generation, c.State().Generation)
	return &c
}

func TestStrings(t *testing.T) {
	for k, name := range map[interface{ String() string }]string{
		ModeWindow: "window", ModeCredit: "credit", ModeBoth: "both", ModeRate: "rate", Mode(7): "Mode(7)",
		EventACKCC: "ack-cc", EventTrimNACK: "trim-nack", EventNoCredit: "no-credit", pcc.EventRTT: "rtt",
	} {
		require.Equal(t, name, k.String())
	}
}

func TestAllocs(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, _ := dev.Ring(0, host, 0, 10)
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeBoth})
	bell, _ := dev.Doorbell(0)
	var buf [64]Event
	index, now := uint16(0), int64(0)
	alloctest.Zero(t, "engine and device", func() {
		index++
		now += 1000
		c.SetCwnd(math.MaxInt32)
		c.SetCredit(uint64(index) * 100)
		bell.Ring(c, 1, index)
		soft.Step(now)
		soft.Ack(0, 4096)
		ring.Drain(buf[:])
		c.State()
	})
}

// An index is newer by up to 32,767 than the last that the device has taken; beyond, it counts as older.
func TestDoorbellReachesHalfTheNumbers(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 1, Mode: ModeWindow}) // without a window but one packet leaves
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	bell.Ring(c, 1, 1<<15)
	soft.Step(1000)
	require.Zero(t, soft.contexts[0].index)
	require.NotZero(t, dev.Counters().StaleDoorbells)
	bell.Ring(c, 1, 1<<15-1)
	soft.Step(2000)
	require.EqualValues(t, 1<<15-1, soft.contexts[0].index)
}
