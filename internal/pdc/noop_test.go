// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// A NOOP opens a PDC like data does: with SYN, from the Start_PSN, and in the mode
// of the PDC. The data that follows needs no SYN any more.
func TestNoopOpensAPDC(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		g := newPair(t, pairConfig{start: 0x12000, ordered: ordered})
		require.NoError(t, g.a.m.Noop(g.h))
		ws := g.send(g.a)
		require.Len(t, ws, 1)
		c := controlOf(t, ws[0])
		require.Equal(t, pds.CtlNOOP, c.Ctl)
		require.Equal(t, pds.PSN(0x12000), c.PSN)
		require.Zero(t, c.Payload)
		require.Equal(t, pds.PSN(0x12000), c.StartPSN())
		require.Equal(t, pds.FlagSYN|pds.FlagAR, c.Flags&^pds.FlagISROD)
		require.Equal(t, ordered, c.Flags&pds.FlagISROD != 0)
		acks := g.giveAll(ws)
		require.Len(t, acks, 1)
		require.Equal(t, pds.NextNone, ackCC(t, acks[0]).Next)
		require.Equal(t, pds.PSN(0x12000), ackCC(t, acks[0]).CACK)
		g.giveAll(acks)
		require.Equal(t, StateEstablished, g.info(g.a).State)
		require.Equal(t, ordered, g.info(g.b).Ordered)
		g.submit(1, 1)
		q := request(t, g.send(g.a)[0])
		require.Zero(t, q.Flags&pds.FlagSYN)
		require.Equal(t, pds.PSN(0x12001), q.PSN)
	}
}

// A SYN packet pays for control packets to a peer that has not shown that it receives: a request for
// two, a NOOP for one.
func TestSYNPacketPaysForControlPackets(t *testing.T) {
	for want, prepare := range map[int]func(g *pair){
		1: func(g *pair) { require.NoError(t, g.a.m.Noop(g.h)) },
		2: func(g *pair) { g.submit(1, 1) },
	} {
		g := newPair(t, pairConfig{})
		prepare(g)
		g.give(g.send(g.a)[0])
		p := g.b.m.target.byID(g.info(g.b).ID)
		n := 0
		for n < 10 && g.b.m.reply.mayTell(p) {
			n++
		}
		require.Equal(t, want, n)
	}
}

// Data may follow a NOOP before anything is heard: all of it with SYN.
func TestNoopBeforeData(t *testing.T) {
	g := newPair(t, pairConfig{start: 0xffffffff})
	require.NoError(t, g.a.m.Noop(g.h))
	g.submit(1, 3)
	ws := g.send(g.a)
	require.Len(t, ws, 4)
	require.EqualValues(t, 3, request(t, ws[3]).Info.PSNOffset())
	g.giveAll(g.giveAll([]wire{ws[3], ws[1], ws[0], ws[2]}))
	require.Equal(t, []pds.PSN{2, 0, 1}, g.b.got, "the NOOP is not handed up")
	require.Equal(t, pds.PSN(3), g.info(g.a).Base)
	require.ElementsMatch(t, []uint64{1, 2, 3}, g.a.take(EventResponse, EventImplicit, EventError))
}

// A NOOP that is lost comes again, and counts once; one that nobody answers ends
// the PDC like a packet would.
func TestNoopIsRetransmitted(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{MaxRTORetx: 1}})
	require.NoError(t, g.a.m.Noop(g.h))
	g.send(g.a)
	g.wait(1_100_000)
	ws := g.send(g.a)
	require.Len(t, ws, 1)
	require.NotZero(t, controlOf(t, ws[0]).Flags&pds.FlagRetx)
	g.giveAll(g.giveAll(append(ws, ws...)))
	require.EqualValues(t, 1, g.b.m.Stats().Duplicates)
	require.Equal(t, StateEstablished, g.info(g.a).State)

	require.NoError(t, g.a.m.Noop(g.h))
	for range 3 {
		g.send(g.a) // into the void
		g.wait(10 * ms)
	}
	require.True(t, g.a.has(EventClosing, CauseRTO))
}

