// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/pds"
)

// oneLife opens a PDC with one packet, closes it, and waits until its ids may be used
// again. It returns the packet and how many refusals there were.
func (g *pair) oneLife(handle uint64) (first wire, refused uint64) {
	before := g.b.m.Stats().NACKs
	g.h = g.open(false)
	g.submit(handle, 1)
	first = g.send(g.a)[0]
	copied := wire{from: g.a, b: append([]byte(nil), first.b...)}
	g.giveAll(g.giveAll([]wire{first}))
	g.settle()
	require.NoError(g.t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.True(g.t, g.a.has(EventClosed, CauseNone))
	g.a.take()
	g.wait(3 * ms)
	return copied, g.b.m.Stats().NACKs - before
}

// EXPECTED_0RTT_START: the first PDC of an initiator's PDCID costs a round trip more, the
// next ones with it do not, as long as the target has not had to forget it for another.
func TestExpected0RTTStart(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Start: StartExpected0RTT}})
	require.NoError(t, g.a.m.Abort(0, g.h)) // that of newPair, which nobody has heard of
	free := 0
	for i := range 10 * g.a.m.table.ids() {
		known := g.expectedIDs()
		_, refused := g.oneLife(uint64(i))
		require.Equal(t, known[g.h.ID()], refused == 0)
		require.Equal(t, g.h.ID(), g.expectedStart(g.h.ID()).id)
		require.Len(t, g.b.got, i+1)
		if refused == 0 {
			free++
		}
	}
	require.NotZero(t, free)
}

// An initiator that the target does not know is asked for a Start_PSN later than its own, which
// earlier PDCs may have had.
func TestUnknownInitiatorIsAskedToStartLater(t *testing.T) {
	g := newPair(t, pairConfig{ids: [2]int{8, 64}, Config: Config{Start: StartExpected0RTT, KnownSources: true}})
	for id := range pds.PDCID(32) {
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: 1 + id, PSN: 1 << 20}
		_, answer := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
		n := nackOf(t, answer[0])
		require.Equal(t, pds.NackNewStartPSN, n.Code)
		require.GreaterOrEqual(t, pds.PSN(n.Payload).Diff(q.PSN), int32(startApart))
	}
}

// The closing ACK of such a target says what it expects, the first time and again. So an
// initiator that draws its Start_PSNs at random needs no round trip more for the next PDC.
func TestClosingACKSaysExpectedPSN(t *testing.T) {
	g := newPair(t, pairConfig{ids: [2]int{8, 8}, Config: Config{Start: StartExpected0RTT}, manager: func(c *ManagerConfig) {
		if c.Seed == 0 {
			p := *c.Params
			p.c.Start, c.Params = StartAny, &p
		}
	}})
	g.submit(1, 2)
	g.settle()
	require.NoError(t, g.a.m.Close(g.now, g.h))
	cmd := g.send(g.a)
	psn := controlOf(t, cmd[0]).PSN
	var acks []wire
	before := g.b.m.Stats().ACKs
	for range 2 { // live, and in quarantine
		acks = g.giveAll(cmd)
		require.Len(t, acks, 1)
		var a pds.AckExpected
		n, err := a.Decode(acks[0].b)
		require.NoError(t, err)
		require.Equal(t, len(acks[0].b), n)
		require.Equal(t, pds.AckExpected{Ack: pds.Ack{SPDCID: a.SPDCID, DPDCID: g.h.ID(), CACK: psn}, Expected: psn + 1}, a)
	}
	require.Equal(t, before+2, g.b.m.Stats().ACKs)
	g.giveAll(acks)
	require.True(t, g.a.has(EventClosed, CauseNone))
	require.Equal(t, psn+1, g.expectedStart(g.h.ID()).psn)
	g.wait(3 * ms)
	spared := 0
	for i := range 10 * g.a.m.table.ids() {
		known := g.expectedIDs()
		if _, refused := g.oneLife(uint64(10 + i)); known[g.h.ID()] {
			require.Zero(t, refused)
			spared++
		}
	}
	require.NotZero(t, spared)
}

