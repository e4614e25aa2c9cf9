// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// walkPair is the packet walk of the UET congestion chapters: IPDCID 0x4001, TPDCID 0x8001, Start_PSN 0x12000,
// four packets.
func walkPair(t *testing.T) *pair {
	g := newPair(t, pairConfig{ids: [2]int{0x4001, 0x8001}, first: [2]pds.PDCID{0x4001, 0x8001}, start: 0x12000,
		memory: MemoryConfig{Chunks: 4, Responses: 4}})
	require.EqualValues(t, 0x4001, g.h.ID())
	g.submit(1, 4)
	return g
}

// All four packets leave before any acknowledgement.
func TestWalkAllBeforeTheFirstACK(t *testing.T) {
	g := walkPair(t)
	ws := g.send(g.a)
	require.Len(t, ws, 4)
	for i, w := range ws {
		q := request(t, w)
		require.Equal(t, pds.PSN(0x12000+i), q.PSN)
		require.NotZero(t, q.Flags&pds.FlagSYN)
		require.Equal(t, i == 3, q.Flags&pds.FlagAR != 0)
		require.EqualValues(t, i, q.Info, "general pool, psn_offset")
		require.EqualValues(t, -1-i, q.ClearOffset)
		require.Equal(t, pds.PSN(0x11fff), q.ClearPSN())
		require.EqualValues(t, 0x4001, q.SPDCID)
	}
	acks := g.giveAll(ws)
	require.Len(t, acks, 4, "a SYN packet forces an ACK")
	for i, w := range acks {
		a := ackCC(t, w)
		require.Equal(t, pds.PSN(0x12000+i), a.CACK)
		require.Zero(t, a.Offset)
		require.EqualValues(t, 0x8001, a.SPDCID)
		require.EqualValues(t, 0x4001, a.DPDCID)
	}
	g.giveAll(acks)
	require.Equal(t, StateEstablished, g.info(g.a).State)
	require.EqualValues(t, 0x8001, g.info(g.a).PeerID)
	require.Equal(t, []uint64{1, 2, 3, 4}, g.a.take(EventResponse))
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
}

// The first ACK is back before the second packet leaves.
func TestWalkFirstACKBeforeTheRest(t *testing.T) {
	g := newPair(t, pairConfig{ids: [2]int{0x4001, 0x8001}, first: [2]pds.PDCID{0x4001, 0x8001}, start: 0x12000, memory: MemoryConfig{Chunks: 4, Responses: 4}})
	require.NoError(t, g.a.m.Begin(g.h))
	_, err := g.a.m.Submit(0, g.h, Packet{Handle: 1, Size: 4160, Next: pds.NextRequestStd})
	require.NoError(t, err)
	g.giveAll(g.giveAll(g.send(g.a)))
	for i := range 3 {
		_, err := g.a.m.Submit(0, g.h, Packet{Handle: uint64(2 + i), Size: 4160, Next: pds.NextRequestStd, EOM: i == 2})
		require.NoError(t, err)
	}
	ws := g.send(g.a)
	require.Len(t, ws, 3)
	for i, w := range ws {
		q := request(t, w)
		require.Zero(t, q.Flags&pds.FlagSYN)
		require.EqualValues(t, 0x8001, q.DPDCID)
		require.Equal(t, pds.PSN(0x12000), q.ClearPSN())
		require.EqualValues(t, -1-i, q.ClearOffset)
	}
	acks := g.giveAll(ws)
	require.Len(t, acks, 1, "8,192 counted bytes do not trigger an ACK, the EOM's request does")
	require.Equal(t, pds.PSN(0x12003), ackCC(t, acks[0]).CACK)
	require.Equal(t, []uint64{1}, g.a.take(EventResponse))
	g.giveAll(acks)
	require.Equal(t, []Event{
		{Kind: EventResponse, PDC: g.h, PSN: 0x12003, Handle: 4},
		{Kind: EventImplicit, PDC: g.h, PSN: 0x12001, Handle: 2},
		{Kind: EventImplicit, PDC: g.h, PSN: 0x12002, Handle: 3},
	}, g.a.events)
}

