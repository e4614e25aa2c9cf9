// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// Rules of answers that a changed line of the code broke, and no other test noticed.

// A NACK_CCX is a NACK.
func TestNACKWithCCX(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	info := g.info(g.a)
	n := pds.NackCCX{Nack: pds.Nack{Code: pds.NackTrimmed, PSN: info.Base, SPDCID: info.PeerID, DPDCID: info.ID}}
	r, _ := g.give(wire{from: g.b, b: n.AppendTo(nil)})
	require.Equal(t, VerdictDone, r.Verdict)
	require.Equal(t, RxID{g.h, request(t, w).PSN}, r.ID)
	require.Len(t, g.send(g.a), 1, "sent again at once")
}

// Max_NACK_Retx_Cnt bounds how often a packet is gone back to.
func TestRODGoesBackSoOften(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{MaxNackRetx: 3, RTOInit: 1000 * ms}})
	pause := int64(0)
	g.submit(1, 2)
	g.send(g.a)
	for range 3 {
		g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: g.info(g.a).Base})
		require.Len(t, g.send(g.a), 2)
		g.wait(2 * ms)
	}
	for range 6 { // the peer is there: longer and longer pauses, as for a packet that switches trim
		require.False(t, g.a.has(EventClosing, CauseNack))
		at := g.now
		g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: g.info(g.a).Base})
		require.Empty(t, g.send(g.a))
		for len(g.send(g.a)) == 0 {
			g.wait(1 * ms)
		}
		require.Greater(t, g.now-at, pause)
		pause = g.now - at
	}
	g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: g.info(g.a).Base})
	require.True(t, g.a.has(EventClosing, CauseNack))
}

// The same bound holds for a packet that the target takes for lost again and again.
func TestLossIsInferredSoOften(t *testing.T) {
	g := established(t, pairConfig{Config: Config{MaxNackRetx: 3, RTOInit: 1000 * ms}})
	g.submit(1, 1)
	require.Len(t, g.send(g.a), 1)
	lost := pds.Nack{Code: pds.NackRcvrInferLoss, PSN: g.info(g.a).Base, Flags: pds.FlagRetx}
	for range 3 {
		require.NoError(t, g.nack(lost).Err)
		require.Len(t, g.send(g.a), 1)
	}
	require.False(t, g.a.has(EventClosing, CauseNack))
	g.nack(lost)
	require.True(t, g.a.has(EventClosing, CauseNack))
}

// A target that asks for another Start_PSN has counted nothing against the packets.
func TestNewStartForgetsRefusals(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{MaxNackRetx: 1, RTOInit: 1000 * ms}})
	g.submit(1, 2)
	g.send(g.a)
	refuse := func(n pds.Nack) []wire {
		g.nack(n)
		g.wait(2 * ms)
		return g.send(g.a)
	}
	require.Len(t, refuse(pds.Nack{Code: pds.NackNoPDCAvail, PSN: 1}), 1)
	require.Len(t, refuse(pds.Nack{Code: pds.NackNewStartPSN, PSN: 0, Payload: 7777}), 2)
	require.Len(t, refuse(pds.Nack{Code: pds.NackNoPDCAvail, PSN: 7778}), 1)
	require.Equal(t, StateCreating, g.info(g.a).State)
}

// What claims to answer a probe measures nothing when none is under way.
func TestAnswerWithoutAProbe(t *testing.T) {
	g := established(t, pairConfig{})
	base := g.a.m.cc.Context(g.info(g.a).Context).BaseRTT()
	g.now = 1000
	info := g.info(g.a)
	h := pds.AckCC{Ack: pds.Ack{Flags: pds.FlagP, SPDCID: info.PeerID, DPDCID: info.ID, CACK: info.Next - 1}}
	h.SetNSCC(&pds.NSCCState{})
	g.give(wire{from: g.b, b: h.AppendTo(nil)})
	require.Equal(t, base, g.a.m.cc.Context(info.Context).BaseRTT())
}

// So much has to overtake a packet for it to be taken for lost: 1.5 windows, but never more
// than the largest window, and no more than three quarters of the peer's.
func TestManyAhead(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_800_000})
	c, most := g.a.m.cc.Context(g.info(g.a).Context), int64(1_800_000/4200)
	require.Greater(t, c.Cwnd()*inferFactor/2, int64(1_800_000))
	w := g.a.m.get(g.h).tx
	for limit, most := range map[uint16]int64{w.limit: most, 128: 96} {
		w.limit = limit
		require.False(t, g.a.m.sched.manyAhead(c, &w, most-1))
		require.True(t, g.a.m.sched.manyAhead(c, &w, most))
	}
}

// A source that was quiet for long has no more answers than its bucket holds.
func TestLimiterFillsUpToItsBurst(t *testing.T) {
	var l limiter
	a := Addr{Lo: 1}
	for _, now := range []int64{0, 1_000_000_000} {
		n := 0
		for l.allow(now, a) {
			n++
		}
		require.Equal(t, limiterBurst, n)
	}
}

// Of more than fit, acknowledgements that no packet asked for show the newest 64 and the next 64 in turn.
func TestSACKRoves(t *testing.T) {
	var w recvWindow
	f := newFar(t)
	w.Init(100)
	for psn := pds.PSN(101); psn < 300; psn++ {
		w.Accept(f, psn-w.Missing())
	}
	for _, base := range []pds.PSN{236, 100, 236, 164, 236, 228, 236, 236, 236, 100, 236, 164, 236} {
		require.Equal(t, base, w.SACKRove())
	}
	w.Accept(f, 100-w.Missing())
	require.Equal(t, pds.PSN(300), w.SACKRove(), "all in order")
	for psn := pds.PSN(301); psn < 500; psn++ {
		w.Accept(f, psn-w.Missing())
	}
	require.Equal(t, pds.PSN(300), w.SACKRove(), "what it would have shown next is below")
}

// An acknowledgement that a packet caused shows what has arrived from CACK+1 on while that
// fits, and else the 64 up to that packet, so that the newest arrival always shows: on the
// wire, from both ways in which a target answers.
func TestSACKEndsWithThePacketThatCausedIt(t *testing.T) {
	for _, c := range []struct{ ahead, base int }{{1, 0}, {63, 0}, {64, 1}, {65, 2}, {200, 137}} {
		g := newPair(t, pairConfig{Config: Config{AckPerPacket: true}, start: 1000, cwnd: 1_800_000})
		g.submit(1, c.ahead+2)
		ws := g.send(g.a)
		g.giveAll(ws[:1]) // 1000 arrives, 1001 is lost
		_, back := g.give(ws[c.ahead+1])
		require.Len(t, back, 1)
		h := header[pds.AckCC](t, back[0])
		require.Equal(t, pds.PSN(1000), h.CACK)
		require.Equal(t, pds.PSN(1001+c.ahead), h.AckPSN())
		require.Equal(t, pds.PSN(1001+c.base), h.SACKBase(), "%d ahead", c.ahead)
		require.Equal(t, uint64(1)<<(c.ahead-c.base), h.SACK.Bitmap, "the newest, alone")
	}
}

// A packet that closes a hole is acknowledged for its own sake alone where none above the hole has asked.
func TestHoleClosesInSilence(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	g.submit(1, 6)
	ws := g.send(g.a)
	require.Zero(t, request(t, ws[1]).Flags&pds.FlagAR)
	require.Empty(t, g.giveAll(ws[1:3]))
	require.Empty(t, g.giveAll(ws[:1]), "nobody has asked")
}
