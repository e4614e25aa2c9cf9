// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

func TestFaultL1OnePacketLostRUD(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 4)
	ws := g.send(g.a)
	g.giveAll(g.giveAll([]wire{ws[0], ws[2], ws[3]}))
	require.ElementsMatch(t, []uint64{1, 4}, g.a.take(EventResponse, EventImplicit), "3 has only arrived")
	g.wait(1_100_000)
	again := g.send(g.a)
	require.Len(t, again, 1, "what has arrived is not sent, nor asked about while a packet below is missing")
	q := request(t, again[0])
	require.Equal(t, request(t, ws[1]).PSN, q.PSN)
	require.NotZero(t, q.Flags&pds.FlagRetx)
	require.NotZero(t, q.Flags&pds.FlagAR)
	g.giveAll(g.giveAll(again))
	require.ElementsMatch(t, []uint64{2, 3}, g.a.take(EventResponse, EventImplicit))
	require.Len(t, g.b.got, 4)
}

// A packet that has arrived is asked about at its second time-out, whatever is missing below: its
// response may be wanted for a message of its own.
func TestFaultL1QuestionAboveMissingPacket(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 4)
	ws := g.send(g.a)
	g.giveAll(g.giveAll([]wire{ws[0], ws[2], ws[3]}))
	g.a.take(EventResponse, EventImplicit)
	g.wait(1_100_000)
	require.Len(t, g.send(g.a), 1, "lost again")
	g.wait(2_100_000)
	again := g.send(g.a)
	require.Len(t, again, 2)
	require.Equal(t, pds.CtlACKReq, controlOf(t, again[0]).Ctl)
	g.giveAll(g.giveAll(again[:1]))
	require.Equal(t, []uint64{3}, g.a.take(EventResponse, EventImplicit), "packet 2 is still missing")
}

// Where the responses to most packets have come, each its own, those lost are asked for together, at the first answer to a
// probe: of 3,000 atomics, at 800 Gb/s and 2 us with 1 % lost, one came back in each silence, in 203 times the ideal time.
func TestFaultL1LostResponsesAreAskedForTogether(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		g := established(t, pairConfig{ordered: ordered, cwnd: 1_500_000, Config: Config{InferLoss: true, BaseRTT: 10_000}})
		g.b.reply = guaranteed
		g.submit(1, 40)
		for i, w := range g.send(g.a) {
			if _, answers := g.give(w); i != 5 && i != 11 && i != 30 {
				g.giveAll(answers)
			}
		}
		require.Len(t, g.a.take(EventResponse, EventImplicit), 37)
		var asked []wire
		for range 20 {
			g.wait(2000)
			ws := g.send(g.a)
			for _, w := range ws {
				if controlOf(t, w).Ctl == pds.CtlACKReq {
					asked = append(asked, w)
				}
			}
			g.giveAll(g.giveAll(ws))
		}
		require.Len(t, asked, 3)
		require.ElementsMatch(t, []uint64{6, 12, 31}, g.a.take(EventResponse, EventImplicit))
		require.Less(t, g.now, int64(900_000), "no time-out")
	}
}

// A packet that has arrived is asked about also if the missing packet comes after its time-out, late, and is not sent again:
// the PDC had no timer then, and never ended.
func TestFaultL1QuestionAfterALatePacket(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 3)
	ws := g.send(g.a)
	g.give(ws[1]) // what is said of this one alone is lost
	g.b.reply = guaranteed
	g.giveAll(g.giveAll(ws[2:]))
	g.wait(1_100_000)
	g.giveAll(g.giveAll(ws[:1]))
	require.ElementsMatch(t, []uint64{1, 3}, g.a.take(EventResponse, EventImplicit))
	for i := range 10 {
		g.wait(1_000_000)
		if answers := g.giveAll(g.send(g.a)); i != 0 { // to the CLEAR_CMD, and the target's own questions: lost
			g.giveAll(answers)
		}
	}
	require.Equal(t, []uint64{2}, g.a.take(EventResponse, EventImplicit))
}

