// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

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
		g.now++
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
	info, _ := g.a.m.PDC(g.h)
	require.Equal(t, StateAckWait, info.State, "none is idle: the oldest goes")
	g.settle()
	g.wait(2 * ms) // quarantine
	require.Equal(t, []uint64{501}, g.a.take(EventMessage))
	g.wait(200 * ms)
	require.True(t, g.a.has(EventError, CausePending))
	require.Equal(t, []uint64{502}, g.a.take(EventError))
}

// A target without a PDC is asked less and less often.
func TestFaultS2RefusedSYNBacksOff(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{MaxNackRetx: 31, RTOInit: 4000 * ms, IdleTime: 60_000 * ms}})
	g.submit(1, 1)
	var times []int64
	for g.now < 200*ms {
		for _, w := range filterData(g.send(g.a)) {
			times = append(times, g.now)
			g.nack(pds.Nack{Code: pds.NackNoPDCAvail, PSN: request(t, w).PSN})
		}
		g.wait(100_000)
	}
	for i := 2; i < len(times); i++ {
		require.InDelta(t, 2*(times[i-1]-times[i-2]), times[i]-times[i-1], 0.3*ms, "1, 2, 4, ... ms")
	}
	require.Len(t, times, 8)
}

func TestFaultS3ResponseStoreExhausted(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Responses: 1, Chunks: 160}})
	g.b.reply = guaranteed
	g.submit(1, 3)
	ws := g.send(g.a)
	g.give(ws[1])
	_, answer := g.give(ws[2])
	require.Equal(t, pds.NackNoGtdDelAvail, nackOf(t, answer[0]).Code, "the shared slot is taken")
	r, _ := g.give(ws[0])
	require.Equal(t, VerdictRequest, r.Verdict, "the lowest missing packet has a slot of its own")
}

// The last slots for responses are for the packets that are missing, below what is ahead: CLEAR does not free what is kept
// above a missing packet.
func TestFaultS3ResponsesForMissingPackets(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Responses: 18, Chunks: 160}})
	g.b.reply = guaranteed
	g.submit(1, 30)
	ws := g.send(g.a)
	refused := func(i int) bool {
		r, _ := g.give(ws[i])
		return r.Verdict != VerdictRequest
	}
	for i := range 6 {
		require.False(t, refused(i), i)
	}
	require.False(t, refused(20), "less than a third is taken")
	require.True(t, refused(21), "no room for 14 missing packets")
	require.False(t, refused(7), "for one")
	require.False(t, refused(6))
}

// A target with room for few responses refuses most of a large window. As many go again as there is room for,
// and about as many more. (Before: all that waited once in NACK_Retx_Time, as long as some got through.)
func TestFaultS3ResendsFollowTheRoom(t *testing.T) {
	const packets = 2000
	g := established(t, pairConfig{
		Config: Config{Range: 2048}, memory: MemoryConfig{Responses: 16, Chunks: 2 * 160}, cwnd: 1_800_000,
	})
	g.b.reply = guaranteed
	g.submit(1, packets)
	sent, begin := 0, g.now
	for done := 0; done < packets; done += len(g.a.take(EventResponse, EventImplicit)) {
		require.Less(t, g.now-begin, int64(100*ms), "%d of %d", done, packets)
		ws := g.send(g.a)
		sent += len(filterData(ws))
		g.giveAll(g.giveAll(ws))
		g.wait(10_000)
	}
	require.Less(t, sent, 4*packets)
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

// A target that refuses everything for two seconds: each packet is sent again after pauses that
// double, and Max_NACK_Retx_Cnt ends that, for the packet alone. (Before: every NACK_Retx_Time,
// 1,000 times a second for ever, or six times in 5 ms, after which the PDC failed.)
func TestFaultS5NACKStorm(t *testing.T) {
	for name, c := range map[string]struct{ limit, rounds int }{"for ever": {31, 11}, "capped": {5, 11}} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{Config: Config{MaxNackRetx: c.limit, Range: 8}, cwnd: 1_500_000})
			g.b.reply = Response{Kind: RespondRefuse, Code: pds.NackNoPktBuffer}
			g.submit(1, 8)
			sent, stale := 0, 0
			for end := g.now + 2000*ms; g.now < end; g.wait(50_000) {
				ws := g.send(g.a)
				sent += len(filterData(ws))
				for _, w := range ws {
					_, nacks := g.give(w)
					for _, n := range append(nacks, nacks...) { // each twice
						if r, _ := g.give(n); errors.Is(r.Err, ErrStale) {
							stale++
						}
					}
				}
			}
			require.Equal(t, sent, stale, "the second NACK of each")
			require.LessOrEqual(t, sent, 8*c.rounds)
			require.Greater(t, sent, 4*c.rounds)
			if failed := g.a.take(EventError); c.limit == 31 {
				require.Empty(t, failed)
				g.b.reply = Response{}
				g.wait(2048 * ms)
				g.settle()
				require.Len(t, g.a.take(EventResponse, EventImplicit), 8, "and the end of it is the end of it")
				return
			} else {
				require.Len(t, failed, 8)
			}
			g.b.reply = Response{}
			g.settle()
			g.submit(9, 1)
			g.settle()
			require.Equal(t, []uint64{9}, g.a.take(EventResponse, EventImplicit), "the PDC goes on")
			require.Zero(t, g.a.m.Stats().Failed)
		})
	}
}

