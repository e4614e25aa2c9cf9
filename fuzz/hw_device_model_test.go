// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/pcc"
)

const modelFeatures = hw.FeatureWindow | hw.FeatureCredit | hw.FeatureRate | hw.FeatureTXStamp | hw.FeatureEvents | hw.FeatureRoom

// The software device does what the model does, whatever an engine stores and in whatever order
// things happen: also nonsense, and clocks that jump.
func TestDeviceAgainstModel(t *testing.T) {
	var flags, tx int
	for seed := range uint64(80) {
		w := newHWWorld(t, seed)
		for op := range 1500 {
			w.op()
			if err := w.m.differs(); w.stepped && err != nil {
				t.Fatalf("seed %d, operation %d: %v", seed, op, err)
			}
		}
		flags += w.flags
		tx += int(w.m.counters.TXPackets)
	}
	require.Greater(t, flags, 300, "events after lost ones")
	require.Greater(t, tx, 5000)
}

// A hwWorld is a device, its model, and an engine that does anything.
type hwWorld struct {
	nic
	t        *testing.T
	r        *rand.Rand
	cfg      hw.SoftConfig
	m        *modelDevice
	contexts []hw.Context
	bells    []hw.Doorbell
	rings    []*hw.Ring
	index    []uint16
	now      int64
	stepped  bool // the registers are those of the last step
	nonsense bool
	flags    int // events that said that others were lost
}

func newHWWorld(t *testing.T, seed uint64) *hwWorld {
	r := rand.New(rand.NewPCG(seed, 99))
	cfg := hw.SoftConfig{
		Contexts: 1 + r.IntN(5), PDCs: r.IntN(4), Owners: 1 + r.IntN(3), Features: modelFeatures, MTU: 4096,
		LineRate: oneOf[int64](r, 100e9, 1, 1<<43, 12_345_678_901), TickPs: oneOf[uint32](r, 128_000, 1000, 1, 999, math.MaxUint32),
	}
	w := &hwWorld{
		nic: newNIC(t, cfg, 1<<16), t: t, r: r, cfg: cfg, nonsense: seed%2 == 1, contexts: make([]hw.Context, cfg.Contexts),
		bells: make([]hw.Doorbell, cfg.Owners), rings: make([]*hw.Ring, cfg.Owners), index: make([]uint16, cfg.Contexts),
	}
	w.m = newModelDevice(cfg, w.regs, w.host)
	w.attach()
	return w
}

// attach is what an engine does after a reset.
func (w *hwWorld) attach() {
	var err error
	require.NoError(w.t, w.dev.Enable(modelFeatures))
	for i := range w.contexts {
		w.contexts[i], err = w.dev.Context(i)
		require.NoError(w.t, err)
	}
	for i := range w.bells {
		w.bells[i], err = w.dev.Doorbell(i)
		require.NoError(w.t, err)
	}
	clear(w.rings)
	clear(w.index)
}

func (w *hwWorld) step() {
	w.soft.Step(w.now)
	w.m.step(w.now)
	w.stepped = true
}

func (w *hwWorld) op() {
	w.stepped = false
	r := w.r
	switch k := r.IntN(100); {
	case k < 30:
		w.tick()
	case k < 66:
		w.program(r.IntN(len(w.contexts)), k)
	case k < 69:
		i := r.IntN(len(w.contexts))
		w.bells[r.IntN(len(w.bells))].Probe(&w.contexts[i], w.gen(i))
	case k < 75:
		i, n := r.IntN(len(w.contexts)), int64(r.IntN(20_000))-100
		w.soft.Ack(i, n)
		c := &w.m.contexts[i]
		c.acked += min(uint64(max(n, 0)), c.sent-c.acked)
	case k < 82:
		w.post()
	case k < 90:
		w.ring(r.IntN(len(w.rings)))
	case k < 92 && w.cfg.PDCs > 0:
		w.pdc(r.IntN(w.cfg.PDCs))
	case k == 93:
		w.dev.ClearFaults(hw.Fault(r.Uint32()))
	case k == 94 && r.IntN(10) == 0:
		w.dev.Reset()
		require.False(w.t, w.dev.ResetDone())
		w.step()
		require.True(w.t, w.dev.ResetDone())
		w.attach()
	case k >= 95 && w.nonsense:
		w.store()
	}
}

// tick lets time pass, none, little or much, or go back, and the device look around.
func (w *hwWorld) tick() {
	switch w.r.IntN(12) {
	case 0:
		w.now = min(w.now+int64(w.r.Uint64()>>(4+w.r.IntN(58))), 1<<60)
	case 1:
		w.now -= 5000
	case 2:
	default:
		w.now += w.r.Int64N(5000)
	}
	w.step()
}

// gen is mostly the generation that the device knows.
func (w *hwWorld) gen(i int) uint8 {
	if w.r.IntN(10) == 0 {
		return uint8(w.r.IntN(4))
	}
	return w.contexts[i].State().Generation
}

