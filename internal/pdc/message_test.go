// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

func TestAnnounceCountsABytesOnce(t *testing.T) {
	g := newPair(t, pairConfig{})
	c := func() *ccc.Context { return g.a.m.cc.Context(g.info(g.a).Context) }
	require.NoError(t, g.a.m.Announce(0, g.h, 3*4160))
	require.EqualValues(t, 3*4160, c().Backlog())
	g.submit(1, 4)
	require.EqualValues(t, 4*4160, c().Backlog(), "only the fourth was not announced")
	g.settle()
	require.Zero(t, c().Backlog())
	require.Zero(t, c().Inflight())
	require.Zero(t, c().InflightPackets())
}

func TestEndMessageWithdraws(t *testing.T) {
	g := newPair(t, pairConfig{})
	require.NoError(t, g.a.m.Begin(g.h))
	require.NoError(t, g.a.m.Announce(0, g.h, 10_000))
	_, err := g.a.m.Submit(0, g.h, Packet{Handle: 1, Size: 4160, Next: pds.NextRequestStd})
	require.NoError(t, err)
	require.NoError(t, g.a.m.EndMessage(0, g.h, 10_000-4160))
	require.EqualValues(t, 4160, g.a.m.cc.Context(g.info(g.a).Context).Backlog())
	require.NoError(t, g.a.m.Close(0, g.h))
	g.settle()
	require.Nil(t, g.a.m.get(g.h), "nothing is open any more")
}

// Figure 6-11: three PDCs to one destination share a context, which holds the sum
// of their backlogs.
func TestPDCsShareAContext(t *testing.T) {
	g := newPair(t, pairConfig{})
	var hs []Handle
	for i, bytes := range []int64{8192 << 10, 4096 << 10, 8192 << 10} {
		h, err := g.a.m.Open(0, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: uint32(200 + i), TC: 1}, 0)
		require.NoError(t, err)
		require.NoError(t, g.a.m.Announce(0, h, bytes))
		hs = append(hs, h)
	}
	first, _ := g.a.m.PDC(hs[0])
	for _, h := range hs {
		info, _ := g.a.m.PDC(h)
		require.Equal(t, first.Context, info.Context)
	}
	require.EqualValues(t, 20_971_520, g.a.m.cc.Context(first.Context).Backlog())
	for _, h := range append(hs, g.h) {
		require.NoError(t, g.a.m.Abort(0, h))
	}
	live, _ := g.a.m.life.ctxs.Stats()
	require.Zero(t, live, "the last PDC takes the context along")
}

// PDCs that wait for one window take turns, packet by packet.
func TestPDCsOfAContextTakeTurns(t *testing.T) {
	g := established(t, pairConfig{cwnd: 40_000})
	var hs []Handle
	for i := range 3 {
		h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: uint32(200 + i), TC: 1}, 0)
		require.NoError(t, err)
		require.NoError(t, g.a.m.Begin(h))
		for k := range 200 {
			_, err := g.a.m.Submit(g.now, h, Packet{Handle: uint64(i*1000 + k), Size: 4160, Next: pds.NextRequestStd, EOM: k == 199})
			require.NoError(t, err)
		}
		hs = append(hs, h)
	}
	for round := 0; round < 2000; round++ {
		ws := append(g.send(g.a), g.send(g.b)...)
		if len(ws) == 0 {
			break
		}
		least, most := 1<<30, 0
		for _, h := range hs {
			if info, _ := g.a.m.PDC(h); info.Unsent > 0 {
				least, most = min(least, info.Unsent), max(most, info.Unsent)
			}
		}
		require.LessOrEqual(t, most-least, 3, "round %d", round)
		for len(ws) > 0 {
			ws = g.giveAll(ws)
		}
	}
	require.Len(t, g.a.take(EventResponse, EventImplicit), 600)
}

