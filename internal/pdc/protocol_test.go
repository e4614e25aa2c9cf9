// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// The ROD_OOO of a target that keeps nothing is lost as well: the timeout of the
// first packet sends the others again behind it, and they count as refused, not as
// lost.
func TestRODGoesBackOnTimeout(t *testing.T) {
	g := established(t, pairConfig{ordered: true, cwnd: 1 << 20})
	g.submit(1, 20)
	ws := g.send(g.a)
	require.Len(t, ws, 20)
	for _, w := range ws[1:] {
		g.give(w) // what comes back is lost
	}
	cwnd := g.a.m.cc.Context(g.info(g.a).Context).Cwnd()
	g.wait(1_100_000)
	again := g.send(g.a)
	require.Len(t, again, 20)
	for i, w := range again {
		require.Equal(t, request(t, ws[i]).PSN, request(t, w).PSN, "in order")
		require.NotZero(t, request(t, w).Flags&pds.FlagRetx)
	}
	require.EqualValues(t, 1, g.a.m.Stats().RTOs)
	require.Equal(t, cwnd-4160, g.a.m.cc.Context(g.info(g.a).Context).Cwnd(), "one packet was lost")
	g.giveAll(g.giveAll(again))
	require.Len(t, g.b.got, 20)
	require.Zero(t, g.info(g.a).Outstanding)
}

// A target that buffers shows what it has: that is not sent again.
func TestRODOnTimeoutSparesWhatHasArrived(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true}, cwnd: 1 << 20})
	g.submit(1, 20)
	ws := g.send(g.a)
	g.giveAll(g.giveAll(ws[1:]))
	g.wait(2 * ms)
	again := filterData(g.send(g.a))
	require.Len(t, again, 1)
	require.Equal(t, request(t, ws[0]).PSN, request(t, again[0]).PSN)
}

// What fills a gap may be a control packet, which nobody answers.
func TestRODGapFilledByANOOP(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true}})
	require.NoError(t, g.a.m.Noop(g.h))
	g.submit(1, 2)
	ws := g.send(g.a)
	require.Len(t, ws, 3)
	g.give(ws[1])
	g.give(ws[2])
	order, _ := g.replay()
	require.Empty(t, order)
	g.give(ws[0])
	order, acks := g.replay()
	require.Len(t, order, 2)
	g.giveAll(acks)
	require.Len(t, g.a.take(EventResponse, EventImplicit), 2)
}

// A buffered request that came marked has an acknowledgement of its own, which says so:
// no other one may carry its mark.
func TestBufferedRequestKeepsItsMark(t *testing.T) {
	for _, ignored := range []bool{false, true} {
		g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true, NoAckOnECN: ignored}})
		g.submit(1, 4)
		ws := g.send(g.a)
		ws[2].ce = true
		g.give(ws[1])
		g.give(ws[2])
		g.give(ws[3])
		g.give(ws[0])
		_, acks := g.replay()
		if ignored {
			require.Len(t, acks, 1)
			continue
		}
		require.Len(t, acks, 2)
		a := ackCC(t, acks[0])
		require.NotZero(t, a.Flags&pds.FlagM)
		require.Equal(t, request(t, ws[2]).PSN, a.AckPSN())
		require.Zero(t, ackCC(t, acks[1]).Flags&pds.FlagM)
	}
}

// Where each packet is acknowledged, so is each buffered one in its turn.
func TestBufferedRequestsAreAcknowledgedEach(t *testing.T) {
	for _, each := range []bool{false, true} {
		g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true, AckPerPacket: each}})
		g.submit(1, 4)
		ws := g.send(g.a)
		for _, w := range append(ws[1:], ws[0]) {
			g.give(w)
		}
		_, acks := g.replay()
		require.Len(t, acks, map[bool]int{false: 1, true: 3}[each])
	}
}

