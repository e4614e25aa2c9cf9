package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

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