// A receiver that grants credit: RUD_CC_REQ asks for it, the ACK_CC and the CREDIT
// bring it.
func TestCreditBothWays(t *testing.T) {
	g := newPair(t, pairConfig{control: ccc.ControlRCCC})
	require.NoError(t, g.a.m.Announce(0, g.h, 900*4160))
	g.submit(1, 900)
	ws := g.send(g.a)
	require.NotEmpty(t, ws)
	require.Less(t, len(ws), 900, "the initial credit is not enough")
	q := request(t, ws[0])
	require.Equal(t, pds.TypeRUDCCReq, q.Type)
	require.NotZero(t, q.CreditTarget)
	r, _ := g.give(ws[0])
	require.Equal(t, Demand{Target: q.CreditTarget, CCCID: q.CCCID, Valid: true}, r.Demand)
	g.giveAll(g.giveAll(ws[1:]))
	sent := len(ws)
	g.give(g.ackWithCredit(ws[0]))
	ws = g.send(g.a)
	require.NotEmpty(t, ws, "more credit, more packets")
	sent += len(ws)
	b := g.info(g.b)
	out := make([]byte, ReplyMax)
	n, err := g.b.m.PutCredit(g.b.m.target.byID(b.ID).handle, 1_100_000/pds.ByteUnit, out)
	require.NoError(t, err)
	g.give(wire{from: g.b, b: out[:n]})
	more := len(g.send(g.a))
	require.InDelta(t, 1_000_000/4160, more, 2)
	require.Less(t, sent+more, 900)
}

// ackWithCredit makes b acknowledge a packet again, with a credit of 100,000 bytes.
func (g *pair) ackWithCredit(w wire) wire {
	setFlag(w.b, pds.FlagRetx)
	in := In{Packet: w.b, Src: AddrFrom(g.a.addr), Dst: AddrFrom(g.b.addr), State: AckState{Type: pds.CCCredit, Credit: 100_000 / pds.ByteUnit}}
	out := make([]byte, ReplyMax)
	var r Result
	g.b.m.Receive(g.now, &in, out, &r)
	require.NotZero(g.t, r.Reply)
	return wire{from: g.b, b: out[:r.Reply]}
}

func TestInferredLoss(t *testing.T) {
	g := established(t, pairConfig{Config: Config{InferLoss: true}, cwnd: 60_000})
	g.submit(1, 40)
	ws := filterData(g.send(g.a))
	require.Greater(t, len(ws), 12)
	for i, w := range ws[1:] { // the first is lost; marks have each of the others acknowledged
		w.ce = true
		_, acks := g.give(w)
		g.giveAll(acks)
		if st := g.a.m.Stats(); st.Inferred > 0 {
			require.Greater(t, i, inferPackets-2)
			require.Zero(t, st.RTOs)
			break
		}
	}
	require.EqualValues(t, 1, g.a.m.Stats().Inferred)
	again := filterData(g.send(g.a))
	require.NotEmpty(t, again)
	require.Equal(t, request(t, ws[0]).PSN, request(t, again[0]).PSN)
	require.NotZero(t, request(t, again[0]).Flags&pds.FlagRetx)
}

func TestProbeOfASilentTail(t *testing.T) {
	g := established(t, pairConfig{Config: Config{InferLoss: true}})
	g.submit(1, 1)
	lost := g.send(g.a)
	g.wait(100_000) // well before RTO_Init_Time
	probe := g.send(g.a)
	require.Equal(t, pds.CtlProbe, controlOf(t, probe[0]).Ctl)
	g.giveAll(g.giveAll(probe))
	again := filterData(g.send(g.a))
	require.Len(t, again, 1, "a quick answer without it: it is lost")
	require.Equal(t, request(t, lost[0]).PSN, request(t, again[0]).PSN)
	require.Zero(t, g.a.m.Stats().RTOs)
}

// The answer to a probe tells nothing of what left after the probe: that is on its way, and
// only what left before is lost.
func TestProbeTellsOfWhatLeftBefore(t *testing.T) {
	g := established(t, pairConfig{Config: Config{InferLoss: true}})
	g.submit(1, 1)
	lost := g.send(g.a)
	g.wait(30_000)
	probe := g.send(g.a)
	require.Equal(t, pds.CtlProbe, controlOf(t, probe[0]).Ctl)
	g.submit(2, 3)
	onItsWay := g.send(g.a)
	require.Len(t, onItsWay, 3)
	g.giveAll(g.giveAll(probe))
	again := filterData(g.send(g.a))
	require.Len(t, again, 1)
	require.Equal(t, request(t, lost[0]).PSN, request(t, again[0]).PSN)
	g.giveAll(g.giveAll(append(onItsWay, again...)))
	g.settle()
	require.Zero(t, g.b.m.Stats().Duplicates)
	require.Len(t, g.b.got, 4)
}

