// SPDX-License-Identifier: Apache-2.0

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

const (
	ringContexts = 5
	ringOwners   = 2
)

// A device posts to small rings, beside engines that take events in portions of any size.
// Of each context the engine sees the events in order and whole; where some are missing,
// and only there, the next one says so; and what is missing was counted.
func TestRingsBesideTheDevice(t *testing.T) {
	cfg := hw.SoftConfig{Contexts: ringContexts, Owners: ringOwners, LineRate: 100e9, MTU: 4096, Features: hw.FeatureEvents}
	n := newNIC(t, cfg, 8192)
	x := sharedRings{t: t, soft: n.soft}
	for i := range x.rings {
		var err error
		x.rings[i], err = n.dev.Ring(i, n.host, uint32(i)*4096, 4+uint32(i))
		require.NoError(t, err)
	}
	n.soft.Step(1)

	var wg sync.WaitGroup
	wg.Go(func() { x.post(40_000) })
	for o := range ringOwners {
		wg.Go(func() { x.take(o) })
	}
	wg.Wait()
	all := uint32(0)
	for o := range ringOwners {
		require.Equal(t, x.missing[o], x.rings[o].Lost())
		require.NotZero(t, x.received[o])
		all += x.received[o] + x.missing[o]
	}
	for _, n := range x.posted {
		all -= n
	}
	require.Zero(t, all)
	t.Log("received", x.received, "lost", x.missing)
}

// sharedRings are the rings of a device that posts while their owners take.
type sharedRings struct {
	t                 *testing.T
	soft              *hw.SoftDevice
	rings             [ringOwners]hw.Ring
	posted            [ringContexts]uint32 // the device's; the owners look when it is done
	done              atomic.Bool
	received, missing [ringOwners]uint32
}

// post is the device: batches of events of any contexts.
func (x *sharedRings) post(batches int) {
	defer x.done.Store(true)
	r := rand.New(rand.NewPCG(11, 0))
	var batch [24]hw.Event
	for range batches {
		n := 1 + r.IntN(len(batch))
		if r.IntN(2) == 0 {
			n = 1
		}
		context := uint32(r.IntN(ringContexts))
		for i := range n {
			if r.IntN(4) == 0 {
				context = uint32(r.IntN(ringContexts))
			}
			batch[i] = ringEvent(context, x.posted[context])
			x.posted[context]++
		}
		x.soft.Post(batch[:n]...)
		if r.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
}

// take is the owner of ring o, which checks each event.
func (x *sharedRings) take(o int) {
	r := rand.New(rand.NewPCG(12, uint64(o)))
	var next, serial [ringContexts]uint32
	buf := make([]hw.Event, 40)
	for {
		last := x.done.Load()
		n := x.rings[o].Drain(buf[:1+r.IntN(len(buf))])
		for _, e := range buf[:n] {
			c, at := e.Context, e.Words[0]
			want := ringEvent(c, at)
			want.Stamp, want.Serial, want.Flags = e.Stamp, serial[c], 0
			if at != next[c] {
				want.Flags = hw.FlagLost
			}
			if e != want || int32(at-next[c]) < 0 || int(c)%ringOwners != o {
				x.t.Errorf("ring %d: %+v, want %+v after %d", o, e, want, next[c])
				return
			}
			x.missing[o] += at - next[c]
			x.received[o]++
			next[c], serial[c] = at+1, serial[c]+1
		}
		switch {
		case n > 0:
		case last:
			for c := o; c < ringContexts; c += ringOwners {
				x.missing[o] += x.posted[c] - next[c]
			}
			return
		default:
			runtime.Gosched()
		}
	}
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
	nic := newNIC(t, nicConfig, 0)
	p, err := nic.dev.PDC(1)
	require.NoError(t, err)
	p.Bind(hw.Binding{Local: 3, Open: true, Generation: 9})
	nic.soft.Step(1)
	const last = 50_000
	mixed := func(n uint32) uint64 { return uint64(n) * 0x9e3779b97f4a7c15 }
	nic.soft.Received(1, 0, mixed(0))
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := uint32(1); n <= last; n++ {
			nic.soft.Received(1, n, mixed(n))
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
