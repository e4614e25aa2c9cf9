// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// Waits that nothing would end: each was found by the fault simulation of endpoints.

// The room that a control packet leaves has no outcome of a packet to go with it.
func TestControlPacketLeavesRoom(t *testing.T) {
	for _, direct := range []bool{true, false} {
		g := established(t, pairConfig{Config: Config{Range: 4}})
		require.NoError(t, g.a.m.Noop(g.h))
		g.submit(1, 3+rowLen)
		ws := g.send(g.a)
		require.Len(t, ws, 4)
		acks := g.giveAll(ws)
		acked := acks[:1] // names the NOOP
		if !direct {
			acked = acks[len(acks)-1:] // CACK includes it
		}
		_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 4 + rowLen, Size: 4160, Next: pds.NextRequestStd})
		require.ErrorIs(t, err, ErrWindowFull)
		g.giveAll(acked)
		require.Equal(t, []uint64{0}, g.a.take(EventRoom))
		_, err = g.a.m.Submit(g.now, g.h, Packet{Handle: 4 + rowLen, Size: 4160, Next: pds.NextRequestStd})
		require.NoError(t, err)
	}
}

// A target that has asked for a close waits for it as long as Close_REQ_Time says,
// whatever else its timer is for.
func TestCloseWaitOutlastsClear(t *testing.T) {
	g := established(t, pairConfig{Config: Config{CloseReqTime: 100 * ms}})
	b := g.b.m.target.byID(g.info(g.b).ID)
	g.b.reply = guaranteed
	require.NoError(t, g.a.m.Lock(g.h)) // the initiator cannot close yet
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.NoError(t, g.b.m.Close(g.now, b.handle))
	g.settle()
	require.Equal(t, StateCloseWait, b.state)
	for range 50 {
		g.wait(ms)
		g.settle()
	}
	require.Equal(t, StateCloseWait, b.state, "PDS_Clear_Time has passed many times")
	g.wait(60 * ms)
	g.wait(101 * ms)
	require.True(t, g.b.has(EventClosed, Cause(pds.NackClosingInErr)))
}

// A target that has asked for a close, and is to come back to what its peer has sent, waits
// for a peer that says nothing as long as for any other, and not for ever.
func TestCloseWaitOfASilentPeerThatWaits(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{IdleTime: 1000 * ms}, manager: func(c *ManagerConfig) {
		c.Awaited = func(Handle) bool { return true }
	}})
	require.NoError(t, g.a.m.Lock(g.h))
	g.submit(1, 1)
	g.settle()
	b := g.b.m.target.byID(g.info(g.b).ID)
	require.NoError(t, g.b.m.Close(g.now, b.handle))
	g.settle()
	for range 1900 {
		g.wait(ms)
		require.Equal(t, StateCloseWait, b.state)
	}
	for range 1000 {
		g.wait(ms)
	}
	require.True(t, g.b.has(EventClosed, Cause(pds.NackClosingInErr)))
}

// Whoever repeats himself to a PDC in quarantine is told again that it has gone: the
// first answer may be lost.
func TestRestingAnswersRepeats(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.b.m.Abort(g.now, g.b.m.target.byID(g.info(g.b).ID).handle))
	g.submit(1, 2)
	ws := g.send(g.a)
	require.Len(t, g.giveAll(ws[:1]), 1) // lost
	require.Empty(t, g.giveAll(ws), "copies that the network made")
	g.wait(2 * ms)
	again := g.send(g.a)
	require.NotZero(t, request(t, again[0]).Flags&pds.FlagRetx)
	answers := g.giveAll(again)
	require.Equal(t, pds.NackInvDPDCID, nackOf(t, answers[0]).Code)
	g.giveAll(answers)
	g.settle() // it asks whether that came from its peer
	require.Equal(t, []uint64{1, 2}, g.a.take(EventError))

	c := pds.Control{Ctl: pds.CtlCreditReq, SPDCID: 1, DPDCID: 1, PSN: 5}
	for range 3 { // has no mark of a repeat
		_, back := g.give(wire{from: g.a, b: c.AppendTo(nil)})
		require.Equal(t, pds.NackInvDPDCID, nackOf(t, back[0]).Code)
	}
}