func TestIdlePDCCloses(t *testing.T) {
	g := established(t, pairConfig{})
	a, b := g.a.m.get(g.h), g.b.m.get(g.handleOf(g.b))
	idle := g.a.m.p.c.IdleTime
	require.Equal(t, a.activeAt+idle, g.a.m.timer.idleAt(a))
	require.Equal(t, b.activeAt+idle+idle/8, g.b.m.timer.idleAt(b), "the initiator has the first word")
	a.locks++
	require.Equal(t, a.activeAt+2*g.a.m.p.rto(0), g.a.m.timer.idleAt(a), "one that waits for its peer asks sooner")
	a.locks--
	g.wait(61_000 * ms)
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone))
	require.True(t, g.b.has(EventClosed, CauseNone))
}

func TestIdleTargetWithoutInitiatorGoes(t *testing.T) {
	g := established(t, pairConfig{})
	for range 3 {
		g.now += 61_000 * ms
		require.True(t, g.b.m.Tick(g.now))
		g.send(g.b) // into the void
	}
	g.now += 2 * ms
	g.b.m.Tick(g.now)
	g.b.drain()
	require.True(t, g.b.has(EventClosed, Cause(pds.NackClosingInErr)))
}

func TestNextCloseState(t *testing.T) {
	for s := StateClosed; s <= StateQuarantine; s++ {
		for _, open := range []bool{false, true} {
			for _, unreleased := range []bool{false, true} {
				want := s
				if s == StateQuiesce || s == StateAckWait {
					want = map[[2]bool]State{{true, true}: StateQuiesce, {true, false}: StateQuiesce,
						{false, true}: StateAckWait, {false, false}: StateCloseAckWait}[[2]bool{open, unreleased}]
				}
				require.Equal(t, want, nextCloseState(s, open, unreleased), "%v", s)
			}
		}
	}
}

// The times follow the path where they would be too short for it, up to their limits, and
// one that is set stays.
func TestParamsFollowBaseRTT(t *testing.T) {
	for base, want := range map[int64]Config{
		0:           {RTOInit: ms, NewPDCTime: 5 * ms, PendTimeout: 100 * ms, TargetQDelay: 12_000},
		100_000:     {RTOInit: ms, NewPDCTime: 5 * ms, PendTimeout: 100 * ms, TargetQDelay: 100_000},
		ms:          {RTOInit: 8 * ms, NewPDCTime: 40 * ms, PendTimeout: 800 * ms, TargetQDelay: ms},
		60_000 * ms: {RTOInit: rtoMax, NewPDCTime: 2_400_000 * ms, PendTimeout: 100 * rtoMax, TargetQDelay: rtoMax},
	} {
		p, err := NewParams(Config{BaseRTT: base})
		require.NoError(t, err)
		got := []int64{p.c.RTOInit, p.c.NackRetxTime, p.c.ClearTime, min(p.c.CloseReqTime, rtoMax), p.c.TailLossTime, p.c.NewPDCTime, p.c.PendTimeout, p.c.TargetQDelay}
		rto := want.RTOInit
		require.Equal(t, []int64{rto, rto, rto / 2, rto, rto, want.NewPDCTime, want.PendTimeout, want.TargetQDelay}, got, "BaseRTT %d", base)
	}
	p, err := NewParams(Config{BaseRTT: ms, RTOInit: 3 * ms, TargetQDelay: 7})
	require.NoError(t, err)
	require.Equal(t, []int64{3 * ms, 8 * ms, 7}, []int64{p.c.RTOInit, p.c.NackRetxTime, p.c.TargetQDelay})
}

func TestParamsLimits(t *testing.T) {
	for name, c := range map[string]Config{
		"base RTT":        {BaseRTT: 60_000*ms + 1},
		"range":           {Range: MaxRange + 1},
		"negative range":  {Range: -1},
		"mpr":             {DefaultMPR: 256},
		"trigger":         {AckTrigger: 32<<10 + 1},
		"timeout":         {RTOInit: rtoMax + 1},
		"retries":         {MaxRTORetx: 16},
		"NACK retries":    {MaxNackRetx: 32},
		"close threshold": {CloseThresh: MaxPDCs + 1},
		"tail loss time":  {TailLossTime: rtoMax + 1},
		"tail loss soon":  {TailLossTime: 11_999},
		"tail loss":       {MaxTailLossRetx: 16},
		"ACK data":        {MaxAckData: 8193},
		"start method":    {Start: 3},
		"pending time":    {PendTimeout: 100*rtoMax + 1},

		"idle below the largest timeout":     {IdleTime: 32*ms - 1},
		"idle below the cap of the timeouts": {IdleTime: rtoMax - 1, MaxRTORetx: rtoForever},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewParams(c)
			require.ErrorIs(t, err, ErrConfig)
		})
	}
	p, err := NewParams(Config{IdleTime: 32 * ms})
	require.NoError(t, err)
	require.EqualValues(t, 8, p.mpr)
	require.Equal(t, 16, p.MaxAckData())
	for n, want := range map[int]uint8{1: 1, 128: 1, 129: 2, 256: 2, MaxRange: 255} {
		p, err := NewParams(Config{Range: n})
		require.NoError(t, err)
		require.Equal(t, want, p.mpr, "the range of %d in units of 128", n)
		require.Equal(t, int64(4000*ms), p.c.IdleTime)
	}
	for n, want := range map[int]int{5: 10, 15: 30, 16: 30, 30: 30, nackForever: forever} {
		p, err := NewParams(Config{MaxNackRetx: n})
		require.NoError(t, err)
		require.Equal(t, want, p.maxShort, "a count stays below that without a limit")
	}
	for n, want := range map[uint8]int64{0: ms, 1: 2 * ms, 5: 32 * ms, 12: 4096 * ms, 13: rtoMax, 63: rtoMax} {
		require.Equal(t, want, p.rto(n))
	}
}

