package pdc

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// established is a pair after one packet there and back.
func established(t testing.TB, c pairConfig) *pair {
	g := newPair(t, c)
	g.submit(1000, 1)
	g.settle()
	require.Equal(t, StateEstablished, g.info(g.a).State)
	g.a.take()
	g.b.take()
	g.b.got = nil
	return g
}

const ms = 1_000_000

func TestFaultL1OnePacketLostRUD(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 4)
	ws := g.send(g.a)
	g.giveAll(g.giveAll([]wire{ws[0], ws[2], ws[3]}))
	require.ElementsMatch(t, []uint64{1, 4}, g.a.take(EventResponse, EventImplicit), "3 has only arrived")
	g.wait(1_100_000)
	again := g.send(g.a)
	require.Len(t, again, 2)
	require.Equal(t, pds.CtlACKReq, controlOf(t, again[0]).Ctl, "what has arrived is asked about, not sent")
	q := request(t, again[1])
	require.Equal(t, request(t, ws[1]).PSN, q.PSN)
	require.NotZero(t, q.Flags&pds.FlagRetx)
	require.NotZero(t, q.Flags&pds.FlagAR)
	g.giveAll(g.giveAll(again))
	require.ElementsMatch(t, []uint64{2, 3}, g.a.take(EventResponse, EventImplicit))
	require.Len(t, g.b.got, 4)
}

func TestFaultL2OnePacketLostROD(t *testing.T) {
	g := established(t, pairConfig{ordered: true})
	g.submit(1, 4)
	ws := g.send(g.a)
	nacks := g.giveAll([]wire{ws[0], ws[2], ws[3]})
	require.Len(t, nacks, 1, "one ROD_OOO a gap")
	n := nackOf(t, nacks[0])
	require.Equal(t, pds.NackRODOOO, n.Code)
	require.Equal(t, request(t, ws[1]).PSN, n.PSN, "it names the lowest missing PSN")
	g.giveAll(nacks)
	again := g.send(g.a)
	require.Len(t, again, 3, "everything from the gap on")
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
	var order []pds.PSN
	var out [ReplyMax]byte
	for _, e := range g.b.events {
		require.Equal(t, EventReplay, e.Kind)
		order = append(order, e.PSN)
		n, err := g.b.m.Respond(g.now, RxID{e.PDC, e.PSN}, &Response{}, out[:])
		require.NoError(t, err)
		g.give(wire{from: g.b, b: out[:n]})
	}
	require.Equal(t, []pds.PSN{2, 3}, order)
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
		require.Contains(t, []pds.CtlType{pds.CtlACKReq, pds.CtlProbe}, controlOf(t, ws[1]).Ctl)
	}
	g.wait(1_100_000)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Len(t, filterData(g.send(g.a)), 4, "max_cack has moved")
}

func filterData(ws []wire) (out []wire) {
	for _, w := range ws {
		if t, _ := pds.PeekType(w.b); t.IsRequest() {
			out = append(out, w)
		}
	}
	return out
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
		})
	}
}

// nack gives a a NACK from b's address.
func (g *pair) nack(n pds.Nack) Result {
	info := g.info(g.a)
	n.DPDCID = info.ID
	if !n.Code.IsTrimmed() && n.Code != pds.NackInvDPDCID && n.SPDCID == 0 {
		n.SPDCID = max(info.PeerID, 1)
	}
	r, _ := g.give(wire{from: g.b, b: n.AppendTo(nil)})
	return r
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

func TestFaultD1EveryPacketTwice(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 3)
	for _, w := range g.send(g.a) {
		g.give(w)
		r, again := g.give(w)
		require.ErrorIs(t, r.Err, ErrDuplicate)
		require.Empty(t, again, "the network made the copy")
	}
	require.Len(t, g.b.got, 3)
}

func TestFaultD1SYNTwice(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	ws := g.send(g.a)
	g.give(ws[0])
	_, again := g.give(ws[0])
	require.Len(t, again, 1, "a SYN is acknowledged again")
	require.Len(t, g.b.got, 1)
}

func TestFaultD2DuplicateBelowTheWindow(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	ws := g.send(g.a)
	g.giveAll(ws)
	pds.PatchRetx(ws[0].b, true)
	r, again := g.give(ws[0])
	require.ErrorIs(t, r.Err, ErrDuplicate)
	a := ackCC(t, again[0])
	require.Equal(t, a.CACK, a.AckPSN())
	require.NotZero(t, a.Flags&pds.FlagRetx)
}