// The closing ACK of an initiator that has failed names the CLOSE_CMD above the hole.
func TestClosingACKAboveAHole(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Start: StartExpected0RTT}})
	g.submit(1, 2)
	g.settle()
	g.submit(3, 2)
	g.send(g.a) // lost
	next := g.info(g.a).Next
	cmd := g.control(g.a, pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR | pds.FlagRetx, PSN: next})
	_, back := g.give(cmd)
	require.Empty(t, back)
	_, back = g.give(cmd)
	a := header[pds.AckExpected](t, back[0])
	require.Equal(t, next-3, a.CACK)
	require.Equal(t, next, a.AckPSN())
	require.Equal(t, next+1, a.Expected)
}

// expectedStart is where b keeps what it expects of a PDCID of a, expectedIDs of which
// it does.
func (g *pair) expectedStart(id pds.PDCID) *expectedStart {
	e, _ := g.b.m.start.expected.at(AddrFrom(g.a.addr), AddrFrom(g.b.addr), id)
	return e
}

func (g *pair) expectedIDs() map[pds.PDCID]bool {
	known := map[pds.PDCID]bool{}
	for id := range pds.PDCID(g.a.m.table.ids()) {
		known[id+1] = g.expectedStart(id+1).id == id+1
	}
	return known
}

// What somebody has recorded of an earlier PDC opens none, however long the target has
// forgotten it: it would be executed again.
func TestStartMethodsAgainstReplay(t *testing.T) {
	for method := StartAny; method <= StartExpected0RTT; method++ {
		t.Run(method.String(), func(t *testing.T) {
			g := newPair(t, pairConfig{Config: Config{Start: method}})
			require.NoError(t, g.a.m.Abort(0, g.h))
			g.a.take()
			old, refused := g.oneLife(1)
			require.Equal(t, method != StartAny, refused == 1)
			require.Len(t, g.b.got, 1)
			g.wait(100 * ms)
			r, answer := g.give(old)
			if method == StartAny {
				require.Equal(t, VerdictRequest, r.Verdict, "the quarantine is all that there is")
				return
			}
			require.ErrorIs(t, r.Err, ErrStart)
			require.Equal(t, pds.NackNewStartPSN, nackOf(t, answer[0]).Code)
			require.Len(t, g.b.got, 1)
		})
	}
}

// Without the Expected_PSN in between: all that a target keeps is one place for each of
// as many initiators as it has PDCIDs.
func TestExpectedStartsMayBeForgotten(t *testing.T) {
	s := newExpectedStarts(5, table.NewHasher(7))
	require.Len(t, s.slot, 8)
	used := map[*expectedStart]bool{}
	for i := range 1000 {
		e, known := s.at(Addr{Lo: uint64(i)}, Addr{}, pds.PDCID(i%3+1))
		require.False(t, known)
		used[e] = true
	}
	require.Len(t, used, 8)
	e, _ := s.at(Addr{Hi: 1, Lo: 2}, Addr{Hi: 3, Lo: 4}, 5)
	e.src, e.dst, e.id = Addr{Hi: 1, Lo: 2}, Addr{Hi: 3, Lo: 4}, 5
	same, known := s.at(Addr{Hi: 1, Lo: 2}, Addr{Hi: 3, Lo: 4}, 5)
	require.Same(t, e, same)
	require.True(t, known)
}

