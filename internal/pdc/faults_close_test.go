// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

func TestFaultK1TargetAsksToClose(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.b)
	target := g.b.m.target.byID(info.ID).handle
	require.NoError(t, g.a.m.Begin(g.h)) // a message begins meanwhile
	require.NoError(t, g.b.m.Close(g.now, target))
	g.settle()
	require.Equal(t, StateQuiesce, g.info(g.a).State)
	h := g.open(false)
	require.NotEqual(t, g.h, h, "a new message goes on a new PDC")
	_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 7, Size: 4160, Next: pds.NextRequestStd, EOM: true})
	require.NoError(t, err, "the open one goes on")
	g.settle()
	require.Contains(t, g.a.take(EventResponse), uint64(7))
	require.Nil(t, g.a.m.get(g.h))
	require.Nil(t, g.b.m.get(target))
}

func TestFaultK2CloseRequestCrossesClose(t *testing.T) {
	g := established(t, pairConfig{})
	target := g.b.m.target.byID(g.info(g.b).ID).handle
	require.NoError(t, g.b.m.Close(g.now, target))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	ask, cmd := g.send(g.b), g.send(g.a)
	g.giveAll(append(g.giveAll(cmd), g.giveAll(ask)...))
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone))
	require.True(t, g.b.has(EventClosed, CauseNone))
}

func TestFaultK3CloseWithDataOutstanding(t *testing.T) {
	g := established(t, pairConfig{})
	target := g.b.m.target.byID(g.info(g.b).ID).handle
	_, err := g.b.m.Submit(g.now, target, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData})
	require.NoError(t, err)
	g.send(g.b) // lost
	info := g.info(g.a)
	first := g.control(g.a, pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, PSN: info.Next})
	_, answer := g.give(first)
	require.Empty(t, answer, "its ACK may have been lost")
	setFlag(first.b, pds.FlagRetx)
	for range 4 {
		g.wait(100_000_000)
		g.send(g.b) // lost
		_, answer = g.give(first)
		require.Empty(t, answer)
	}
	g.wait(100_000_000)
	_, answer = g.give(first)
	require.Equal(t, pds.NackClosingInErr, nackOf(t, answer[0]).Code)
	require.Equal(t, []uint64{9}, g.b.take(EventError))
}

// The initiator has the return data and closes, but its ACK of the data is lost:
// the data goes out again before the CLOSE_CMD does, and nothing has failed.
func TestFaultK3CloseWhileTheACKIsLost(t *testing.T) {
	g := established(t, pairConfig{})
	target := g.b.m.target.byID(g.info(g.b).ID).handle
	_, err := g.b.m.Submit(g.now, target, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData, EOM: true})
	require.NoError(t, err)
	require.Len(t, g.giveAll(g.send(g.b)), 1, "the ACK that is lost")
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Empty(t, g.giveAll(g.send(g.a)))
	require.Empty(t, g.b.events)
	require.Equal(t, g.info(g.a).Base-1, g.info(g.b).CACK, "nor does any ACK that it may send acknowledge the CLOSE_CMD")
	for range 3 {
		g.wait(1_100_000)
		g.settle()
	}
	require.Equal(t, []uint64{9}, g.b.take(EventResponse, EventImplicit))
	require.Nil(t, g.a.m.get(g.h))
	require.Nil(t, g.b.m.get(target))
	require.Len(t, g.a.got, 1)
}

// A PDC that has failed leaves a hole at its target, which closes all the same when the
// CLOSE_CMD comes again. If it stayed until it had been idle for long, the PDCID would come
// out of quarantine first, and what then begins on it would be refused.
func TestCloseOfAFailedPDCAboveAHole(t *testing.T) {
	for name, first := range map[string]int{"a packet is missing": 1, "one is not answered": 0} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{Config: Config{IdleTime: 600e9}})
			g.b.later = first == 0
			g.submit(1, 2)
			g.giveAll(g.send(g.a)[first:]) // what comes back is lost
			target := g.b.m.target.byID(g.info(g.b).ID).handle
			require.NoError(t, g.a.m.Abort(g.now, g.h))
			_, answer := g.give(g.send(g.a)[0])
			require.Empty(t, answer, "what it has overtaken may still come")
			require.NotNil(t, g.b.m.get(target))
			g.wait(1100_000)
			g.settle()
			require.Nil(t, g.b.m.get(target))
			require.Nil(t, g.a.m.get(g.h))
			require.True(t, g.b.has(EventClosed, CauseNone))
			require.Zero(t, g.a.m.Stats().Unconfirmed)
			if first == 0 {
				_, err := g.b.m.Respond(g.now, RxID{target, g.b.got[0]}, &Response{}, make([]byte, ReplyMax))
				require.ErrorIs(t, err, ErrUnknown)
			}
		})
	}
}

// So does that of a PDC that fails behind a full queue: what has not been sent has no PSN yet,
// and leaves the CLOSE_CMD room in the target's window.
func TestCloseOfAFailedPDCBehindAFullQueue(t *testing.T) {
	g := established(t, pairConfig{Config: Config{Range: 8, IdleTime: 600e9}})
	g.submit(1, 8)
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	g.settle()
	require.True(t, g.b.has(EventClosed, CauseNone))
	require.Len(t, g.a.take(EventError), 8)
}