// So is an initiator that has never heard of the PDC that its SYN packet opened, and that has
// ended. It would open another one with the same packet after the quarantine, and have it
// delivered twice.
func TestRestingAnswersRepeatedSYN(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		var err error
		c.Table, err = NewTable(TableConfig{General: 8, Quarantine: 100 * ms, FirstID: 1, Seed: 1})
		require.NoError(t, err)
	}})
	g.submit(1, 1)
	syn := g.send(g.a)
	require.Len(t, g.giveAll(syn), 1) // lost
	require.NoError(t, g.b.m.Abort(g.now, g.b.m.target.byID(1).handle))
	require.Empty(t, g.giveAll(syn), "a copy that the network made")
	g.wait(2 * ms)
	again := g.send(g.a)
	require.Equal(t, pds.FlagSYN|pds.FlagRetx, request(t, again[0]).Flags&(pds.FlagSYN|pds.FlagRetx))
	answers := g.giveAll(again)
	require.Equal(t, pds.NackInvDPDCID, nackOf(t, answers[0]).Code)
	g.giveAll(answers)
	require.Equal(t, []uint64{1}, g.a.take(EventError))
	require.Len(t, g.b.got, 1, "delivered once")
}

// A PDC that is to close and waits for read data asks after its peer, too.
func TestQuiescedPDCOfAPeerThatIsGone(t *testing.T) {
	g := established(t, pairConfig{Config: Config{IdleTime: 100 * ms}})
	require.NoError(t, g.a.m.Lock(g.h))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Equal(t, StateQuiesce, g.info(g.a).State)
	require.NoError(t, g.b.m.Abort(g.now, g.b.m.target.byID(g.info(g.b).ID).handle))
	g.wait(110 * ms)
	g.settle()
	require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
}

// A PDC whose credit never comes has nothing under way that could time out. It gives
// its peer up after IdleTime.
func TestPeerThatGrantsNothingIsGivenUp(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{IdleTime: 100 * ms}, control: ccc.ControlRCCC})
	g.submit(1, 900)
	acks := g.giveAll(g.send(g.a)) // the initial credit
	g.giveAll(acks)
	require.Positive(t, g.info(g.a).Unsent)
	for range 40 {
		g.now += 5 * ms
		require.True(t, g.a.m.Tick(g.now))
		g.a.drain()
		g.send(g.a) // requests for credit, into the void
	}
	require.True(t, g.a.has(EventClosing, CauseRTO))
	require.Len(t, g.a.take(EventResponse, EventImplicit, EventError), 900)
}

// A PDC whose SYN packets have timed out and find no credit comes to its end nevertheless,
// when its peer answers nothing: long before the target's quarantine is over, after which
// such a packet, sent again, would be delivered again. Another PDC that waits for the same
// credit, and knows its peer, asks for it meanwhile.
func TestPeerThatIsGoneWithTheCredit(t *testing.T) {
	g := newPair(t, pairConfig{control: ccc.ControlRCCC})
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	syn := g.openJob(7)
	g.submitOn(syn, 2000, 1)
	g.submit(2, 900)
	out := make([]byte, ReplyMax)
	n, err := g.b.m.PutCredit(g.b.m.target.byID(g.info(g.b).ID).handle, 40_000/pds.ByteUnit, out)
	require.NoError(t, err)
	g.give(wire{from: g.b, b: out[:n]})
	g.send(g.a) // the credit is spent, and nothing arrives
	asked := 0
	for range 30 {
		g.wait(5 * ms)
		for _, w := range g.send(g.a) {
			if pds.Type(w.b[0]>>3) == pds.TypeCP && controlOf(t, w).Ctl == pds.CtlCreditReq {
				asked++
			}
		}
	}
	require.Contains(t, g.a.take(EventError), uint64(2000))
	require.Nil(t, g.a.m.get(syn))
	require.NotNil(t, g.a.m.get(g.h), "a peer that is silent is not gone")
	require.Positive(t, asked)
}