// A window of one packet and PDCs with far more to send than it: each gets its turn.
func TestFaultS7FairOnATinyWindow(t *testing.T) {
	g := established(t, pairConfig{cwnd: 4200, Config: Config{AckPerPacket: true}})
	sent := map[Handle]int{}
	for job := range 3 {
		h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: uint32(200 + job), TC: 1}, 0)
		require.NoError(t, err)
		require.NoError(t, g.a.m.Begin(h))
		sent[h] = 0
		for k := range 500 {
			_, err := g.a.m.Submit(g.now, h, Packet{Handle: uint64(job*1000 + k), Size: 4160, Next: pds.NextRequestStd, EOM: k == 499})
			require.NoError(t, err)
		}
	}
	var out Out
	var buf [ReplyMax]byte
	for range 300 {
		if !g.a.m.Transmit(g.now, buf[:], &out) {
			break
		}
		sent[out.PDC]++
		w := wire{from: g.a, b: append(append([]byte(nil), buf[:out.Header]...), make([]byte, 44+4096)...)}
		w.ce = true // the window stays small
		g.giveAll(g.giveAll([]wire{w}))
	}
	for h, n := range sent {
		require.InDelta(t, 100, n, 2, "PDC %#x", uint32(h))
	}
}

// bothOpen has both ends begin n messages to each other, all at the same time and
// each on a PDC of its own, and returns how many have arrived after some time. A
// PDC whose message has ended is closed.
func bothOpen(t *testing.T, n, own int) int {
	g := newPair(t, pairConfig{own: own, Config: Config{MaxNackRetx: nackForever}})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	g.wait(2 * ms)
	for _, e := range []*pairEnd{g.a, g.b} {
		for i := range n {
			h, err := e.m.Open(g.now, &InitiatorKey{Source: e.addr, Destination: g.other(e).addr, TC: uint8(i)}, 0)
			require.NoError(t, err)
			require.NoError(t, e.m.Begin(h))
			_, err = e.m.Submit(g.now, h, Packet{Size: 4160, Next: pds.NextRequestStd, EOM: true})
			require.NoError(t, err)
		}
		e.events = nil
	}
	for range 200 {
		ws := append(g.send(g.a), g.send(g.b)...)
		for len(ws) > 0 {
			ws = g.giveAll(ws)
		}
		for _, e := range []*pairEnd{g.a, g.b} {
			for _, ev := range e.events {
				require.NotEqual(t, EventError, ev.Kind, ev.Cause.String())
				if ev.Kind == EventResponse || ev.Kind == EventImplicit {
					require.NoError(t, e.m.Close(g.now, ev.PDC))
				}
			}
			e.events = nil
		}
		g.wait(ms / 2)
	}
	return len(g.a.got) + len(g.b.got)
}

// TestBothEndsOpenAllTheyMay: two ends whose own PDCs took every id would refuse
// each other for ever, or until they give up. What TableConfig.Initiators leaves to
// the peer is enough for all to get on.
func TestBothEndsOpenAllTheyMay(t *testing.T) {
	require.Zero(t, bothOpen(t, 8, 8), "every SYN packet is refused")
	require.Equal(t, 12, bothOpen(t, 6, 6))
	require.Equal(t, 14, bothOpen(t, 7, 7), "one id for the peer is enough")
}