// askedToClose is a pair with an open message whose target has asked for a close, and been
// heard.
func askedToClose(t *testing.T) *pair {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Begin(g.h))
	require.NoError(t, g.b.m.Close(g.now, g.b.m.target.byID(g.info(g.b).ID).handle))
	g.settle()
	require.Equal(t, StateQuiesce, g.info(g.a).State)
	return g
}

// last submits the packet that ends the message of askedToClose.
func (g *pair) last() {
	_, err := g.a.m.Submit(g.now, g.h, Packet{Handle: 7, Size: 4160, Next: pds.NextRequestStd, EOM: true})
	require.NoError(g.t, err)
}

func TestFaultK4CloseRequestExpires(t *testing.T) {
	g := askedToClose(t)
	g.wait(33 * ms)
	require.Equal(t, StateCloseWait, g.info(g.b).State, "it has been heard since")
	g.wait(31 * ms)
	require.Equal(t, StateCloseWait, g.info(g.b).State, "a packet may wait so long to be sent again")
	g.wait(2 * ms)
	require.True(t, g.b.has(EventClosed, Cause(pds.NackClosingInErr)))
	ws := g.send(g.b)
	require.Equal(t, pds.NackClosingInErr, nackOf(t, ws[0]).Code)
	r, _ := g.give(ws[0])
	require.ErrorIs(t, r.Err, ErrStale, "nothing is out: such a NACK changes nothing")
	g.last()
	g.giveAll(g.giveAll(g.send(g.a)))
	g.settle() // it asks whether that came from its peer
	require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)), "it learns when it sends again")
	require.Equal(t, []uint64{7}, g.a.take(EventError))
}

// The NACK names what would be out, if anything is: then the initiator goes too.
func TestFaultK4CloseRequestExpiresWithAPacketOut(t *testing.T) {
	g := askedToClose(t)
	g.wait(2 * ms)
	g.last()
	g.send(g.a) // lost
	g.wait(31 * ms)
	g.wait(33 * ms)
	g.giveAll(g.send(g.b))
	require.True(t, g.a.has(EventClosed, Cause(pds.NackClosingInErr)))
	require.Equal(t, []uint64{7}, g.a.take(EventError))
}

// However often the data has been sent again before the CLOSE_CMD came: where there is no
// limit to that, none of it has failed.
func TestFaultK3CloseOfAPatientTarget(t *testing.T) {
	g := established(t, pairConfig{Config: Config{MaxRTORetx: rtoForever}})
	target := g.b.m.target.byID(g.info(g.b).ID).handle
	_, err := g.b.m.Submit(g.now, target, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData, EOM: true})
	require.NoError(t, err)
	for range 8 {
		require.Len(t, g.giveAll(g.send(g.b)), 1, "the ACK that is lost")
		g.wait(500 * ms)
	}
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Empty(t, g.giveAll(g.send(g.a)))
	for range 3 {
		g.wait(500 * ms)
		g.settle()
	}
	require.Equal(t, []uint64{9}, g.b.take(EventResponse, EventImplicit))
	require.Nil(t, g.b.m.get(target))
}

// What is lost while a target waits for the close takes longer than Close_REQ_Time to come
// again: the request to close itself, packets of an open message, and their answers.
func TestFaultK4NothingLostEndsInError(t *testing.T) {
	g := established(t, pairConfig{Config: Config{CloseReqTime: ms / 2}})
	g.b.reply = guaranteed
	g.submit(1, 3)
	answers := g.giveAll(g.send(g.a))
	require.Len(t, answers, 3)
	require.NoError(t, g.b.m.Close(g.now, g.b.m.target.byID(g.info(g.b).ID).handle))
	g.send(g.b)            // the request to close is lost
	g.giveAll(answers[:1]) // and two of the answers
	for range 3 {
		g.wait(ms + ms/10)
		g.settle()
	}
	require.Equal(t, []uint64{1, 2, 3}, g.a.take(EventResponse))
	require.Zero(t, g.a.m.Stats().Failed+g.b.m.Stats().Failed)
	require.Nil(t, g.a.m.get(g.h), "closed in order")
}

func TestFaultK5RequestAfterClose(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	ws := g.send(g.a)
	info := g.info(g.a)
	g.give(g.control(g.a, pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, PSN: info.Base + 1}))
	q := request(t, ws[1])
	q.PSN++
	q.AppendTo(ws[1].b[:0])
	r, answer := g.give(ws[1])
	require.ErrorIs(t, r.Err, ErrClosing)
	require.Equal(t, pds.NackClosing, nackOf(t, answer[0]).Code)
}

func TestFaultK6LockHeld(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Lock(g.h))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Empty(t, g.send(g.a))
	require.Equal(t, 1, g.info(g.a).Locks)
	require.NoError(t, g.a.m.Unlock(g.now, g.h))
	g.settle()
	require.True(t, g.a.has(EventClosed, CauseNone))
}

func TestFaultK7CloseBeforeAnyACK(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 2)
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.Equal(t, []uint64{1, 2}, g.a.take(EventResponse))
	require.Nil(t, g.a.m.get(g.h))
}

func TestCloseOfAnUnusedPDC(t *testing.T) {
	g := newPair(t, pairConfig{})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Empty(t, g.send(g.a))
	g.a.drain()
	require.True(t, g.a.has(EventClosed, CauseNone))
}
