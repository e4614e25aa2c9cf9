// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/pcc"
)

// TestEveryEventComesOnceOrIsLost: over many laps, with batches of any size, every event comes once
// and in order, or is counted as lost.
func TestEveryEventComesOnceOrIsLost(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 8192, 4)
	require.NoError(t, err)
	start(t, dev, soft, 0, Control{Generation: 7})
	var buf [16]Event
	posted, got, lost := uint32(0), uint32(0), uint32(0)
	for batch := range uint32(300) {
		var events []Event
		for range batch % 23 {
			events = append(events, Event{Type: pcc.EventRTT, Context: 0, Stamp: 1, Words: [3]uint32{posted, ^posted, 3}, Port: 2, Coalesced: 4})
			posted++
		}
		for together := int(1 + batch/23%5); len(events) > 0; {
			n := min(together, len(events))
			soft.Post(events[:n]...)
			events = events[n:]
		}
		for n := ring.Drain(buf[:1+batch%16]); n > 0; n = ring.Drain(buf[:1+batch%16]) {
			for _, e := range buf[:n] {
				require.Equal(t, e.Words[0], ^e.Words[1], "torn")
				require.Equal(t, got, e.Serial, "in order")
				skipped := e.Words[0] - got - lost
				lost += skipped
				require.Equal(t, skipped > 0, e.Flags == FlagLost)
				require.Equal(t, Event{pcc.EventRTT, 0, e.Flags, 7, 0, 1, got, e.Words, 4, 2}, e)
				got++
			}
		}
	}
	require.Positive(t, lost)
	require.Equal(t, posted, got+ring.Lost())
	ring.Stop()
	soft.Step(1)
	require.EqualValues(t, posted-got, dev.Counters().EventsLost)
	soft.Post(Event{Type: pcc.EventCNP})
	require.Zero(t, ring.Drain(buf[:]))
}

// TestPostToSeveralRings: the events of a batch go to the ring of their context, in
// their order.
func TestPostToSeveralRings(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	var rings [2]Ring
	for i := range rings {
		var err error
		rings[i], err = dev.Ring(i, host, uint32(i)*4096, 4)
		require.NoError(t, err)
	}
	soft.Step(1)
	var batch []Event
	for i, c := range []uint32{0, 0, 1, 2, 1, 1, 0, 3} {
		batch = append(batch, Event{Type: pcc.EventCNP, Context: c, Words: [3]uint32{uint32(i)}})
	}
	soft.Post(batch...)
	for i, want := range [][]uint32{{0, 1, 3, 6}, {2, 4, 5, 7}} {
		var buf [16]Event
		var got []uint32
		for _, e := range buf[:rings[i].Drain(buf[:])] {
			require.EqualValues(t, i, e.Context%2)
			got = append(got, e.Words[0])
		}
		require.Equal(t, want, got)
	}
	require.Zero(t, batch[0].Stamp, "the caller's events are its own")
}

// TestBatchesAreSeenWhole: an engine on another core finds a batch whole or not at
// all, over many laps.
func TestBatchesAreSeenWhole(t *testing.T) {
	const batches, most = 3000, 8
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 0, 6)
	require.NoError(t, err)
	soft.Step(1)
	var taken atomic.Uint32
	var engine sync.WaitGroup
	engine.Go(func() {
		var buf [64]Event
		for next := uint32(0); next < batches*most; runtime.Gosched() {
			n := ring.Drain(buf[:])
			if n%most != 0 {
				t.Errorf("%d events of batches of %d", n, most)
				return
			}
			for _, e := range buf[:n] {
				if e.Serial != next || e.Words[0] != next || e.Words[2] != ^next {
					t.Errorf("%+v instead of event %d", e, next)
					return
				}
				next++
			}
			taken.Store(next)
		}
	})
	var batch [most]Event
	for sent := uint32(0); sent < batches*most && !t.Failed(); {
		if sent-taken.Load() > 64-most {
			runtime.Gosched()
			continue
		}
		for i := range batch {
			batch[i] = Event{Type: pcc.EventCNP, Words: [3]uint32{sent, 0, ^sent}}
			sent++
		}
		soft.Post(batch[:]...)
	}
	engine.Wait()
}

