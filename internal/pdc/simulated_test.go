// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// What the fault simulation found, by name.

// A target that is asked for nothing else still forgets a key in time: the SYN
// packet that it dropped for the key's sake is taken when it comes again.
func TestRestingKeyIsForgottenWithoutOtherOpens(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	syn := g.send(g.a)[0]
	g.giveAll(g.giveAll([]wire{syn}))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	r, _ := g.give(syn)
	require.ErrorIs(t, r.Err, ErrResting)
	g.now += 2_000_000
	r, _ = g.give(syn)
	require.Equal(t, VerdictRequest, r.Verdict)
}

// An acknowledgement from before the PDC's time does not say who the peer is.
func TestStaleACKDoesNotNameThePeer(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	g.send(g.a)
	old := pds.AckCC{Ack: pds.Ack{SPDCID: 79, DPDCID: g.h.ID(), CACK: 498}}
	r, _ := g.give(wire{from: g.b, b: old.AppendTo(nil)})
	require.ErrorIs(t, r.Err, ErrStale)
	require.Zero(t, g.info(g.a).PeerID)
	old.CACK, old.Offset = 499, 0
	r, _ = g.give(wire{from: g.b, b: old.AppendTo(nil)})
	require.NoError(t, r.Err)
	require.Equal(t, pds.PDCID(79), g.info(g.a).PeerID)
}

// Nor does a request or control packet of an earlier PDC with the same id.
func TestStaleCloseRequestDoesNotNameThePeer(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	g.send(g.a)
	c := pds.Control{Ctl: pds.CtlCloseReq, Flags: pds.FlagAR, SPDCID: 79, DPDCID: g.h.ID(), PSN: 900_000}
	r, _ := g.give(wire{from: g.b, b: c.AppendTo(nil)})
	require.ErrorIs(t, r.Err, ErrStale)
	require.Zero(t, g.info(g.a).PeerID)
}

// A packet that a SACK reports while it waits to be sent again times out later: its
// response may have been lost, and somebody has to ask for it.
func TestArrivedWhileQueuedKeepsATimeout(t *testing.T) {
	p, err := NewParams(Config{})
	require.NoError(t, err)
	m, err := newMemory(memoryConfig{pdcs: 1})
	require.NoError(t, err)
	var w sendWindow
	w.Init(&p, m, 1, 100)
	for range 2 {
		err := w.push(&p, m, 0, 100, kind(pds.NextRequestStd))
		require.NoError(t, err)
		sendNext(&w, &p, m, 10)
	}
	for off := range uint32(2) {
		w.enqueue(m, off, 50)
	}
	_, again := w.expired(&p, m, 50, w.base)
	require.False(t, again)
	require.Equal(t, int64(never), w.rtoAt)
	var k ackGain
	require.True(t, w.OnACK(m, 1, &ackNews{Now: 60, CACK: 99, AckPSN: 101, SACKBase: 100, SACK: 3}, &k))
	require.EqualValues(t, 110, w.rtoAt)
}

// So the PDC's timer goes off by then, and not when the PDC has been idle for too long.
func TestArrivedWhileQueuedIsAskedAbout(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	ws := g.send(g.a)
	g.b.reply = Response{Kind: RespondLater}
	first, _ := g.give(ws[0])
	g.b.reply = Response{}
	_, second := g.give(ws[1])
	g.wait(1_100_000)
	g.give(second[0]) // both wait to be sent again; its SACK shows the first
	_, err := g.b.m.Respond(g.now, first.ID, &Response{}, make([]byte, ReplyMax))
	require.NoError(t, err)                                 // lost
	for end := g.now + 2*ms; g.a.m.Stats().Controls == 0; { // until it asks
		at, _ := g.a.m.NextDeadline()
		require.LessOrEqual(t, at, end)
		g.wait(at - g.now)
		g.settle()
	}
	require.ElementsMatch(t, []uint64{1, 2}, g.a.take(EventResponse, EventImplicit))
}

// A window that is full of released packets, and a peer that is dead: the attempts
// to move it end.
func TestStallEndsWithADeadPeer(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Range: 4, MaxRTORetx: 3}, start: 500})
	g.b.reply = Response{Kind: RespondGuaranteed, Next: pds.NextResponse, Bytes: make([]byte, 12)}
	g.submit(1, 4)
	g.giveAll(g.giveAll(g.send(g.a)))
	g.submit(5, 1)
	for range 100 {
		g.send(g.a) // nothing gets there
		g.now += 1_000_000_000
		require.True(t, g.a.m.Tick(g.now))
		g.a.drain()
	}
	require.True(t, g.a.has(EventError, CauseRTO))
	require.True(t, g.a.has(EventClosed, CauseRTO), "without a CLOSE_CMD, for which the window has no room")
}

// A message that is ended after its PDC has failed has nothing to take back from
// congestion control.
func TestEndMessageAfterFailure(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.NoError(t, g.a.m.Begin(g.h))
	require.NoError(t, g.a.m.Announce(g.now, g.h, 5000))
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	require.NoError(t, g.a.m.EndMessage(g.now, g.h, 5000))
	require.Zero(t, g.a.m.cc.Stale())
}