// A peer never heard has granted no credit yet: the first packet that is lost is sent again from
// the credit that a source begins with.
func TestFaultL1FirstPacketLostUnderCredit(t *testing.T) {
	g := newPair(t, pairConfig{control: ccc.ControlRCCC})
	g.submit(1, 1)
	require.Len(t, g.send(g.a), 1)
	g.wait(1_100_000)
	require.Len(t, g.send(g.a), 1)
}

func TestFaultL2OnePacketLostROD(t *testing.T) {
	g := established(t, pairConfig{ordered: true})
	g.submit(1, 4)
	ws := g.send(g.a)
	nacks := g.giveAll(ws[:1])
	for _, w := range ws[2:] {
		r, answer := g.give(w)
		require.ErrorIs(t, r.Err, ErrOrder)
		nacks = append(nacks, answer...)
	}
	require.Len(t, nacks, 1, "one ROD_OOO a gap")
	n := nackOf(t, nacks[0])
	require.Equal(t, pds.NackRODOOO, n.Code)
	require.Equal(t, request(t, ws[2]).PSN, n.PSN, "the packet that came too early")
	require.EqualValues(t, request(t, ws[1]).PSN, n.Payload, "Expected_PSN")
	info, _ := g.a.m.PDC(g.h)
	cc := g.a.m.cc.Context(info.Context)
	window := cc.Cwnd()
	g.giveAll(nacks)
	again := g.send(g.a)
	require.Len(t, again, 3, "everything from the gap on")
	require.Equal(t, window-int64(g.a.m.pdc[g.h.ID()].tx.packet(g.a.m.mem, 1).size), cc.Cwnd(), "one was lost, the others were refused")
	g.giveAll(g.giveAll(again))
	require.Equal(t, []pds.PSN{1, 2, 3, 4}, g.b.got)
	require.Len(t, g.a.take(EventResponse, EventImplicit), 4)
}

func TestFaultL2ReceiverBuffers(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true}})
	g.submit(1, 3)
	ws := g.send(g.a)
	r, _ := g.give(ws[1])
	require.Equal(t, VerdictBuffered, r.Verdict)
	r, _ = g.give(ws[2])
	require.Equal(t, VerdictBuffered, r.Verdict)
	g.give(ws[0])
	require.Equal(t, []pds.PSN{1}, g.b.got)
	order, acks := g.replay()
	require.Equal(t, []pds.PSN{2, 3}, order)
	require.Len(t, acks, 1, "for both")
	g.giveAll(acks)
	require.Len(t, g.a.take(EventResponse, EventImplicit), 3)
}

func TestFaultL3LastPacketLost(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 3)
	ws := g.send(g.a)
	g.giveAll(g.giveAll(ws[:2]))
	g.wait(1_100_000)
	again := g.send(g.a)
	require.Len(t, again, 3, "nothing newer made an ACK")
	require.EqualValues(t, 3, g.a.m.Stats().RTOs)
	g.giveAll(g.giveAll(again[2:]))
	require.Len(t, g.a.take(EventResponse, EventImplicit), 3)
}

func TestFaultL4CoalescedACKLost(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 8)
	acks := g.giveAll(g.send(g.a))
	require.Len(t, acks, 2, "one for 16 KiB, one for the EOM")
	g.giveAll(acks[1:])
	require.Len(t, g.a.take(EventResponse, EventImplicit), 8)
	g.wait(5 * ms)
	require.Empty(t, g.send(g.a))
}

func TestFaultL5GuaranteedACKLost(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	first := g.giveAll(g.send(g.a))
	g.b.reply = Response{}
	g.wait(1_100_000)
	second := g.giveAll(g.send(g.a))
	require.Len(t, g.b.got, 1, "the operation is executed once")
	require.Equal(t, first[0].b[pds.AckCCLen:], second[0].b[pds.AckCCLen:], "and its response repeated unaltered")
	r, _ := g.give(second[0])
	require.Equal(t, VerdictResponse, r.Verdict)
	r, _ = g.give(first[0])
	require.Equal(t, VerdictDone, r.Verdict, "seen once")
}

