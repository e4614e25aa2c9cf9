// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
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
	setFlag(ws[0].b, pds.FlagRetx)
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
	setFlag(ws[0].b, pds.FlagRetx)
	_, answer := g.give(ws[0])
	require.Equal(t, pds.NackRcvdSESProcg, nackOf(t, answer[0]).Code)
	g.giveAll(answer)
	require.Empty(t, g.send(g.a), "it causes no resend")
	_, answer = g.give(g.control(g.a, pds.Control{Ctl: pds.CtlACKReq, Flags: pds.FlagAR, PSN: r.ID.PSN}))
	require.Equal(t, pds.NackRcvdSESProcg, nackOf(t, answer[0]).Code, "so is a question about it")
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
	setFlag(ws[0].b, pds.FlagRetx)
	_, again := g.give(ws[0])
	require.Equal(t, make([]byte, nullLen), again[0].b[pds.AckCCLen:], "the response is no longer known, so it says nothing")
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
	require.NoError(t, g.a.m.Noop(g.h))
	g.wait(1_100_000)
	ws := filterControl(g.send(g.a))
	require.Len(t, ws, 2)
	ws[1] = negotiation(t, ws[1], 7)
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
}

// nameRequest gives the request in w a semantic header of message 7 of job 0x010203, so many bytes
// long and so far behind the first packet of its message.
func nameRequest(w wire, flags byte, size uint16, offset uint32) {
	h := w.b[pds.RequestLen:]
	h[1] |= flags
	binary.BigEndian.PutUint16(h[2:], 7)
	binary.BigEndian.PutUint32(h[4:], 0xff_010203) // with its generation
	binary.BigEndian.PutUint16(h[34:], size)
	binary.BigEndian.PutUint32(h[36:], offset)
}

// nullTo is the response to message 7 of that job that the PDS makes.
var nullTo = []byte{0, 0, 0, 7, 0, 1, 2, 3, 0, 0, 0, 0}

// The acknowledgement of a packet that came before names its message: with one lost
// acknowledgement a message of the reference provider never ended, since the second had no
// response (next_hdr NONE), in each of its four modes.
func TestDuplicateIsAnsweredByTheDefaultResponse(t *testing.T) {
	for _, c := range []Config{{}, {NoAckCC: true}} {
		g := established(t, pairConfig{Config: c})
		g.submit(1, 1)
		ws := g.send(g.a)
		nameRequest(ws[0], 3, 0, 0)
		g.give(ws[0]) // its acknowledgement is lost
		setFlag(ws[0].b, pds.FlagRetx)
		_, again := g.give(ws[0])
		require.Len(t, again, 1)
		require.EqualValues(t, pds.NextResponse, binary.BigEndian.Uint16(again[0].b)>>7&0xf)
		require.Equal(t, nullTo, again[0].b[len(again[0].b)-nullLen:])
		g.a.take()
		g.giveAll(again)
		require.Equal(t, []uint64{1}, g.a.take(EventResponse))
	}
}

// What acknowledges a packet that is held back names the last one before the gap, which may
// not have been acknowledged yet, so it has a response too: with BufferROD and 2 % loss 3 to 6
// of 48 messages of the reference provider waited for ever. It names the message if that is
// known.
func TestHeldBackPacketIsAcknowledgedWithTheDefaultResponse(t *testing.T) {
	for _, c := range []struct {
		flags  byte
		offset uint32 // of the packet behind the gap
		want   []byte
	}{{0, 8192, nullTo}, {0, 4096, make([]byte, nullLen)}, {2, 8192, make([]byte, nullLen)}, {1, 0, make([]byte, nullLen)}} {
		g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true}, manager: func(c *ManagerConfig) { c.Memory.Buffers = 8 }})
		g.submit(1, 3)
		ws := g.send(g.a)
		_, first := g.give(ws[0])
		require.Empty(t, first, "its acknowledgement waits for more")
		setFlag(ws[2].b, pds.FlagAR)
		nameRequest(ws[2], c.flags, 4096, c.offset)
		_, back := g.give(ws[2])
		require.Len(t, back, 1)
		h := ackCC(t, back[0])
		require.Equal(t, request(t, ws[0]).PSN, h.AckPSN())
		require.Equal(t, pds.NextResponse, h.Next)
		require.Equal(t, c.want, back[0].b[pds.AckCCLen:])
	}
}

// A copy of a request that waits for its turn is answered by what has arrived, and releases nothing.
func TestDuplicateOfABufferedRequest(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{BufferROD: true}, manager: func(c *ManagerConfig) { c.Memory.Buffers = 8 }})
	g.submit(1, 3)
	ws := g.send(g.a)
	g.give(ws[1])
	setFlag(ws[1].b, pds.FlagRetx)
	r, back := g.give(ws[1])
	require.ErrorIs(t, r.Err, ErrDuplicate)
	require.EqualValues(t, 1, g.b.m.Stats().Duplicates)
	require.Len(t, back, 1)
	a := ackCC(t, back[0])
	require.Equal(t, request(t, ws[0]).PSN-1, a.CACK)
	require.Equal(t, a.CACK, a.AckPSN())
	require.NotZero(t, a.Bitmap)
	g.giveAll(back)
	require.Empty(t, g.a.take(EventResponse, EventImplicit))
}
