// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/nscc"
)

const size = 4096

// rig is a context with a backlog, and a device.
type rig struct {
	t    testing.TB
	p    ccc.Params
	c    ccc.Context
	dev  *hw.Device
	soft *hw.SoftDevice
	regs *hw.Memory
	b    Binding
	now  int64
}

func newRig(t testing.TB, features hw.Feature, control ccc.Control, mode hw.Mode) *rig {
	r := &rig{t: t}
	var err error
	r.p, err = ccc.NewParams(ccc.Config{
		NSCC:    nscc.Config{BaseRTT: 6000, MTU: size, LinkRate: 12_500_000_000, Trimming: true},
		Control: control,
	})
	require.NoError(t, err)
	r.c.Init(&r.p, 0, 0)
	r.c.Bind(&r.p, 0)
	cfg := hw.SoftConfig{Contexts: 2, Owners: 1, Features: features, LineRate: 100e9, MTU: size}
	r.regs = hw.NewMemory(cfg.SpaceSize())
	r.soft, err = hw.NewSoftDevice(cfg, r.regs, hw.NewMemory(4096))
	require.NoError(t, err)
	r.dev, err = hw.Open(r.regs)
	require.NoError(t, err)
	require.NoError(t, r.dev.Enable(features))
	r.bind(1, mode, size)
	return r
}

// bind begins another life of slot 1.
func (r *rig) bind(generation uint8, mode hw.Mode, size int64) {
	r.bindTo(Config{Slot: 1, Control: hw.Control{Generation: generation, Mode: mode}, Size: size, Timeout: 50_000})
}

func (r *rig) bindTo(cfg Config) {
	var err error
	r.b, err = Bind(r.dev, cfg, r.now)
	require.NoError(r.t, err)
}

// step lets a microsecond pass, in which the device works and the engine does.
func (r *rig) step() {
	r.tick()
	r.work()
}

// tick lets a microsecond pass for the device alone.
func (r *rig) tick() {
	r.now += 1000
	r.soft.Step(r.now)
}

// stepDead lets a microsecond pass without the device.
func (r *rig) stepDead() {
	r.now += 1000
	r.work()
}

// work is a turn of the engine, which hears of one packet in flight that it has arrived.
func (r *rig) work() {
	r.b.Collect(&r.c, &r.p, r.now)
	if r.c.InflightPackets() > 0 {
		r.acked()
	}
	r.b.Poll(r.now)
	r.b.Publish(&r.c)
}

// acked tells both sides that a packet has arrived.
func (r *rig) acked() {
	r.soft.Ack(1, size)
	a := ccc.Ack{Packets: 1}
	a.Bytes = size
	r.c.OnACK(&r.p, r.now, a)
}

// sent is how many packets the device has sent.
func (r *rig) sent() uint64 { return r.dev.Counters().TXPackets }

// TestDeviceSendsWhatTheWindowAllows: the device sends what the context's window allows, and the
// context ends as if it had sent itself.
func TestDeviceSendsWhatTheWindowAllows(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	const packets = 200
	r.c.OnNewData(&r.p, 0, packets*size)
	require.Equal(t, Pending, r.b.state)
	require.False(t, r.b.Queue(packets), "not before the device works with the context")
	r.step()
	require.Equal(t, Hardware, r.b.state)
	require.True(t, r.b.Queue(packets))
	for range 10 * packets {
		r.step()
		require.LessOrEqual(t, r.c.Inflight(), r.c.Cwnd())
		if r.c.State() == ccc.StateIdle {
			break
		}
	}
	require.Equal(t, ccc.StateIdle, r.c.State())
	require.Zero(t, r.b.Unsent())
	require.EqualValues(t, packets, r.sent())
}

// TestSoftwareWhereTheDeviceLacksCredit: a device that can't enforce credit leaves the context in
// software.
func TestSoftwareWhereTheDeviceLacksCredit(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlBoth, hw.ModeBoth)
	require.Equal(t, Software, r.b.state)
	require.False(t, r.b.Queue(1))
	r.step()
	require.Equal(t, Software, r.b.Poll(r.now))
	require.Zero(t, r.b.Collect(&r.c, &r.p, r.now))
	require.Zero(t, r.b.Unsent())
}

// A device that is not ready, or has no size for packets, leaves the context in software.
func TestSoftwareWhereTheDeviceIsNotReady(t *testing.T) {
	for name, stop := range map[string]func(*rig){
		"not ready": func(r *rig) { r.regs.Store32(hw.Reg.Status.Offset, 0) },
		"no MTU":    func(r *rig) { r.regs.Store64(hw.Reg.Limits.Offset, r.regs.Load64(hw.Reg.Limits.Offset)<<16>>16) },
	} {
		r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
		r.b.Release()
		stop(r)
		r.bind(2, hw.ModeWindow, size)
		require.Equal(t, Software, r.b.state, name)
		require.Equal(t, Software, r.b.Poll(r.now), name)
		require.False(t, r.b.Queue(1), name)
		require.Zero(t, r.b.Collect(&r.c, &r.p, r.now), name)
		r.b.Release()
	}
}