func TestFaultL7ClearStall(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 4}})
	g.b.reply = guaranteed
	g.submit(1, 4)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Len(t, g.a.take(EventResponse), 4)
	g.submit(5, 4)
	require.Empty(t, filterData(g.send(g.a)), "the window is full of released packets")
	for lost := range 3 {
		g.wait(1_100_000)
		ws := g.send(g.a)
		require.Len(t, ws, 2, "turn %d", lost)
		require.Equal(t, pds.CtlClearCmd, controlOf(t, ws[0]).Ctl)
		require.Equal(t, []pds.CtlType{pds.CtlACKReq, pds.CtlProbe}[lost%2], controlOf(t, ws[1]).Ctl)
	}
	g.wait(1_100_000)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Len(t, filterData(g.send(g.a)), 4, "max_cack has moved")
}

// Not every target answers an ACK_REQ of a stalled PDC, so each such PDC asks with a probe
// in turn, also where others are stalled at the same time.
func TestFaultL7StalledPDCsAskBothWays(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 4}})
	g.b.reply = guaranteed
	both := []Handle{g.h, g.openJob(7)}
	for _, g.h = range both {
		g.submit(1, 4)
	}
	g.giveAll(g.giveAll(g.send(g.a)))
	for _, g.h = range both {
		g.submit(5, 1)
	}
	asked := map[pds.PDCID][]pds.CtlType{}
	require.Empty(t, g.send(g.a))
	for range 4 {
		g.wait(1_100_000)
		for _, w := range g.send(g.a) {
			if c := controlOf(t, w); c.Ctl != pds.CtlClearCmd {
				asked[c.SPDCID] = append(asked[c.SPDCID], c.Ctl)
			}
		}
	}
	require.Len(t, asked, 2)
	for _, ctls := range asked {
		require.Equal(t, []pds.CtlType{pds.CtlACKReq, pds.CtlProbe, pds.CtlACKReq, pds.CtlProbe}, ctls)
	}
}

// The pauses between attempts that bring nothing double after the eighth, however long the
// first timeout of a packet is.
func TestFaultL7StallBreaksLessAndLessOften(t *testing.T) {
	for _, rto := range []int64{ms, 8000 * ms} {
		g := established(t, pairConfig{Config: Config{Range: 4, RTOInit: rto, ClearTime: ms, MaxRTORetx: 15, IdleTime: 1000_000 * ms}})
		g.b.reply = guaranteed
		g.submit(1, 4)
		g.giveAll(g.giveAll(g.send(g.a)))
		g.submit(5, 1)
		require.Empty(t, g.send(g.a))
		for range 1000 {
			g.wait(1_100_000)
			g.send(g.a)
		}
		require.Less(t, g.a.m.Stats().StallBreaks, uint64(20), "RTO_Init_Time %d", rto)
	}
}

// Without a limit the attempts go on for ever: in turn, and no more often than before.
func TestFaultL7StallWithoutALimit(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 4, MaxRTORetx: rtoForever, IdleTime: 1 << 50}})
	g.b.reply = guaranteed
	g.submit(1, 4)
	g.giveAll(g.giveAll(g.send(g.a)))
	g.submit(5, 1)
	require.Empty(t, g.send(g.a))
	before := g.a.m.Stats().StallBreaks
	last, pause := g.now, int64(0)
	for i := range 300 {
		var ws []wire
		for range 100 { // timers may be early
			if ws = g.send(g.a); len(ws) != 0 {
				break
			}
			at, _ := g.a.m.NextDeadline()
			g.wait(at - g.now)
		}
		require.Len(t, ws, 2, "attempt %d", i)
		require.Equal(t, []pds.CtlType{pds.CtlACKReq, pds.CtlProbe}[i%2], controlOf(t, ws[1]).Ctl, "attempt %d", i)
		if i > 1 {
			require.GreaterOrEqual(t, g.now-last, pause*9/10, "attempt %d", i)
		}
		last, pause = g.now, g.now-last
	}
	require.Equal(t, before+300, g.a.m.Stats().StallBreaks)
}