func TestFaultD3DuplicateWhileSESWorks(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.later = true
	g.submit(1, 1)
	ws := g.send(g.a)
	r, _ := g.give(ws[0])
	_, err := g.b.m.Respond(g.now, r.ID, &Response{Kind: RespondLater}, make([]byte, ReplyMax))
	require.NoError(t, err)
	pds.PatchRetx(ws[0].b, true)
	_, answer := g.give(ws[0])
	require.Equal(t, pds.NackRcvdSESProcg, nackOf(t, answer[0]).Code)
	g.giveAll(answer)
	require.Empty(t, g.send(g.a), "it causes no resend")
	out := make([]byte, ReplyMax)
	n, err := g.b.m.Respond(g.now, r.ID, &guaranteed, out)
	require.NoError(t, err)
	g.give(wire{from: g.b, b: out[:n]})
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
	_, err = g.b.m.Respond(g.now, r.ID, &guaranteed, out)
	require.ErrorIs(t, err, ErrStale)
}

func TestFaultD4DuplicateACK(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	acks := g.giveAll(g.send(g.a))
	g.giveAll(acks)
	cc := *g.a.m.cc.Context(g.info(g.a).Context)
	g.a.take()
	g.giveAll(acks)
	require.Empty(t, g.a.events)
	require.Equal(t, cc, *g.a.m.cc.Context(g.info(g.a).Context), "congestion control hears nothing twice")
}

func TestFaultD5DuplicateOfAClearedRequest(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	ws := g.send(g.a)
	g.giveAll(g.giveAll(ws))
	g.wait(1_100_000)
	g.settle() // CLEAR_CMD
	pds.PatchRetx(ws[0].b, true)
	_, again := g.give(ws[0])
	require.Equal(t, pds.NextNone, ackCC(t, again[0]).Next, "the response is no longer known")
	g.a.take()
	g.giveAll(again)
	require.Empty(t, g.a.events)
}

func TestFaultR2OrderedSYNFlightReordered(t *testing.T) {
	g := newPair(t, pairConfig{ordered: true})
	g.submit(1, 2)
	ws := g.send(g.a)
	_, answer := g.give(ws[1])
	require.Equal(t, pds.NackRODOOO, nackOf(t, answer[0]).Code)
	require.Zero(t, nackOf(t, answer[0]).SPDCID)
	require.Zero(t, g.b.m.Stats().Opened)
	g.give(ws[0])
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
}

func TestFaultR4BeyondTheRange(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 8}})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	q := request(t, w)
	q.PSN, q.ClearOffset = q.PSN+8, -9
	q.Encode(w.b)
	r, answer := g.give(w)
	require.ErrorIs(t, r.Err, ErrOutside)
	require.Equal(t, pds.NackPSNOORWindow, nackOf(t, answer[0]).Code)
	require.Empty(t, g.b.got)
}

func TestFaultR5OlderACKAfterNewer(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 8)
	acks := g.giveAll(g.send(g.a))
	g.giveAll(acks[1:])
	before := g.info(g.a)
	g.giveAll(acks[:1])
	require.Equal(t, before, g.info(g.a))
}

func TestFaultR7CloseOvertakesData(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	data := g.send(g.a)
	info := g.info(g.a)
	cl := pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, SPDCID: info.ID, DPDCID: info.PeerID, PSN: info.Next}
	r, answer := g.give(wire{from: g.a, b: cl.AppendTo(nil)})
	require.Equal(t, VerdictDone, r.Verdict)
	require.Empty(t, answer)
	_, answer = g.give(data[0])
	require.Equal(t, info.Next, ackCC(t, answer[0]).CACK, "one ACK covers both")
	require.True(t, g.b.has(EventClosed, CauseNone))
	require.Len(t, g.b.got, 1)
}

func TestFaultT1Trimmed(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	w.b, w.trim = w.b[:pds.RequestLen], pds.NackTrimmed
	r, answer := g.give(w)
	require.ErrorIs(t, r.Err, ErrTrimmed)
	g.giveAll(answer)
	again := g.send(g.a)
	require.Len(t, again, 1, "at once")
	require.NotZero(t, request(t, again[0]).Flags&pds.FlagRetx)
	require.Zero(t, g.a.m.Stats().RTOs)
	g.giveAll(answer)
	require.Empty(t, g.send(g.a), "the same NACK again is of the first copy")
	g.giveAll(g.giveAll(again))
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
}