// negotiation is the NOOP in w as a NEGOTIATION.
func negotiation(t *testing.T, w wire, on pds.Features) wire {
	c := controlOf(t, w)
	require.Equal(t, pds.CtlNOOP, c.Ctl)
	c.Ctl, c.Payload, c.Features = pds.CtlNegotiation, pds.PayloadOnOff, on
	return wire{from: w.from, b: c.AppendTo(nil)}
}

// A NEGOTIATION opens a PDC, and is acknowledged without effect, from either side, also when it was
// sent again, or has an element that is unknown here.
func TestNegotiation(t *testing.T) {
	g := newPair(t, pairConfig{})
	require.NoError(t, g.a.m.Noop(g.h))
	g.send(g.a) // lost
	g.wait(1_100_000)
	w := negotiation(t, g.send(g.a)[0], 0xcafe0001)
	require.NotZero(t, controlOf(t, w).Flags&pds.FlagSYN)
	g.giveAll(g.giveAll([]wire{w, w}))
	require.EqualValues(t, 1, g.b.m.Stats().Duplicates)
	require.Equal(t, StateEstablished, g.info(g.a).State)
	require.Zero(t, g.info(g.a).Outstanding)
	require.Empty(t, g.b.got)

	b := g.b.m.target.byID(g.info(g.b).ID).handle
	require.NoError(t, g.b.m.Noop(b))
	g.giveAll(g.giveAll([]wire{negotiation(t, g.send(g.b)[0], 7)}))
	require.Zero(t, g.info(g.b).Outstanding)

	require.NoError(t, g.a.m.Noop(g.h))
	w = negotiation(t, g.send(g.a)[0], pds.FeatureSYNRetxTransfer)
	w.b[13] = 3 // an element of another length
	g.giveAll(g.giveAll([]wire{w}))
	require.Zero(t, g.info(g.a).Outstanding, "acknowledged all the same")
}

func TestNoopErrors(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Range: 4}})
	require.ErrorIs(t, g.a.m.Noop(g.h^1<<31), ErrUnknown)
	for range 4 + rowLen {
		require.NoError(t, g.a.m.Noop(g.h))
	}
	require.ErrorIs(t, g.a.m.Noop(g.h), ErrWindowFull)
	g.settle()
	require.NoError(t, g.a.m.Begin(g.h))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.ErrorIs(t, g.a.m.Noop(g.h), ErrState)
}

// A PDC that is locked waits for its peer and does not close; a NOOP in each
// IdleTime keeps both sides from taking the other for gone.
func TestIdleLockedPDCAsksWithNoop(t *testing.T) {
	g := established(t, pairConfig{Config: Config{IdleTime: 100 * ms}})
	require.NoError(t, g.a.m.Lock(g.h))
	for range 20 {
		g.wait(50 * ms)
		g.settle()
	}
	require.False(t, g.a.has(EventClosed, CauseNone))
	require.Equal(t, StateEstablished, g.info(g.a).State)
	require.Equal(t, StateEstablished, g.info(g.b).State)
	require.NoError(t, g.a.m.Unlock(g.now, g.h))
	for range 6 {
		g.wait(50 * ms)
		g.settle()
	}
	require.True(t, g.a.has(EventClosed, CauseNone))
	require.True(t, g.b.has(EventClosed, CauseNone))
}

// The peer of a locked PDC has gone without a word: the NOOP finds out.
func TestIdleLockedPDCOfAPeerThatIsGone(t *testing.T) {
	g := established(t, pairConfig{Config: Config{IdleTime: 100 * ms}})
	require.NoError(t, g.a.m.Lock(g.h))
	for range 10 {
		g.now += 50 * ms
		require.True(t, g.a.m.Tick(g.now))
		g.a.drain()
		g.send(g.a) // into the void
	}
	require.True(t, g.a.has(EventClosing, CauseRTO))
}
