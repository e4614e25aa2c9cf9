// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// hoarder is an initiator that takes responses and says itself what it clears.
type hoarder struct {
	*pair
	info    Info // of the honest initiator whose PDC it is
	target  Handle
	next    pds.PSN
	asked   int
	clear   pds.PSN
	missing pds.PSN // never sent
}

func newHoarder(t *testing.T) *hoarder {
	return newHoarderWith(t, Config{IdleTime: 1000 * ms, CloseReqTime: 100 * ms})
}

func newHoarderWith(t *testing.T, c Config) *hoarder {
	g := established(t, pairConfig{Config: c, start: 0xfffffff0})
	g.b.reply = guaranteed
	i := g.info(g.a)
	return &hoarder{pair: g, info: i, target: g.b.m.target.byID(g.info(g.b).ID).handle, next: i.Next, clear: i.Next - 1, missing: i.Next - 1}
}

// request sends one, unless it is the one that is missing.
func (x *hoarder) request() {
	psn := x.next
	x.next++
	if psn == x.missing {
		return
	}
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, SPDCID: x.info.ID, DPDCID: x.info.PeerID, PSN: psn, ClearOffset: int16(x.clear - psn)}
	x.give(wire{from: x.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
}

// pass lets d go by, in steps of 50 ms with something to hear of the peer in each, and
// counts what it is asked. It reports whether the target's PDC is still there.
func (x *hoarder) pass(d int64, say func()) bool {
	for end := x.now + d; x.now < end; {
		x.now += 50 * ms
		say()
		require.True(x.t, x.b.m.Tick(x.now))
		x.b.drain()
		for _, w := range filterControl(x.send(x.b)) {
			if c := controlOf(x.t, w); c.Ctl == pds.CtlClearReq {
				x.asked++
			}
		}
		if x.b.m.get(x.target) == nil {
			return false
		}
	}
	return true
}

// A peer that takes all and clears nothing, however often it is asked, is asked to close
// after as long as a silent one would be, and its PDC ends: the responses are kept in a
// store that all share.
func TestPeerThatNeverClears(t *testing.T) {
	x := newHoarder(t)
	for range 40 {
		x.request()
	}
	say := map[string]func(){
		"requests": x.request,
		"an acknowledgement": func() {
			a := pds.AckCC{Ack: pds.Ack{SPDCID: x.info.ID, DPDCID: x.info.PeerID, CACK: x.b.m.get(x.target).tx.MaxCACK()}}
			x.give(wire{from: x.a, b: a.AppendTo(nil)})
		},
		"a probe": func() {
			x.give(x.control(x.a, pds.Control{Ctl: pds.CtlProbe, Flags: pds.FlagAR, ProbeOpaque: 7}))
		},
	}
	for _, what := range []string{"requests", "an acknowledgement", "a probe"} {
		require.True(t, x.pass(600*ms, say[what]), what)
	}
	require.False(t, x.b.has(EventClosing, CauseNone))
	require.Equal(t, StateEstablished, x.b.m.get(x.target).state)
	require.False(t, x.pass(500*ms, say["a probe"]), "two IdleTimes and Close_REQ_Time have passed")
	require.True(t, x.b.has(EventClosed, Cause(pds.NackClosingInErr)))
	require.Greater(t, x.asked, clearAsks)
	require.EqualValues(t, 1, x.b.m.Stats().Hoarded)
	require.Zero(t, x.b.m.pdc[x.target.ID()].resp.Head, "what was kept is free")
}

// What an honest peer may do, for whatever time.
func TestPeerThatMayNotClearYet(t *testing.T) {
	for name, prepare := range map[string]func(x *hoarder) (say func()){
		"clears now and then": func(x *hoarder) func() {
			n := 0
			return func() {
				if n++; n%30 == 0 {
					x.clear += 2
				}
				x.request()
			}
		},
		"a gap below": func(x *hoarder) func() {
			x.missing = x.next
			return x.request
		},
		"an answer below is owed": func(x *hoarder) func() {
			x.b.later = true
			x.request()
			x.b.later = false
			return x.request
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newHoarder(t)
			require.True(t, x.pass(10_000*ms, prepare(x)))
			require.Equal(t, StateEstablished, x.b.m.get(x.target).state)
			require.Zero(t, x.b.m.Stats().Hoarded)
		})
	}
}

