package pdc

import (
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