// What is said of a buffered request before its turn is not taken, nor what finds no room;
// RespondRefuse leaves it where it is.
func TestRespondToBuffered(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true, MaxAckData: 100}, manager: func(c *ManagerConfig) { c.Memory.LongResponses = 1 }})
	g.submit(1, 4)
	ws := g.send(g.a)
	for _, w := range ws[1:] {
		r, _ := g.give(w)
		require.Equal(t, VerdictBuffered, r.Verdict)
	}
	out := make([]byte, g.b.m.p.ReplyMax())
	psn := request(t, ws[1]).PSN
	h := g.b.m.table.ByID(request(t, ws[1]).DPDCID)
	_, err := g.b.m.Respond(g.now, RxID{h, psn}, &Response{}, out)
	require.ErrorIs(t, err, ErrStale)
	g.give(ws[0])

	next := func(want int) RxID {
		id, buffer := g.b.m.Replay()
		require.NotZero(t, buffer)
		require.Equal(t, RxID{h, psn + pds.PSN(want)}, id)
		return id
	}
	n, err := g.b.m.Respond(g.now, next(0), &Response{Kind: RespondRefuse, Code: pds.NackNoSESMsgAvail}, out)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = g.b.m.Respond(g.now, next(0), &Response{Kind: RespondLater, Room: 100}, out)
	require.NoError(t, err)
	_, err = g.b.m.Respond(g.now, next(1), &Response{Kind: RespondLater, Room: 100}, out)
	require.ErrorIs(t, err, ErrNoStore)
	_, err = g.b.m.Respond(g.now, next(1), &Response{Kind: RespondGuaranteed, Next: pds.NextResponse, Bytes: []byte("no")}, out)
	require.NoError(t, err)
	n, err = g.b.m.Respond(g.now, next(2), &Response{}, out)
	require.NoError(t, err)
	require.Equal(t, psn-1, ackCC(t, wire{b: out[:n]}).CACK, "the first is not answered")
	_, buffer := g.b.m.Replay()
	require.Zero(t, buffer)
	require.Zero(t, g.b.m.Buffered())
	_, err = g.b.m.Respond(g.now, RxID{h, psn}, &Response{Kind: RespondGuaranteed, Next: pds.NextResponseData, Bytes: make([]byte, 120)}, out)
	require.NoError(t, err)
}

// A SYN whose next_hdr is no request, or that is a control packet which opens
// nothing, is told so and opens nothing.
func TestSYNThatOpensNothing(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	q := *request(t, g.send(g.a)[0])
	for code, b := range map[pds.NackCode][]byte{
		pds.NackPDCHdrMismatch: func() []byte {
			q.Next = pds.NextResponseData
			return append(q.AppendTo(nil), make([]byte, 64)...)
		}(),
		pds.NackPDCModeMismatch: (&pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagSYN, SPDCID: 1, PSN: 7}).AppendTo(nil),
	} {
		r, back := g.give(wire{from: g.a, b: b})
		require.ErrorIs(t, r.Err, ErrIllegal)
		require.Equal(t, code, nackOf(t, back[0]).Code)
		require.Zero(t, nackOf(t, back[0]).SPDCID)
		require.Zero(t, g.b.m.Stats().Opened)
	}
}

func TestPendingPDCThatNobodyUsesIsCounted(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Start: StartRandom1RTT}})
	g.submit(1, 1)
	g.giveAll(g.send(g.a)) // NEW_START_PSN is lost
	g.now += 6 * ms
	require.True(t, g.b.m.Tick(g.now))
	require.EqualValues(t, 1, g.b.m.Stats().PendingOver)
}

// moveTo makes g's PDC one that has used n PSNs.
func (g *pair) moveTo(n uint32) {
	w := &g.a.m.get(g.h).tx
	d := n - w.tail
	w.base, w.next, w.tail, w.cack, w.limitAt = w.base+d, w.next+d, w.tail+d, w.cack+d, w.limitAt+d
	w.start -= pds.PSN(d)
}

// With Limit_PSN_Range a PDC takes no new message when few PSNs are left; the next
// one goes to another PDC, and what was begun ends.
func TestLimitPSNRangeClosesInTime(t *testing.T) {
	g := established(t, pairConfig{Config: Config{LimitPSNRange: true}})
	g.moveTo(psnClose - 1)
	require.Equal(t, g.h, g.open(false))
	g.submit(1, 1)
	require.NoError(t, g.a.m.Begin(g.h))
	other := g.open(false)
	require.NotEqual(t, g.h, other)
	old, _ := g.a.m.PDC(g.h)
	require.Equal(t, StateQuiesce, old.State)
	_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 2, Size: 4160, Next: pds.NextRequestStd, EOM: true})
	require.NoError(t, err)
	g.settle()
	require.Equal(t, []uint64{1, 2}, g.a.take(EventResponse, EventImplicit))
	_, live := g.a.m.PDC(g.h)
	require.False(t, live, "it has closed")
	_, live = g.a.m.PDC(other)
	require.True(t, live)
}

