// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// A PDC beside another takes messages when the peer has answered, and no id that others could have, at either end.
func TestBesideAnotherPDC(t *testing.T) {
	g := newPair(t, pairConfig{beside: [2]int{2, 2}})
	h, up := g.a.m.Beside(g.now, g.h, 0)
	require.True(t, h == 0 && !up, "the first is not known to the peer")
	g.submit(1, 1)
	g.settle()
	h, up = g.a.m.Beside(g.now, g.h, 0)
	require.True(t, h.ID() > 8 && !up)
	again, up := g.a.m.Beside(g.now, g.h, h)
	require.True(t, again == h && !up)
	g.settle()
	_, up = g.a.m.Beside(g.now, g.h, h)
	require.True(t, up)
	g.submitOn(h, 7, 3)
	g.settle()
	require.ElementsMatch(t, []uint64{1, 7, 8, 9}, g.a.take(EventResponse, EventImplicit))
	for _, e := range []*pairEnd{g.a, g.b} {
		require.Equal(t, PoolStats{Capacity: 8, Free: 7, Live: 1}, e.m.table.Stats().General)
		require.Equal(t, 1, e.m.table.beside.Free())
	}
	require.Equal(t, 1, g.b.m.table.proven.Held(g.b.m.table.source(uint16(g.info(g.b).ID))), "nor does it count against the peer")
	held := g.b.m.table.held.Total()
	require.NoError(t, g.a.m.Close(g.now, h))
	_, up = g.a.m.Beside(g.now, g.h, h)
	require.False(t, up)
	g.settle()
	require.Zero(t, g.a.m.Stats().Failed+g.b.m.Stats().Failed)
	g.wait(2 * ms)
	for _, e := range []*pairEnd{g.a, g.b} {
		e.m.table.Reap(g.now, 8)
		require.Equal(t, 2, e.m.table.beside.Free())
	}
	require.Equal(t, held-1, g.b.m.table.held.Total())
}

// A refusal ends the attempt at once, without a failure and without a PDC closed for it, and the peer is not
// asked again before the id has rested.
func TestBesideRefused(t *testing.T) {
	g := newPair(t, pairConfig{beside: [2]int{2, 1}})
	g.submit(1, 1)
	g.settle()
	other, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: 2}, 0)
	require.NoError(t, err)
	g.submitOn(other, 2, 1)
	g.settle()
	h, _ := g.a.m.Beside(g.now, g.h, 0)
	g.settle()
	_, up := g.a.m.Beside(g.now, g.h, h)
	require.True(t, up, "the only one of the peer")
	refused, _ := g.a.m.Beside(g.now, other, 0)
	ws := g.send(g.a)
	require.Len(t, ws, 1)
	nack := g.giveAll(ws)
	require.Equal(t, pds.NackNoPDCAvail, nackOf(t, nack[0]).Code)
	g.giveAll(nack)
	for range 3 {
		was, up := g.a.m.Beside(g.now, other, refused)
		require.True(t, was == refused && !up)
		require.Empty(t, g.send(g.a))
	}
	require.Zero(t, g.a.m.Stats().Failed)
	for _, first := range []Handle{g.h, other} {
		info, _ := g.a.m.PDC(first)
		require.Equal(t, StateEstablished, info.State)
	}
	g.wait(2 * ms)
	again, _ := g.a.m.Beside(g.now, other, refused)
	require.NotEqual(t, refused, again)
	require.Len(t, g.send(g.a), 1)
}
