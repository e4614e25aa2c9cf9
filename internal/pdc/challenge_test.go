// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// forged is a NACK of somebody who has guessed the PDCID of a, and not that of its peer.
func (g *pair) forged(code pds.NackCode, psn pds.PSN) wire {
	n := pds.Nack{Code: code, PSN: psn, DPDCID: g.info(g.a).ID}
	return wire{from: g.b, b: n.AppendTo(nil)}
}

// A stranger who has guessed a PDCID and a PSN that is out ends nothing: what says that the PDC
// has gone is asked after, once in a while, and other refusals are stale. Before, one packet of
// any of these codes ended the PDC and failed its messages.
func TestStrangerEndsNothing(t *testing.T) {
	for _, code := range []pds.NackCode{
		pds.NackInvDPDCID, pds.NackPDCHdrMismatch, pds.NackInvalidSYN, pds.NackPDCModeMismatch, pds.NackUnexpEvent,
		pds.NackTrimmed, pds.NackNoPktBuffer, pds.NackNoResource,
	} {
		t.Run(code.String(), func(t *testing.T) {
			g := established(t, pairConfig{})
			g.submit(1, 3)
			ws := g.send(g.a)
			questions := 0
			for range 100 {
				g.give(g.forged(code, g.info(g.a).Base+1))
				for _, w := range g.send(g.a) {
					if pds.Type(w.b[0]>>3) == pds.TypeCP {
						require.Equal(t, pds.CtlACKReq, controlOf(t, w).Ctl)
						questions++
						g.giveAll(g.giveAll([]wire{w}))
					}
				}
				g.now += 1000
			}
			require.Equal(t, gone(code), questions == 1, "one for a hundred: %d", questions)
			g.giveAll(g.giveAll(ws))
			g.settle()
			require.ElementsMatch(t, []uint64{1, 2, 3}, g.a.take(EventResponse, EventImplicit))
			require.Zero(t, g.a.m.Stats().Failed)
		})
	}
}

// The question is about a PSN that nobody can guess who does not see it: of 2^30 that it may be
// about, and another one in each period. One who repeats PSNs that are or were out hits none.
func TestChallengeCannotBeGuessed(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 8)
	g.send(g.a)
	seen := map[pds.PSN]bool{}
	for range 50 {
		info := g.info(g.a)
		g.give(g.forged(pds.NackInvDPDCID, info.Base))
		ws := g.send(g.a)
		require.Len(t, ws, 1)
		psn := controlOf(t, ws[0]).PSN
		require.Less(t, psn.Diff(info.Base), int32(-1<<16), "no packet in flight")
		require.False(t, seen[psn])
		for old := range seen {
			g.give(g.forged(pds.NackInvDPDCID, old)) // those of earlier periods count no more
		}
		seen[psn] = true
		for i := range pds.PSN(1000) {
			g.give(g.forged(pds.NackPDCHdrMismatch, info.Base-500+i))
		}
		require.Zero(t, g.a.m.Stats().Failed)
		g.now += 1 << g.a.m.p.challengePeriod()
	}
	for psn := range seen {
		g.give(g.forged(pds.NackInvDPDCID, psn))
	}
	require.Equal(t, uint64(1), g.a.m.Stats().Failed, "only the answer to the last one counts")
	require.Equal(t, uint64(1), g.a.m.Stats().Closed)
}

// A peer that does not know PROBE refuses it with UNEXP_EVENT, psn 0 and spdcid 0, as the
// reference provider does. It says nothing of the packet with PSN 0. Before, that one and its
// message failed.
func TestRefusedProbeIsNoRefusalOfPSN0(t *testing.T) {
	g := newPair(t, pairConfig{start: 0xffff_fffe})
	g.submit(1, 1)
	g.settle()
	g.submit(2, 3)
	ws := g.send(g.a)
	require.Equal(t, pds.PSN(0), request(t, ws[1]).PSN)
	r, _ := g.give(g.forged(pds.NackUnexpEvent, 0))
	require.ErrorIs(t, r.Err, ErrStale)
	g.giveAll(g.giveAll(ws))
	require.ElementsMatch(t, []uint64{1, 2, 3, 4}, g.a.take(EventResponse, EventImplicit))
}

// A target's PDC is not ended by strangers either, and learns as well that its initiator has
// begun again: by what becomes of the data that it sends.
func TestRestartedInitiatorIsConfirmed(t *testing.T) {
	g := established(t, pairConfig{})
	b := g.b.m.target.byID(g.info(g.b).ID)
	_, err := g.b.m.Submit(g.now, b.handle, Packet{Handle: 5, Size: 4160, Next: pds.NextResponseData})
	require.NoError(t, err)
	data := g.send(g.b)
	again := newPairEnd(t, &pairConfig{}, 0)
	g.a = again
	g.giveAll(g.giveAll(data))
	require.Empty(t, g.b.events)
	g.settle()
	require.True(t, g.b.has(EventClosed, Cause(pds.NackInvDPDCID)))
	require.Equal(t, []uint64{5}, g.b.take(EventError))
}

// A target asks a peer that has been silent for an eighth longer than IdleTime: one that has begun again
// does not have the PDC. At a round trip of 30 ms, with an IdleTime of 8 s, the rest of a message that a
// restarted host had begun was kept for 15 s. A peer that has it keeps it: the close is asked for after
// twice IdleTime, as before.
func TestSilentPeerIsAskedOnce(t *testing.T) {
	for _, gone := range []bool{true, false} {
		g := established(t, pairConfig{})
		idle := g.b.m.p.c.IdleTime
		g.now += idle
		require.True(t, g.b.m.Tick(g.now))
		require.Empty(t, g.send(g.b), "the initiator has the first word")
		if gone {
			g.a = newPairEnd(t, &pairConfig{}, 0)
		}
		g.now += idle/8 + ms
		require.True(t, g.b.m.Tick(g.now))
		question := g.send(g.b)
		require.Len(t, question, 1)
		require.Equal(t, pds.CtlACKReq, controlOf(t, question[0]).Ctl)
		g.giveAll(g.giveAll(question))
		g.b.drain()
		require.Equal(t, gone, g.b.has(EventClosed, Cause(pds.NackInvDPDCID)))
		if !gone {
			g.now += idle/8*7 - ms
			require.True(t, g.b.m.Tick(g.now))
			require.Empty(t, g.send(g.b))
			g.now += 2 * ms
			require.True(t, g.b.m.Tick(g.now))
			require.Equal(t, StateCloseWait, g.info(g.b).State)
		}
	}
}
