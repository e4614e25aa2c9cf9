// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// A target that names one gap after the other has what is behind it sent again once in a
// round trip, and not for each NACK.
func TestFaultS5GapsInTurn(t *testing.T) {
	const n = 20
	g := established(t, pairConfig{ordered: true, cwnd: 1 << 20})
	g.submit(1, n)
	require.Len(t, g.send(g.a), n)
	info := g.info(g.a)
	storm := func() (again int) {
		for i := range pds.PSN(n) {
			g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: info.Base + i, SPDCID: info.PeerID})
			again += len(g.send(g.a))
		}
		return again
	}
	require.Equal(t, n, storm())
	require.Zero(t, storm())
	g.now += g.a.m.p.c.BaseRTT
	require.Equal(t, n-1, storm(), "the second gap; the first has to wait for NACK_Retx_Time")
}

// A target that demands another Start_PSN again and again gets it once in NACK_Retx_Time, and
// in the end the PDC fails.
func TestFaultS5StartInTurn(t *testing.T) {
	const n = 4
	g := newPair(t, pairConfig{cwnd: 1 << 20, start: 100})
	g.submit(1, n)
	require.Len(t, g.send(g.a), n)
	start := pds.PSN(100)
	demand := func(to pds.PSN) (again int) {
		k := pds.Nack{Code: pds.NackNewStartPSN, PSN: start, SPDCID: 9, Payload: uint32(to)}
		if r := g.nack(k); r.Err == nil {
			start = to
		}
		return len(g.send(g.a))
	}
	require.Zero(t, demand(start), "it is what the packets have")
	for i := range pds.PSN(g.a.m.p.maxNacks) {
		require.Equal(t, n, demand(7000*(i+1)))
		require.Zero(t, demand(1000), "too early")
		g.now += g.a.m.p.c.NackRetxTime
	}
	require.Zero(t, demand(5))
	require.Equal(t, []uint64{1, 2, 3, 4}, g.a.take(EventError))
	require.Nil(t, g.a.m.get(g.h))
}

// Refusals for want of a PDC do not count against the demands of a target that has a PDC at last, nor
// the other way round.
func TestFaultS5StartAfterRefusals(t *testing.T) {
	const n = 3
	g := newPair(t, pairConfig{cwnd: 1 << 20, start: 100})
	g.submit(1, n)
	require.Len(t, g.send(g.a), n)
	for start := pds.PSN(100); start <= 300; start += 100 {
		for range g.a.m.p.maxNacks {
			for i := range pds.PSN(n) {
				require.NoError(t, g.nack(pds.Nack{Code: pds.NackNoPDCAvail, PSN: start + i}).Err)
			}
			g.wait(20 * ms)
			require.Len(t, g.send(g.a), n)
		}
		require.NoError(t, g.nack(pds.Nack{Code: pds.NackNewStartPSN, PSN: start + 1, SPDCID: noPDC, Payload: uint32(start + 100)}).Err)
		again := g.send(g.a)
		require.Len(t, again, n)
		require.Equal(t, start+100, request(t, again[0]).PSN)
	}
	require.Empty(t, g.a.take(EventError))
}

// A refusal that comes again has no PDC looked for that might be closed.
func TestFaultS5RefusedAgain(t *testing.T) {
	g := newPair(t, pairConfig{ids: [2]int{2 * lookAhead, 8}}) // of which a search sees half
	g.submit(1, 1)
	g.send(g.a)
	k := pds.Nack{Code: pds.NackNoPDCAvail, PSN: g.info(g.a).Base}
	require.NoError(t, g.nack(k).Err)
	cursor := g.a.m.life.cursor
	require.NotZero(t, cursor)
	require.ErrorIs(t, g.nack(k).Err, ErrStale)
	require.Equal(t, cursor, g.a.m.life.cursor)
}

// A flood of SYN packets that nothing can be done for is refused without a search for each.
func TestFaultS1SearchedNowAndThen(t *testing.T) {
	g := newCrowd(t, 0)
	for i := range crowdIDs {
		require.NoError(t, g.more(i, g.syn(i)).Err)
	}
	next := map[int64]bool{}
	for i := range 50 {
		require.Zero(t, g.syn(100+i))
		next[g.b.m.life.searchAt] = true
		g.now += 10_000
	}
	require.Len(t, next, 5)
}

// Nor does it have PDCs of this side looked for, while messages wait for one.
func TestFaultS1MessagesWaitMeanwhile(t *testing.T) {
	g := crowd{newPair(t, pairConfig{ids: [2]int{8, 2 * lookAhead}})} // of which a search sees half
	for i := range 2 * lookAhead {
		require.NoError(t, g.more(i, g.syn(i)).Err)
	}
	_, err := g.b.m.Open(g.now, &InitiatorKey{Source: g.b.addr, Destination: crowdPeer(1)}, 1)
	require.ErrorIs(t, err, ErrWaiting)
	require.Zero(t, g.syn(1000))
	cursor := g.b.m.life.cursor
	require.Zero(t, g.syn(1001))
	require.Equal(t, cursor, g.b.m.life.cursor)
	require.Equal(t, 1, g.b.m.Waiting())
}

// A peer that clears nothing leaves half of the store to others, and has its own place still.
func TestFaultS3StoreIsShared(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1 << 20, manager: func(c *ManagerConfig) { c.Memory.Responses = 8 }})
	g.b.reply = guaranteed
	g.submit(1, 12)
	ws := g.send(g.a)
	var stored int
	for _, w := range ws[1:] { // all ahead of a gap
		if r, _ := g.give(w); r.Err == nil {
			stored++
		}
	}
	require.Equal(t, 4, stored)
	r, _ := g.give(ws[0])
	require.NoError(t, r.Err, "the lowest that is missing has a place of its own")
	r, _ = g.give(ws[5])
	require.ErrorIs(t, r.Err, ErrNoStore)
	g.h = g.open(true)
	g.submit(21, 1)
	g.settle()
	g.submit(22, 4)
	stored = 0
	for _, w := range g.send(g.a) {
		if r, _ := g.give(w); r.Err == nil {
			stored++
		}
	}
	require.Equal(t, 2+1, stored, "another one has half of what is left, and its own")
}

// Nor does one that fills no gap keep all buffers.
func TestFaultS4BuffersAreShared(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true}, cwnd: 1 << 20, manager: func(c *ManagerConfig) { c.Memory.Buffers = 8 }})
	for _, want := range []int{4, 2, 1, 1, 0} {
		g.submit(1, 12)
		buffered := 0
		for _, w := range g.send(g.a)[1:] {
			r, _ := g.give(w)
			if r.Verdict == VerdictBuffered {
				buffered++
			} else {
				require.ErrorIs(t, r.Err, ErrNoBuffer)
			}
		}
		require.Equal(t, want, buffered)
		h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: uint32(200 + want), TC: 1, Ordered: true}, 0)
		require.NoError(t, err)
		g.h = h
		require.NoError(t, g.a.m.Noop(h))
		g.giveAll(g.giveAll(g.send(g.a)))
	}
}
