// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
)

// busyPair is a pair whose first end has n PDCs, all it may have, with a message open on
// each.
func busyPair(t *testing.T, n int, edit func(*pairConfig)) (g *pair, hs []Handle) {
	c := pairConfig{own: n}
	if edit != nil {
		edit(&c)
	}
	g = newPair(t, c)
	hs = append(hs, g.h)
	require.NoError(t, g.a.m.Begin(g.h))
	for i := 1; i < n; i++ {
		g.now += ms
		h, err := g.openTC(uint8(10+i), 0)
		require.NoError(t, err)
		require.NoError(t, g.a.m.Begin(h))
		hs = append(hs, h)
	}
	return g, hs
}

func (g *pair) openTC(tc uint8, ticket uint64) (Handle, error) {
	return g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: tc}, ticket)
}

func (g *pair) states(hs []Handle) (states []State) {
	for _, h := range hs {
		info, _ := g.a.m.PDC(h)
		states = append(states, info.State)
	}
	return states
}

// end ends the message of a PDC.
func (g *pair) end(h Handle, handle uint64) {
	_, err := g.a.m.Submit(g.now, h, Packet{Handle: handle, Size: 4160, Next: 3, EOM: true})
	require.NoError(g.t, err)
	g.settle()
}

// A message waits and no PDC is idle: the one that was active least recently takes no
// more messages, ends what has begun, and its id goes to the message. One at a time.
func TestBusyPDCGoesForAMessageThatWaits(t *testing.T) {
	g, hs := busyPair(t, 3, nil)
	for i := range uint64(2) {
		_, err := g.openTC(50+uint8(i), 501+i)
		require.ErrorIs(t, err, ErrWaiting)
	}
	require.Equal(t, []State{StateQuiesce, StateCreating, StateCreating}, g.states(hs))
	require.ErrorIs(t, g.a.m.Begin(hs[0]), ErrState)
	g.end(hs[0], 1)
	require.Equal(t, []uint64{1}, g.a.take(EventResponse, EventImplicit), "nothing is lost")
	require.Equal(t, []State{StateClosed, StateCreating, StateCreating}, g.states(hs))
	_, err := g.openTC(52, 503)
	require.ErrorIs(t, err, ErrWaiting)
	require.Equal(t, []State{StateClosed, StateCreating, StateCreating}, g.states(hs), "an id rests, and will be free")
	g.wait(2 * ms)
	require.Equal(t, []uint64{501}, g.a.take(EventMessage))
}

// An idle one goes first.
func TestIdlePDCGoesBeforeABusyOne(t *testing.T) {
	g, hs := busyPair(t, 3, nil)
	g.end(hs[2], 1)
	_, err := g.openTC(50, 501)
	require.ErrorIs(t, err, ErrWaiting)
	require.Equal(t, []State{StateCreating, StateCreating, StateCloseAckWait}, g.states(hs))
}

// A locked PDC does not go, but when the last lock is taken off.
func TestLockedPDCGoesWhenUnlocked(t *testing.T) {
	g, hs := busyPair(t, 1, nil)
	require.NoError(t, g.a.m.Lock(hs[0]))
	require.NoError(t, g.a.m.Lock(hs[0]))
	_, err := g.openTC(50, 501)
	require.ErrorIs(t, err, ErrWaiting)
	require.NoError(t, g.a.m.Unlock(g.now, hs[0]))
	require.Equal(t, []State{StateCreating}, g.states(hs))
	require.NoError(t, g.a.m.Unlock(g.now, hs[0]))
	require.Equal(t, []State{StateQuiesce}, g.states(hs))
	g.end(hs[0], 1)
	g.wait(2 * ms)
	require.Equal(t, []uint64{501}, g.a.take(EventMessage))
}

// Where its id would rest until the message has given up, a busy one stays.
func TestBusyPDCStaysIfItsIDRestsTooLong(t *testing.T) {
	g, hs := busyPair(t, 2, func(c *pairConfig) { c.PendTimeout = ms })
	_, err := g.openTC(50, 501)
	require.ErrorIs(t, err, ErrWaiting)
	require.Equal(t, []State{StateCreating, StateCreating}, g.states(hs))
}