// Memory is asked for only where every size makes sense.
func TestMemoryConfig(t *testing.T) {
	for field, c := range map[string]MemoryConfig{
		"Chunks":        {Chunks: -1},
		"Responses":     {Responses: -1},
		"Events":        {Events: -1},
		"LongResponses": {LongResponses: 65536},
		"Buffers":       {Buffers: -1},
	} {
		m, err := newMemory(memoryConfig{MemoryConfig: c, pdcs: 1})
		require.Nil(t, m)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, "MemoryConfig."+field+" is")
	}
	for _, tc := range []struct{ pdcs, ranges, chunks int }{{1, 1024, 138}, {1000, 1024, 1000}, {60_000, 1024, 16_384}, {1, MaxRange, 4090}} {
		m, err := newMemory(memoryConfig{pdcs: tc.pdcs, ranges: tc.ranges})
		require.NoError(t, err)
		require.Equal(t, tc.chunks, m.freeChunks(), "%+v", tc)
	}
}

func TestEventsNotDrained(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Events: 1, Chunks: 160}})
	for g.a.m.mem.events.Free() >= (defaultRange + rowLen + 8) {
		g.a.m.mem.push(Event{})
	}
	var r Result
	g.a.m.Receive(0, &In{}, make([]byte, ReplyMax), &r)
	require.ErrorIs(t, r.Err, ErrEvents)
	require.False(t, g.a.m.Tick(100*ms))
	require.ErrorIs(t, g.a.m.Abort(0, g.h), ErrEvents)
	g.a.drain()
	require.NoError(t, g.a.m.Abort(0, g.h))
}

// A message that ends, or a lock that goes, while the events are being drained
// still lets the PDC close: the next Tick goes on with it.
func TestCloseGoesOnAfterTheDrain(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Events: 1, Chunks: 160}})
	require.NoError(t, g.a.m.Begin(g.h))
	require.NoError(t, g.a.m.Lock(g.h))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	for g.a.m.mem.events.Free() >= (defaultRange + 8) {
		g.a.m.mem.push(Event{})
	}
	require.NoError(t, g.a.m.EndMessage(g.now, g.h, 0))
	require.NoError(t, g.a.m.Unlock(g.now, g.h))
	info, _ := g.a.m.PDC(g.h)
	require.Equal(t, StateQuiesce, info.State)
	g.a.drain()
	at, ok := g.a.m.NextDeadline()
	require.True(t, ok)
	require.True(t, g.a.m.Tick(at))
	info, _ = g.a.m.PDC(g.h)
	require.Equal(t, StateCloseAckWait, info.State)
}

func TestCloseThresh(t *testing.T) {
	g := established(t, pairConfig{Config: Config{CloseThresh: 2}})
	for i := range 2 {
		g.now += ms
		_, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: uint8(40 + i)}, 0)
		require.NoError(t, err)
	}
	info, _ := g.a.m.PDC(g.h)
	require.Equal(t, StateCloseAckWait, info.State, "the one that has been idle longest goes")
}

// A packet larger than the MTU meets a window of one MTU.
func TestOversizedPacketIsNotHeldForEver(t *testing.T) {
	g := established(t, pairConfig{cwnd: 4200})
	_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 1, Size: 9000, Next: pds.NextRequestStd, AR: true})
	require.NoError(t, err)
	require.Len(t, filterData(g.send(g.a)), 1)
}