func TestFaultT2SYNTrimmed(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	w.b, w.trim = w.b[:pds.RequestLen], pds.NackTrimmedLastHop
	_, answer := g.give(w)
	require.Equal(t, pds.NackTrimmedLastHop, nackOf(t, answer[0]).Code)
	require.Zero(t, g.b.m.Stats().Opened)
	g.giveAll(answer)
	g.settle()
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
}

func TestFaultT4TrimmedAgainAndAgain(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	sent := 0
	for range 20 {
		for _, w := range filterData(g.send(g.a)) {
			sent++
			w.b, w.trim = w.b[:pds.RequestLen], pds.NackTrimmed
			g.giveAll(g.giveAll([]wire{w}))
		}
	}
	require.Equal(t, 6, sent, "Max_NACK_Retx_Cnt and the first")
	require.True(t, g.a.has(EventError, CauseNack))
}

func TestFaultT5TrimmedAndFullCopy(t *testing.T) {
	for _, trimmedFirst := range []bool{true, false} {
		g := established(t, pairConfig{})
		g.submit(1, 1)
		full := g.send(g.a)[0]
		cut := full
		cut.b, cut.trim = full.b[:pds.RequestLen], pds.NackTrimmed
		if trimmedFirst {
			_, n := g.give(cut)
			g.giveAll(g.giveAll([]wire{full}))
			g.giveAll(n)
		} else {
			_, a := g.give(full)
			_, n := g.give(cut)
			g.giveAll(append(a, n...))
		}
		require.Empty(t, g.send(g.a), "a NACK for a released PSN")
		require.Len(t, g.b.got, 1)
	}
}

func TestFaultP1TargetRestarts(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	fresh := newPair(t, pairConfig{})
	fresh.a, g.b = g.a, fresh.b
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Empty(t, g.b.got, "nothing is delivered into the new life")
	require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
	require.Equal(t, []uint64{1, 2}, g.a.take(EventError))
}

func TestFaultP2InitiatorRestarts(t *testing.T) {
	g := established(t, pairConfig{start: 5})
	again := newPair(t, pairConfig{start: 77777})
	g.a, g.h = again.a, again.h
	g.submit(1, 1)
	r, answer := g.give(g.send(g.a)[0])
	require.ErrorIs(t, r.Err, ErrStart)
	require.Equal(t, pds.NackInvalidSYN, nackOf(t, answer[0]).Code)
	g.giveAll(answer)
	require.Equal(t, []uint64{1}, g.a.take(EventError))
}

func TestFaultP4OldSYNAfterClose(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	syn := g.send(g.a)
	g.giveAll(g.giveAll(syn))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.True(t, g.b.has(EventClosed, CauseNone))
	r, answer := g.give(syn[0])
	require.ErrorIs(t, r.Err, ErrResting)
	require.Empty(t, answer)
	require.Len(t, g.b.got, 1, "delivered once")
}

func TestFaultP6StaleHandle(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	_, err := g.a.m.Submit(g.now, g.h, Packet{})
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, g.a.m.Begin(g.h), ErrUnknown)
	require.ErrorIs(t, g.a.m.Close(g.now, g.h), ErrUnknown)
	_, err = g.a.m.Respond(g.now, RxID{g.h, 0}, &Response{}, make([]byte, ReplyMax))
	require.ErrorIs(t, err, ErrUnknown)
}

func TestFaultP7Spoofed(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	ws := g.send(g.a)
	acks := g.giveAll(ws)
	stranger := acks[0]
	stranger.dst = netip.MustParseAddr("10.9.9.9")
	r, answer := g.give(stranger)
	require.ErrorIs(t, r.Err, ErrUnknown)
	require.Empty(t, answer, "an ACK is never answered")
	req := ws[0]
	req.dst = stranger.dst
	r, answer = g.give(req)
	require.ErrorIs(t, r.Err, ErrUnknown)
	require.Equal(t, pds.NackInvDPDCID, nackOf(t, answer[0]).Code)
	q := request(t, ws[0])
	q.SPDCID += 7
	q.Encode(ws[0].b)
	_, answer = g.give(ws[0])
	require.Equal(t, pds.NackPDCHdrMismatch, nackOf(t, answer[0]).Code)
	require.Empty(t, g.a.take(EventResponse))
}