func TestFaultL8FirstFlightLost(t *testing.T) {
	g := newPair(t, pairConfig{start: 0xffffffff})
	g.submit(1, 3)
	g.send(g.a)
	g.wait(1_100_000)
	ws := g.send(g.a)
	require.Len(t, ws, 3)
	for i, w := range ws {
		q := request(t, w)
		require.NotZero(t, q.Flags&pds.FlagSYN)
		require.Equal(t, pds.PSN(0xffffffff), q.StartPSN(), "packet %d", i)
	}
	g.giveAll(g.giveAll(ws))
	require.Len(t, g.a.take(EventResponse), 3)
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
}

func TestFaultL9FirstACKLost(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	g.giveAll(g.send(g.a))
	g.wait(1_100_000)
	ws := g.send(g.a)
	require.NotZero(t, request(t, ws[0]).Flags&pds.FlagSYN)
	g.giveAll(g.giveAll(ws))
	require.Len(t, g.b.got, 1)
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
}

func TestFaultL10CloseAndItsACKLost(t *testing.T) {
	g := established(t, pairConfig{Config: Config{MaxRTORetx: 15}})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	c := g.send(g.a)
	require.Equal(t, pds.CtlCloseCmd, controlOf(t, c[0]).Ctl)
	g.wait(1_100_000)
	g.giveAll(g.send(g.a)) // arrives; its ACK is lost
	require.True(t, g.b.has(EventClosed, CauseNone))
	g.wait(2_200_000)
	acks := g.giveAll(g.send(g.a))
	require.Len(t, acks, 1, "in quarantine the ACK comes from memory")
	require.Equal(t, controlOf(t, c[0]).PSN, ackCC(t, acks[0]).CACK)
	g.giveAll(acks)
	require.True(t, g.a.has(EventClosed, CauseNone))
}

func TestFaultL11CloseNeverAcknowledged(t *testing.T) {
	for name, answer := range map[string]pds.NackCode{"silence": 0, "target forgot": pds.NackInvDPDCID} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{})
			require.NoError(t, g.a.m.Close(g.now, g.h))
			for range 40 {
				for _, w := range g.send(g.a) {
					if answer != 0 {
						g.nack(pds.Nack{Code: answer, PSN: controlOf(t, w).PSN})
					}
				}
				g.wait(1000 * ms)
			}
			require.True(t, g.a.has(EventClosed, CauseNone))
			require.Empty(t, g.a.take(EventError), "no error for a message")
			require.Equal(t, answer == 0, g.a.m.Stats().Unconfirmed == 1, "but it is counted")
		})
	}
}

func TestFaultL14Blackhole(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	var times []int64
	for g.now < 100_000*ms && !g.a.has(EventClosing, CauseRTO) {
		if len(filterData(g.send(g.a))) > 0 {
			times = append(times, g.now)
		}
		g.wait(ms / 2)
	}
	require.Len(t, times, 6, "the first and Max_RTO_Retx_Cnt more")
	for i := 2; i < len(times); i++ {
		require.InDelta(t, 2*(times[i-1]-times[i-2]), times[i]-times[i-1], ms, "1, 2, 4, ...")
	}
	require.Equal(t, []uint64{1, 2}, g.a.take(EventError))
	ws := g.send(g.a)
	require.Equal(t, pds.CtlCloseCmd, controlOf(t, ws[0]).Ctl, "the target may live")
	_, err := g.a.m.Submit(g.now, g.h, Packet{Size: 100})
	require.ErrorIs(t, err, ErrState)
}

