// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/offload"
	"github.com/uetcc/uetcc/nscc"
)

// deviceRegisters are those that a device writes.
var deviceRegisters = []hw.Register{
	hw.Reg.DeviceID, hw.Reg.Features, hw.Reg.LineRate, hw.Reg.Limits, hw.Reg.Status, hw.Reg.Fault, hw.Reg.Resets,
	hw.Reg.Now, hw.Reg.TickPs, hw.Reg.StampBits,
	hw.Reg.State, hw.Reg.LastTX, hw.Reg.Sent, hw.Reg.Acked, hw.Reg.CreditUsed,
	hw.Reg.PSNTX, hw.Reg.CACK, hw.Reg.PSNRX, hw.Reg.SACK, hw.Reg.Service, hw.Reg.PDC,
	hw.Reg.Room, hw.Reg.Prod, hw.Reg.Lost, hw.Reg.RingState,
}

// A device that writes nonsense to all that it may write, registers and rings, makes nothing panic or
// run on, and no packet is sent twice or lost in the books of who offloads to it.
func TestDeviceOfNonsense(t *testing.T) {
	for seed := range uint64(15) {
		w := newNonsense(t, rand.New(rand.NewPCG(seed, 5)))
		for now := range int64(3000) {
			w.lie()
			w.use(now * 10)
			w.account(now * 10)
		}
	}
}

type nonsense struct {
	nic
	t                *testing.T
	r                *rand.Rand
	m                *modelDevice // knows where the registers are
	ring             hw.Ring
	watch            hw.Watch
	p                ccc.Params
	c                ccc.Context
	b                offload.Binding
	queued, reported int
}

func newNonsense(t *testing.T, r *rand.Rand) *nonsense {
	cfg := hw.SoftConfig{Contexts: 2, PDCs: 2, Owners: 2, Features: modelFeatures | hw.FeatureService, LineRate: 100e9, MTU: 4096}
	w := &nonsense{nic: newNIC(t, cfg, 8192), t: t, r: r}
	var err error
	w.ring, err = w.dev.Ring(0, w.host, 0, 5)
	require.NoError(t, err)
	w.m, w.watch = newModelDevice(cfg, w.regs, w.host), hw.NewWatch(w.dev.Clock(), 0, 1000)
	w.p, err = ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 6000, MTU: 4096}})
	require.NoError(t, err)
	w.c.Init(&w.p, 0, 0)
	w.c.Bind(&w.p, 0)
	w.c.OnNewData(&w.p, 0, 1<<40)
	w.bind(0)
	w.soft.Step(1000)
	require.Equal(t, offload.Hardware, w.b.Poll(0))
	return w
}

func (w *nonsense) bind(now int64) {
	var err error
	w.b, err = offload.Bind(w.dev, offload.Config{
		Slot: 1, Control: hw.Control{Generation: 1, Mode: hw.ModeWindow}, Size: 4096, Timeout: 5000,
	}, now)
	require.NoError(w.t, err)
	w.queued, w.reported = 0, 0
}

func (w *nonsense) value() uint64 {
	return oneOf(w.r, 0, ^uint64(0), w.r.Uint64(), w.r.Uint64()>>w.r.IntN(64))
}

// lie writes a register and a word of the host memory.
func (w *nonsense) lie() {
	w.host.Store64(w.r.Uint32N(8192)&^7, w.value())
	reg := oneOf(w.r, deviceRegisters...)
	i := 0
	if reg.Element {
		i = w.r.IntN(2)
	}
	if at := w.m.offset(reg, i); reg.Width == 32 {
		w.regs.Store32(at, uint32(w.value()))
	} else {
		w.regs.Store64(at, w.value())
	}
}

// use calls what reads or depends on what a device writes.
func (w *nonsense) use(now int64) {
	var buf [64]hw.Event
	clock := w.dev.Clock()
	for _, e := range buf[:w.ring.Drain(buf[:])] {
		p := e.PCC()
		_, _, _ = p.Network(p.Time), e.Type.String(), clock.Extend(e.Stamp, clock.Ticks())
	}
	require.GreaterOrEqual(w.t, w.dev.LineRate(), int64(0))
	require.GreaterOrEqual(w.t, w.dev.MTU(), int64(0))
	_ = clock.Nanoseconds(clock.Ticks())
	_, _ = w.watch.Alive(clock, now), w.dev.ResetDone()
	p, err := w.dev.PDC(1)
	require.NoError(w.t, err)
	_, _, _ = p.Acked()
	switch w.r.IntN(20) {
	case 0:
		w.dev.Reset()
	case 1:
		w.dev.ClearFaults(w.dev.Faults())
	case 2:
		_ = w.dev.Enable(hw.Feature(w.value()))
		_ = w.dev.Enable(modelFeatures)
	case 3:
		w.ring.Stop()
		if ring, err := w.dev.Ring(0, w.host, 0, 4); err == nil {
			w.ring = ring
		}
	}
}

// account offloads packets and takes back what the device has sent, or says so.
func (w *nonsense) account(now int64) {
	if n := w.r.IntN(50); w.b.Queue(n) {
		w.queued += n
	}
	w.b.Publish(&w.c)
	n := w.b.Collect(&w.c, &w.p, now)
	require.GreaterOrEqual(w.t, n, 0)
	w.reported += n
	require.Equal(w.t, w.queued-w.reported, w.b.Unsent())
	require.GreaterOrEqual(w.t, w.b.Unsent(), 0)
	require.Less(w.t, w.b.Unsent(), 1<<15)
	if w.b.Poll(now) == offload.Software {
		w.bind(now)
	}
}
