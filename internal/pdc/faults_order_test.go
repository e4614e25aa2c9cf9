// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

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

// The refusals of a flight that came before the first packet may themselves come late, when the target has the
// PDC: they say nothing of a gap there. The source went back to the packet that each had refused, behind
// all others, and then twice within NACK_Retx_Time to the gap that there was.
func TestFaultR2LateRefusalsOfAnOrderedSYNFlight(t *testing.T) {
	g := newPair(t, pairConfig{ordered: true, Config: Config{BufferROD: true}})
	g.submit(1, 8)
	ws := g.send(g.a)
	late := g.giveAll(ws[1:])
	require.NotEmpty(t, late)
	g.giveAll(g.giveAll(ws[:1]))
	require.Equal(t, StateEstablished, g.info(g.a).State)
	for _, w := range late {
		require.Zero(t, nackOf(t, w).SPDCID)
		r, _ := g.give(w)
		require.ErrorIs(t, r.Err, ErrStale)
		g.now += ms / 10
	}
	require.Empty(t, filterData(g.send(g.a)))

	require.NoError(t, g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: g.info(g.a).Base + 2, Payload: uint32(g.info(g.a).Base)}).Err)
	again := filterData(g.send(g.a))
	require.Len(t, again, 7, "but the PDC's own refusal does")
	g.giveAll(g.giveAll(again))
	require.Len(t, g.a.take(EventResponse, EventImplicit), 8)
}

func TestFaultR4BeyondTheRange(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 8, OverrideMPRZero: 8}})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	q := request(t, w)
	q.PSN, q.ClearOffset = q.PSN+8, -9
	q.AppendTo(w.b[:0])
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
	r, answer := g.give(g.control(g.a, pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, PSN: info.Next}))
	require.Equal(t, VerdictDone, r.Verdict)
	require.Empty(t, answer)
	_, answer = g.give(data[0])
	require.Equal(t, info.Next, ackCC(t, answer[0]).CACK, "one ACK covers both")
	require.True(t, g.b.has(EventClosed, CauseNone))
	require.Len(t, g.b.got, 1)
}

// A CLOSE_CMD that comes before the layer above has answered closes nothing; a copy closes after the
// answer.
func TestFaultR7CloseOvertakesTheAnswer(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.later = true
	g.submit(1, 1)
	r, _ := g.give(g.send(g.a)[0])
	out := make([]byte, ReplyMax)
	_, err := g.b.m.Respond(g.now, r.ID, &Response{Kind: RespondLater}, out)
	require.NoError(t, err)
	cmd := g.control(g.a, pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, PSN: g.info(g.a).Next})
	_, answer := g.give(cmd)
	require.Empty(t, answer)
	require.NotNil(t, g.b.m.get(r.ID.PDC))
	_, err = g.b.m.Respond(g.now, r.ID, &guaranteed, out)
	require.NoError(t, err)
	_, answer = g.give(cmd)
	require.Equal(t, controlOf(t, cmd).PSN, ackCC(t, answer[0]).CACK)
	require.True(t, g.b.has(EventClosed, CauseNone))
}

func TestFaultR1SYNFlightReversed(t *testing.T) {
	g := newPair(t, pairConfig{start: 0xfffffffe})
	g.submit(1, 4)
	ws := g.send(g.a)
	slices.Reverse(ws)
	_, acks := g.give(ws[0])
	require.EqualValues(t, 1, g.b.m.Stats().Opened, "any SYN packet opens")
	require.Equal(t, pds.PSN(0xfffffffd), g.info(g.b).CACK, "Start_PSN = psn - psn_offset")
	g.giveAll(acks)
	require.Equal(t, g.info(g.b).ID, g.info(g.a).PeerID, "and its ACK names the id")
	g.giveAll(g.giveAll(ws[1:]))
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
	require.Equal(t, []pds.PSN{1, 0, 0xffffffff, 0xfffffffe}, g.b.got, "RUD hands up as it comes")
	require.ElementsMatch(t, []uint64{1, 2, 3, 4}, g.a.take(EventResponse, EventImplicit))
}

// A hole far below what arrives: the newest arrivals show in the SACKs all the
// same, and the hole is what is sent again.
func TestFaultR3ReorderedBeyondABitmap(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000, Config: Config{AckPerPacket: true}})
	g.submit(1, 200)
	ws := g.send(g.a)
	require.Len(t, ws, 200)
	p := g.a.m.get(g.h)
	hole := p.tx.base
	g.giveAll(g.giveAll(ws[1:]))
	for off := hole + 1; off != p.tx.next; off++ {
		require.True(t, p.tx.hasArrived(g.a.m.mem, off), "PSN %d", off)
	}
	require.False(t, p.tx.hasArrived(g.a.m.mem, hole))
	g.wait(1_100_000)
	again := filterData(g.send(g.a))
	require.Len(t, again, 1, "the hole does not starve")
	require.Equal(t, request(t, ws[0]).PSN, request(t, again[0]).PSN)
	g.giveAll(g.giveAll(again))
	require.Len(t, g.a.take(EventResponse, EventImplicit), 200)
}

