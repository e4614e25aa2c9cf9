package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

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

// The second copy of a NACK is of a packet that has been sent again already: it sends
// nothing, congestion control does not hear of it, and it does not count.
func TestFaultD4DuplicateNACK(t *testing.T) {
	for _, code := range []pds.NackCode{pds.NackTrimmed, pds.NackNoResource, pds.NackNoPktBuffer, pds.NackPktNotRcvd, pds.NackACKWithData,
		pds.NackRcvrInferLoss, pds.NackExpNormal} {
		t.Run(code.String(), func(t *testing.T) {
			g := established(t, pairConfig{})
			g.submit(1, 1)
			g.send(g.a)
			n := pds.Nack{Code: code, PSN: g.info(g.a).Base, SPDCID: g.info(g.a).PeerID}
			require.NoError(t, g.nack(n).Err)
			require.ErrorIs(t, g.nack(n).Err, ErrStale, "before it is sent")
			g.wait(1_010_000)
			require.Len(t, filterData(g.send(g.a)), 1)
			cc := *g.a.m.cc.Context(g.info(g.a).Context)
			g.now += 50_000
			require.ErrorIs(t, g.nack(n).Err, ErrStale, "and after")
			require.Empty(t, g.send(g.a))
			require.Equal(t, cc, *g.a.m.cc.Context(g.info(g.a).Context))
		})
	}
}

// Copies of control packets do what one does.
func TestFaultD4DuplicateControlPackets(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.NoError(t, g.a.m.Negotiate(g.h, 7))
	g.wait(1_100_000)
	ws := filterControl(g.send(g.a))
	require.Len(t, ws, 2)
	for _, w := range ws { // CLEAR_CMD, NEGOTIATION
		g.give(w)
		info, stats := g.info(g.b), g.b.m.Stats()
		r, answer := g.give(w)
		require.NoError(t, r.Err)
		require.Equal(t, info, g.info(g.b))
		if controlOf(t, w).Ctl.ConsumesPSN() {
			require.Len(t, answer, 1, "acknowledged again")
			require.Equal(t, stats.Duplicates+1, g.b.m.Stats().Duplicates)
		}
	}
	require.Len(t, g.b.take(EventNegotiation), 1)
}
