// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// contend has two ends with so many PDCIDs begin n messages to each other, at the same
// time and each with a key of its own. Nobody closes a PDC, and none is idle for long
// enough to be closed by itself. It returns when the last message has arrived.
func contend(t *testing.T, pool TableConfig, n int) int64 {
	g := newPair(t, pairConfig{Config: Config{MaxNackRetx: nackForever, PendTimeout: 100_000 * ms}, manager: func(c *ManagerConfig) {
		pool.Seed, pool.FirstID = 1, 1
		var err error
		c.Table, err = NewTable(pool)
		require.NoError(t, err)
	}})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.wait(pool.Quarantine + ms)
	ends := []*pairEnd{g.a, g.b}
	for _, e := range ends {
		e.events = nil
	}
	begin := func(e *pairEnd, h Handle) {
		require.NoError(t, e.m.Begin(h))
		_, err := e.m.Submit(g.now, h, Packet{Size: 4160, Next: pds.NextRequestStd, EOM: true})
		require.NoError(t, err)
	}
	for _, e := range ends {
		for i := range n {
			k := InitiatorKey{Source: e.addr, Destination: g.other(e).addr, TC: uint8(i), Reserved: pool.Reserved > 0}
			h, err := e.m.Open(g.now, &k, uint64(i))
			if err == nil {
				begin(e, h)
				continue
			}
			require.ErrorIs(t, err, ErrWaiting)
		}
	}
	for len(g.a.got)+len(g.b.got) < 2*n {
		require.Less(t, g.now, int64(20_000*ms), "%d and %d of %d", len(g.a.got), len(g.b.got), n)
		ws := append(g.send(g.a), g.send(g.b)...)
		for len(ws) > 0 {
			ws = g.giveAll(ws)
		}
		for _, e := range ends {
			for _, ev := range e.events {
				require.NotEqual(t, EventError, ev.Kind, ev.Cause.String())
				if ev.Kind == EventMessage {
					begin(e, ev.PDC)
				}
			}
			e.events = nil
		}
		g.wait(ms / 2)
	}
	return g.now
}

// Two ends with a few PDCIDs each, that want more PDCs to each other than there are ids:
// each of what it wants gets its turn.
func TestSmallPoolsGetOn(t *testing.T) {
	for ids := 2; ids <= 6; ids++ {
		for _, quarantine := range []int64{ms, 40 * ms} {
			t.Run(fmt.Sprintf("%d ids, quarantine %d ms", ids, quarantine/ms), func(t *testing.T) {
				general := contend(t, TableConfig{General: ids, Quarantine: quarantine}, 6)
				reserved := contend(t, TableConfig{General: 2 - ids%2, Reserved: ids, Quarantine: quarantine}, 6)
				t.Logf("after %d ms, from the reserved pool %d ms", general/ms, reserved/ms)
			})
		}
	}
}

// What an initiator gives up for a PDC that is refused: one that it has there too and does
// not use, the one that has been idle longest, and no other before the id of that has
// rested.
func TestRefusedInitiatorYields(t *testing.T) {
	g := established(t, pairConfig{})
	elsewhere := netip.MustParseAddr("10.0.0.9")
	open := func(tc uint8, to netip.Addr) Handle {
		h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: to, TC: tc}, 0)
		require.NoError(t, err)
		require.NoError(t, g.a.m.Begin(h))
		_, err = g.a.m.Submit(g.now, h, Packet{Size: 4160, Next: pds.NextRequestStd, EOM: true})
		require.NoError(t, err)
		return h
	}
	states := func(hs ...Handle) (s []State) {
		for _, h := range hs {
			i, _ := g.a.m.PDC(h)
			s = append(s, i.State)
		}
		return s
	}
	third := open(10, elsewhere)
	for _, w := range g.giveAll(g.send(g.a)) {
		w.dst = elsewhere
		g.give(w)
	}
	g.now += ms
	busy := open(11, g.b.addr)
	require.NoError(t, g.a.m.Lock(busy))
	g.giveAll(g.giveAll(g.send(g.a)))
	g.now += ms
	second := open(12, g.b.addr)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Equal(t, []State{StateEstablished, StateEstablished, StateEstablished, StateEstablished}, states(g.h, third, busy, second))

	g.now += ms
	open(13, g.b.addr)
	refuse := func() {
		for _, w := range g.send(g.a) {
			if pt, _ := pds.PeekType(w.b); pt == pds.TypeRUDReq {
				q := request(t, w)
				n := pds.Nack{Code: pds.NackNoPDCAvail, PSN: q.PSN, DPDCID: q.SPDCID, Flags: q.Flags & pds.FlagRetx}
				g.give(wire{from: g.b, b: n.AppendTo(nil)})
			}
		}
	}
	refuse()
	require.Equal(t, []State{StateCloseAckWait, StateEstablished, StateEstablished, StateEstablished}, states(g.h, third, busy, second))
	closing := g.send(g.a)
	g.wait(2 * ms)
	refuse()
	require.Equal(t, StateEstablished, states(second)[0], "one is on its way")
	g.giveAll(g.giveAll(closing))
	require.Equal(t, StateClosed, states(g.h)[0])
}