// PDCs that wait for the same credit ask for it in turn: the peer may have given up one of them, and refuses what asks on that.
// The first always asked for all, until the others failed for want of credit, with their peer there and ready to grant it.
func TestPDCsAskForCreditInTurn(t *testing.T) {
	g := newPair(t, pairConfig{control: ccc.ControlRCCC})
	g.submit(1, 1)
	second := g.openJob(7)
	g.submitOn(second, 2, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	g.submit(1000, 900)
	g.submitOn(second, 2000, 900)
	g.giveAll(g.giveAll(g.send(g.a)))
	asks := map[pds.PDCID]int{}
	for range 20 {
		g.wait(ms)
		for _, w := range g.send(g.a) {
			if pds.Type(w.b[0]>>3) == pds.TypeCP && controlOf(t, w).Ctl == pds.CtlCreditReq {
				asks[controlOf(t, w).SPDCID]++
			}
		}
	}
	require.Len(t, asks, 2)
	require.InDelta(t, asks[g.h.ID()], asks[second.ID()], 1)
}

// A context that waits for credit in vain looks at its own PDCs. Before, each looked at all: 64k peers that granted nothing
// held the endpoint up for ten seconds.
func TestDeniedContextLooksAtItsOwn(t *testing.T) {
	const others = 1 << 15
	g := newPair(t, pairConfig{control: ccc.ControlRCCC, ids: [2]int{others + 8, 8}})
	for job := range uint32(others) {
		_, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: crowdPeer(1), JobID: job, TC: 1}, 0)
		require.NoError(t, err)
	}
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	second := g.openJob(7)
	g.submit(2, 900)
	rec, c := &g.a.m.recovery, g.a.m.get(second).cc
	began := time.Now()
	for range 100_000 {
		if rec.whyDenied(c) != CauseNoCredit {
			t.Fatal("the peer answers")
		}
	}
	require.Less(t, time.Since(began), time.Second)
	rec.failDenied(g.now, c, CauseNoCredit)
	g.a.drain()
	require.NotNil(t, g.a.m.get(second), "it has nothing to send")
	require.True(t, g.a.has(EventClosing, CauseNoCredit))
	require.Len(t, g.a.take(EventClosing), 1)
}

// A PDC that fails does not wait for ever for a target that cannot close in order:
// what is missing there before the CLOSE_CMD is not sent any more.
func TestFailedCloseEnds(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 8, MaxRTORetx: 15}})
	for _, n := range []int{4, 8} { // the window of the target has room for the CLOSE_CMD, or not
		g.h = g.open(n == 8)
		g.submit(1, 1)
		g.settle()
		g.submit(2, n)
		ws := g.send(g.a)
		require.Len(t, ws, n)
		g.giveAll(g.giveAll(ws[1:])) // the first is lost
		require.NoError(t, g.a.m.Abort(g.now, g.h))
		for range 50 {
			g.wait(10 * ms)
			g.settle()
		}
		_, live := g.a.m.PDC(g.h)
		require.False(t, live)
		require.NotEmpty(t, g.a.take(EventError))
	}
}

// stalled is a pair whose initiator has more to send, and a window full of packets that are
// released and not cleared. Retries have no end.
func stalled(t *testing.T) *pair {
	g := newPair(t, pairConfig{Config: Config{Range: 4, MaxRTORetx: 15}, start: 500})
	g.b.reply = guaranteed
	g.submit(1, 4)
	g.giveAll(g.giveAll(g.send(g.a)))
	g.submit(5, 1)
	return g
}

// A packet lost beyond a window that has become smaller since waits for CACK, and nothing else is under
// way that could bring the CACK.
func TestStallWithALostPacket(t *testing.T) {
	const n = 131
	g := newPair(t, pairConfig{cwnd: 1 << 20, start: 500})
	g.b.reply = guaranteed
	g.submit(1, n)
	ws := g.send(g.a)
	require.Len(t, ws, n)
	g.giveAll(g.giveAll(ws[:n-1]))
	require.Len(t, g.a.take(EventResponse), n-1)
	require.NoError(t, g.nack(pds.Nack{Code: pds.NackPSNOORWindow, PSN: 500 + n - 1}).Err)
	for range 20 {
		g.settle()
		g.wait(ms / 4)
	}
	require.Equal(t, []uint64{n}, g.a.take(EventResponse))
	require.Zero(t, g.a.m.Stats().RTOs)
}

