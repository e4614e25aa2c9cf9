package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw"
)

// newNIC returns a software device and the space of its registers.
func newNIC(t testing.TB) (*hw.SoftDevice, *hw.Memory, *hw.Memory) {
	cfg := hw.SoftConfig{
		Contexts: 2, PDCs: 2, Owners: 1, LineRate: 100e9, MTU: 4096,
		Features: hw.FeatureWindow | hw.FeatureCredit | hw.FeatureRate | hw.FeatureEvents,
	}
	regs, host := hw.NewMemory(cfg.SpaceSize()), hw.NewMemory(8192)
	nic, err := hw.NewSoftDevice(cfg, regs, host)
	require.NoError(t, err)
	return nic, regs, host
}

// FuzzDiscovery opens a space with any contents, which must end without a panic;
// what a device then offers must lie inside the space.
func FuzzDiscovery(f *testing.F) {
	_, regs, _ := newNIC(f)
	good := make([]byte, 0x400)
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
		for _, k := range []hw.Kind{hw.KindContext, hw.KindPDC, hw.KindDoorbell, hw.KindEvents, hw.KindCounters} {
			touch(dev, k, dev.Count(k)-1)
		}
	})
}

// touch uses the last element of a kind.
func touch(dev *hw.Device, k hw.Kind, last int) {
	if last < 0 {
		return
	}
	switch k {
	case hw.KindContext:
		if c, err := dev.Context(last); err == nil {
			c.Commit(hw.Control{})
			c.CreditUsed()
			if b, err := dev.Doorbell(dev.Count(hw.KindDoorbell) - 1); err == nil {
				b.Ring(&c, 1, 1)
			}
		}
	case hw.KindPDC:
		if p, err := dev.PDC(last); err == nil {
			p.Bind(hw.Binding{})
			p.Acked()
		}
	case hw.KindEvents:
		if r, err := dev.Ring(last, hw.NewMemory(4096), 0, 4); err == nil {
			var buf [4]hw.Event
			r.Drain(buf[:])
		}
	case hw.KindCounters:
		dev.Counter(hw.Counter(last))
	}
}

// FuzzSoftDevice lets an engine write anything anywhere between the steps of a
// device. The cumulative registers never go backwards and keep their order.
func FuzzSoftDevice(f *testing.F) {
	f.Add([]byte{0x30, 1, 0x80, 0x81, 0x82})
	f.Add(randomOps(rand.New(rand.NewPCG(1, 1)), 300))
	f.Fuzz(func(t *testing.T, in []byte) {
		nic, regs, _ := newNIC(t)
		dev, err := hw.Open(regs)
		require.NoError(t, err)
		var before [2][3]uint64
		for now := int64(0); len(in) >= 4; in, now = in[4:], now+777 {
			word := uint64(in[1])<<32 | uint64(in[2])<<8 | uint64(in[3])
			if off := uint32(binary.LittleEndian.Uint16(in)) * 8; off >= 0x180 && off+8 <= regs.Size() {
				regs.Store64(off, word)
			}
			nic.Step(now)
			nic.Ack(int(in[3]&1), int64(int8(in[2]))*100)
			nic.Post(hw.Event{Type: hw.EventCNP, Context: uint32(in[3] & 1)})
			for i := range before {
				c, err := dev.Context(i)
				require.NoError(t, err)
				nic.Step(now)
				after := [3]uint64{c.Acked(), c.Sent(), 0}
				require.LessOrEqual(t, after[0], after[1], "acknowledged more than was sent")
				require.GreaterOrEqual(t, after[0], before[i][0])
				require.GreaterOrEqual(t, after[1], before[i][1])
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
		nic, regs, host := newNIC(t)
		dev, err := hw.Open(regs)
		require.NoError(t, err)
		require.NoError(t, dev.Enable(hw.FeatureEvents))
		ring, err := dev.Ring(0, host, 4096, 5)
		require.NoError(t, err)
		nic.Step(0)
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
				nic.Post(hw.Event{Type: hw.EventACKCC, Words: [3]uint32{posted, ^posted}})
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
