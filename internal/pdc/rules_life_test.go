// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// Rules of a PDC's life that a changed line of the code broke, and no other test noticed.

// openCount holds that Close_Thresh compares what there is.
func (e *pairEnd) openCount() {
	open := 0
	for i := range e.m.pdc {
		if s := e.m.pdc[i].state; s >= StateCreating && s <= StateEstablished {
			open++
		}
	}
	require.Equal(e.t, open, e.m.life.open)
}

// A PDC that its target has asked to close stays so: asking again is no news.
func TestTargetAsksToCloseOnce(t *testing.T) {
	g := established(t, pairConfig{})
	h := g.info(g.b)
	for range 2 {
		require.NoError(t, g.b.m.Close(g.now, g.b.m.pdc[h.ID].handle))
		g.b.openCount()
	}
	require.Len(t, g.send(g.b), 1, "one CLOSE_REQ")
}

// What has no meaning is 0 on the wire.
func TestControlPacketsWithoutAPayload(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Noop(g.h))
	noop := g.send(g.a)
	require.NoError(t, g.b.m.Close(g.now, g.handleOf(g.b)))
	request := g.send(g.b)
	g.giveAll(g.giveAll(noop))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	for _, w := range []wire{noop[0], request[0], g.send(g.a)[0]} {
		c := controlOf(t, w)
		require.Contains(t, []pds.CtlType{pds.CtlNOOP, pds.CtlCloseReq, pds.CtlCloseCmd}, c.Ctl)
		require.Zero(t, c.Payload, c.Ctl)
	}
}

// Without memory for a CLOSE_REQ the next acknowledgement asks, and the target gives up in
// time all the same.
func TestTargetAsksToCloseWithoutMemory(t *testing.T) {
	g := established(t, pairConfig{})
	b := &g.b.m.pdc[g.info(g.b).ID]
	free := g.b.m.mem.free
	g.b.m.mem.free = nil
	require.NoError(t, g.b.m.Close(g.now, b.handle))
	g.b.m.mem.free = free
	require.Empty(t, g.send(g.b))
	at, _ := g.b.m.NextDeadline()
	require.LessOrEqual(t, at, g.now+g.b.m.p.patience()+2*lapseUnit)
	g.submit(1, 2)
	ws := g.send(g.a)
	setFlag(ws[0].b, pds.FlagAR)
	acks := g.giveAll(ws)
	require.Equal(t, pds.AckReqClose, ackCC(t, acks[0]).Flags.Req())
	require.Equal(t, pds.AckReqNone, ackCC(t, acks[1]).Flags.Req(), "once")
	g.giveAll(acks)
	require.Equal(t, StateCloseAckWait, g.info(g.a).State)
}

// What a peer has said before it was asked to close gives it no more time.
func TestAskedToCloseAndSilent(t *testing.T) {
	g := established(t, pairConfig{})
	b := &g.b.m.pdc[g.info(g.b).ID]
	require.NoError(t, g.b.m.Close(g.now, b.handle))
	g.send(g.b) // lost
	g.wait(g.b.m.p.patience() + 2*lapseUnit)
	require.True(t, g.b.has(EventClosed, Cause(pds.NackClosingInErr)))
}

// The CLOSE_CMD of a PDC is its last word, whatever comes of it.
func TestAbortWhileClosing(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	require.Len(t, g.send(g.a), 1)
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	g.a.drain()
	require.True(t, g.a.has(EventClosed, CauseAborted))
	require.Empty(t, g.send(g.a))
	g.a.openCount()
}

// A failed PDC takes no message: the next one of its key gets another.
func TestFailedPDCTakesNoMessage(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	require.Equal(t, StateCloseAckWait, g.info(g.a).State)
	require.NotEqual(t, g.h, g.open(false))
	g.a.openCount()
}

// A message that is open keeps its PDC, however long nothing happens.
func TestOpenMessageIsNotIdle(t *testing.T) {
	g := established(t, pairConfig{Config: Config{IdleTime: 100 * ms}})
	require.NoError(t, g.a.m.Begin(g.h))
	for range 3 {
		g.wait(110 * ms)
	}
	require.Equal(t, StateEstablished, g.info(g.a).State)
}

// INV_DPDCID about a packet that is released says nothing, unless nothing else could tell
// that the target has gone: the window is stuck.
func TestLateRefusalOfThePDC(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	g.settle()
	r := g.nack(pds.Nack{Code: pds.NackInvDPDCID, PSN: g.info(g.a).Next - 1})
	require.ErrorIs(t, r.Err, ErrStale)
	require.Equal(t, StateEstablished, g.info(g.a).State)
}

// CLEAR_REQ is the target's to send. An initiator that keeps a response waits for the
// CLEAR of its peer without asking.
func TestInitiatorAsksForNoCLEAR(t *testing.T) {
	g := established(t, pairConfig{})
	h := g.b.m.pdc[g.info(g.b).ID].handle
	require.NoError(t, g.b.m.Begin(h))
	_, err := g.b.m.Submit(g.now, h, Packet{Handle: 1, Size: 4160, Next: pds.NextResponseData, EOM: true})
	require.NoError(t, err)
	g.a.reply = guaranteed
	g.giveAll(g.send(g.b)) // the response is lost
	for range 8 {
		g.now += ms
		require.True(t, g.a.m.Tick(g.now))
		require.Empty(t, g.send(g.a))
	}
}

// Each packet of a message says what of those before it is released.
func TestRequestsCarryCLEAR(t *testing.T) {
	g := established(t, pairConfig{})
	for range 2 {
		g.submit(1, 1)
		g.settle()
	}
	require.Equal(t, g.info(g.a).Base-2, g.info(g.b).Clear)
}

// pacer lets one packet go in each gap.
type pacer struct{ gap, next int64 }

func (p *pacer) OnSend(now, _ int64, _ bool)                 { p.next = now + p.gap }
func (p *pacer) OnACK(int64, ccc.Ack)                        {}
func (p *pacer) OnNACK(int64, ccc.Nack)                      {}
func (p *pacer) OnInferredLoss(int64, ccc.Loss)              {}
func (p *pacer) Allow(int64, ccc.Standing) (bytes, at int64) { return 4160, p.next }

// What an algorithm holds back until a time goes then, though nothing is heard.
func TestPacedPacketGoesInTime(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) {
		c.Algorithm = func(ccc.Key) ccc.Algorithm { return &pacer{gap: 50_000} }
	}})
	g.submit(1, 3)
	require.Len(t, g.send(g.a), 1)
	for range 2 {
		last := g.now
		for sent := 0; sent == 0; sent = len(g.send(g.a)) {
			at, _ := g.a.m.NextDeadline()
			require.LessOrEqual(t, at, last+51_000)
			g.wait(max(at-g.now, 1))
		}
		require.GreaterOrEqual(t, g.now, last+50_000)
	}
}