func TestFaultW2SYNOffsetsEnd(t *testing.T) {
	g := newPair(t, pairConfig{})
	p := g.a.m.get(g.h)
	p.tx.base, p.tx.next, p.tx.tail, p.tx.cack = 4090, 4090, 4090, 4090
	g.submit(1, 20)
	ws := g.send(g.a)
	require.Len(t, ws, 6)
	require.EqualValues(t, 4095, request(t, ws[5]).Info.PSNOffset())
}

func TestFaultF1ForgedACK(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	g.send(g.a)
	info := g.info(g.a)
	for name, a := range map[string]pds.Ack{
		"CACK one beyond":    {CACK: info.Next},
		"CACK half beyond":   {CACK: info.Next + 1<<30},
		"ACK_PSN one beyond": {CACK: info.Next - 1, Offset: 1},
	} {
		t.Run(name, func(t *testing.T) {
			a.SPDCID, a.DPDCID = info.PeerID, info.ID
			r, _ := g.give(wire{from: g.b, b: a.AppendTo(nil)})
			require.ErrorIs(t, r.Err, ErrNeverSent)
			require.Equal(t, info, g.info(g.a))
			require.Empty(t, g.a.events)
		})
	}
}

func TestFaultF2SACKBeyondNext(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	g.send(g.a)
	info := g.info(g.a)
	a := pds.AckCC{Ack: pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: info.Base - 1}, SACK: pds.SACK{SACKOffset: 2, Bitmap: ^uint64(0), MPR: 8}}
	r, _ := g.give(wire{from: g.b, b: a.AppendTo(nil)})
	require.NoError(t, r.Err)
	p := g.a.m.get(g.h)
	require.Equal(t, []bool{false, true, false}, []bool{p.tx.hasArrived(p.tx.base), p.tx.hasArrived(p.tx.base + 1), p.tx.hasArrived(p.tx.next)})
}

func TestFaultF4ClearBeyondReceived(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	g.giveAll(g.send(g.a))
	info := g.info(g.a)
	c := pds.Control{Ctl: pds.CtlClearCmd, SPDCID: info.ID, DPDCID: info.PeerID, Payload: pds.PSNPayload(info.Next + 5)}
	before := g.info(g.b)
	g.give(wire{from: g.a, b: c.AppendTo(nil)})
	require.Equal(t, before, g.info(g.b))
	require.EqualValues(t, 1, g.b.m.Stats().BadClear)
}

func TestFaultF5NACKsWithoutEffect(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	g.send(g.a)
	info := g.info(g.a)
	for name, n := range map[string]pds.Nack{
		"released PSN":                 {Code: pds.NackTrimmed, PSN: info.Base - 1},
		"unsent PSN":                   {Code: pds.NackTrimmed, PSN: info.Next},
		"fatal, for a released PSN":    {Code: pds.NackInvDPDCID, PSN: info.Base - 1},
		"NEW_START_PSN, established":   {Code: pds.NackNewStartPSN, PSN: info.Base, Payload: 99},
		"refused SYN, established":     {Code: pds.NackNoPDCAvail, PSN: info.Base},
		"still processing":             {Code: pds.NackRcvdSESProcg, PSN: info.Base},
		"out of order, on RUD":         {Code: pds.NackRODOOO, PSN: info.Base},
		"out of window, below the top": {Code: pds.NackPSNOORWindow, PSN: info.MaxCACK},
	} {
		t.Run(name, func(t *testing.T) {
			r := g.nack(n)
			require.ErrorIs(t, r.Err, ErrStale)
			require.Equal(t, info, g.info(g.a))
			require.Empty(t, g.send(g.a))
		})
	}
}

func TestFaultF7MPR(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	info := g.info(g.a)
	ack := func(cack pds.PSN, mpr uint8) {
		a := pds.AckCC{Ack: pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: cack}, SACK: pds.SACK{MPR: mpr}}
		r, _ := g.give(wire{from: g.b, b: a.AppendTo(nil)})
		require.NoError(t, r.Err)
	}
	g.submit(1, 300)
	require.Len(t, g.send(g.a), 300)
	g.now += 12_000
	ack(info.Next, 1)
	g.submit(301, 100)
	require.Empty(t, g.send(g.a), "128 PSNs and 299 outstanding: none is recalled, none is new")
	ack(info.Next+199, 1)
	require.Len(t, g.send(g.a), 28)
}