func TestLimitPSNRangeIsTheEnd(t *testing.T) {
	for _, limit := range []bool{true, false} {
		g := newPair(t, pairConfig{Config: Config{LimitPSNRange: limit}})
		require.NoError(t, g.a.m.Begin(g.h))
		g.moveTo(psnEnd - 1)
		_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 1, Size: 4160, Next: pds.NextRequestStd})
		require.NoError(t, err)
		_, err = g.a.m.Submit(g.now, g.h, Packet{Handle: 2, Size: 4160, Next: pds.NextRequestStd})
		if limit {
			require.ErrorIs(t, err, ErrPSNRange)
		} else {
			require.NoError(t, err)
		}
	}
}

// A PDC without a PSN for the CLOSE_CMD is gone at once.
func TestLimitPSNRangeLeavesNoCloseCmd(t *testing.T) {
	g := established(t, pairConfig{Config: Config{LimitPSNRange: true}})
	g.moveTo(psnEnd)
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.a.drain()
	require.True(t, g.a.has(EventClosed, CauseClosed))
	require.Nil(t, g.a.m.get(g.h))
	require.Empty(t, g.send(g.a))
}

// A context that is new and has more to send than the path holds measures its base
// round trip with a probe, once, when the peer's first answer has come.
func TestProbeMeasuresANewContext(t *testing.T) {
	g := newPair(t, pairConfig{cwnd: 100_000})
	g.submit(1, 400)
	g.now = 500
	ws := g.send(g.a)
	require.Empty(t, filterControl(ws), "a probe cannot open a PDC")
	acks := g.giveAll(ws[:1])
	g.now += 30_000 // the data met a queue
	g.giveAll(acks)
	probe := filterControl(g.send(g.a))
	require.Len(t, probe, 1)
	require.Equal(t, pds.CtlProbe, controlOf(t, probe[0]).Ctl)
	c := g.a.m.cc.Context(g.info(g.a).Context)
	require.EqualValues(t, 12_000, c.BaseRTT(), "as configured")
	g.now += 2_500
	_, back := g.give(probe[0])
	g.now += 2_500
	g.give(back[0])
	full := 5_000 + (g.a.m.cc.Params().NSCC().MTU()-64)*8/800
	require.Equal(t, full, c.BaseRTT(), "what a full packet would have taken at 800 Gb/s")
	g.now += 1
	g.give(back[0])
	require.Equal(t, full, c.BaseRTT(), "an answer counts once")
	g.settle()
	require.EqualValues(t, 1, g.a.m.Stats().Controls)
}

// No probe for less than the path holds, nor for a PDC that joins a context.
func TestNoProbeWithoutNeed(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 3)
	g.settle()
	require.Zero(t, g.a.m.Stats().Controls)

	g = newPair(t, pairConfig{cwnd: 50_000})
	g.submit(1, 400)
	g.settle()
	first := g.a.m.Stats().Controls
	require.EqualValues(t, 1, first)
	g.h = g.open(true)
	g.submit(1000, 400)
	g.settle()
	require.Equal(t, first, g.a.m.Stats().Controls)
}

// An answer to somebody else's probe says nothing.
func TestForgedProbeAnswer(t *testing.T) {
	g := newPair(t, pairConfig{cwnd: 50_000})
	g.submit(1, 400)
	ws := g.send(g.a)
	g.giveAll(g.giveAll(ws[:1]))
	probe := filterControl(g.send(g.a))
	g.now += 1_000
	_, back := g.give(probe[0])
	back[0].b[2] ^= 1
	g.give(back[0])
	base := func() int64 { return g.a.m.cc.Context(g.info(g.a).Context).BaseRTT() }
	require.EqualValues(t, 12_000, base())
	a := *ackCC(t, back[0]) // any other acknowledgement has an offset there
	a.Flags = pds.Flags(0).WithReq(pds.AckReqClear)
	a.Offset = 0
	g.a.m.pdc[g.h.ID()].opaque = 0
	r, _ := g.give(wire{from: g.b, b: a.AppendTo(nil)})
	require.NoError(t, r.Err)
	require.EqualValues(t, 12_000, base())
}