// The answer to a request that is worked on acknowledges the request, and tells how long that took. The first request
// of a PDC is shown as arrived and not released before, and so are the next ones once an answer has taken long.
func TestAnswerLaterShowsArrival(t *testing.T) {
	g := newPair(t, pairConfig{start: 70})
	g.b.later = true
	g.submit(1, 3)
	out := make([]byte, ReplyMax)
	later := func(sent wire) (RxID, wire) {
		r, _ := g.give(sent)
		n, err := g.b.m.Respond(g.now, r.ID, &Response{Kind: RespondLater}, out)
		require.NoError(t, err)
		return r.ID, wire{from: g.b, b: out[:n]}
	}
	shows := func(w wire, arrived uint64) {
		a := ackCC(t, w)
		require.Equal(t, []pds.PSN{69, 69, 70}, []pds.PSN{a.CACK, a.AckPSN(), a.SACKBase()})
		require.Equal(t, arrived, a.Bitmap)
		g.give(w)
		require.Empty(t, g.a.take(EventResponse, EventImplicit))
		require.Equal(t, 3, g.info(g.a).Outstanding)
	}
	sent := g.send(g.a)
	_, w := later(sent[0])
	shows(w, 1)
	require.Equal(t, StateEstablished, g.info(g.a).State, "it names the target's PDCID")

	id, w := later(sent[1])
	require.Empty(t, w.b)
	long := g.b.m.p.c.TargetQDelay
	n, err := g.b.m.Respond(g.now+long, id, &Response{Kind: RespondGuaranteed, Next: pds.NextResponse, Bytes: make([]byte, 12)}, out)
	require.NoError(t, err)
	a := ackCC(t, wire{from: g.b, b: out[:n]})
	require.Equal(t, []pds.PSN{69, 71}, []pds.PSN{a.CACK, a.AckPSN()})
	var st pds.NSCCState
	require.True(t, a.NSCC(&st))
	require.Equal(t, long/pds.ServiceTimeUnit, int64(st.ServiceTime))

	_, w = later(sent[2])
	shows(w, 7)
}

// A run is as good as its packets one by one, and ends where one would be
// refused.
func TestSubmitRun(t *testing.T) {
	g := newPair(t, pairConfig{})
	require.NoError(t, g.a.m.Announce(0, g.h, 5*4160))
	n, err := g.a.m.SubmitRun(0, g.h, &Packet{Handle: 7, Size: 4160, Next: pds.NextRequestStd}, 3)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	psn, err := g.a.m.Submit(0, g.h, Packet{Handle: 10, Size: 4160, Next: pds.NextRequestStd})
	require.NoError(t, err)
	p := g.a.m.get(g.h)
	require.Equal(t, p.tx.start+3, psn)
	for i := range uint32(4) {
		r, at := p.tx.at(g.a.m.mem, i)
		require.Equal(t, uint64(7+i), g.a.m.mem.handle(r, at))
	}
	require.EqualValues(t, 4160, p.unsubmitted)
	room := int(g.a.m.p.ranges) + rowLen - 4
	n, err = g.a.m.SubmitRun(0, g.h, &Packet{Handle: 11, Size: 4160, Next: pds.NextRequestStd}, room+5)
	require.ErrorIs(t, err, ErrWindowFull)
	require.Equal(t, room, n)
	require.EqualValues(t, int64(room+4)*4160, g.a.m.cc.Context(p.cc).Backlog())
	_, err = g.a.m.SubmitRun(0, g.h+1<<16, &Packet{}, 1)
	require.ErrorIs(t, err, ErrUnknown)
}

// However many messages are begun on a PDC and locks put on it, it does not close before the
// last of them has ended.
func TestMessagesAndLocksAreCounted(t *testing.T) {
	for name, one := range map[string]struct{ begin, end func(g *pair) error }{
		"message": {
			func(g *pair) error { return g.a.m.Begin(g.h) }, func(g *pair) error { return g.a.m.EndMessage(g.now, g.h, 0) },
		},
		"lock": {
			func(g *pair) error { return g.a.m.Lock(g.h) }, func(g *pair) error { return g.a.m.Unlock(g.now, g.h) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{})
			n := 0
			for range 1 << 16 {
				if err := one.begin(g); err == nil {
					n++
				} else {
					require.ErrorIs(t, err, ErrNoMemory)
				}
			}
			require.NoError(t, g.a.m.Close(g.now, g.h))
			for range n {
				require.Equal(t, StateQuiesce, g.info(g.a).State)
				require.NoError(t, one.end(g))
			}
			require.Equal(t, StateCloseAckWait, g.info(g.a).State)
		})
	}
}