// The SYN packets arrive in reverse order.
func TestWalkReverse(t *testing.T) {
	g := walkPair(t)
	ws := g.send(g.a)
	var acks []wire
	for i := range ws {
		_, a := g.give(ws[3-i])
		acks = append(acks, a...)
	}
	want := []struct {
		cack pds.PSN
		off  int16
	}{{0x11fff, 4}, {0x11fff, 3}, {0x11fff, 2}, {0x12003, -3}}
	require.Len(t, acks, len(want))
	for i, w := range acks {
		a := ackCC(t, w)
		require.Equal(t, want[i].cack, a.CACK)
		require.Equal(t, want[i].off, a.Offset)
	}
	g.giveAll(acks)
	require.ElementsMatch(t, []uint64{1, 2, 3, 4}, g.a.take(EventResponse))
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
	g.submit(5, 1)
	require.Equal(t, pds.PSN(0x12004), request(t, g.send(g.a)[0]).PSN, "the next message goes on")
}

// The worked sequences of the specification's examples start on an idle PDC with
// PSN = ACK = CLEAR = 332.
func idleAt332(t *testing.T) *pair {
	g := newPair(t, pairConfig{start: 332})
	g.submit(1, 1)
	g.settle()
	require.Equal(t, pds.PSN(332), g.info(g.b).CACK)
	g.a.take()
	g.b.got = nil
	return g
}

func TestSpecSequenceDefaultResponse(t *testing.T) {
	g := idleAt332(t)
	g.submit(2, 1)
	ws := g.send(g.a)
	require.Equal(t, pds.PSN(332), request(t, ws[0]).ClearPSN())
	acks := g.giveAll(ws)
	require.Equal(t, pds.PSN(333), ackCC(t, acks[0]).CACK)
}

func TestSpecSequenceGuaranteedResponse(t *testing.T) {
	g := idleAt332(t)
	g.b.reply = guaranteed
	g.submit(2, 1)
	acks := g.giveAll(g.send(g.a))
	a := ackCC(t, acks[0])
	require.Equal(t, pds.PSN(332), a.CACK)
	require.Equal(t, pds.PSN(333), a.AckPSN())
	require.Equal(t, pds.AckReqClear, a.Flags.Req())
	require.Equal(t, pds.NextResponse, a.Next)
	require.Equal(t, "twelve bytes", string(acks[0].b[pds.AckCCLen:]))
	r, _ := g.give(acks[0])
	require.Equal(t, VerdictResponse, r.Verdict)
	require.EqualValues(t, 2, r.Handle)
	require.Equal(t, pds.PSN(332), g.info(g.b).CACK)
	require.Empty(t, g.send(g.a), "CLEAR waits for a request to ride on")
	g.wait(1_100_000) // PDS_Clear_Time
	ws := g.send(g.a)
	c := controlOf(t, ws[0])
	require.Equal(t, pds.CtlClearCmd, c.Ctl)
	require.Equal(t, pds.PSN(333), pds.PSN(c.Payload))
	require.Zero(t, c.PSN)
	require.Empty(t, g.giveAll(ws), "no answer")
	require.Equal(t, pds.PSN(333), g.info(g.b).CACK)
}

// Packets behind a response that has been seen wait for CACK, and CACK for a CLEAR: where no request is left to
// carry the CLEAR, a CLEAR_CMD goes after a part of a round trip, not after PDS_Clear_Time.
func TestClearGoesSoonWhereTheRestWaits(t *testing.T) {
	g := idleAt332(t)
	g.submit(2, 3)
	ws := g.send(g.a)
	require.Empty(t, g.giveAll(ws[1:2]), "coalesced")
	g.b.reply = guaranteed
	acks := g.giveAll(ws[:1])
	g.b.reply = Response{}
	acks = append(acks, g.giveAll(ws[2:])...)
	require.Len(t, acks, 2, "of the response and of the end")
	g.giveAll(acks[1:])
	g.giveAll(acks[:1])
	require.Equal(t, pds.PSN(333), g.info(g.a).Base-1)
	g.wait(50_000)
	ws = g.send(g.a)
	require.Len(t, ws, 1)
	require.Equal(t, pds.CtlClearCmd, controlOf(t, ws[0]).Ctl)
	require.Equal(t, pds.PSN(333), pds.PSN(controlOf(t, ws[0]).Payload))
	g.giveAll(g.giveAll(ws))
	require.Equal(t, pds.PSN(336), g.info(g.a).Base)
	require.Equal(t, pds.PSN(335), g.info(g.b).CACK)
}

