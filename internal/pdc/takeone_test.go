// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// Acknowledgements of packets that have overtaken each other: the one that moves
// max_cack ends a stall, the others do not.
func TestTakeOneEndsAStallWithMaxCACK(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000})
	g.submit(1, 3)
	g.send(g.a)
	p := g.a.m.get(g.h)
	first, cack := p.tx.Base(), p.tx.MaxCACK()
	p.stalls = 3
	ack := func(cumulative, of pds.PSN) uint32 {
		a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: p.peerID, DPDCID: g.h.ID(), CACK: cumulative,
			Offset: int16(of - cumulative)}, SACK: pds.SACK{MPR: 8}}
		a.SetNSCC(&pds.NSCCState{})
		_, n := g.a.m.Fast().Exchange(g.now, []*view.AckCC{(*view.AckCC)(a.AppendTo(nil))}, &p.peer, 0)
		return n
	}
	require.EqualValues(t, 1, ack(cack, first+1), "the second packet, ahead of the first")
	require.EqualValues(t, 3, p.stalls)
	require.EqualValues(t, 1, ack(first+1, first), "the first, and with it both")
	require.Zero(t, p.stalls)
	require.Equal(t, first+1, p.tx.MaxCACK())
	require.Equal(t, first+2, p.tx.Base())
	require.Zero(t, ack(first+1, first), "the same again")
}

// What an ACK_CCX says of congestion is its vendor's, whatever type it claims.
func TestStateOfACKCCXIsLeftAlone(t *testing.T) {
	x := pds.AckCCX{Ack: pds.Ack{SPDCID: 1, DPDCID: 2, CACK: 9}, SACK: pds.SACK{CCType: pds.CCCredit, MPR: 3, Bitmap: 5}}
	x.State[0] = 0xff
	var h pds.AckCC
	_, err := decodeACK(&h, pds.TypeACKCCX, x.AppendTo(nil))
	require.NoError(t, err)
	require.Equal(t, pds.AckCC{Ack: x.Ack, SACK: pds.SACK{MPR: 3, Bitmap: 5}}, h)
}

// A window as wide as its ring has packets of two laps in a row. Acknowledgements of the earlier ones must
// leave the later ones in flight: congestion control would count those as under way for ever.
func TestAcknowledgedInAFullWindow(t *testing.T) {
	g := established(t, pairConfig{cwnd: 150_000})
	p := g.a.m.get(g.h)
	src, c, handle := p.peer, g.a.m.cc.Context(p.cc), uint64(1)
	require.NoError(t, g.a.m.Begin(g.h))
	send := func(n int) {
		for range n {
			_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: handle, Size: 100, Next: pds.NextRequestStd})
			require.NoError(t, err)
			handle++
		}
		require.Len(t, g.send(g.a), n)
	}
	ack := func() {
		a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: p.peerID, DPDCID: g.h.ID(), CACK: p.tx.Base()}, SACK: pds.SACK{MPR: defaultRange / 128}}
		a.SetNSCC(&pds.NSCCState{})
		_, n := g.a.m.Fast().Exchange(g.now, []*view.AckCC{(*view.AckCC)(a.AppendTo(nil))}, &src, 0)
		require.EqualValues(t, 1, n)
	}
	for send(defaultRange); c.InflightPackets() > defaultRange-20; {
		ack()
	}
	send(20)
	for left := defaultRange; left > 0; left-- {
		require.Equal(t, left, c.InflightPackets())
		ack()
	}
	require.Zero(t, c.InflightPackets())
}