// TestMessageWaitsForTheInitiatorsShare: ids are free, but not for this end's own
// PDCs. The message that waits has an idle one closed, and gets on when its id has
// rested.
func TestMessageWaitsForTheInitiatorsShare(t *testing.T) {
	g := newPair(t, pairConfig{own: 2, manager: func(c *ManagerConfig) { c.Waiting = 2 }})
	open := func(tc uint8, ticket uint64) error {
		_, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: tc}, ticket)
		return err
	}
	require.NoError(t, open(10, 0))
	g.submit(1, 1)
	g.settle()
	require.Equal(t, 6, g.a.m.table.Stats().General.Free)
	require.ErrorIs(t, open(11, 501), ErrWaiting)
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone), "the one that was idle")
	require.Empty(t, g.a.take(EventMessage), "its id rests")
	g.wait(2 * ms)
	require.Equal(t, []uint64{501}, g.a.take(EventMessage))
}

// A flood from one source ends at its share: others still open PDCs.
func TestFaultS1OthersStillOpen(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		var err error
		c.Table, err = NewTable(TableConfig{General: 8, Initiators: 8, PerSource: 3, FirstID: 1, Seed: 1})
		require.NoError(t, err)
	}})
	syn := func(i int, from string) (answer []wire) {
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: pds.PDCID(100 + i), PSN: pds.PSN(i * 7919), ClearOffset: -1}
		_, answer = g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...), dst: netip.MustParseAddr(from)})
		return answer
	}
	for i := range 20 {
		answer := syn(i, "10.7.7.7")
		if i >= 3 {
			require.Equal(t, pds.NackNoPDCAvail, nackOf(t, answer[0]).Code)
		}
	}
	require.EqualValues(t, 3, g.b.m.Stats().Opened)
	require.EqualValues(t, 17, g.b.m.Stats().Refused)
	require.NotZero(t, ackCC(t, syn(50, "10.7.7.8")[0]).SPDCID)
}

// With nothing granted acknowledgements and control packets still go.
func TestFaultS6ControlPacketsStillGo(t *testing.T) {
	g := established(t, pairConfig{cwnd: 5000})
	g.submit(1, 900)
	g.send(g.a)
	require.Empty(t, g.send(g.a))
	info := g.info(g.a)
	for ctl, want := range map[pds.CtlType]pds.Type{pds.CtlProbe: pds.TypeACKCC, pds.CtlCloseReq: pds.TypeACKCC} {
		_, answer := g.give(g.control(g.b, pds.Control{Ctl: ctl, Flags: pds.FlagAR, PSN: info.Contiguous + 1}))
		tp, err := pds.PeekType(answer[0].b)
		require.NoError(t, err)
		require.Equal(t, want, tp)
	}
	require.NoError(t, g.a.m.EndMessage(g.now, g.h, 0))
	g.give(g.control(g.b, pds.Control{Ctl: pds.CtlClearReq}))
	require.Equal(t, pds.CtlClearCmd, controlOf(t, g.send(g.a)[0]).Ctl)
}

// Ten thousand PDCs that one source has opened and left: nothing is allocated for them,
// whoever else comes gets what it always gets, and they end by idle time.
func TestTenThousandHalfOpenPDCs(t *testing.T) {
	const flood = 10_000
	g := newPair(t, pairConfig{ids: [2]int{8, flood + 100}, Config: Config{IdleTime: 1000 * ms}, memory: MemoryConfig{Chunks: 160, Events: 3 * flood},
		manager: func(c *ManagerConfig) {
			var err error
			c.Table, err = NewTable(TableConfig{General: c.Table.ids(), PerSource: flood, FirstID: 1, Seed: 1})
			require.NoError(t, err)
		}})
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, ClearOffset: -1}
	b := append(q.AppendTo(nil), make([]byte, 60)...)
	in := In{Packet: b, Src: AddrFrom(netip.MustParseAddr("10.7.7.7")), Dst: AddrFrom(g.b.addr), Size: 200}
	out := make([]byte, ReplyMax)
	var r Result
	id := pds.PDCID(0)
	open := func() {
		id++
		q.SPDCID, q.PSN = id, pds.PSN(id)*7919
		q.AppendTo(b[:0])
		g.b.m.Receive(g.now, &in, out, &r)
		var n pds.Nack
		if _, err := n.Decode(out[:r.Reply]); err == nil && n.Code == pds.NackNewStartPSN { // it is where it says
			q.PSN = pds.PSN(n.Payload)
			q.AppendTo(b[:0])
			g.b.m.Receive(g.now, &in, out, &r)
		}
		if r.Verdict == VerdictRequest {
			_, _ = g.b.m.Respond(g.now, r.ID, &Response{}, out)
		}
	}
	alloctest.Zero(t, "a SYN packet of the flood", open)
	for id < 2*flood {
		open()
	}
	require.EqualValues(t, flood, g.b.m.Stats().Opened)
	g.submit(1, 30)
	g.settle()
	require.Len(t, g.a.take(EventResponse, EventImplicit), 30)
	require.EqualValues(t, 30, g.a.m.Stats().Resent, "once, from the PSN on that shows who sends")
	for g.b.m.Stats().Closed < flood {
		g.now += 1000 * ms
		require.Less(t, g.now, int64(10_000*ms))
		for !g.b.m.Tick(g.now) {
			g.b.drain()
		}
		g.b.drain()
		g.send(g.b)
	}
}

