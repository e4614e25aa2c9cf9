// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw"
	"github.com/uetcc/uetcc/hw/pcc"
)

// A nic is a software device, what it shares with an engine, and the engine's view of
// it, with all features on.
type nic struct {
	soft       *hw.SoftDevice
	dev        *hw.Device
	regs, host *hw.Memory
}

var nicConfig = hw.SoftConfig{
	Contexts: 2, PDCs: 2, Owners: 1, LineRate: 100e9, MTU: 4096,
	Features: hw.FeatureWindow | hw.FeatureCredit | hw.FeatureRate | hw.FeatureEvents,
}

// newNIC makes a device with host bytes of host memory.
func newNIC(t testing.TB, cfg hw.SoftConfig, host uint32) nic {
	n := nic{regs: hw.NewMemory(cfg.SpaceSize()), host: hw.NewMemory(host)}
	var err error
	n.soft, err = hw.NewSoftDevice(cfg, n.regs, n.host)
	require.NoError(t, err)
	n.dev, err = hw.Open(n.regs)
	require.NoError(t, err)
	require.NoError(t, n.dev.Enable(cfg.Features))
	return n
}

// FuzzDiscovery opens a space with any contents, which must end without a panic;
// what a device then offers must lie inside the space.
func FuzzDiscovery(f *testing.F) {
	regs, good := newNIC(f, nicConfig, 0).regs, make([]byte, 0x400)
	for off := range uint32(len(good) / 8) {
		binary.LittleEndian.PutUint64(good[off*8:], regs.Load64(off*8))
	}
	f.Add(good)
	f.Add(good[:64])
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 1, 8, 0, 0, 0}) // a chain that runs into itself
	f.Fuzz(func(t *testing.T, in []byte) {
		space := hw.NewMemory(0x4000)
		for i := 0; i+8 <= min(len(in), 0x4000); i += 8 {
			space.Store64(uint32(i), binary.LittleEndian.Uint64(in[i:]))
		}
		dev, err := hw.Open(space)
		if err != nil {
			return
		}
		_ = dev.Enable(dev.Features())
		for _, r := range []hw.Register{hw.Reg.Ctl, hw.Reg.Bind, hw.Reg.Ring, hw.Reg.RingCtl, hw.Reg.Counter} {
			touch(dev, r, dev.Count(r)-1)
		}
	})
}

// touch uses the last element that has register r.
func touch(dev *hw.Device, r hw.Register, last int) {
	if last < 0 {
		return
	}
	switch r {
	case hw.Reg.Ctl:
		if c, err := dev.Context(last); err == nil {
			c.Commit(hw.Control{})
			c.CreditUsed()
			if b, err := dev.Doorbell(dev.Count(hw.Reg.Ring) - 1); err == nil {
				b.Ring(&c, 1, 1)
			}
		}
	case hw.Reg.Bind:
		if p, err := dev.PDC(last); err == nil {
			p.Bind(hw.Binding{})
			p.Acked()
		}
	case hw.Reg.RingCtl:
		if r, err := dev.Ring(last, hw.NewMemory(4096), 0, 4); err == nil {
			var buf [4]hw.Event
			r.Drain(buf[:])
		}
	case hw.Reg.Counter:
		dev.Counters()
	}
}

// FuzzSoftDevice lets an engine write anything anywhere between the steps of a
// device. The cumulative registers never go backwards and keep their order.
func FuzzSoftDevice(f *testing.F) {
	f.Add([]byte{0x30, 1, 0x80, 0x81, 0x82})
	f.Add(randomBytes(rand.New(rand.NewPCG(1, 1)), 300))
	f.Fuzz(func(t *testing.T, in []byte) {
		n := newNIC(t, nicConfig, 8192)
		var before [2][3]uint64
		for now := int64(0); len(in) >= 4; in, now = in[4:], now+777 {
			word := uint64(in[1])<<32 | uint64(in[2])<<8 | uint64(in[3])
			if off := uint32(binary.LittleEndian.Uint16(in)) * 8; off >= 0x180 && off+8 <= n.regs.Size() {
				n.regs.Store64(off, word)
			}
			n.soft.Step(now)
			n.soft.Ack(int(in[3]&1), int64(int8(in[2]))*100)
			n.soft.Post(hw.Event{Type: pcc.EventCNP, Context: uint32(in[3] & 1)})
			for i := range before {
				c, err := n.dev.Context(i)
				require.NoError(t, err)
				n.soft.Step(now)
				after := [3]uint64{c.Acked(), c.Sent(), c.CreditUsed()}
				require.LessOrEqual(t, after[0], after[1], "acknowledged more than was sent")
				for k := range after {
					require.GreaterOrEqual(t, after[k], before[i][k])
				}
				before[i] = after
			}
		}
	})
}

// FuzzEventRing posts and drains in any pattern: every event comes once, whole
// and in order, or is counted as lost.
func FuzzEventRing(f *testing.F) {
	f.Add([]byte{3, 0x81, 17, 0x9f, 0x82, 40, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		n := newNIC(t, nicConfig, 8192)
		ring, err := n.dev.Ring(0, n.host, 4096, 5)
		require.NoError(t, err)
		n.soft.Step(0)
		posted, got, next := uint32(0), uint32(0), uint32(0)
		var buf [32]hw.Event
		take := func(n int) {
			for _, e := range buf[:ring.Drain(buf[:n])] {
				require.Equal(t, ^e.Words[0], e.Words[1])
				require.GreaterOrEqual(t, e.Words[0], next)
				require.Equal(t, e.Words[0] > next, e.Flags&hw.FlagLost != 0)
				next = e.Words[0] + 1
				got++
			}
		}
		for _, op := range in {
			if op&0x80 != 0 {
				take(int(op & 31))
				continue
			}
			for range op {
				n.soft.Post(hw.Event{Type: hw.EventACKCC, Words: [3]uint32{posted, ^posted}})
				posted++
			}
		}
		for before := got + 1; before != got; {
			before = got
			take(32)
		}
		require.Equal(t, posted, got+ring.Lost())
	})
}
