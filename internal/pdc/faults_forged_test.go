// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"
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
	require.Equal(t, []bool{false, true, false}, []bool{p.tx.hasArrived(g.a.m.mem, p.tx.base), p.tx.hasArrived(g.a.m.mem, p.tx.base+1), p.tx.hasArrived(g.a.m.mem, p.tx.next)})
}

func TestFaultF4ClearBeyondReceived(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	g.giveAll(g.send(g.a))
	info := g.info(g.a)
	before := g.info(g.b)
	g.give(g.control(g.a, pds.Control{Ctl: pds.CtlClearCmd, Payload: pds.Payload(info.Next + 5)}))
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

// ackWithMPR acknowledges everything up to cack, and announces a range of mpr units.
func ackWithMPR(t *testing.T, g *pair, cack pds.PSN, mpr uint8) {
	info := g.info(g.a)
	a := pds.AckCC{Ack: pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: cack}, SACK: pds.SACK{MPR: mpr}}
	r, _ := g.give(wire{from: g.b, b: a.AppendTo(nil)})
	require.NoError(t, r.Err)
}

func TestFaultF7MPR(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	info := g.info(g.a)
	ack := func(cack pds.PSN, mpr uint8) { ackWithMPR(t, g, cack, mpr) }
	g.submit(1, 300)
	require.Len(t, g.send(g.a), 300)
	g.now += 12_000
	ack(info.Next, 1)
	g.submit(301, 100)
	require.Empty(t, g.send(g.a), "128 PSNs and 299 outstanding: none is recalled, none is new")
	ack(info.Next+199, 1)
	require.Len(t, g.send(g.a), 28)
}

// A lost packet that a smaller range has put outside the window goes when the range
// is wider again.
func TestFaultF7LostPacketOutsideTheRange(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	info := g.info(g.a)
	ack := func(cack pds.PSN, mpr uint8) { ackWithMPR(t, g, cack, mpr) }
	g.submit(1, 300)
	require.Len(t, g.send(g.a), 300)
	ack(info.Next, 1)
	g.nack(pds.Nack{Code: pds.NackTrimmed, PSN: info.Next + 250, SPDCID: info.PeerID})
	require.Empty(t, filterData(g.send(g.a)))
	ack(info.Next+1, 8)
	again := filterData(g.send(g.a))
	require.Len(t, again, 1)
	require.Equal(t, info.Next+250, request(t, again[0]).PSN)
}

func TestFaultF8ReservedControlPackets(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.a)
	for ctl := pds.CtlType(10); ctl < 16; ctl++ {
		r, answer := g.give(g.control(g.a, pds.Control{Ctl: ctl, PSN: info.Next}))
		require.ErrorIs(t, r.Err, pds.ErrField)
		require.ErrorContains(t, r.Err, "ctl_type reserved")
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
	answers := uint64(1)
	for range 100 {
		_, answer := g.give(wire{from: g.a, b: ghost.AppendTo(nil)})
		answers += uint64(len(answer))
	}
	require.EqualValues(t, limiterBurst, answers)
	require.EqualValues(t, 101, answers+g.b.m.Stats().Muted, "each is answered or counted")
}

func TestFaultF3CACKALapAway(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	g.send(g.a)
	info := g.info(g.a)
	for _, d := range []pds.PSN{1 << 31, 1<<31 - 1, 1<<31 + 1, 1<<31 + 64, 1<<31 - 64, 0xfff00000} {
		for _, sack := range []uint64{0, ^uint64(0)} {
			a := pds.AckCC{Ack: pds.Ack{SPDCID: info.PeerID, DPDCID: info.ID, CACK: info.Base + d}, SACK: pds.SACK{MPR: 8, Bitmap: sack}}
			cc := *g.a.m.cc.Context(info.Context)
			g.give(wire{from: g.b, b: a.AppendTo(nil)})
			require.Equal(t, info, g.info(g.a), "CACK %#x away", d)
			require.Equal(t, cc, *g.a.m.cc.Context(info.Context))
		}
	}
	require.Empty(t, g.a.events)
}

// Without security a fatal NACK with the right source and ids cannot be told from
// the peer's. It costs one PDC.
func TestFaultF6FatalNACK(t *testing.T) {
	g := established(t, pairConfig{})
	other := g.openJob(7)
	g.submitOn(other, 90, 1)
	g.settle()
	g.a.take()
	g.submit(1, 2)
	g.send(g.a)
	p := g.a.m.get(g.h)
	n := pds.Nack{Code: pds.NackGtdRespUnavail, PSN: p.tx.Base(), SPDCID: p.peerID + 1, DPDCID: g.h.ID()}
	r, _ := g.give(wire{from: g.b, b: n.AppendTo(nil)})
	require.ErrorIs(t, r.Err, ErrUnknown, "of another PDC")
	n.SPDCID = p.peerID
	r, _ = g.give(wire{from: g.b, b: n.AppendTo(nil), dst: netip.MustParseAddr("10.7.7.7")})
	require.ErrorIs(t, r.Err, ErrUnknown, "from another source")
	require.Empty(t, g.a.events)
	r, _ = g.give(wire{from: g.b, b: n.AppendTo(nil)})
	require.NoError(t, r.Err)
	require.Equal(t, []uint64{1, 2}, g.a.take(EventError))
	ws := g.send(g.a)
	require.Equal(t, pds.CtlCloseCmd, controlOf(t, ws[0]).Ctl, "the target may live: it is told")
	for range 10 {
		g.giveAll(g.giveAll(g.send(g.a)))
		g.wait(100 * ms)
	}
	require.Nil(t, g.a.m.get(g.h))
	g.submitOn(other, 91, 1) // the other PDC does not notice
	g.settle()
	require.Equal(t, []uint64{91}, g.a.take(EventResponse, EventImplicit))
}

// A range of 0 is what the configuration says, the largest is cut to what is tracked here.
func TestFaultF7MPRAtItsEnds(t *testing.T) {
	for mpr, want := range map[uint8]uint16{0: 256, 1: 128, 4: 512, 255: defaultRange} {
		g := established(t, pairConfig{Config: Config{OverrideMPRZero: 256}})
		g.submit(1, 1)
		g.send(g.a)
		ackWithMPR(t, g, g.info(g.a).Base, mpr)
		require.Equal(t, want, g.a.m.get(g.h).tx.limit, "mpr %d", mpr)
	}
}

// Packets of types and with flags that are kept for later: the former are dropped and
// counted, the latter are ignored.
func TestFaultF8ReservedTypesAndFlags(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	before := g.info(g.b)
	for _, typ := range append([]byte{0}, 15, 16, 31) {
		b := append([]byte(nil), w.b...)
		b[0] = typ<<3 | b[0]&7
		malformed := g.b.m.Stats().Malformed
		r, answer := g.give(wire{from: g.a, b: b})
		require.ErrorIs(t, r.Err, pds.ErrType, "type %d", typ)
		require.Empty(t, answer)
		require.Equal(t, malformed+1, g.b.m.Stats().Malformed)
	}
	require.Equal(t, before, g.info(g.b))
	w.b[1] |= 0x63 // of a request: reserved
	r, _ := g.give(w)
	require.Equal(t, VerdictRequest, r.Verdict)
}
