package fuzz

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw"
)

// A device posts to small rings, beside engines that take events in portions of any size.
// Of each context the engine sees the events in order and whole; where some are missing,
// and only there, the next one says so; and what is missing was counted.
func TestRingsBesideTheDevice(t *testing.T) {
	const contexts, owners, posts = 5, 2, 40_000
	cfg := hw.SoftConfig{Contexts: contexts, Owners: owners, LineRate: 100e9, MTU: 4096, Features: hw.FeatureEvents}
	regs, host := hw.NewMemory(cfg.SpaceSize()), hw.NewMemory(8192)
	nic, err := hw.NewSoftDevice(cfg, regs, host)
	require.NoError(t, err)
	dev, err := hw.Open(regs)
	require.NoError(t, err)
	require.NoError(t, dev.Enable(hw.FeatureEvents))
	var rings [owners]hw.Ring
	for i := range rings {
		rings[i], err = dev.Ring(i, host, uint32(i)*4096, 4+uint32(i))
		require.NoError(t, err)
	}
	nic.Step(1)

	var posted [contexts]uint32
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer done.Store(true)
		r := rand.New(rand.NewPCG(11, 0))
		var batch [24]hw.Event
		for range posts {
			n := 1 + r.IntN(len(batch))
			if r.IntN(2) == 0 {
				n = 1
			}
			context := uint32(r.IntN(contexts))
			for i := range n {
				if r.IntN(4) == 0 {
					context = uint32(r.IntN(contexts))
				}
				batch[i] = ringEvent(context, posted[context])
				posted[context]++
			}
			nic.Post(batch[:n]...)
			if r.IntN(8) == 0 {
				runtime.Gosched()
			}
		}
	})
	var received, missing [owners]uint32
	for o := range owners {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(12, uint64(o)))
			var next, serial [contexts]uint32
			buf := make([]hw.Event, 40)
			for {
				last := done.Load()
				n := rings[o].Drain(buf[:1+r.IntN(len(buf))])
				for _, e := range buf[:n] {
					c, at := e.Context, e.Words[0]
					want := ringEvent(c, at)
					want.Stamp, want.Serial, want.Flags = e.Stamp, serial[c], 0
					if at != next[c] {
						want.Flags = hw.FlagLost
					}
					if e != want || int32(at-next[c]) < 0 || int(c)%owners != o {
						t.Errorf("ring %d: %+v, want %+v after %d", o, e, want, next[c])
						return
					}
					missing[o] += at - next[c]
					received[o]++
					next[c], serial[c] = at+1, serial[c]+1
				}
				if n == 0 {
					if last {
						for c := o; c < contexts; c += owners {
							missing[o] += posted[c] - next[c]
						}
						return
					}
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	all := uint32(0)
	for o := range owners {
		require.Equal(t, missing[o], rings[o].Lost())
		require.Greater(t, received[o], uint32(100))
		all += received[o] + missing[o]
	}
	for _, n := range posted {
		all -= n
	}
	require.Zero(t, all)
	t.Log("received", received, "lost", missing)
}

// ringEvent is the event of a context with number n: all words follow from these two.
func ringEvent(context, n uint32) hw.Event {
	return hw.Event{
		Type: hw.EventACKCC, Subtype: uint8(n), Context: context, Stamp: 7,
		Words: [3]uint32{n, n * 3, ^n}, Coalesced: uint16(n * 5), Port: uint8(n >> 3),
	}
}

// The engine reads the acknowledged PSN and its bitmap as of one moment, and never an
// older pair than before, beside a device that changes them all the time.
func TestAckedBesideTheDevice(t *testing.T) {
	nic, regs, _ := newNIC(t)
	dev, err := hw.Open(regs)
	require.NoError(t, err)
	p, err := dev.PDC(1)
	require.NoError(t, err)
	p.Bind(hw.Binding{Local: 3, Open: true, Generation: 9})
	nic.Step(1)
	const last = 50_000
	mixed := func(n uint32) uint64 { return uint64(n) * 0x9e3779b97f4a7c15 }
	nic.Received(1, 0, mixed(0))
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := uint32(1); n <= last; n++ {
			nic.Received(1, n, mixed(n))
		}
	})
	for range 2 {
		wg.Go(func() {
			for before := uint32(0); before < last; {
				cack, sack, ok := p.Acked()
				if !ok {
					runtime.Gosched()
					continue
				}
				if sack != mixed(cack) || cack < before {
					t.Errorf("%d and %#x after %d", cack, sack, before)
					return
				}
				if before = cack; cack%64 == 0 {
					runtime.Gosched()
				}
				if open, gen := p.State(); !open || gen != 9 {
					t.Error("no longer open")
					return
				}
			}
		})
	}
	wg.Wait()
}
