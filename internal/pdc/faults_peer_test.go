// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

func TestFaultP1TargetRestarts(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 2)
	fresh := newPair(t, pairConfig{})
	fresh.a, g.b = g.a, fresh.b
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Empty(t, g.a.events, "anybody could have said so")
	question := g.send(g.a)
	require.Len(t, question, 1)
	require.Equal(t, pds.CtlACKReq, controlOf(t, question[0]).Ctl)
	g.giveAll(g.giveAll(question)) // one round trip more
	require.Empty(t, g.b.got, "nothing is delivered into the new life")
	require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
	require.Equal(t, []uint64{1, 2}, g.a.take(EventError))
}

func TestFaultP2InitiatorRestarts(t *testing.T) {
	g := established(t, pairConfig{start: 5})
	again := newPair(t, pairConfig{start: 77777})
	g.a, g.h = again.a, again.h
	g.submit(1, 1)
	r, answer := g.give(g.send(g.a)[0])
	require.ErrorIs(t, r.Err, ErrStart)
	require.Equal(t, pds.NackInvalidSYN, nackOf(t, answer[0]).Code)
	require.Empty(t, g.b.got)
	g.giveAll(answer)
	g.settle()
	require.Equal(t, []uint64{1}, g.a.take(EventImplicit, EventResponse), "a round trip later, at another Start_PSN")
	require.True(t, g.b.has(EventClosed, Cause(pds.NackInvDPDCID)), "the PDC of the former life is over")
	require.Len(t, g.b.got, 1)
}

func TestFaultP4OldSYNAfterClose(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.submit(1, 1)
	syn := g.send(g.a)
	g.giveAll(g.giveAll(syn))
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.True(t, g.b.has(EventClosed, CauseNone))
	r, answer := g.give(syn[0])
	require.ErrorIs(t, r.Err, ErrResting)
	require.Empty(t, answer)
	require.Len(t, g.b.got, 1, "delivered once")
}

func TestFaultP6StaleHandle(t *testing.T) {
	g := established(t, pairConfig{})
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	_, err := g.a.m.Submit(g.now, g.h, Packet{})
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, g.a.m.Begin(g.h), ErrUnknown)
	require.ErrorIs(t, g.a.m.Close(g.now, g.h), ErrUnknown)
	_, err = g.a.m.Respond(g.now, RxID{g.h, 0}, &Response{}, make([]byte, ReplyMax))
	require.ErrorIs(t, err, ErrUnknown)
}

func TestFaultP7Spoofed(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	ws := g.send(g.a)
	acks := g.giveAll(ws)
	stranger := acks[0]
	stranger.dst = netip.MustParseAddr("10.9.9.9")
	r, answer := g.give(stranger)
	require.ErrorIs(t, r.Err, ErrUnknown)
	require.Empty(t, answer, "an ACK is never answered")
	req := ws[0]
	req.dst = stranger.dst
	r, answer = g.give(req)
	require.ErrorIs(t, r.Err, ErrUnknown)
	require.Equal(t, pds.NackInvDPDCID, nackOf(t, answer[0]).Code)
	q := request(t, ws[0])
	q.SPDCID += 7
	q.AppendTo(ws[0].b[:0])
	_, answer = g.give(ws[0])
	require.Equal(t, pds.NackPDCHdrMismatch, nackOf(t, answer[0]).Code)
	require.Empty(t, g.a.take(EventResponse))
}