// The CLEAR_CMD of a PDC that goes quiet is lost: the target asks, less and less
// often, until it hears one.
func TestTargetAsksForALostClear(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{KnownSources: true}})
	g.b.reply = guaranteed
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	g.now += 2 * ms
	require.True(t, g.a.m.Tick(g.now))
	require.Equal(t, pds.CtlClearCmd, controlOf(t, g.send(g.a)[0]).Ctl) // lost
	p := g.b.m.target.byID(g.info(g.b).ID)
	require.NotZero(t, p.resp.Head)
	asked := 0
	for range 1000 {
		g.now += ms
		require.True(t, g.b.m.Tick(g.now))
		asked += len(g.send(g.b))
	}
	require.Greater(t, asked, 5)
	require.Less(t, asked, 12, "doubling from 4 ms on")
	g.now += 1000 * ms
	require.True(t, g.b.m.Tick(g.now))
	req := g.send(g.b)
	require.Equal(t, pds.CtlClearReq, controlOf(t, req[0]).Ctl)
	require.Zero(t, controlOf(t, req[0]).PSN)
	require.Equal(t, g.info(g.b).Contiguous, pds.PSN(controlOf(t, req[0]).Payload))
	g.giveAll(req)
	g.settle()
	require.Zero(t, p.resp.Head)
	require.Equal(t, g.info(g.b).Contiguous, g.info(g.b).CACK)
}

// A target with CLEAR_CMDs of its own to send, here one each millisecond, asks no more often for a CLEAR. Before,
// with each of its CLEAR_CMDs.
func TestTargetWithClearsOfItsOwnAsksAtItsPace(t *testing.T) {
	g := established(t, pairConfig{Config: Config{KnownSources: true}})
	g.b.reply = guaranteed
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	p := g.b.m.target.byID(g.info(g.b).ID)
	require.NotZero(t, p.resp.Head)
	told, asked := 0, 0
	for range 100 {
		g.b.m.timer.clearSoon(g.now, p, ms)
		g.now += ms
		require.True(t, g.b.m.Tick(g.now))
		for _, w := range g.send(g.b) {
			if controlOf(t, w).Ctl == pds.CtlClearReq {
				asked++
			} else {
				told++
			}
		}
	}
	require.Equal(t, 100, told)
	require.Greater(t, asked, 3)
	require.Less(t, asked, 9, "doubling from 4 ms on")
}

// A closing ACK may carry the next Expected_PSN: a flag that is reserved here, and
// four bytes more. Both are ignored, and the close succeeds.
func TestClosingACKWithExpectedPSN(t *testing.T) {
	g := established(t, pairConfig{Config: Config{NoAckCC: true}})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	acks := g.giveAll(g.send(g.a))
	require.Len(t, acks, 1)
	acks[0].b[1] |= 0x40
	acks[0].b = append(acks[0].b, 0, 1, 0x20, 0)
	r, _ := g.give(acks[0])
	require.NoError(t, r.Err)
	require.True(t, g.a.has(EventClosed, CauseNone))
}

func filterControl(ws []wire) (control []wire) {
	for _, w := range ws {
		if t, _ := pds.PeekType(w.b); t == pds.TypeCP {
			control = append(control, w)
		}
	}
	return control
}

// The CLOSE_CMD of a PDC that was given up stands behind a hole that nobody fills: a target
// may not act on it, and the initiator does not ask for ever.
func TestAbortedPDCWithAHoleGoes(t *testing.T) {
	g := established(t, pairConfig{Config: Config{MaxRTORetx: rtoForever}})
	g.submit(1, 3)
	g.send(g.a) // lost
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	for range 20 {
		g.wait(100 * ms)
		g.send(g.a) // as if it had not come
	}
	require.True(t, g.a.has(EventClosed, CauseNone))
}

// A NACK that changes nothing is no sign of life: what sends it may have forgotten the
// PDC. One that is acted on is.
func TestStaleNACKIsNoSignOfLife(t *testing.T) {
	g := established(t, pairConfig{})
	p := g.a.m.get(g.h)
	before := p.activeAt
	g.now += 10 * ms
	g.nack(pds.Nack{Code: pds.NackNoResource, PSN: g.info(g.a).Base - 1})
	require.Equal(t, before, p.activeAt)
	g.submit(1, 1)
	g.send(g.a)
	g.now += 500_000
	g.nack(pds.Nack{Code: pds.NackNoResource, PSN: g.info(g.a).Base})
	require.Equal(t, g.now, p.activeAt)
}