// A PDC on which nothing is under way holds no memory for packets: with less of it than
// there are PDCs those that were used once would keep the others from sending.
func TestFaultIdlePDCsLeaveTheMemoryToOthers(t *testing.T) {
	g := newPair(t, pairConfig{memory: MemoryConfig{Chunks: 1}})
	for k, h := range []Handle{g.h, g.open(true)} {
		g.h = h
		g.submit(uint64(100*k), 3)
		require.Zero(t, g.a.m.FreeChunks())
		g.settle()
		require.Equal(t, 1, g.a.m.FreeChunks())
	}
}

// A PDC that is to close, or fails, while others have all memory tells its target so when they
// have given some back. Otherwise that would keep the PDC until it had been idle for long, and
// refuse the next one with its PDCID.
func TestFaultCloseWaitsForMemory(t *testing.T) {
	for name, end := range map[string]func(*Manager, int64, Handle) error{"close": (*Manager).Close, "abort": (*Manager).Abort} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{Config: Config{IdleTime: 600e9}, memory: MemoryConfig{Chunks: 1}})
			idle := g.h
			g.h = g.open(true)
			g.submit(1, 1)
			lost := g.send(g.a)
			require.Len(t, lost, 1)
			for len(g.a.m.mem.free) > 0 {
				g.a.m.mem.takeChunk() // as if other PDCs closed
			}
			require.NoError(t, end(g.a.m, g.now, idle))
			for range 3 {
				g.wait(500_000)
				g.giveAll(filterControl(g.send(g.a)))
				require.NotNil(t, g.a.m.get(idle))
			}
			g.giveAll(g.giveAll(lost))
			for range 4 {
				g.wait(500_000)
				g.settle()
			}
			require.Nil(t, g.a.m.get(idle))
			require.True(t, g.b.has(EventClosed, CauseNone))
			require.Equal(t, []uint64{1}, g.a.take(EventResponse))
		})
	}
}

// A PDC closes also while others have all memory that is for everybody: what they have may be
// for packets that the peer refuses until this PDC has closed.
func TestCloseHasMemory(t *testing.T) {
	g := newPair(t, pairConfig{memory: MemoryConfig{Chunks: 1}})
	g.submit(1, 1)
	g.settle()
	other, err := g.openTC(2, 0)
	require.NoError(t, err)
	g.submitOn(other, 7, 1)
	require.Len(t, g.send(g.a), 1, "and nobody hears it")
	require.Zero(t, g.a.m.FreeChunks())
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.Equal(t, StateQuarantine, g.a.m.pdc[g.h.ID()].state)
	require.Zero(t, g.b.m.life.open, "it has heard of it")
}

// Messages for the reserved pool hold back none for the general one: each waits for an id of
// its own pool.
func TestFaultMessagesWaitByPool(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{PendTimeout: 100 * ms}, manager: func(c *ManagerConfig) {
		var err error
		c.Table, err = NewTable(TableConfig{General: 1, Reserved: 1, Initiators: 1, Quarantine: ms, FirstID: 1, Seed: 1})
		require.NoError(t, err)
	}})
	open := func(job uint32, reserved bool) error {
		k := InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: job, Reserved: reserved}
		h, err := g.a.m.Open(g.now, &k, uint64(job))
		if err == nil {
			require.NoError(t, g.a.m.Lock(h))
		}
		return err
	}
	require.NoError(t, g.a.m.Lock(g.h))
	require.NoError(t, open(1, true))
	for range 3 {
		require.ErrorIs(t, open(2, true), ErrWaiting)
	}
	require.ErrorIs(t, open(3, false), ErrWaiting)
	require.Equal(t, 4, g.a.m.Waiting())
	require.NoError(t, g.a.m.Unlock(g.now, g.h))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	for range 4 {
		g.settle()
		g.wait(2 * ms)
	}
	require.Equal(t, []uint64{3}, g.a.take(EventMessage))
	g.wait(100 * ms)
	require.Equal(t, []uint64{2, 2, 2}, g.a.take(EventError))
	require.Zero(t, g.a.m.Waiting())
}