func TestRingErrors(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	for _, c := range [][3]uint32{{0, 3, 0}, {0, 16, 0}, {100, 4, 0}, {1 << 20, 4, 0}} {
		_, err := dev.Ring(0, host, c[0], c[1])
		require.ErrorIs(t, err, ErrRing, "%v", c)
	}
	_, err := dev.Ring(2, host, 0, 4)
	require.ErrorIs(t, err, ErrIndex)
	require.NoError(t, dev.Store(Reg.RingAddr, 0, 1<<40))
	require.NoError(t, dev.Store(Reg.RingCtl, 0, 1|4<<4))
	soft.Step(1)
	require.Equal(t, FaultRing, dev.Faults(), "an address outside the host memory")
	dev.ClearFaults(FaultRing)
	require.NoError(t, dev.Store(Reg.RingAddr, 0, 1<<20-4096))
	require.NoError(t, dev.Store(Reg.RingCtl, 0, 1|8<<4))
	soft.Step(2)
	require.Equal(t, FaultRing, dev.Faults(), "the ring's end is outside")
	soft.Post(Event{Type: pcc.EventCNP})
}

// TestRingIsUsedAnewOnceTheDeviceSawIt: a ring that was turned off may be used anew, also with the same size, once the device
// has seen it: until then it may write to the old entries.
func TestRingIsUsedAnewOnceTheDeviceSawIt(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	var buf [8]Event
	for life := range uint32(300) {
		ring, err := dev.Ring(0, host, 4096, 4)
		require.NoError(t, err)
		_, err = dev.Ring(0, host, 4096, 5)
		require.ErrorIs(t, err, ErrRing)
		soft.Step(int64(life))
		for n := range life % 5 {
			soft.Post(Event{Type: pcc.EventCNP, Words: [3]uint32{life, n}})
		}
		require.EqualValues(t, life%5, ring.Drain(buf[:]), life)
		for n := range life % 5 {
			require.Equal(t, [3]uint32{life, n}, buf[n].Words)
		}
		ring.Stop()
		require.False(t, ring.Stopped())
		_, err = dev.Ring(0, host, 4096, 4)
		require.ErrorIs(t, err, ErrRing)
		soft.Post(Event{Type: pcc.EventCNP, Words: [3]uint32{life, 99}})
		soft.Step(int64(life))
		require.True(t, ring.Stopped())
		require.Equal(t, 1, ring.Drain(buf[:]), "posted before the device saw it")
		soft.Post(Event{Type: pcc.EventCNP})
		require.Zero(t, ring.Drain(buf[:]))
		require.EqualValues(t, 1, ring.Lost())
	}
}

// TestRingCountsWrapWithoutLoss: the 32-bit counts of a ring and the serial numbers of a context pass zero, and nothing is lost
// or comes twice, whether the ring is nearly empty or full.
func TestRingCountsWrapWithoutLoss(t *testing.T) {
	dev, soft, host := newSoft(t, softConfig())
	ring, err := dev.Ring(0, host, 0, 4)
	require.NoError(t, err)
	start(t, dev, soft, 0, Control{Generation: 3})
	const before = math.MaxUint32 - 47 // a lap begins there
	r := &soft.rings[0]
	r.prod, r.cons, ring.cons = before, before, before
	dev.space.Store32(ring.regs+Reg.Cons.Offset, before)
	soft.contexts[0].serial = before
	var buf [16]Event
	next := uint32(before)
	for n := range 60 {
		batch := make([]Event, n%16+1)
		for i := range batch {
			batch[i] = Event{Type: pcc.EventCNP, Words: [3]uint32{next + uint32(i)}}
		}
		soft.Post(batch...)
		require.Equal(t, len(batch), ring.Drain(buf[:]))
		for _, e := range buf[:len(batch)] {
			require.Equal(t, next, e.Words[0])
			require.Equal(t, next, e.Serial)
			next++
		}
	}
	require.Less(t, next, uint32(1000), "it has passed zero")
	require.Zero(t, ring.Lost())
	for i := range uint32(20) {
		soft.Post(Event{Type: pcc.EventCNP, Words: [3]uint32{i}})
	}
	require.EqualValues(t, 4, ring.Lost())
	require.Equal(t, 16, ring.Drain(buf[:]))
}