// A PDC whose window is stuck has nothing outstanding; the answer to its ACK_REQ tells
// that the target has gone, where retries have no end.
func TestStallEndsWithATargetThatHasGone(t *testing.T) {
	g := stalled(t)
	require.NoError(t, g.b.m.Abort(g.now, g.b.m.target.byID(g.info(g.b).ID).handle))
	for range 20 {
		g.settle()
		g.wait(2 * ms)
	}
	require.True(t, g.a.has(EventError, Cause(pds.NackInvDPDCID)))
	require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
}

// So does the answer of a target that has begun again and has given the PDCID to a PDC of
// somebody else.
func TestStallEndsWithATargetThatIsAnothers(t *testing.T) {
	g := stalled(t)
	a, other := g.a, newPair(t, pairConfig{start: 77777, first: [2]pds.PDCID{5}})
	g.a, g.b, g.h = other.a, other.b, other.h
	g.submit(1, 1)
	g.giveAll(g.send(g.a))
	require.Equal(t, pds.PDCID(5), g.info(g.b).PeerID)
	g.a = a
	for range 20 {
		g.settle()
		g.wait(2 * ms)
	}
	require.True(t, g.a.has(EventError, Cause(pds.NackPDCHdrMismatch)))
	require.True(t, g.a.has(EventClosed, Cause(pds.NackPDCHdrMismatch)))
}

// A timer that runs out for something else while nothing is outstanding does not leave
// behind a timeout that nobody watches: the next packet, whichever way it leaves, has one.
func TestTimeoutAfterATimerOfSomethingElse(t *testing.T) {
	for name, send := range map[string]func(m *Manager, now int64) bool{
		"Transmit": func(m *Manager, now int64) bool {
			var buf [ReplyMax]byte
			return m.Transmit(now, buf[:], &Out{})
		},
		"TransmitRun of one": func(m *Manager, now int64) bool { return m.Fast().TransmitRun(now, 1) != nil },
		"TransmitRun":        func(m *Manager, now int64) bool { return m.Fast().TransmitRun(now, 8) != nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{Config: Config{RTOInit: 10 * ms}})
			g.b.reply = guaranteed
			g.submit(1, 1)
			g.settle()
			require.Equal(t, []uint64{1}, g.a.take(EventResponse))
			g.wait(2 * ms) // PDS_Clear_Time is over, and the timeout would be later
			g.settle()
			g.wait(50 * ms)
			g.settle()

			g.submit(2, 1)
			require.True(t, send(g.a.m, g.now))
			at, ok := g.a.m.NextDeadline()
			require.True(t, ok)
			require.LessOrEqual(t, at, g.now+11*ms)
			g.wait(11 * ms)
			require.Len(t, g.send(g.a), 1, "it was lost")
		})
	}
}

// However many PDCs lose their peers together, they ask for those at the pace of one in outageSpace.
func TestProbesOfManySilentPeers(t *testing.T) {
	const pdcs = 128
	g := newPair(t, pairConfig{Config: Config{InferLoss: true}, memory: MemoryConfig{Chunks: 8 * pdcs}, ids: [2]int{2 * pdcs, 2 * pdcs}})
	var hs []Handle
	for job := range uint32(pdcs) {
		hs = append(hs, g.openJob(job))
		g.submitOn(hs[job], 1, 1)
		g.settle()
	}
	for _, h := range hs {
		g.submitOn(h, 2, 1)
	}
	probes, begun := 0, g.now
	for !g.a.has(EventClosing, CauseRTO) {
		for _, w := range filterControl(g.send(g.a)) {
			if controlOf(t, w).Ctl == pds.CtlProbe {
				probes++
			}
		}
		g.wait(20_000)
	}
	first := pdcs * (g.a.m.p.c.MaxTailLossRetx + 2)
	require.LessOrEqual(t, probes, first+int((g.now-begun)/outageSpace))
	require.Greater(t, probes, 2*first, "and go on asking")
}
