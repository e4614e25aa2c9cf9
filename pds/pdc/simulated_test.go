package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// What the fault simulation found, by name.

// A target that is asked for nothing else still forgets a key in time: the SYN
// packet that it dropped for the key's sake is taken when it comes again.
func TestRestingKeyIsForgottenWithoutOtherOpens(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	syn := g.send(g.a)[0]
	g.giveAll(g.giveAll([]wire{syn}))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	r, _ := g.give(syn)
	require.ErrorIs(t, r.Err, ErrResting)
	g.now += 2_000_000
	r, _ = g.give(syn)
	require.Equal(t, VerdictRequest, r.Verdict)
}

// An acknowledgement from before the PDC's time does not say who the peer is.
func TestStaleACKDoesNotNameThePeer(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	g.send(g.a)
	old := pds.AckCC{Ack: pds.Ack{SPDCID: 79, DPDCID: g.h.ID(), CACK: 498}}
	r, _ := g.give(wire{from: g.b, b: old.AppendTo(nil)})
	require.ErrorIs(t, r.Err, ErrStale)
	require.Zero(t, g.info(g.a).PeerID)
	old.CACK, old.Offset = 499, 0
	r, _ = g.give(wire{from: g.b, b: old.AppendTo(nil)})
	require.NoError(t, r.Err)
	require.Equal(t, pds.PDCID(79), g.info(g.a).PeerID)
}

// Nor does a request or control packet of an earlier PDC with the same id.
func TestStaleCloseRequestDoesNotNameThePeer(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	g.send(g.a)
	c := pds.Control{Ctl: pds.CtlCloseReq, Flags: pds.FlagAR, SPDCID: 79, DPDCID: g.h.ID(), PSN: 900_000}
	r, _ := g.give(wire{from: g.b, b: c.AppendTo(nil)})
	require.ErrorIs(t, r.Err, ErrStale)
	require.Zero(t, g.info(g.a).PeerID)
}

// A packet that a SACK reports while it waits to be sent again times out later: its
// response may have been lost, and somebody has to ask for it.
func TestArrivedWhileQueuedKeepsATimeout(t *testing.T) {
	p, err := NewParams(Config{})
	require.NoError(t, err)
	m := NewMemory(MemoryConfig{PDCs: 1})
	var w SendWindow
	w.Init(&p, 100)
	for range 2 {
		pkt, _, err := w.push(&p, m)
		require.NoError(t, err)
		pkt.kind = kind(pds.NextRequestStd)
		w.sent(&p, m, 10)
	}
	for off := range uint32(2) {
		w.enqueue(m, off, 50)
	}
	_, again := w.expired(m, 50, w.base)
	require.False(t, again)
	require.Equal(t, int64(never), w.rtoAt)
	var k Acked
	require.True(t, w.OnACK(m, 1, &Ack{Now: 60, CACK: 99, AckPSN: 101, SACKBase: 100, SACK: 3}, &k))
	require.EqualValues(t, 110, w.rtoAt)
}

// A window that is full of released packets, and a peer that is dead: the attempts
// to move it end.
func TestStallEndsWithADeadPeer(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Range: 4, MaxRTORetx: 3}, start: 500})
	g.b.reply = Response{Kind: RespondGuaranteed, Next: pds.NextResponse, Bytes: make([]byte, 12)}
	g.submit(1, 4)
	g.giveAll(g.giveAll(g.send(g.a)))
	g.submit(5, 1)
	for range 100 {
		g.send(g.a) // nothing gets there
		g.now += 1_000_000_000
		require.True(t, g.a.m.Tick(g.now))
		g.a.drain()
	}
	require.True(t, g.a.has(EventError, CauseRTO))
	require.True(t, g.a.has(EventClosed, CauseNone))
}

// A message that is ended after its PDC has failed has nothing to take back from
// congestion control.
func TestEndMessageAfterFailure(t *testing.T) {
	g := newPair(t, pairConfig{start: 500})
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.NoError(t, g.a.m.Begin(g.h))
	require.NoError(t, g.a.m.Announce(g.now, g.h, 5000))
	require.NoError(t, g.a.m.Abort(g.now, g.h))
	require.NoError(t, g.a.m.EndMessage(g.now, g.h, 5000))
	require.Zero(t, g.a.m.cc.Stale())
}