// TestDeadDeviceLosesAndRepeatsNothing: the device dies with packets queued. The binding notices, the
// caller sends the rest in software, and every packet was sent exactly once.
func TestDeadDeviceLosesAndRepeatsNothing(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	const packets = 300
	r.c.OnNewData(&r.p, 0, packets*size)
	r.step()
	require.True(t, r.b.Queue(packets))
	for range 40 {
		r.step()
	}
	byDevice := packets - r.b.Unsent()
	require.Positive(t, byDevice)
	require.Positive(t, r.b.Unsent())

	for range 60 {
		r.stepDead()
	}
	require.Equal(t, Software, r.b.state)
	require.Zero(t, r.b.Collect(&r.c, &r.p, r.now))
	rest := r.b.Unsent()
	require.Equal(t, packets, byDevice+rest)
	require.EqualValues(t, rest*size, r.c.Backlog())
	for sent := 0; sent < rest; {
		if r.c.Decide(&r.p, r.now).Bytes >= size {
			r.c.OnSend(&r.p, r.now, size, false)
			sent++
		}
		r.stepDead()
	}
	for range packets {
		r.stepDead()
	}
	require.Equal(t, ccc.StateIdle, r.c.State())
	require.EqualValues(t, byDevice, r.sent())

	r.soft.Step(r.now + 1000) // it had only slept
	require.EqualValues(t, byDevice, r.dev.Counters().TXPackets, "it has heard that it is released")
}

// TestDeviceSendsWhatCreditAllows: without credit nothing leaves, and the device gets what the
// context has.
func TestDeviceSendsWhatCreditAllows(t *testing.T) {
	features := hw.FeatureWindow | hw.FeatureCredit
	r := newRig(t, features, ccc.ControlRCCC, hw.ModeCredit)
	r.c.OnNewData(&r.p, 0, 100*size)
	credit := r.c.Credit()
	require.Positive(t, credit, "initial credit")
	r.step()
	require.True(t, r.b.Queue(100))
	r.b.Publish(&r.c)
	for range 50 {
		r.now += 1000
		r.soft.Step(r.now)
		r.b.Collect(&r.c, &r.p, r.now)
		r.b.Publish(&r.c)
	}
	require.EqualValues(t, credit/size, r.sent())
	require.Less(t, r.c.Credit(), int64(size))
	ctx, err := r.dev.Context(1)
	require.NoError(t, err)
	require.True(t, ctx.State().Credit)
}

// Nothing but slot and generation is told: a packet counts for the device's MTU, and a device that stands still is
// left after 10 ms. The binding took a device that runs for dead, and packets for empty.
func TestZeroConfig(t *testing.T) {
	r := newRig(t, hw.FeatureWindow|hw.FeatureCredit, ccc.ControlRCCC, hw.ModeCredit)
	r.b.Release()
	r.tick()
	r.bindTo(Config{Slot: 1, Control: hw.Control{Generation: 2, Mode: hw.ModeCredit}})
	r.c.OnNewData(&r.p, 0, 100*size)
	credit := r.c.Credit()
	r.tick()
	require.Equal(t, Hardware, r.b.Poll(r.now))
	r.b.Publish(&r.c)
	require.True(t, r.b.Queue(100))
	for range 200 {
		r.tick()
	}
	require.EqualValues(t, credit/size, r.b.Collect(&r.c, &r.p, r.now))
	require.Equal(t, credit%size, r.c.Credit())
	require.Equal(t, Hardware, r.b.Poll(r.now))
	require.Equal(t, Hardware, r.b.Poll(r.now+9_999_999))
	require.Equal(t, Software, r.b.Poll(r.now+10_000_000))
	require.EqualValues(t, 100-credit/size, r.b.Unsent())
}

// A device counts packets modulo 2^16, so it never holds more than half as many.
func TestQueueRefusesMoreThanADeviceCounts(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	r.step()
	require.False(t, r.b.Queue(1<<15))
	require.False(t, r.b.Queue(-1))
	require.True(t, r.b.Queue(1<<15-1))
	require.False(t, r.b.Queue(1))
	require.Equal(t, 1<<15-1, r.b.Unsent())
}

func TestBindErrors(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	for _, c := range []struct {
		config Config
		want   error
	}{
		{Config{Slot: 2}, hw.ErrIndex}, {Config{Page: 1}, hw.ErrIndex},
		{Config{Size: -1}, hw.ErrConfig}, {Config{Size: 1<<16 + 1}, hw.ErrConfig}, {Config{Timeout: -1}, hw.ErrConfig},
	} {
		_, err := Bind(r.dev, c.config, 0)
		require.ErrorIs(t, err, c.want)
	}
	require.Equal(t, "software pending hardware", fmt.Sprint(Software, " ", Pending, " ", Hardware))
}

func TestAllocs(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	r.step()
	alloctest.Zero(t, "a packet", func() {
		r.c.OnNewData(&r.p, r.now, size)
		if !r.b.Queue(1) {
			panic("not in hardware")
		}
		r.step()
	})
}
