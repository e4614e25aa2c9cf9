package pdc

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

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
