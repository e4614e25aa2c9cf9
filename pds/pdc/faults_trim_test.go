package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

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

// An ACK that has lost its data is no answer: its request is sent again, and the
// target repeats what it kept. Nobody sends a NACK for it.
func TestFaultT3TrimmedACKWithData(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	ack := g.giveAll(g.send(g.a))[0]
	cut := ack
	cut.b, cut.trim = ack.b[:pds.AckCCLen], pds.NackTrimmed
	before := g.info(g.a)
	r, answer := g.give(cut)
	require.ErrorIs(t, r.Err, ErrTrimmed)
	require.Empty(t, answer)
	require.Equal(t, before, g.info(g.a))
	require.Empty(t, g.a.take(EventResponse), "it has not been answered")
	g.wait(1_100_000)
	again := g.giveAll(filterData(g.send(g.a)))
	require.Equal(t, ack.b[pds.AckCCLen:], again[0].b[pds.AckCCLen:])
	r, _ = g.give(again[0])
	require.Equal(t, VerdictResponse, r.Verdict)
	require.Len(t, g.b.got, 1)
}