// Both ends have lost everything. What was under way meets other Start_PSNs, or
// ids that are free: nothing of it is delivered.
func TestFaultP3BothRestart(t *testing.T) {
	g := established(t, pairConfig{start: 5})
	g.submit(1, 2)
	info := g.info(g.a)
	data := g.send(g.a)
	old := append(append([]wire(nil), data...), g.giveAll(data)...)
	for _, ctl := range []pds.CtlType{pds.CtlClearCmd, pds.CtlCloseCmd, pds.CtlACKReq, pds.CtlProbe} {
		old = append(old, g.control(g.a, pds.Control{Ctl: ctl, PSN: info.Base}))
	}
	fresh := newPair(t, pairConfig{start: 77777})
	fresh.submit(1, 1)
	first := fresh.send(fresh.a)
	replay := func(when string) {
		for i, w := range old {
			end := fresh.a
			if w.from == g.b {
				end = fresh.b
			}
			a, b := fresh.info(fresh.a), fresh.info(fresh.b)
			r, answer := fresh.give(wire{from: end, b: w.b})
			require.Error(t, r.Err, "%s, packet %d", when, i)
			if tp, _ := pds.PeekType(w.b); tp == pds.TypeACKCC {
				require.Empty(t, answer)
			} else if len(answer) > 0 {
				fresh.giveAll(answer)
			}
			require.Equal(t, a, fresh.info(fresh.a), "%s, packet %d", when, i)
			require.Equal(t, b, fresh.info(fresh.b), "%s, packet %d", when, i)
		}
		require.Empty(t, fresh.a.take(EventResponse, EventImplicit, EventError))
	}
	replay("before the new PDC is known")
	require.Empty(t, fresh.b.got)
	fresh.giveAll(fresh.giveAll(first))
	require.Equal(t, []uint64{1}, fresh.a.take(EventResponse))
	require.Len(t, fresh.b.got, 1)
}

// One PDCID in use towards a target by two initiators: the source tells them
// apart, in the table and in every answer.
func TestFaultP5SameIDFromAnotherPeer(t *testing.T) {
	g := newPair(t, pairConfig{start: 100})
	g.submit(1, 1)
	mine := g.send(g.a)[0]
	other := wire{from: g.a, b: append([]byte(nil), mine.b...), dst: netip.MustParseAddr("10.7.7.7")}
	q := request(t, other)
	q.PSN = 900
	q.AppendTo(other.b[:0])
	_, a := g.give(mine)
	_, b := g.give(other)
	require.EqualValues(t, 2, g.b.m.Stats().Opened)
	require.Equal(t, ackCC(t, a[0]).DPDCID, ackCC(t, b[0]).DPDCID)
	require.NotEqual(t, ackCC(t, a[0]).SPDCID, ackCC(t, b[0]).SPDCID)
	require.Equal(t, []pds.PSN{100, 900}, g.b.got)
	// The other initiator closes: nothing happens to this one.
	c := pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, SPDCID: g.h.ID(), DPDCID: ackCC(t, b[0]).SPDCID, PSN: 901}
	r, _ := g.give(wire{from: g.a, b: c.AppendTo(nil), dst: other.dst})
	require.NoError(t, r.Err)
	r, _ = g.give(wire{from: g.a, b: c.AppendTo(nil)})
	require.ErrorIs(t, r.Err, ErrUnknown, "with the wrong source")
	g.giveAll(a)
	g.submit(2, 2)
	g.settle()
	require.ElementsMatch(t, []uint64{1, 2, 3}, g.a.take(EventResponse, EventImplicit))
}

// restart gives the end b another life with nothing of the first, whose PDCIDs are
// handed out from the same one on.
func (g *pair) restart(c pairConfig) {
	g.b = newPairEnd(g.t, &c, 1)
}