func TestFaultF8ReservedControlPackets(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.a)
	for ctl := pds.CtlType(10); ctl < 16; ctl++ {
		c := pds.Control{Ctl: ctl, SPDCID: info.ID, DPDCID: info.PeerID, PSN: info.Next}
		r, answer := g.give(wire{from: g.a, b: c.AppendTo(nil)})
		require.ErrorIs(t, r.Err, pds.ErrCtlType)
		require.Empty(t, answer)
	}
}

func TestFaultF9NoPingPong(t *testing.T) {
	g := established(t, pairConfig{})
	ghost := pds.Control{Ctl: pds.CtlProbe, SPDCID: 3, DPDCID: 5}
	_, answer := g.give(wire{from: g.a, b: ghost.AppendTo(nil)})
	require.Equal(t, pds.NackInvDPDCID, nackOf(t, answer[0]).Code)
	for _, b := range [][]byte{
		(&pds.Ack{SPDCID: 3, DPDCID: 5}).AppendTo(nil),
		(&pds.Nack{Code: pds.NackTrimmed, SPDCID: 3, DPDCID: 5}).AppendTo(nil),
		answer[0].b,
	} {
		_, answer := g.give(wire{from: g.a, b: b})
		require.Empty(t, answer)
	}
}

func TestFaultS1SYNFlood(t *testing.T) {
	g := established(t, pairConfig{})
	answers := 0
	for i := range 500 {
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: pds.PDCID(100 + i), PSN: pds.PSN(i * 7919)}
		_, answer := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: netip.MustParseAddr("10.7.7.7")})
		answers += len(answer)
	}
	require.LessOrEqual(t, answers, 7+limiterBurst, "refusals are limited for each source")
	require.EqualValues(t, 8, g.b.m.Stats().Opened, "the pool is the limit")
	g.submit(1, 2)
	g.settle()
	require.Len(t, g.a.take(EventResponse, EventImplicit), 2, "established PDCs go on")
}

func TestFaultS2PoolExhausted(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) { c.Waiting = 2 }})
	open := func(tc uint8, ticket uint64) (Handle, error) {
		return g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: tc}, ticket)
	}
	for i := range 7 {
		h, err := open(uint8(10+i), 0)
		require.NoError(t, err)
		require.NoError(t, g.a.m.Begin(h))
	}
	g.submit(1, 1)
	_, err := open(50, 501)
	require.ErrorIs(t, err, ErrWaiting)
	_, err = open(51, 502)
	require.ErrorIs(t, err, ErrWaiting)
	_, err = open(52, 503)
	require.ErrorIs(t, err, ErrPaused)
	g.settle()
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	g.wait(2 * ms) // quarantine
	require.Equal(t, []uint64{501}, g.a.take(EventMessage))
	g.wait(200 * ms)
	require.True(t, g.a.has(EventError, CausePending))
	require.Equal(t, []uint64{502}, g.a.take(EventError))
}

func TestFaultS3ResponseStoreExhausted(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Responses: 1, Chunks: 40}})
	g.b.reply = guaranteed
	g.submit(1, 3)
	ws := g.send(g.a)
	g.give(ws[1])
	_, answer := g.give(ws[2])
	require.Equal(t, pds.NackNoGtdDelAvail, nackOf(t, answer[0]).Code, "the shared slot is taken")
	r, _ := g.give(ws[0])
	require.Equal(t, VerdictRequest, r.Verdict, "the lowest missing packet has a slot of its own")
}

func TestFaultS4SESRefuses(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = Response{Kind: RespondRefuse, Code: pds.NackNoSESMsgAvail}
	g.submit(1, 1)
	nacks := g.giveAll(g.send(g.a))
	require.Equal(t, pds.NackNoSESMsgAvail, nackOf(t, nacks[0]).Code)
	g.giveAll(nacks)
	require.Empty(t, g.send(g.a), "not before NACK_Retx_Time")
	g.b.reply = Response{}
	g.wait(1_100_000)
	g.settle()
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
	require.Len(t, g.b.got, 2, "a refused packet was never received")
}