func TestFaultL6NACKLost(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	w.b, w.trim = w.b[:pds.RequestLen], pds.NackTrimmed
	_, lost := g.give(w)
	require.Equal(t, pds.NackTrimmed, nackOf(t, lost[0]).Code)
	g.wait(900_000)
	require.Empty(t, g.send(g.a))
	g.wait(200_000)
	again := g.send(g.a)
	require.Len(t, again, 1, "the timeout covers it")
	require.EqualValues(t, 1, g.a.m.Stats().RTOs)
	g.giveAll(g.giveAll(again))
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
	g.wait(5 * ms)
	require.Empty(t, append(g.send(g.a), g.send(g.b)...), "the target says nothing of itself")
}

// A probe has no PSN, so one that is lost leaves no hole: the next goes later.
func TestFaultL12ProbeLost(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		g := established(t, pairConfig{Config: Config{InferLoss: true, RTOInit: 100 * ms}})
		g.submit(1, 1)
		lost := g.send(g.a)
		g.wait(100_000)
		before, rx := g.info(g.a), g.info(g.b)
		probe := g.send(g.a)
		require.Equal(t, pds.CtlProbe, controlOf(t, probe[0]).Ctl)
		if answerLost {
			require.Len(t, g.giveAll(probe), 1)
		}
		require.Equal(t, before.Next, g.info(g.a).Next)
		require.Equal(t, rx, g.info(g.b), "nothing to track")
		g.wait(100_000)
		next := g.send(g.a)
		require.Len(t, next, 1)
		require.NotEqual(t, controlOf(t, probe[0]).ProbeOpaque, controlOf(t, next[0]).ProbeOpaque)
		g.giveAll(g.giveAll(next))
		again := filterData(g.send(g.a))
		require.Len(t, again, 1)
		require.Equal(t, request(t, lost[0]).PSN, request(t, again[0]).PSN)
		g.giveAll(g.giveAll(again))
		require.Equal(t, []uint64{1}, g.a.take(EventResponse, EventImplicit))
	}
}

// Answers that bring nothing new make probes rarer, and then end them: what is missing waits for its
// timeout, however often the target is asked. News begin another count, as the timeout does. A probe
// that was lost has no part in the count.
func TestFaultL12ProbesBackOff(t *testing.T) {
	for _, tc := range []struct{ set, most, every int }{{0, 5, 1}, {0, 5, 2}, {2, 2, 1}, {2, 2, 2}, {15, 15, 1}} { // one of every arrives
		g := established(t, pairConfig{Config: Config{InferLoss: true, RTOInit: 1000 * ms, MaxTailLossRetx: tc.set}})
		g.submit(1, 1)
		g.send(g.a)
		var probes []int64
		resent := 0
		var last []wire
		ask := func() {
			for end := g.now + 900*ms; g.now < end; g.wait(10_000) {
				for _, w := range g.send(g.a) {
					if tp, _ := pds.PeekType(w.b); tp.IsRequest() {
						last = []wire{w}
						resent++ // inferred; lost again
						continue
					}
					require.Equal(t, pds.CtlProbe, controlOf(t, w).Ctl)
					if probes = append(probes, g.now); len(probes)%tc.every == 0 {
						g.giveAll(g.giveAll([]wire{w}))
					}
				}
			}
		}
		ask()
		require.Equal(t, tc.most, resent, "once for each probe that overtook it")
		require.Len(t, probes, tc.most*tc.every)
		require.GreaterOrEqual(t, probes[len(probes)-1]-probes[len(probes)-2], probes[1]-probes[0])
		g.wait(200 * ms)
		resent, probes = 0, nil
		ask()
		require.Equal(t, 1+tc.most, resent, "the timeout, and probes again")
		require.Len(t, probes, tc.most*tc.every)
		g.giveAll(g.giveAll(last))
		require.Zero(t, g.info(g.a).Outstanding)
		probes = nil
		g.submit(2, 1)
		g.send(g.a)
		ask()
		require.NotEmpty(t, probes)
	}
}