// TestFaultP1SamePDCIDForAnother: the target's new life hands the PDCID that an
// initiator still uses to another PDC. What tells them apart is the other two parts
// of the identity: the source address, and the initiator's own PDCID.
func TestFaultP1SamePDCIDForAnother(t *testing.T) {
	for name, from := range map[string]string{"same peer": "10.0.0.1", "another peer": "10.0.0.77"} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{start: 1000})
			g.submit(1, 2)
			old := g.send(g.a)
			info := g.info(g.a)
			g.restart(pairConfig{})

			q := request(t, old[0])
			q.Flags |= pds.FlagSYN
			q.SPDCID, q.DPDCID, q.PSN, q.ClearOffset = info.ID+1, 0, 5, 0
			first := wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 44+4096)...), dst: netip.MustParseAddr(from)}
			r, answer := g.give(first)
			require.NoError(t, r.Err)
			require.Equal(t, info.PeerID, ackCC(t, answer[0]).SPDCID, "the PDCID of the former life")
			now := g.info(g.b)

			for _, w := range old {
				r, answer := g.give(w)
				require.Error(t, r.Err)
				require.Contains(t, []pds.NackCode{pds.NackPDCHdrMismatch, pds.NackInvDPDCID}, nackOf(t, answer[0]).Code)
				g.giveAll(answer)
			}
			require.Equal(t, now, g.info(g.b), "nothing has happened to the new PDC")
			require.Len(t, g.b.got, 1)
			question := g.send(g.a)
			require.Len(t, question, 1, "for both refusals")
			g.giveAll(g.giveAll(question))
			require.Equal(t, []uint64{1, 2}, g.a.take(EventError))
		})
	}
}

// TestFaultP1SamePDCIDThroughALateSYN: a SYN packet of the first flight arrives
// after the target's restart and opens the PDC anew: same addresses, same SPDCID, same
// Start_PSN, and by chance the same PDCID, so nothing in the identity tells the lives
// apart. What the initiator sends now goes on where the former life left off, and
// must not be delivered as if the new one had seen the beginning.
func TestFaultP1SamePDCIDThroughALateSYN(t *testing.T) {
	g := newPair(t, pairConfig{start: 1000})
	g.submit(1, 4)
	flight := g.send(g.a)
	late := wire{from: g.a, b: append([]byte(nil), flight[3].b...)}
	g.giveAll(g.giveAll(flight))
	g.a.take()
	peer := g.info(g.a).PeerID
	g.restart(pairConfig{start: 1000})

	_, answer := g.give(late)
	require.Len(t, g.b.got, 1, "a SYN packet is all that a new life has to go by")
	require.Equal(t, peer, ackCC(t, answer[0]).SPDCID)
	g.giveAll(answer)

	g.submit(5, 4)
	for _, w := range g.send(g.a) {
		r, answer := g.give(w)
		require.ErrorIs(t, r.Err, ErrStale)
		g.giveAll(answer)
	}
	require.Len(t, g.b.got, 1, "nothing more is delivered into the new life")
	require.EqualValues(t, 4, g.b.m.Stats().BadClear)
	for range 200 {
		g.wait(ms)
		g.settle()
	}
	require.Len(t, g.b.got, 1)
	require.Equal(t, []uint64{5, 6, 7, 8}, g.a.take(EventResponse, EventImplicit, EventError))
	require.EqualValues(t, 1, g.a.m.Stats().Failed, "as if the target were gone")
}

// A handle of an earlier life does nothing to the PDC that has its slot now.
func TestFaultP6StaleHandleAndTheNextOwner(t *testing.T) {
	g := established(t, pairConfig{own: 1})
	old := g.h
	for first := true; first || g.h.ID() != old.ID(); first = false {
		require.NoError(t, g.a.m.Close(g.now, g.h))
		g.settle()
		g.wait(2 * ms)
		g.h = g.open(false)
	}
	require.NotEqual(t, old, g.h)
	before := g.info(g.a)
	_, err := g.a.m.Submit(g.now, old, Packet{Size: 100, Next: pds.NextRequestStd})
	require.ErrorIs(t, err, ErrUnknown)
	for _, err := range []error{g.a.m.Begin(old), g.a.m.Announce(g.now, old, 100), g.a.m.Lock(old), g.a.m.Unlock(g.now, old), g.a.m.Noop(old),
		g.a.m.EndMessage(g.now, old, 0), g.a.m.Close(g.now, old), g.a.m.Abort(g.now, old)} {
		require.ErrorIs(t, err, ErrUnknown)
	}
	_, err = g.a.m.Respond(g.now, RxID{old, 0}, &Response{}, make([]byte, ReplyMax))
	require.ErrorIs(t, err, ErrUnknown)
	require.Equal(t, before, g.info(g.a))
}
