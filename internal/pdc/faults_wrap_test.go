// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// The range ends the first flight before the 12 bits of psn_offset do; no other packet
// goes until the first acknowledgement.
func TestFaultW2SYNOffsetsEnd(t *testing.T) {
	g := newPair(t, pairConfig{cwnd: 1_500_000})
	require.NoError(t, g.a.m.Begin(g.h))
	n, err := g.a.m.SubmitRun(g.now, g.h, &Packet{Size: 1000, Next: pds.NextRequestStd}, defaultRange+rowLen+1)
	require.ErrorIs(t, err, ErrWindowFull)
	require.Equal(t, defaultRange+rowLen, n)
	ws := g.send(g.a)
	require.EqualValues(t, len(ws)-1, request(t, ws[len(ws)-1]).Info.PSNOffset())
	require.Equal(t, defaultRange, len(ws))
}

func TestFaultW1LossesAroundTheWrap(t *testing.T) {
	g := newPair(t, pairConfig{start: 0xfffffff0, cwnd: 1_500_000})
	g.submit(1, 40)
	ws := g.send(g.a)
	require.Len(t, ws, 40)
	lost := map[int]bool{0: true, 3: true, 14: true, 15: true, 16: true, 17: true, 31: true, 39: true}
	for i, w := range ws {
		if lost[i] {
			continue
		}
		_, acks := g.give(w)
		g.giveAll(acks)
		b := g.info(g.b)
		windowsHold(t, &b)
		require.Equal(t, request(t, w).PSN, b.MaxRcvd, "the highest in serial order")
	}
	for range 8 {
		g.wait(1_100_000)
		g.settle()
	}
	require.Equal(t, pds.PSN(0x18), g.info(g.a).Base)
	require.Equal(t, pds.PSN(0x17), g.info(g.a).MaxCACK)
	require.Len(t, g.a.take(EventResponse, EventImplicit), 40)
	require.Len(t, g.b.got, 40)
}

// CLEAR_PSN at the ends of its 16-bit offset says nothing that moves a window.
func TestFaultW3ClearOffsetAtItsLimit(t *testing.T) {
	for _, start := range []pds.PSN{0x10, 0xfffffff0, 0x7ffffff0} {
		g := newPair(t, pairConfig{start: start})
		g.b.reply = guaranteed
		g.submit(1, 1)
		g.settle()
		before := g.info(g.b)
		for _, off := range []int16{-32768, -32767, 32767} {
			info := g.info(g.a)
			q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, SPDCID: info.ID, DPDCID: info.PeerID, PSN: start, ClearOffset: off}
			r, _ := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
			require.Error(t, r.Err)
			require.Equal(t, before, g.info(g.b), "offset %d", off)
		}
		g.submit(2, 1)
		g.settle()
		require.Len(t, g.b.got, 2)
	}
}
