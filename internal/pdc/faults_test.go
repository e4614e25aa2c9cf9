// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// established is a pair after one packet there and back.
func established(t testing.TB, c pairConfig) *pair {
	g := newPair(t, c)
	g.submit(1000, 1)
	g.settle()
	require.Equal(t, StateEstablished, g.info(g.a).State)
	g.a.take()
	g.b.take()
	g.b.got = nil
	for h := range g.b.m.table.All() { // nor does b doubt that a receives
		g.b.m.life.shown(g.now, g.b.m.get(h))
	}
	return g
}

const ms = 1_000_000

func filterData(ws []wire) (out []wire) {
	for _, w := range ws {
		if t, _ := pds.PeekType(w.b); t.IsRequest() {
			out = append(out, w)
		}
	}
	return out
}

// nack gives a a NACK from b's address.
func (g *pair) nack(n pds.Nack) Result {
	info := g.info(g.a)
	n.DPDCID = info.ID
	if !n.Code.IsTrimmed() && n.Code != pds.NackInvDPDCID && n.SPDCID == 0 {
		n.SPDCID = max(info.PeerID, 1)
	}
	r, _ := g.give(wire{from: g.b, b: n.AppendTo(nil)})
	return r
}

func TestFaultQ1Mark(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 4)
	ws := g.send(g.a)
	ws[1].ce = true
	acks := g.giveAll(ws)
	require.Len(t, acks, 2, "a mark is told at once")
	require.NotZero(t, ackCC(t, acks[0]).Flags&pds.FlagM)
	require.Equal(t, request(t, ws[1]).PSN, ackCC(t, acks[0]).AckPSN())
	require.Zero(t, ackCC(t, acks[1]).Flags&pds.FlagM)
}

func TestOneRTTStart(t *testing.T) {
	g := newPair(t, pairConfig{start: 9, Config: Config{Start: StartRandom1RTT}})
	g.submit(1, 3)
	ws := g.send(g.a)
	r, answer := g.give(ws[0])
	require.ErrorIs(t, r.Err, ErrStart)
	n := nackOf(t, answer[0])
	require.Equal(t, pds.NackNewStartPSN, n.Code)
	g.giveAll(answer)
	again := g.send(g.a)
	require.Len(t, again, 3)
	require.Equal(t, pds.PSN(n.Payload), request(t, again[0]).PSN)
	g.giveAll(g.giveAll(again))
	require.Equal(t, []uint64{1, 2, 3}, g.a.take(EventResponse))
	require.Len(t, g.b.got, 3)
	require.False(t, g.b.m.DoubtsSource(AddrFrom(g.a.addr)), "who knows the Start_PSN receives")
}

func TestOneRTTStartIsReaped(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{Start: StartRandom1RTT}})
	g.submit(1, 1)
	g.giveAll(g.send(g.a))
	require.Equal(t, StatePending, g.info(g.b).State)
	g.wait(6 * ms)
	require.True(t, g.b.has(EventClosed, Cause(pds.NackNewStartPSN)))
}

func TestProbeAnswer(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.a)
	c := pds.Control{Ctl: pds.CtlProbe, ProbeOpaque: 0xbeef, Flags: pds.FlagAR, Payload: pds.Payload(info.Next)}
	_, answer := g.give(g.control(g.a, c))
	a := ackCC(t, answer[0])
	require.NotZero(t, a.Flags&pds.FlagP)
	require.EqualValues(t, 0xbeef, a.ProbeOpaque())
	require.Equal(t, info.Next-1, a.CACK)
	require.Equal(t, info.Next, g.info(g.b).Contiguous+1, "no PSN is consumed")
}

func TestQuestionAboutWhatNeverCame(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	g.send(g.a) // lost
	info := g.info(g.a)
	_, answer := g.give(g.control(g.a, pds.Control{Ctl: pds.CtlACKReq, Flags: pds.FlagAR, PSN: info.Base}))
	require.Equal(t, pds.NackPktNotRcvd, nackOf(t, answer[0]).Code)
	g.giveAll(answer)
	require.Len(t, g.send(g.a), 1, "the data goes at once")
}

// Each code of Table 3-59 at the source, on a packet that is outstanding.
func TestEveryNACKCode(t *testing.T) {
	type outcome string
	const (
		now    outcome = "sent again at once"
		delay  outcome = "sent again after NACK_Retx_Time"
		none   outcome = "ignored"
		closed outcome = "the PDC ends without a word"
		failed outcome = "the PDC closes in error"
	)
	want := map[pds.NackCode]outcome{
		pds.NackTrimmed: now, pds.NackTrimmedLastHop: now, pds.NackTrimmedACK: now, pds.NackNoPDCAvail: none, pds.NackNoCCCAvail: none,
		pds.NackNoBitmap: none, pds.NackNoPktBuffer: delay, pds.NackNoGtdDelAvail: delay, pds.NackNoSESMsgAvail: delay,
		pds.NackNoResource: delay, pds.NackPSNOORWindow: delay, pds.NackRODOOO: none, pds.NackInvDPDCID: closed,
		pds.NackPDCHdrMismatch: failed, pds.NackClosing: closed, pds.NackClosingInErr: closed, pds.NackPktNotRcvd: now,
		pds.NackGtdRespUnavail: failed, pds.NackACKWithData: now, pds.NackInvalidSYN: failed, pds.NackPDCModeMismatch: failed,
		pds.NackNewStartPSN: none, pds.NackRcvdSESProcg: none, pds.NackUnexpEvent: failed, pds.NackRcvrInferLoss: now,
		pds.NackExpNormal: delay, pds.NackExpErr: failed, pds.NackExpFatal: failed,
	}
	for c := range 256 {
		code := pds.NackCode(c)
		if strings.HasPrefix(code.String(), "NackCode(") { // reserved
			continue
		}
		t.Run(code.String(), func(t *testing.T) {
			g := established(t, pairConfig{})
			g.submit(1, 1)
			g.send(g.a)
			g.nack(pds.Nack{Code: code, PSN: g.info(g.a).Base, SPDCID: g.info(g.a).PeerID})
			got := none
			switch {
			case g.a.has(EventClosed, Cause(code)):
				got = closed
			case g.a.has(EventClosing, Cause(code)):
				got = failed
			case len(filterData(g.send(g.a))) > 0:
				got = now
			default:
				g.now += 999_000
				require.True(t, g.a.m.Tick(g.now))
				require.Empty(t, g.send(g.a))
				g.now += 3_000 // NACK_Retx_Time has passed; a timeout counts as RTO
				require.True(t, g.a.m.Tick(g.now))
				if len(filterData(g.send(g.a))) > 0 && g.a.m.Stats().RTOs == 0 {
					got = delay
				}
			}
			require.Equal(t, want[code], got)
		})
	}
}

// The mark of a resend and of a copy is echoed by the answer to it, and congestion control
// counts it with the acknowledgement that brings news.
func TestFaultQ1MarkOnResendAndCopy(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	g.give(w) // its ACK is lost
	setFlag(w.b, pds.FlagRetx)
	w.ce = true
	_, acks := g.give(w)
	require.NotZero(t, ackCC(t, acks[0]).Flags&pds.FlagM)
	_, again := g.give(w)
	require.NotZero(t, ackCC(t, again[0]).Flags&pds.FlagM)
	g.giveAll(acks)
	cc := *g.a.m.cc.Context(g.info(g.a).Context)
	g.giveAll(again)
	require.Equal(t, cc, *g.a.m.cc.Context(g.info(g.a).Context), "once")
}