// What is answered to a control packet, or to a question about a packet, is no
// round trip of data: congestion control hears of none.
func TestNoSampleFromControlPackets(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Begin(g.h))
	other := g.openJob(7)
	cc := *g.a.m.cc.Context(g.info(g.a).Context)
	require.NoError(t, g.a.m.EndMessage(g.now, g.h, 0))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.now += 500_000
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Nil(t, g.a.m.get(g.h), "the CLOSE_CMD is acknowledged")
	info, ok := g.a.m.PDC(other)
	require.True(t, ok)
	require.Equal(t, cc.Window(), g.a.m.cc.Context(info.Context).Window())
}

func (g *pair) openJob(job uint32) Handle {
	h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: job, TC: 1}, 0)
	require.NoError(g.t, err)
	return h
}

func TestNoSampleFromAQuestion(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 2)
	ws := g.send(g.a)
	g.wait(1_100_000)
	again := g.send(g.a) // sent twice
	require.Len(t, again, 2)
	_, lost := g.give(again[0])
	require.Len(t, lost, 1)
	_, second := g.give(again[1])
	g.giveAll(second) // its SACK shows the first
	g.wait(4_000_000)
	ask := g.send(g.a)
	ask = ask[len(ask)-1:]
	require.Equal(t, pds.CtlACKReq, controlOf(t, ask[0]).Ctl)
	before := g.a.m.cc.Context(g.info(g.a).Context).Window()
	g.giveAll(g.giveAll(ask))
	require.Contains(t, g.a.take(EventResponse), uint64(1))
	after := g.a.m.cc.Context(g.info(g.a).Context).Window()
	require.Equal(t, before.QDelay, after.QDelay, "4 ms are no queue")
	require.Len(t, ws, 2)
}

// A PDC without credit whose peer is not known yet cannot send a CREDIT_REQ. When
// no other PDC of its context can either, its first packet asks.
func TestFirstPacketAsksForCredit(t *testing.T) {
	g := newPair(t, pairConfig{control: ccc.ControlRCCC})
	g.submit(1, 900)
	g.giveAll(g.giveAll(g.send(g.a)))
	second := g.openJob(7)
	g.submitOn(second, 2000, 1)
	require.Empty(t, filterData(g.send(g.a)), "the credit is spent")
	g.wait(20_000)
	ws := g.send(g.a)
	require.Len(t, ws, 1)
	require.Equal(t, pds.CtlCreditReq, controlOf(t, ws[0]).Ctl, "one that knows its peer asks")
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	for range 10 {
		g.wait(200_000)
		if ws = filterData(g.send(g.a)); len(ws) > 0 {
			break
		}
	}
	require.Len(t, ws, 1)
	q := request(t, ws[0])
	require.NotZero(t, q.Flags&pds.FlagSYN)
	require.Equal(t, pds.TypeRUDCCReq, q.Type)
	g.giveAll(g.giveAll(ws))
	require.Contains(t, g.a.take(EventResponse), uint64(2000))
}

// A PDC without credit has nothing under way that could time out. If its peer begins again
// it learns so when it asks about the last packet that it has sent. Otherwise it, and every
// other PDC of its context, since the first asks for all, would wait until it was idle for
// too long.
func TestPeerBeginsAgainWhileCreditIsAwaited(t *testing.T) {
	for name, last := range map[string]struct{ packet, ack int }{
		"for what is new":      {},
		"for what was lost":    {packet: 1},
		"for what has arrived": {ack: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := pairConfig{control: ccc.ControlBoth}
			g := newPair(t, c)
			g.submit(1, 900)
			ws := g.send(g.a)
			acks := g.giveAll(ws[:len(ws)-last.packet])
			g.giveAll(acks[:len(acks)-last.ack])
			require.Empty(t, filterData(g.send(g.a)), "the credit is spent")
			window := g.a.m.cc.Context(g.info(g.a).Context).Window()
			for range 20 {
				g.wait(500_000)
				g.settle()
			}
			require.Equal(t, StateEstablished, g.info(g.a).State, "a peer that is silent is not gone")
			require.Equal(t, window.QDelay, g.a.m.cc.Context(g.info(g.a).Context).Window().QDelay, "none was measured")
			require.Equal(t, last.packet, g.info(g.a).Outstanding)
			g.b = newPairEnd(t, &c, 1)
			for range 5 {
				g.wait(500_000)
				g.settle()
			}
			require.Nil(t, g.a.m.get(g.h))
			require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
		})
	}
}

// Packets that were never sent have no PSN: the CLOSE_CMD of a PDC that fails comes
// right behind what was, so the target, which has all that, acts on it.
func TestCloseAfterFailureLeavesNoHole(t *testing.T) {
	g := established(t, pairConfig{cwnd: 9000, Config: Config{MaxNackRetx: 31}})
	g.submit(1, 20)
	sent := g.send(g.a)
	require.Less(t, len(sent), 20)
	g.giveAll(sent) // the acknowledgements are lost
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	cl := g.send(g.a)
	require.Equal(t, request(t, sent[len(sent)-1]).PSN+1, controlOf(t, cl[0]).PSN)
	g.giveAll(g.giveAll(cl))
	require.Nil(t, g.a.m.get(g.h))
	require.True(t, g.b.has(EventClosed, CauseNone))
}