// What is sent again after a probe has left may still be on its way when that is answered.
func TestFaultL12ProbeBeforeResend(t *testing.T) {
	g := established(t, pairConfig{Config: Config{InferLoss: true, RTOInit: 100 * ms}})
	g.submit(1, 1)
	g.send(g.a)
	g.wait(100_000)
	probe := g.send(g.a)
	require.Equal(t, pds.CtlProbe, controlOf(t, probe[0]).Ctl)
	p := &g.a.m.pdc[g.h.ID()]
	g.a.m.source.timedOut(g.now, p, p.tx.base)
	again := filterData(g.send(g.a))
	require.Len(t, again, 1)
	g.giveAll(g.giveAll(probe))
	require.Empty(t, filterData(g.send(g.a)))
	g.giveAll(g.giveAll(again))
	require.Zero(t, g.info(g.a).Outstanding)
}

// Where a round trip takes long, Tail_Loss_Time is when a probe goes.
func TestTailLossTime(t *testing.T) {
	for _, c := range []struct{ packets, tail, want int64 }{
		{1, 0, 12_000 + 12_000}, {1, 2 * ms, 12_000 + 12_000}, {1, 15_000, 15_000},
		{900, 0, 3 * 12_000}, {900, 2 * ms, 3 * 12_000}, {900, 15_000, 15_000}, // more than the window has room for
	} {
		g := established(t, pairConfig{cwnd: 5000, Config: Config{InferLoss: true, RTOInit: 1000 * ms, TailLossTime: c.tail}})
		g.submit(1, int(c.packets))
		g.send(g.a)
		sent := g.now
		for len(g.send(g.a)) == 0 {
			g.wait(1000)
		}
		require.InDelta(t, c.want, g.now-sent, 1024, "%d packets, Tail_Loss_Time %d", c.packets, c.tail)
	}
}

// Credit is cumulative: what one CREDIT failed to bring the next one brings too.
func TestFaultL13CreditLost(t *testing.T) {
	credited := func(lost bool) int64 {
		g := newPair(t, pairConfig{control: ccc.ControlRCCC})
		require.NoError(t, g.a.m.Announce(0, g.h, 900*4160))
		g.submit(1, 900)
		g.giveAll(g.giveAll(g.send(g.a)))
		target := g.b.m.target.byID(g.info(g.b).ID).handle
		for _, total := range []uint32{200_000, 400_000} {
			out := make([]byte, ReplyMax)
			n, err := g.b.m.PutCredit(target, total/pds.ByteUnit, out)
			require.NoError(t, err)
			if !lost || total == 400_000 {
				g.give(wire{from: g.b, b: out[:n]})
			}
		}
		c := g.a.m.cc.Context(g.info(g.a).Context)
		return c.CreditTotal()
	}
	require.Equal(t, credited(false), credited(true))
}

// With everything before it acknowledged, the last packet alone times out, once.
func TestFaultL3OnlyTheLastTimesOut(t *testing.T) {
	g := established(t, pairConfig{Config: Config{AckPerPacket: true}})
	g.submit(1, 3)
	ws := g.send(g.a)
	g.giveAll(g.giveAll(ws[:2]))
	g.wait(1_100_000)
	again := g.send(g.a)
	require.Len(t, again, 1)
	require.EqualValues(t, 1, g.a.m.Stats().RTOs)
	g.giveAll(g.giveAll(again))
	require.Len(t, g.a.take(EventResponse, EventImplicit), 3)
	g.wait(5 * ms)
	require.Empty(t, g.send(g.a))
}

// A SACK shows that the packet has arrived whose guaranteed response was lost: the source
// asks for that and does not send the data again.
func TestFaultL5ArrivedAndAskedFor(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 2)
	ws := g.send(g.a)
	_, first := g.give(ws[0]) // lost
	_, second := g.give(ws[1])
	g.b.reply = Response{}
	g.giveAll(second)
	require.Equal(t, []uint64{2}, g.a.take(EventResponse))
	g.wait(1_100_000)
	ask := filterControl(g.send(g.a))
	require.Equal(t, pds.CtlACKReq, controlOf(t, ask[len(ask)-1]).Ctl)
	require.Equal(t, request(t, ws[0]).PSN, controlOf(t, ask[len(ask)-1]).PSN)
	require.Zero(t, g.a.m.Stats().Resent)
	answer := g.giveAll(ask)
	last := answer[len(answer)-1]
	require.Equal(t, first[0].b[pds.AckCCLen:], last.b[pds.AckCCLen:], "its response, unaltered")
	r, _ := g.give(last)
	require.Equal(t, VerdictResponse, r.Verdict)
	require.EqualValues(t, 1, r.Handle)
	require.Len(t, g.b.got, 2, "executed once")
}