func TestFaultS6NothingGranted(t *testing.T) {
	g := established(t, pairConfig{cwnd: 5000})
	g.submit(1, 900)
	n := len(filterData(g.send(g.a)))
	require.Less(t, n, 900)
	g.wait(500_000)
	require.Zero(t, len(g.send(g.a)))
	g.wait(600_000)
	require.EqualValues(t, n, g.a.m.Stats().RTOs, "no timeout for what was never sent")
}

func TestFaultK1TargetAsksToClose(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.b)
	target := g.b.m.byID(info.ID).handle
	require.NoError(t, g.a.m.Begin(g.h)) // a message begins meanwhile
	require.NoError(t, g.b.m.Close(g.now, target))
	g.settle()
	require.Equal(t, StateQuiesce, g.info(g.a).State)
	h := g.open(false)
	require.NotEqual(t, g.h, h, "a new message goes on a new PDC")
	_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 7, Size: 4160, Next: pds.NextRequestStd, EOM: true})
	require.NoError(t, err, "the open one goes on")
	g.settle()
	require.Contains(t, g.a.take(EventResponse), uint64(7))
	require.Nil(t, g.a.m.get(g.h))
	require.Nil(t, g.b.m.get(target))
}

func TestFaultK2CloseRequestCrossesClose(t *testing.T) {
	g := established(t, pairConfig{})
	target := g.b.m.byID(g.info(g.b).ID).handle
	require.NoError(t, g.b.m.Close(g.now, target))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	ask, cmd := g.send(g.b), g.send(g.a)
	g.giveAll(append(g.giveAll(cmd), g.giveAll(ask)...))
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone))
	require.True(t, g.b.has(EventClosed, CauseNone))
}

func TestFaultK3CloseWithDataOutstanding(t *testing.T) {
	g := established(t, pairConfig{})
	target := g.b.m.byID(g.info(g.b).ID).handle
	_, err := g.b.m.Submit(g.now, target, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData})
	require.NoError(t, err)
	info := g.info(g.a)
	cl := pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, SPDCID: info.ID, DPDCID: info.PeerID, PSN: info.Next}
	_, answer := g.give(wire{from: g.a, b: cl.AppendTo(nil)})
	require.Equal(t, pds.NackClosingInErr, nackOf(t, answer[0]).Code)
	require.Equal(t, []uint64{9}, g.b.take(EventError))
}

func TestFaultK4CloseRequestExpires(t *testing.T) {
	g := established(t, pairConfig{})
	target := g.b.m.byID(g.info(g.b).ID).handle
	require.NoError(t, g.b.m.Close(g.now, target))
	g.send(g.b) // lost
	g.wait(1_100_000)
	require.True(t, g.b.has(EventClosed, Cause(pds.NackClosingInErr)))
	ws := g.send(g.b)
	require.Equal(t, pds.NackClosingInErr, nackOf(t, ws[0]).Code)
}

func TestFaultK5RequestAfterClose(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	ws := g.send(g.a)
	info := g.info(g.a)
	cl := pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, SPDCID: info.ID, DPDCID: info.PeerID, PSN: info.Base + 1}
	g.give(wire{from: g.a, b: cl.AppendTo(nil)})
	q := request(t, ws[1])
	q.PSN++
	q.Encode(ws[1].b)
	r, answer := g.give(ws[1])
	require.ErrorIs(t, r.Err, ErrClosing)
	require.Equal(t, pds.NackClosing, nackOf(t, answer[0]).Code)
}

func TestFaultK6LockHeld(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Lock(g.h))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Empty(t, g.send(g.a))
	require.Equal(t, 1, g.info(g.a).Locks)
	require.NoError(t, g.a.m.Unlock(g.now, g.h))
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone))
}

func TestFaultK7CloseBeforeAnyACK(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 2)
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.Equal(t, []uint64{1, 2}, g.a.take(EventResponse))
	require.Nil(t, g.a.m.get(g.h))
}

func TestCloseOfAnUnusedPDC(t *testing.T) {
	g := newPair(t, pairConfig{})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Empty(t, g.send(g.a))
	g.a.drain()
	require.True(t, g.a.has(EventClosed, CauseNone))
}