// program does one of the things that the owner of context i does.
func (w *hwWorld) program(i, k int) {
	c, r := &w.contexts[i], w.r
	switch {
	case k < 36:
		c.Commit(hw.Control{
			Enable: r.IntN(8) != 0, Mode: hw.Mode(r.IntN(4)), Generation: uint8(r.IntN(4)),
			Rate: oneOf(r, 0, 1, 1<<20, r.Uint32N(1<<20), r.Uint32()), Burst: oneOf(r, 0, 4096, 40_960, r.Uint32()),
		})
		w.index[i] = 0
	case k < 46:
		c.SetCwnd(int64(oneOf(r, 0, 4096, 4095, 16_384, r.Uint32N(400_000))))
	case k < 54:
		c.SetCredit(c.CreditUsed() + uint64(r.Uint32N(200)))
	default:
		w.index[i] += uint16(r.IntN(20))
		w.bells[r.IntN(len(w.bells))].Ring(c, w.gen(i), w.index[i])
	}
}

func (w *hwWorld) post() {
	r := w.r
	events := make([]hw.Event, 1+r.IntN(20))
	for i := range events {
		e := &events[i]
		*e = hw.Event{
			Type:    oneOf(r, pcc.EventCNP, pcc.EventACK, pcc.EventNACK, pcc.EventRTT, hw.EventACKCC, hw.EventTrimNACK, hw.EventNoCredit),
			Subtype: uint8(r.Uint32()), Flags: uint8(r.Uint32()) &^ hw.FlagLost, Context: r.Uint32N(uint32(w.cfg.Contexts)), Stamp: oneOf(r, 0, r.Uint32()),
			Words: [3]uint32{r.Uint32(), r.Uint32(), r.Uint32()}, Coalesced: uint16(r.Uint32()), Port: uint8(r.Uint32N(128)),
		}
		if i > 0 && r.IntN(3) > 0 {
			e.Context = events[i-1].Context
		}
	}
	w.soft.Post(events...)
	for _, e := range events {
		w.m.post(e)
	}
}

// ring turns ring i on or off, or takes some of its events.
func (w *hwWorld) ring(i int) {
	if w.rings[i] == nil {
		ring, err := w.dev.Ring(i, w.host, uint32(i)*16_384, 4+w.r.Uint32N(5))
		if w.m.rings[i].on {
			require.ErrorIs(w.t, err, hw.ErrRing, "the device has not seen that it is off")
			return
		}
		require.NoError(w.t, err)
		w.rings[i], w.m.want[i] = &ring, nil
		return
	}
	if w.r.IntN(30) == 0 {
		w.rings[i].Stop()
		w.rings[i] = nil
		return
	}
	buf := make([]hw.Event, w.r.IntN(40))
	n := w.rings[i].Drain(buf)
	want := w.m.want[i]
	require.Equal(w.t, min(len(buf), len(want)), n)
	for k, e := range buf[:n] {
		if e != want[k] {
			require.Equal(w.t, want[k], e)
		}
		w.flags += int(e.Flags / hw.FlagLost)
	}
	w.m.want[i] = want[n:]
}

func (w *hwWorld) pdc(i int) {
	if w.r.IntN(2) == 0 {
		p := &w.m.pdcs[i]
		p.cack, p.sack = w.r.Uint32(), w.r.Uint64()
		w.soft.Received(i, p.cack, p.sack)
		return
	}
	p, err := w.dev.PDC(i)
	require.NoError(w.t, err)
	p.Bind(hw.Binding{Local: uint16(w.r.Uint32()), Generation: uint8(w.r.Uint32()), Open: w.r.IntN(2) == 0})
}

// store writes nonsense to a register, and what it is to a ring, which would be turned on
// behind this engine's back, is looked at and undone.
func (w *hwWorld) store() {
	r, v := w.r, w.r.Uint64()>>w.r.IntN(64)
	owner := r.IntN(len(w.rings))
	write := func(reg hw.Register, i int, v uint64) {
		require.NoError(w.t, w.dev.Store(reg, i, v), fmt.Sprint(reg.Name))
	}
	switch r.IntN(6) {
	case 0:
		write(hw.Reg.Ring, owner, v)
	case 1:
		if w.rings[owner] == nil && !w.m.rings[owner].on {
			write(hw.Reg.RingAddr, owner, v)
			write(hw.Reg.RingCtl, owner, v|1)
			w.step()
			write(hw.Reg.RingCtl, owner, 0)
			w.step()
			w.m.want[owner] = nil
		}
	case 2:
		write(hw.Reg.FaultClear, 0, v)
	case 3:
		write(hw.Reg.Reset, 0, v)
	default:
		reg := oneOf(r, hw.Reg.Ctl, hw.Reg.Rate, hw.Reg.Cwnd, hw.Reg.Credit, hw.Reg.Burst, hw.Reg.Commit, hw.Reg.Record)
		write(reg, r.IntN(len(w.contexts)), v)
	}
}
