// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResetForgetsContextsAndRings: a reset forgets contexts and rings, and a stale commit does not come
// back to life.
func TestResetForgetsContextsAndRings(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Generation: 4})
	c.SetCwnd(1 << 20)
	require.False(t, dev.ResetDone())
	dev.Reset()
	require.False(t, dev.ResetDone())
	soft.Step(1)
	require.True(t, dev.ResetDone())
	require.Zero(t, c.State().Generation)
	require.False(t, c.State().Ready)
	require.Zero(t, dev.Enabled())
}

// TestResetHappensOnce: what is stored after a reset is done stays, however often the reset was asked for
// before, and another engine sees that it happened.
func TestResetHappensOnce(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	other, err := Open(dev.space)
	require.NoError(t, err)
	for n := range 3 {
		for range n + 1 {
			dev.Reset()
		}
		soft.Step(1)
		require.True(t, dev.ResetDone())
		require.True(t, other.ResetDone(), "not by this one")
		require.NoError(t, dev.Enable(allFeatures))
		c, err := dev.Context(0)
		require.NoError(t, err)
		c.Commit(Control{Enable: true, Generation: 7})
		for range 3 {
			soft.Step(2)
			require.EqualValues(t, 7, c.State().Generation)
			require.EqualValues(t, allFeatures, dev.space.Load64(dev.reg(Reg.FeaturesOn)))
		}
	}
	// A request from before, that arrives now, is done.
	dev.space.Store32(dev.reg(Reg.Reset), resetMagic+soft.resets-1)
	soft.Step(3)
	c, err := dev.Context(0)
	require.NoError(t, err)
	require.EqualValues(t, 7, c.State().Generation)
}

// TestResetOfADeadDevice: a device that another process starts anew over the same registers counts as
// one that was reset, also where the old one died of a reset that was asked for.
func TestResetOfADeadDevice(t *testing.T) {
	dev, _, host := newSoft(t, softConfig())
	for range 3 {
		dev.Reset()
		soft, err := NewSoftDevice(softConfig(), dev.space.(*Memory), host)
		require.NoError(t, err)
		require.True(t, dev.ResetDone())
		require.NoError(t, dev.Enable(allFeatures))
		soft.Step(1)
		require.EqualValues(t, allFeatures, dev.space.Load64(dev.reg(Reg.FeaturesOn)))
	}
}

// TestClearFaultsKeepsNewOnes: faults are cleared also where the device is in the middle of a step, and those that
// came meanwhile are not.
func TestClearFaultsKeepsNewOnes(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	for range 300 {
		soft.fault |= FaultRing | FaultCommit
		soft.Step(1)
		require.Equal(t, FaultRing|FaultCommit, dev.Faults())
		require.NotZero(t, dev.Status()&StatusFault)
		soft.takeFaultClear() // a step begins
		dev.ClearFaults(FaultRing)
		soft.fault |= FaultDoorbell
		soft.publishFaults() // and ends
		soft.Step(2)
		require.Equal(t, FaultDoorbell|FaultCommit, dev.Faults())
		dev.ClearFaults(FaultDoorbell | FaultCommit)
		soft.Step(3)
		require.Equal(t, StatusReady|StatusLink, dev.Status())
	}
}

// A doorbell that rang before a reset does not ring again after it.
func TestResetForgetsDoorbells(t *testing.T) {
	dev, soft, _ := newSoft(t, softConfig())
	c := start(t, dev, soft, 0, Control{Mode: ModeRate})
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	bell.Probe(c, 0)
	soft.Step(0)
	before := dev.Counters().Doorbells
	dev.Reset()
	soft.Step(1)
	require.Equal(t, before, dev.Counters().Doorbells)
	require.False(t, soft.contexts[0].probe, "a new life that nobody asked to probe")
}