func TestFaultQ1Mark(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 4)
	ws := g.send(g.a)
	ws[1].ce = true
	acks := g.giveAll(ws)
	require.Len(t, acks, 2, "a mark is told at once")
	require.NotZero(t, ackCC(t, acks[0]).Flags&pds.FlagM)
	require.Equal(t, request(t, ws[1]).PSN, ackCC(t, acks[0]).AckPSN())
	require.Zero(t, ackCC(t, acks[1]).Flags&pds.FlagM)
}

func TestFaultU1RUDI(t *testing.T) {
	g := newPair(t, pairConfig{})
	id, err := g.a.m.SubmitRUDI(g.now, AddrFrom(g.a.addr), AddrFrom(g.b.addr), Packet{Handle: 5, Size: 200, Next: pds.NextRequestSmall})
	require.NoError(t, err)
	first := g.send(g.a)
	require.Len(t, first, 1)
	g.wait(1_100_000) // the response was lost
	second := g.send(g.a)
	var answers []wire
	for _, w := range append(first, second...) {
		r, _ := g.give(w)
		require.Equal(t, VerdictRUDIRequest, r.Verdict, "each arrival is executed")
		require.Equal(t, id, r.PktID)
		out := make([]byte, ReplyMax)
		n, err := g.b.m.RespondRUDI(r.PktID, false, &Response{Next: pds.NextResponse, Bytes: make([]byte, 12)}, out)
		require.NoError(t, err)
		answers = append(answers, wire{from: g.b, b: out[:n]})
	}
	r, _ := g.give(answers[0])
	require.Equal(t, VerdictRUDIResponse, r.Verdict)
	require.EqualValues(t, 5, r.Handle)
	r, _ = g.give(answers[1])
	require.ErrorIs(t, r.Err, ErrStale, "one completion")
	g.wait(100 * ms)
	require.Empty(t, g.send(g.a))
}

func TestFaultU2RUDIRefused(t *testing.T) {
	g := newPair(t, pairConfig{})
	_, err := g.a.m.SubmitRUDI(g.now, AddrFrom(g.a.addr), AddrFrom(g.b.addr), Packet{Handle: 5, Size: 200, Next: pds.NextRequestSmall})
	require.NoError(t, err)
	refuse := func(code pds.NackCode) {
		for _, w := range g.send(g.a) {
			r, _ := g.give(w)
			out := make([]byte, ReplyMax)
			n, err := g.b.m.RespondRUDI(r.PktID, false, &Response{Kind: RespondRefuse, Code: code}, out)
			require.NoError(t, err)
			g.give(wire{from: g.b, b: out[:n]})
		}
	}
	refuse(pds.NackNoResource)
	require.Empty(t, g.send(g.a), "it waits")
	g.wait(1_100_000)
	refuse(pds.NackUnexpEvent)
	require.True(t, g.a.has(EventError, Cause(pds.NackUnexpEvent)))
	g.wait(100 * ms)
	require.Empty(t, g.send(g.a))
}

func TestFaultU3Datagram(t *testing.T) {
	g := newPair(t, pairConfig{})
	b := make([]byte, 64)
	_, err := PutUUD(pds.NextRequestSmall, b)
	require.NoError(t, err)
	w := wire{from: g.a, b: b}
	for range 2 {
		r, answer := g.give(w)
		require.Equal(t, VerdictDatagram, r.Verdict)
		require.Empty(t, answer)
	}
	w.trim = pds.NackTrimmed
	r, answer := g.give(w)
	require.ErrorIs(t, r.Err, ErrTrimmed)
	require.Empty(t, answer)
}

func TestOneRTTStart(t *testing.T) {
	g := newPair(t, pairConfig{start: 9, manager: func(c *ManagerConfig) { c.OneRTTStart = true }})
	g.submit(1, 3)
	ws := g.send(g.a)
	r, answer := g.give(ws[0])
	require.ErrorIs(t, r.Err, ErrStart)
	n := nackOf(t, answer[0])
	require.Equal(t, pds.NackNewStartPSN, n.Code)
	g.giveAll(answer)
	again := g.send(g.a)
	require.Len(t, again, 3)
	require.Equal(t, pds.PSN(n.Payload), request(t, again[0]).PSN)
	g.giveAll(g.giveAll(again))
	require.Equal(t, []uint64{1, 2, 3}, g.a.take(EventResponse))
	require.Len(t, g.b.got, 3)
}