// The same where the window is full of responses that have been seen: no request goes before a CLEAR.
func TestClearGoesSoonWhereTheWindowIsFull(t *testing.T) {
	g := established(t, pairConfig{cwnd: 1_500_000, Config: Config{Range: 8, OverrideMPRZero: 8}})
	g.b.reply = guaranteed
	g.submit(1, 12)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Len(t, g.a.take(EventResponse, EventImplicit), 8)
	g.wait(50_000)
	ws := g.send(g.a)
	require.Equal(t, pds.CtlClearCmd, controlOf(t, ws[0]).Ctl)
	g.giveAll(g.giveAll(ws)) // with a question, whose answer tells of the room
	require.Equal(t, g.info(g.a).Base-1, g.info(g.b).CACK)
	g.settle()
	require.Len(t, g.a.take(EventResponse, EventImplicit), 4)
	require.Less(t, g.now, int64(400_000), "PDS_Clear_Time is 500,000")
}

func TestSpecSequenceClearOvertakesTheLastACK(t *testing.T) {
	g := idleAt332(t)
	g.submit(2, 6)
	ws := g.send(g.a)
	g.b.reply = guaranteed
	four := g.giveAll(ws[:4])
	for i, w := range four {
		a := ackCC(t, w)
		require.Equal(t, pds.PSN(332), a.CACK)
		require.EqualValues(t, i+1, a.Offset)
	}
	g.giveAll(four)
	require.Equal(t, pds.PSN(337), g.info(g.a).Base)
	g.b.reply = Response{}
	require.Empty(t, g.giveAll(ws[4:5]), "337 is coalesced")
	last := request(t, ws[5])
	last.ClearOffset = -2 // the CLEAR 336 is there before the ACK for 338 is made
	last.AppendTo(ws[5].b[:0])
	a := ackCC(t, g.giveAll(ws[5:])[0])
	require.Equal(t, pds.PSN(338), a.CACK)
	require.Equal(t, pds.PSN(338), a.AckPSN())
}

func TestSpecSequenceReadOfThreePackets(t *testing.T) {
	g := idleAt332(t)
	info := g.info(g.b)
	back := makeHandle(info.ID, g.b.m.target.byID(info.ID).handle.Generation())
	g.submit(2, 3) // requests 333 to 335
	g.giveAll(g.giveAll(g.send(g.a)))
	for i := range 3 { // the data on the return direction
		_, err := g.b.m.Submit(g.now, back, Packet{Handle: uint64(50 + i), Size: 4160, Next: pds.NextResponseData, EOM: i == 2})
		require.NoError(t, err)
	}
	ws := g.send(g.b)
	require.Len(t, ws, 3)
	require.Equal(t, pds.PSN(331), request(t, ws[2]).ClearPSN(), "nothing is released yet")
	require.EqualValues(t, -3, request(t, ws[2]).ClearOffset)
	acks := g.giveAll(ws)
	require.Equal(t, pds.PSN(334), ackCC(t, acks[len(acks)-1]).CACK)
	g.giveAll(acks)
	require.ElementsMatch(t, []uint64{50, 51, 52}, g.b.take(EventResponse, EventImplicit))
	g.submit(5, 1)
	q := request(t, g.send(g.a)[0])
	require.Equal(t, pds.PSN(336), q.PSN)
	require.EqualValues(t, -1, q.ClearOffset)
}

// The arithmetic that windows are built on, at its corners.
func TestPSNVectors(t *testing.T) {
	require.EqualValues(t, 5, pds.PSN(3).Diff(0xfffffffe))
	require.EqualValues(t, -5, pds.PSN(0xfffffffe).Diff(3))
	require.Equal(t, pds.PSN(0xfffffffd), (&pds.Request{PSN: 1, ClearOffset: -4}).ClearPSN())
	require.Equal(t, pds.PSN(2), (&pds.Ack{CACK: 0xffffffff, Offset: 3}).AckPSN())
	require.Equal(t, pds.PSN(0x12000), (&pds.Request{PSN: 0x12003, Info: pds.MakePDCInfo(false, 3)}).StartPSN())
	var w recvWindow
	f := newFar(t)
	w.Init(0xfffffff0)
	require.Equal(t, arrivalNew, w.Classify(f, 0x6f, 128))
	require.Equal(t, arrivalOutside, w.Classify(f, 0x70, 128))
}