// The time of a peer begins when the gap is filled that has kept it from clearing.
func TestGapBelowAResponseTakesNoTimeOfThePeer(t *testing.T) {
	x := newHoarder(t)
	x.missing = x.next
	gap := x.next
	require.True(t, x.pass(5000*ms, x.request))
	last := x.next
	x.next, x.missing = gap, last-1<<20
	x.b.reply = Response{}
	x.request()
	x.next = last
	require.True(t, x.pass(1900*ms, x.request))
	require.Equal(t, StateEstablished, x.b.m.get(x.target).state)
	require.False(t, x.pass(500*ms, x.request))
}

// A CLEAR_REQ at a target comes from another target: the peer has gone, and a stranger opened a PDC in the name
// of this end under the PDCIDs of both. No target clears for another one, so that the PDC whose peer has gone
// counts as idle: an answer to each question kept it for another 5 s (TestFaults, seed 94002361).
func TestTargetClearsForNoTarget(t *testing.T) {
	x := newHoarder(t)
	r, back := x.give(x.control(x.a, pds.Control{Ctl: pds.CtlClearReq}))
	require.ErrorIs(t, r.Err, ErrIllegal)
	require.Empty(t, back)
	require.Empty(t, x.send(x.b))
}

// A silent peer is not one that will not clear: it is closed as one that is idle.
func TestSilentPeerIsNotCountedAgainst(t *testing.T) {
	x := newHoarder(t)
	x.request()
	require.False(t, x.pass(2500*ms, func() {}))
	require.Zero(t, x.b.m.Stats().Hoarded)

	x = newHoarderWith(t, Config{IdleTime: 8000 * ms, MaxRTORetx: rtoForever})
	x.request()
	_, err := x.b.m.Submit(x.now, x.target, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData, EOM: true})
	require.NoError(t, err)
	require.True(t, x.pass(100_000*ms, func() {}), "what the target itself sends again is no sign of life")
	require.Greater(t, x.asked, clearAsks)
	require.Zero(t, x.b.m.Stats().Hoarded)
}

// A peer that is asked to clear a response and says that it has cleared less has not seen
// it: it hears it again, long before its timeout, and takes no round trip from that.
func TestAskedToClearWhatItHasNotSeen(t *testing.T) {
	for sends := 1; sends <= 2; sends++ {
		g := established(t, pairConfig{Config: Config{RTOInit: 20 * ms}})
		g.b.reply = guaranteed
		ear := &earACK{}
		g.a.m.cc.SetAlgorithm(g.info(g.a).Context, g.now, ear)
		g.submit(1, 1)
		ws := g.send(g.a)
		if sends == 2 { // the first copy is lost
			g.wait(20 * ms)
			ws = g.send(g.a)
		}
		require.Len(t, g.giveAll(ws), 1, "lost, too")
		require.Empty(t, g.a.take(EventResponse))
		early := pds.Control{Ctl: pds.CtlClearCmd, Payload: pds.Payload(g.info(g.a).Base - 1)}
		_, answer := g.give(g.control(g.a, early))
		require.Empty(t, answer, "nobody has asked")
		g.wait((clearReqWait + 1) * ms)
		asks := filterControl(g.send(g.b))
		require.Equal(t, pds.CtlClearReq, controlOf(t, asks[0]).Ctl)
		g.giveAll(asks)
		says := filterControl(g.send(g.a))
		require.Equal(t, pds.CtlClearCmd, controlOf(t, says[0]).Ctl)
		again := g.giveAll(says)
		require.Equal(t, pds.NextResponse, ackCC(t, again[0]).Next)
		g.giveAll(again)
		require.Equal(t, []uint64{1}, g.a.take(EventResponse))
		require.Equal(t, []int64{0}, ear.rtts)
		g.wait(2 * ms)
		g.settle()
		require.Zero(t, g.b.m.target.byID(g.info(g.b).ID).resp.Head, "cleared")
	}
}

// earACK hears what round trips a context is told of.
type earACK struct{ rtts []int64 }

func (*earACK) OnSend(int64, int64, bool)                          {}
func (e *earACK) OnACK(_ int64, a ccc.Ack)                         { e.rtts = append(e.rtts, a.RTT) }
func (*earACK) OnNACK(int64, ccc.Nack)                             {}
func (*earACK) OnInferredLoss(int64, ccc.Loss)                     {}
func (*earACK) Allow(int64, ccc.Standing) (bytes, notBefore int64) { return 1 << 60, 0 }