func TestOneRTTStartIsReaped(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) { c.OneRTTStart = true }})
	g.submit(1, 1)
	g.giveAll(g.send(g.a))
	require.Equal(t, StatePending, g.info(g.b).State)
	g.wait(6 * ms)
	require.True(t, g.b.has(EventClosed, Cause(pds.NackNewStartPSN)))
}

func TestProbeAnswer(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.a)
	c := pds.Control{Ctl: pds.CtlProbe, ProbeOpaque: 0xbeef, Flags: pds.FlagAR, SPDCID: info.ID, DPDCID: info.PeerID, Payload: pds.PSNPayload(info.Next)}
	_, answer := g.give(wire{from: g.a, b: c.AppendTo(nil)})
	a := ackCC(t, answer[0])
	require.NotZero(t, a.Flags&pds.FlagP)
	require.EqualValues(t, 0xbeef, a.ProbeOpaque())
	require.Equal(t, info.Next-1, a.CACK)
	require.Equal(t, info.Next, g.info(g.b).Contiguous+1, "no PSN is consumed")
}

func TestQuestionAboutWhatNeverCame(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	g.send(g.a) // lost
	info := g.info(g.a)
	c := pds.Control{Ctl: pds.CtlACKReq, Flags: pds.FlagAR, SPDCID: info.ID, DPDCID: info.PeerID, PSN: info.Base}
	_, answer := g.give(wire{from: g.a, b: c.AppendTo(nil)})
	require.Equal(t, pds.NackPktNotRcvd, nackOf(t, answer[0]).Code)
	g.giveAll(answer)
	require.Len(t, g.send(g.a), 1, "the data goes at once")
}

// Each code of Table 3-59 at the source, on a packet that is outstanding.
func TestEveryNACKCode(t *testing.T) {
	type outcome string
	const (
		now    outcome = "sent again at once"
		delay  outcome = "sent again after NACK_Retx_Time"
		none   outcome = "ignored"
		closed outcome = "the PDC ends without a word"
		failed outcome = "the PDC closes in error"
	)
	want := map[pds.NackCode]outcome{
		pds.NackTrimmed: now, pds.NackTrimmedLastHop: now, pds.NackTrimmedACK: now, pds.NackNoPDCAvail: none, pds.NackNoCCCAvail: none,
		pds.NackNoBitmap: none, pds.NackNoPktBuffer: delay, pds.NackNoGtdDelAvail: delay, pds.NackNoSESMsgAvail: delay,
		pds.NackNoResource: delay, pds.NackPSNOORWindow: delay, pds.NackRODOOO: none, pds.NackInvDPDCID: closed,
		pds.NackPDCHdrMismatch: failed, pds.NackClosing: closed, pds.NackClosingInErr: closed, pds.NackPktNotRcvd: now,
		pds.NackGtdRespUnavail: failed, pds.NackACKWithData: now, pds.NackInvalidSYN: failed, pds.NackPDCModeMismatch: failed,
		pds.NackNewStartPSN: none, pds.NackRcvdSESProcg: none, pds.NackUnexpEvent: failed, pds.NackRcvrInferLoss: now,
		pds.NackExpNormal: delay, pds.NackExpErr: failed, pds.NackExpFatal: failed,
	}
	for c := range 256 {
		code := pds.NackCode(c)
		if code.IsReserved() {
			continue
		}
		t.Run(code.String(), func(t *testing.T) {
			g := established(t, pairConfig{})
			g.submit(1, 1)
			g.send(g.a)
			g.nack(pds.Nack{Code: code, PSN: g.info(g.a).Base, SPDCID: g.info(g.a).PeerID})
			got := none
			switch {
			case g.a.has(EventClosed, Cause(code)):
				got = closed
			case g.a.has(EventClosing, Cause(code)):
				got = failed
			case len(filterData(g.send(g.a))) > 0:
				got = now
			default:
				g.now += 999_000
				require.True(t, g.a.m.Tick(g.now))
				require.Empty(t, g.send(g.a))
				g.now += 3_000 // NACK_Retx_Time has passed; a timeout counts as RTO
				require.True(t, g.a.m.Tick(g.now))
				if len(filterData(g.send(g.a))) > 0 && g.a.m.Stats().RTOs == 0 {
					got = delay
				}
			}
			require.Equal(t, want[code], got)
		})
	}
}
