// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// newDomain is a pair in a secure domain whose key is new, without newPair's PDC.
func newDomain(t *testing.T, ids int) *pair {
	g := newPair(t, pairConfig{ids: [2]int{ids, ids}, Config: Config{Start: StartExpected0RTT, FreshKey: true}})
	require.NoError(t, g.a.m.Abort(0, g.h))
	g.a.take()
	return g
}

// replayed gives the target a packet that once opened a PDC, which opens none again.
func (g *pair) replayed(w wire) {
	g.t.Helper()
	got := len(g.b.got)
	_, answer := g.give(w)
	require.Len(g.t, g.b.got, got)
	require.Equal(g.t, pds.NackNewStartPSN, nackOf(g.t, answer[0]).Code)
	g.wait(100 * ms) // until what waits for another Start_PSN is gone
}

// A target takes the Start_PSN of an initiator that it does not know, at or after the Expected_PSN
// of the domain, which is 0 at first. Initiators that are displaced raise it, so that nothing of
// theirs opens a PDC again.
func TestExpectedPSNOfTheDomain(t *testing.T) {
	g := newDomain(t, 64)
	var first []wire
	known := map[pds.PDCID]bool{}
	asked := 0
	for i := range 300 {
		w, refused := g.oneLife(uint64(i))
		if first = append(first, w); known[g.h.ID()] {
			require.LessOrEqual(t, refused, uint64(1))
		} else if g.b.m.start.expected.floor == 0 {
			require.Zero(t, refused, "unknown, and nothing to compare with")
		}
		asked += int(refused)
		known[g.h.ID()] = true
	}
	require.NotZero(t, g.b.m.start.expected.floor, "PDCIDs share places")
	require.NotZero(t, asked)
	require.Less(t, asked, 200)
	for _, w := range first {
		g.replayed(w)
	}
}

// The demanded Start_PSN of an initiator below the Expected_PSN of the domain is that.
func TestStartBelowTheDomains(t *testing.T) {
	g := newDomain(t, 8)
	for _, c := range []struct{ floor, start, want uint32 }{
		{1000, 1000, 0}, {1000, 1001, 0}, {1000, psnEnd - 1, 0},
		{1000, psnEnd, 1000}, {1000, 0xffff0000, 1000}, {psnSpent - 1, 5, psnSpent - 1},
		{1000, 999, 999 + startApart}, {1000, 0xffffffff, startApart - 1}, // late packets are told apart
	} {
		g.b.m.start.expected.floor = c.floor
		h, err := g.a.m.life.openInitiator(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, Context: 1})
		require.NoError(t, err)
		p := g.a.m.get(h)
		p.rx.Init(pds.PSN(c.start))
		p.tx.Init(g.a.m.p, g.a.m.mem, p.slot(), pds.PSN(c.start))
		g.h = h
		g.submit(1, 1)
		if r, answer := g.give(g.send(g.a)[0]); c.want == 0 {
			require.Equal(t, VerdictRequest, r.Verdict)
			require.NoError(t, g.b.m.Abort(g.now, r.ID.PDC))
		} else {
			n := nackOf(t, answer[0])
			require.Equal(t, pds.NackNewStartPSN, n.Code)
			require.Equal(t, c.want, n.Payload)
		}
		require.NoError(t, g.a.m.Abort(g.now, h))
		g.wait(100 * ms)
	}
}

// The demanded Start_PSN of an initiator that is known is one after the last that came on its PDCID.
func TestStartBelowThatOfThePDCID(t *testing.T) {
	g := newDomain(t, 8)
	for i := range uint64(16) {
		g.oneLife(i)
	}
	h, err := g.a.m.life.openInitiator(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, Context: 1})
	require.NoError(t, err)
	want := g.expectedStart(h.ID()).psn
	require.Greater(t, uint32(want), uint32(3*startApart))
	g.h = h
	require.True(t, g.a.m.SetStartPSN(h, want-2*startApart))
	g.submit(1, 1)
	_, answer := g.give(g.send(g.a)[0])
	require.Equal(t, pds.NackNewStartPSN, nackOf(t, answer[0]).Code)
	require.EqualValues(t, want, nackOf(t, answer[0]).Payload)
}

// The Expected_PSN rises whenever a PDC that was open ends at the target, and not only when its
// initiator closes it in order.
func TestExpectedPSNRisesHoweverThePDCEnds(t *testing.T) {
	for name, end := range map[string]func(g *pair, h Handle){
		"aborted": func(g *pair, h Handle) { require.NoError(t, g.b.m.Abort(g.now, h)) },
		"idle": func(g *pair, _ Handle) {
			for range 60 {
				g.wait(1000 * ms)
				g.send(g.b) // nobody answers
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newDomain(t, 8)
			g.h = g.open(false)
			g.submit(1, 1)
			w := g.send(g.a)[0]
			w.b = append([]byte(nil), w.b...)
			r, _ := g.give(w)
			require.Equal(t, VerdictRequest, r.Verdict)
			require.NoError(t, g.a.m.Abort(g.now, g.h)) // and never heard of again
			g.send(g.a)
			end(g, r.ID.PDC)
			_, ok := g.b.m.PDC(r.ID.PDC)
			require.False(t, ok)
			g.wait(3 * ms)
			g.replayed(w)
		})
	}
}

