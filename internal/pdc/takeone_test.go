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
	ack := func(cumulative, of pds.PSN) Confirmed {
		a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: p.peerID, DPDCID: g.h.ID(), CACK: cumulative,
			Offset: int16(of - cumulative)}, SACK: pds.SACK{MPR: 8}}
		a.SetNSCC(&pds.NSCCState{})
		return g.a.m.Fast().TakeACK(g.now, (*view.AckCC)(a.AppendTo(nil)), p.peer)
	}
	require.EqualValues(t, 1, ack(cack, first+1).N, "the second packet, ahead of the first")
	require.EqualValues(t, 3, p.stalls)
	require.EqualValues(t, 1, ack(first+1, first).N, "the first, and with it both")
	require.Zero(t, p.stalls)
	require.Equal(t, first+1, p.tx.MaxCACK())
	require.Equal(t, first+2, p.tx.Base())
	require.Zero(t, ack(first+1, first).N, "the same again")
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