func TestFaultR6ACKOvertakesTheFirst(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 2)
	ws := g.send(g.a)
	_, first := g.give(ws[0])
	_, second := g.give(ws[1])
	require.Len(t, append(first, second...), 2)
	g.giveAll(append(second, first...))
	require.Equal(t, StateEstablished, g.info(g.a).State)
	require.Equal(t, g.info(g.b).ID, g.info(g.a).PeerID)
	require.ElementsMatch(t, []uint64{1, 2}, g.a.take(EventResponse, EventImplicit))
}

func TestFaultR8ReadDataOvertakesTheACK(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{KnownSources: true}})
	g.submit(1, 1)
	acks := g.giveAll(g.send(g.a))
	target := g.b.m.target.byID(g.info(g.b).ID).handle
	_, err := g.b.m.Submit(g.now, target, Packet{Handle: 50, Size: 4160, Next: pds.NextResponseData})
	require.NoError(t, err)
	g.giveAll(g.giveAll(g.send(g.b)))
	require.Len(t, g.a.got, 1, "the data is handed up at once")
	require.Equal(t, StateEstablished, g.info(g.a).State, "it names the target's id like any packet")
	g.giveAll(acks)
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
	g.wait(1_100_000)
	g.settle()
	require.Len(t, g.a.got, 1)
	require.Equal(t, []uint64{50}, g.b.take(EventResponse, EventImplicit))
}

// What was refused as outside the window is taken when the window has moved: the refusal
// was no error.
func TestFaultR4RefusedThenTaken(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 8, OverrideMPRZero: 8}})
	g.a.m.get(g.h).tx.limit = 16 // more than the target tracks
	p, err := NewParams(Config{Range: 64, AckPerPacket: true})
	require.NoError(t, err)
	g.a.m.p = &p
	g.submit(1, 12)
	ws := g.send(g.a)
	require.Len(t, ws, 12)
	late := ws[9]
	r, nack := g.give(late) // overtakes nine
	require.ErrorIs(t, r.Err, ErrOutside)
	g.giveAll(nack)
	require.Equal(t, StateEstablished, g.info(g.a).State)
	g.giveAll(g.giveAll(append(ws[:9:9], ws[10:]...)))
	for range 5 {
		g.wait(1_100_000)
		g.settle()
	}
	require.Len(t, g.a.take(EventResponse, EventImplicit), 12)
	require.Len(t, g.b.got, 12)
}

// An ACK that was overtaken brings what it knows more, and takes nothing back.
func TestFaultR5OlderACKWithNews(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	info := g.info(g.a)
	g.submit(1, 20)
	g.send(g.a)
	ack := func(cack pds.PSN, mpr uint8, sack uint64) {
		a := pds.AckCC{Ack: pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: cack}, SACK: pds.SACK{MPR: mpr, SACKOffset: 1, Bitmap: sack}}
		r, _ := g.give(wire{from: g.b, b: a.AppendTo(nil)})
		require.NoError(t, r.Err)
	}
	base := info.Base
	ack(base+4, 1, 0)
	p := g.a.m.get(g.h)
	limit := p.tx.limit
	require.EqualValues(t, 128, limit)
	ack(base+1, 8, 1<<8) // of PSN base+10
	require.Equal(t, base+4, g.info(g.a).MaxCACK, "CACK does not go back")
	require.Equal(t, limit, p.tx.limit, "nor does the range")
	require.True(t, p.tx.hasArrived(g.a.m.mem, p.tx.offset(base+10)), "but what has arrived is noted")
}

// A target that tracks fewer PSNs than the unit of mpr announces 0, which both ends know for less
// than that. Without the setting the target rounds up, and tracks what it announces. So no packet is refused for being outside.
func TestRangeBelow128(t *testing.T) {
	for override, mpr := range map[int]uint8{0: 1, 1: 0, 48: 0, 49: 1} {
		p, err := NewParams(Config{Range: 48, OverrideMPRZero: override})
		require.NoError(t, err)
		require.Equal(t, mpr, p.mpr, override)
	}
	for override, flight := range map[int]int{40: 40, 200: 128} {
		g := established(t, pairConfig{cwnd: 1_500_000, Config: Config{Range: 48, OverrideMPRZero: override}})
		p, err := NewParams(Config{OverrideMPRZero: override})
		require.NoError(t, err)
		g.a.m.p, g.a.m.source.p = &p, &p
		g.submit(1, 1)
		w := g.send(g.a)[0]
		q := request(t, w)
		q.Flags |= pds.FlagAR
		q.AppendTo(w.b[:0])
		g.giveAll(g.giveAll([]wire{w}))
		g.submit(2, 150)
		require.EqualValues(t, flight, g.a.m.get(g.h).tx.limit)
		g.giveAll(g.send(g.a)[1:])
		require.Zero(t, g.b.m.Stats().Outside)
	}
}
