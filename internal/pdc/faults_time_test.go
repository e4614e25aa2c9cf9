// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// Cores that receive the first two packets of a PDC at the same time open one, and
// the id that the loser had taken is free again.
func TestFaultX1TwoCoresOneSYN(t *testing.T) {
	tab, err := NewTable(TableConfig{General: 64, Quarantine: 1, FirstID: 1, Seed: 1})
	require.NoError(t, err)
	for i := range 50 {
		k := TargetKey{Source: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Destination: netip.AddrFrom4([4]byte{10, 0, 0, 2}), SPDCID: pds.PDCID(i + 1)}
		var got [4]Handle
		var opened atomic.Int32
		var wg sync.WaitGroup
		for c := range got {
			wg.Go(func() {
				h, first, err := tab.OpenTarget(int64(i), &k, false)
				if got[c] = h; first && err == nil {
					opened.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, opened.Load())
		for _, h := range got {
			require.Equal(t, got[0], h)
		}
		require.Equal(t, i+1, tab.Stats().General.Live)
		require.Equal(t, 64, tab.Stats().General.Live+tab.Stats().General.Free)
	}
}

// While the manager's one writer sends, acknowledges and closes, other cores look
// its PDCs up, without harm to either.
func TestFaultX2OthersLookOn(t *testing.T) {
	g := newPair(t, pairConfig{})
	var stop atomic.Bool
	var wg sync.WaitGroup
	id, src := g.h.ID(), g.b.addr
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				if h, err := g.a.m.table.Match(id, src, 0); err == nil && h.ID() != id {
					panic("another PDC")
				}
				g.a.m.table.Initiator(&InitiatorKey{Source: g.a.addr, Destination: src, JobID: 101, TC: 1})
				for range g.b.m.table.All() {
				}
			}
		})
	}
	for i := range 40 {
		g.submit(uint64(10*i+1), 10)
		g.settle()
		require.Len(t, g.a.take(EventResponse, EventImplicit), 10)
		if i%4 == 3 {
			require.NoError(t, g.a.m.Close(g.now, g.h))
			g.settle()
			g.wait(2 * ms)
			g.h = g.open(false)
		}
	}
	stop.Store(true)
	wg.Wait()
	require.Len(t, g.b.got, 400)
}

// A clock that stands still and one that leaps: each packet times out once for a
// leap, however far it goes, and what is sent is bounded by the window.
func TestFaultX3ClockStandsStillAndLeaps(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 16, MaxRTORetx: 15, IdleTime: 60_000 * ms}, cwnd: 1_500_000})
	g.submit(1, 16)
	first := g.send(g.a)
	for range 100 { // still
		require.True(t, g.a.m.Tick(g.now))
		require.Empty(t, g.send(g.a))
	}
	for leap := 1; leap <= 5; leap++ {
		g.wait(10_000 * ms)
		require.True(t, g.a.m.Tick(g.now))
		require.Len(t, filterData(g.send(g.a)), 16)
		require.Empty(t, g.send(g.a))
		require.EqualValues(t, 16*leap, g.a.m.Stats().RTOs)
	}
	require.True(t, g.a.m.Tick(g.now-5000*ms), "a clock that goes back is late news")
	g.giveAll(g.giveAll(first))
	require.Len(t, g.a.take(EventResponse, EventImplicit), 16)
	require.Zero(t, g.a.m.cc.Context(g.info(g.a).Context).Inflight())
	g.settle()
}

// Ticks end where the clock has gone back by more than a time-out is away: what is armed
// by it then is due by the later time that a tick was given.
func TestFaultX4ClockGoesBack(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 16, MaxRTORetx: 15, IdleTime: 60_000 * ms}, cwnd: 1_500_000})
	now := g.now
	require.True(t, g.a.m.Tick(now+10_000*ms))
	g.submit(1, 1)
	require.Len(t, g.send(g.a), 1)
	at, ok := g.a.m.NextDeadline()
	require.True(t, ok)
	require.Less(t, at-now, int64(10_000*ms), "before the tick")
	require.True(t, g.a.m.Tick(now+1))
	g.wait(20_000 * ms)
	g.settle()
	require.Len(t, g.a.take(EventResponse, EventImplicit), 1)
}