// Start_PSNs of one PDCID do not come round: after hundreds of PDCs the packets that opened the
// first ones are still refused.
func TestStartPSNsDoNotWrap(t *testing.T) {
	g := newDomain(t, 8)
	var first []wire
	for i := range 4000 { // some 500 of each PDCID
		w, refused := g.oneLife(uint64(i))
		require.Zero(t, refused)
		if i < 16 {
			first = append(first, w)
		}
	}
	require.Less(t, g.expectedStart(g.h.ID()).moved, uint32(psnSpent))
	for _, w := range first {
		g.replayed(w)
	}
}

// The first Start_PSN of a PDCID leaves its key PSNs for all the PDCs that follow.
func TestFirstStartPSNLeavesRoom(t *testing.T) {
	g := newDomain(t, 8)
	least, most := uint32(psnEnd), uint32(0)
	for range 1000 {
		psn := g.a.m.start.startPSN(makeHandle(8, 0))
		least, most = min(least, uint32(psn)), max(most, uint32(psn))
	}
	require.GreaterOrEqual(t, least, uint32(startApart))
	require.Less(t, least, uint32(1<<24))
	require.Less(t, most, uint32(psnEnd/2))
	require.Greater(t, most, uint32(psnEnd/2-1<<24), "all are drawn")
}

// Without an Expected_PSN of the target, as after the end of a PDC in error, the next Start_PSN of
// the PDCID is a little later than the last PSN.
func TestStartPSNFollowsTheLastPSN(t *testing.T) {
	g := newDomain(t, 8)
	g.h = g.open(false)
	g.submit(1, 3)
	ws := g.send(g.a)
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	d := g.a.m.start.startPSN(g.h).Diff(request(t, ws[2]).PSN)
	require.Greater(t, d, int32(0))
	require.LessOrEqual(t, d, int32(1<<8))
}

// Where the PSNs of a key are used up every initiator is asked for a Start_PSN that the target draws.
func TestPSNsOfAKeyAreUsedUp(t *testing.T) {
	for name, spend := range map[string]func(s *expectedStarts, i int){
		"known":     func(s *expectedStarts, i int) { s.slot[i].moved = psnSpent },
		"displaced": func(s *expectedStarts, i int) { s.slot[i], s.floor = expectedStart{}, psnSpent },
	} {
		t.Run(name, func(t *testing.T) {
			g := newDomain(t, 8)
			var first []wire
			for i := range 30 {
				w, refused := g.oneLife(uint64(i))
				require.Zero(t, refused)
				first = append(first, w)
			}
			s := &g.b.m.start.expected
			for i := range s.slot {
				spend(s, i)
			}
			for i := range 30 {
				_, refused := g.oneLife(uint64(30 + i))
				require.EqualValues(t, 1, refused)
				require.GreaterOrEqual(t, g.expectedStart(g.h.ID()).moved, uint32(psnSpent))
			}
			for _, w := range first {
				g.replayed(w)
			}
		})
	}
}

// What has come on a PDC counts against the PSNs of the key, whatever it began with.
func TestPSNsOfAKeyAreCounted(t *testing.T) {
	g := newDomain(t, 8)
	p := PDC{peer: AddrFrom(g.a.addr), local: AddrFrom(g.b.addr), peerID: 1, state: StateEstablished}
	ends := func(start, last pds.PSN) uint32 {
		p.tx.start = start
		p.rx.Init(last + 1)
		g.b.m.start.remember(&p)
		return g.expectedStart(1).moved
	}
	require.EqualValues(t, 110, ends(100, 109))
	require.EqualValues(t, 1<<30, ends(1<<29, 1<<30-1))
	require.EqualValues(t, uint32(psnEnd), ends(1<<30, psnEnd-1))
	require.EqualValues(t, uint32(psnEnd), ends(5, 9), "and stays")
}

// An initiator goes on at the Expected_PSN that a target of the domain names, unless that is so far
// ahead that none of them can have come to it.
func TestInitiatorFollowsTheDomainsExpectedPSN(t *testing.T) {
	for _, c := range []struct {
		ahead  int64
		follow bool
	}{{0, true}, {1000, true}, {1<<30 - 1, true}, {1 << 30, false}, {-1, false}} {
		g := newPair(t, pairConfig{ids: [2]int{8, 8}})
		g.submit(1, 1)
		g.settle()
		require.NoError(t, g.a.m.Close(g.now, g.h))
		cmd := g.send(g.a)[0]
		psn := controlOf(t, cmd).PSN
		a := pds.AckExpected{
			Ack:      pds.Ack{SPDCID: controlOf(t, cmd).DPDCID, DPDCID: g.h.ID(), CACK: psn},
			Expected: psn + 1 + pds.PSN(c.ahead),
		}
		g.giveAll([]wire{{from: g.b, b: a.AppendTo(nil)}})
		require.True(t, g.a.has(EventClosed, CauseNone))
		next := g.a.m.start.startPSN(g.h)
		d := next.Diff(a.Expected)
		require.Equal(t, c.follow, d >= 0 && d < 1<<8, "%d", c.ahead)
	}
}