// Above Close_Thresh busy ones go too, as many as are too many.
func TestCloseThreshTakesBusyPDCs(t *testing.T) {
	g, hs := busyPair(t, 4, func(c *pairConfig) { c.CloseThresh = 2 })
	require.Equal(t, []State{StateQuiesce, StateQuiesce, StateCreating, StateCreating}, g.states(hs))
}

// A PDC that has just been opened takes a message: another one goes for Close_Thresh, though
// it was active as recently, or none, if all others are locked.
func TestOpenKeepsWhatItHasOpened(t *testing.T) {
	for _, lock := range []bool{false, true} {
		g := newPair(t, pairConfig{Config: Config{CloseThresh: 2}})
		for i := range uint8(6) {
			h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: 40 + i}, 0)
			require.NoError(t, err)
			require.NoError(t, g.a.m.Begin(h), "PDC %d", i)
			if lock {
				require.NoError(t, g.a.m.Lock(h))
			}
		}
	}
}

// Close_Thresh counts the PDCs of both roles: a target asks for the close of the one that
// has been idle longest.
func TestCloseThreshOfATarget(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		if c.Seed == 1 { // the target
			p := *c.Params
			p.c.CloseThresh, c.Params = 2, &p
		}
	}})
	var hs []Handle
	for i := range 4 {
		g.now += ms
		h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: uint8(40 + i)}, 0)
		require.NoError(t, err)
		g.submitOn(h, 1, 1)
		g.settle()
		hs = append(hs, h)
	}
	require.Nil(t, g.a.m.get(hs[0]), "closed in order, as it was asked for")
	for _, h := range hs[1:] {
		require.NotNil(t, g.a.m.get(h))
	}
	require.Zero(t, g.a.m.Stats().Failed+g.b.m.Stats().Failed)
	require.Equal(t, 3, g.b.m.life.open)
}

// An idle PDC of a peer goes before a busy one of this end.
func TestCloseThreshTakesIdleTargetsFirst(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		if c.Seed == 1 {
			p := *c.Params
			p.c.CloseThresh, c.Params = 1, &p
		}
	}})
	g.submit(1, 1)
	g.settle() // a target PDC of b, idle from now on
	g.now += ms
	h, err := g.b.m.Open(g.now, &InitiatorKey{Source: g.b.addr, Destination: g.a.addr}, 0)
	require.NoError(t, err)
	require.NoError(t, g.b.m.Begin(h))
	info, _ := g.b.m.PDC(h)
	require.Equal(t, StateCreating, info.State)
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone))
	require.Equal(t, 1, g.b.m.life.open)
}

// An id that was given back for want of a context, and does not rest, is free at once: that
// must not have a Tick look at the message that waits for the context again and again.
func TestTickEndsWhereNothingRests(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		var err error
		c.Waiting = 2
		c.Table, err = NewTable(TableConfig{General: 8, Initiators: 8, FirstID: 1, Seed: 1})
		require.NoError(t, err)
		c.Contexts, err = ccc.NewTable(1, true, 1)
		require.NoError(t, err)
	}})
	require.NoError(t, g.a.m.Lock(g.h))
	_, err := g.openTC(0, 2)
	require.ErrorIs(t, err, ErrWaiting)
	for _, now := range []int64{0, 1, 1 << 20, 1<<20 + 5, 1 << 40} {
		require.True(t, g.a.m.Tick(now))
	}
	var e Event
	for g.a.m.Event(&e) && e.Handle != 2 {
	}
	require.EqualValues(t, 2, e.Handle, "it has an end")
}

// A message that waits for a context of congestion control takes no PDCID out of use, however
// often it is tried again.
func TestWaitingForAContext(t *testing.T) {
	g := newPair(t, pairConfig{ids: [2]int{16, 8}})
	open := func(tc uint8) error {
		h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: tc}, 1)
		if err == nil {
			require.NoError(t, g.a.m.Lock(h))
		}
		return err
	}
	require.NoError(t, g.a.m.Lock(g.h))
	for tc := range uint8(7) {
		require.NoError(t, open(10+tc)) // and the pair has one
	}
	require.ErrorIs(t, open(20), ErrWaiting)
	require.NoError(t, open(10), "which has a context")
	for range 50 {
		g.wait(ms)
	}
	s := g.a.m.table.Stats().General
	require.Equal(t, [2]int{8, 0}, [2]int{s.Live, s.Resting})
	require.EqualValues(t, 8, g.a.m.Stats().Opened)
	require.Equal(t, 1, g.a.m.Waiting())
}