// The timeout grows to 8 s, and by what spread adds, and no further, and with 15 retries it never ends.
func TestFaultL14BackoffIsCapped(t *testing.T) {
	g := established(t, pairConfig{Config: Config{RTOInit: 1000 * ms, MaxRTORetx: rtoForever}})
	g.submit(1, 1)
	var times []int64
	for len(times) < 8 {
		if len(filterData(g.send(g.a))) > 0 {
			times = append(times, g.now)
		}
		g.wait(50 * ms)
	}
	for i, want := range []int64{1, 2, 4, 8, 8, 8, 8} {
		wait, most := times[i+1]-times[i], want*1000*ms
		if i > 0 {
			most += spreadMost(most)
		}
		require.Greater(t, wait, want*1000*ms-100*ms, "%d", i)
		require.Less(t, wait, most+100*ms, "%d", i)
	}
}

// PDCs whose first packets were lost at one time send again at one time once, and then a quarter of
// the timeout apart, all packets of a PDC together.
func TestFaultL15RetriesSpread(t *testing.T) {
	var first, second []int64
	for number := range uint32(1000) {
		first = append(first, spread(ms, 0, number))
		second = append(second, spread(2*ms, 1, number))
	}
	slices.Sort(first)
	slices.Sort(second)
	require.EqualValues(t, []int64{ms, ms}, []int64{first[0], first[999]})
	for i, at := range second {
		require.InDelta(t, 2*ms+ms/2*i/1000, at, ms/40)
	}
}

// A target that infers losses says so once for each hole, when a packet has come that is far enough
// behind it, and the source sends that packet again at once, without any time-out. A hole that a
// switch has told of is not told of again.
func TestReceiverInfersLoss(t *testing.T) {
	for name, c := range map[string]struct {
		trimmed, ordered bool
		least, nacks     int
	}{
		"a hole":                   {least: 4, nacks: 1},
		"a trimmed packet":         {trimmed: true, least: 4},
		"a hole of an ordered one": {ordered: true, least: 4},
		"fewer packets behind it":  {least: 10},
		"off":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{ordered: c.ordered, cwnd: 1_500_000, Config: Config{RcvrInferLoss: c.least, BufferROD: c.ordered}})
			g.submit(1, 9)
			ws := g.send(g.a)
			var told []wire
			for i, w := range ws {
				if i == 1 {
					if w.trim = pds.NackTrimmed; c.trimmed {
						g.give(w)
					}
					continue
				}
				_, back := g.give(w)
				for _, b := range back {
					if pds.Type(b.b[0]>>3) == pds.TypeNACK {
						n := nackOf(t, b)
						require.Equal(t, pds.NackRcvrInferLoss, n.Code)
						require.Equal(t, request(t, ws[1]).PSN, n.PSN)
						require.Equal(t, 1+c.least, i, "the first that is so far behind it")
						told = append(told, b)
					}
				}
			}
			require.Len(t, told, c.nacks)
			g.giveAll(told)
			again := g.send(g.a)
			require.Len(t, again, c.nacks)
			if c.nacks == 0 {
				return
			}
			g.giveAll(told)
			require.Empty(t, g.send(g.a), "a copy of the NACK")
			g.giveAll(g.giveAll(again))
			require.Len(t, g.a.take(EventResponse, EventImplicit), 9)
			require.Zero(t, g.a.m.Stats().RTOs)
		})
	}
}