// A crowded target asks an initiator for the same Start_PSN each time, and then, under
// EXPECTED_0RTT_START, for a later one. If the initiator has to go that way twice, late packets of the
// first time open no PDC: the initiator has left their Start_PSN.
func TestStartDemandedTwiceIsAnother(t *testing.T) {
	for _, known := range []bool{false, true} {
		g := newPair(t, pairConfig{start: 1 << 31, cwnd: 1 << 20, Config: Config{Start: StartExpected0RTT}})
		b := inbound{src: AddrFrom(g.a.addr), dst: AddrFrom(g.b.addr), spdcid: g.h.ID()}
		asked := g.b.m.start.startFor(g.now, &b, 0, 0)
		if known { // and expected after the Start_PSN asked for
			*g.expectedStart(g.h.ID()) = expectedStart{src: b.src, dst: b.dst, id: b.spdcid, psn: asked + 1<<24}
		}
		g.b.m.start.askStart(g.now, &b, make([]byte, ReplyMax))
		g.submit(1, 3)
		starts := func(ws []wire) pds.PSN { return request(t, ws[0]).PSN }
		follow := func(ws []wire) []wire { // what the first of ws makes the initiator send
			t.Helper()
			_, answer := g.give(ws[0])
			require.Equal(t, pds.NackNewStartPSN, nackOf(t, answer[0]).Code)
			g.now += g.a.m.p.c.NackRetxTime
			g.giveAll(answer)
			return g.send(g.a)
		}
		first := follow(g.send(g.a))
		require.Equal(t, asked, starts(first))
		late := follow(first)
		require.Len(t, late, 3)
		require.GreaterOrEqual(t, starts(late).Diff(asked), int32(startApart))
		g.now += g.b.m.p.c.NewPDCTime + ms // until nobody waits for those any more
		require.True(t, g.b.m.Tick(g.now))
		g.b.drain()
		again := follow(late)
		require.Equal(t, asked, starts(again))
		_, answer := g.give(again[0])
		r, _ := g.give(late[1])
		require.ErrorIs(t, r.Err, ErrStart)
		require.Empty(t, g.b.got)
		g.now += g.a.m.p.c.NackRetxTime
		g.giveAll(answer)
		g.settle()
		require.Equal(t, []uint64{1, 2, 3}, g.a.take(EventResponse, EventImplicit))
		require.Len(t, g.b.got, 3)
		require.Zero(t, g.a.m.Stats().Failed)
	}
}

// A PDC that is to be closed before its target has answered is refused like any that is
// being opened.
func TestStartDemandedOfAClosingPDC(t *testing.T) {
	g := newPair(t, pairConfig{start: 9, Config: Config{Start: StartRandom1RTT}})
	g.submit(1, 3)
	ws := g.send(g.a)
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Equal(t, StateAckWait, g.info(g.a).State)
	g.giveAll(g.giveAll(ws[:1]))
	g.settle()
	require.Equal(t, []uint64{1, 2, 3}, g.a.take(EventResponse, EventImplicit))
	require.Zero(t, g.a.m.Stats().Failed)
	require.Len(t, g.b.got, 3)
}

// A peer sees the Start_PSNs of PDCs to it, and may have as many as it likes. They are of the
// key stream of a cipher, so those of PDCs to others do not follow from them; that they come
// out of the seed alone keeps them repeatable.
func TestStartPSNsTellNothingOfOthers(t *testing.T) {
	const seed = 0x0123456789abcdef
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) { c.Seed = seed }})
	require.NoError(t, g.a.m.Abort(0, g.h))
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	stream := rand.NewChaCha8(key)
	stream.Uint64() // the first pkt_id of RUDI
	stream.Uint64() // newPair's PDC
	for i := range uint8(7) {
		h, err := g.a.m.Open(0, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: 20 + i}, 0)
		require.NoError(t, err)
		info, _ := g.a.m.PDC(h)
		require.Equal(t, pds.PSN(stream.Uint64()), info.Next)
	}
}

// The packets that open an ordered PDC come in the wrong order: the answer to the second is
// where to go back to, that to the first another Start_PSN, and both are followed at once.
func TestNewStartPSNAfterGoingBack(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Start: StartRandom1RTT}, ordered: true})
	g.submit(1, 2)
	ws := g.send(g.a)
	require.Len(t, ws, 2)
	for _, i := range []int{1, 0} {
		g.giveAll(g.giveAll(ws[i : i+1]))
	}
	require.Equal(t, g.info(g.b).CACK+1, g.info(g.a).Base)
	g.settle()
	require.Equal(t, []uint64{1, 2}, g.a.take(EventResponse, EventImplicit))
}
