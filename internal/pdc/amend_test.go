// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

func amendIn(g *pair, w wire) *In {
	return &In{Packet: w.b, Src: AddrFrom(g.a.addr), Dst: AddrFrom(g.b.addr), Size: int64(len(w.b))}
}

// A request whose default response nobody has sent yet gets a guaranteed one: CACK waits
// for it, what comes again is answered with it, and the initiator sees it once.
func TestAmend(t *testing.T) {
	for name, lost := range map[string]bool{"arrives": false, "lost at first": true} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{})
			g.a.take()
			g.submit(1, 3)
			ws := g.send(g.a)
			_, none := g.give(ws[0])
			require.Empty(t, none, "it would have been told by CACK alone")
			before := g.info(g.b).CACK
			out := make([]byte, ReplyMax)
			n, err := g.b.m.Amend(g.now, g.handleOf(g.b), amendIn(g, ws[0]), &guaranteed, out)
			require.NoError(t, err)
			mine := wire{from: g.b, b: append([]byte(nil), out[:n]...)}
			a := ackCC(t, mine)
			require.Equal(t, []pds.PSN{before - 1, before}, []pds.PSN{a.CACK, a.AckPSN()})
			require.Equal(t, pds.AckReqClear, a.Flags.Req())

			if lost {
				setFlag(ws[0].b, pds.FlagRetx)
				_, again := g.give(ws[0])
				require.Equal(t, mine.b[pds.AckCCLen:], again[0].b[pds.AckCCLen:])
				mine = again[0]
			}
			acks := g.giveAll(ws[1:])
			require.Equal(t, before-1, ackCC(t, acks[len(acks)-1]).CACK, "no CACK passes it")
			g.giveAll(append(acks, mine))
			g.wait(2 * ms)
			g.settle()
			require.Equal(t, []uint64{1}, filterOnes(g.a.take(EventResponse)))
			require.Equal(t, g.info(g.b).Contiguous, g.info(g.b).CACK)
			require.Zero(t, g.b.m.get(g.handleOf(g.b)).resp.Head)
		})
	}
}

// handleOf is the handle of an end's only PDC.
func (g *pair) handleOf(e *pairEnd) (h Handle) {
	for x := range e.m.table.All() {
		h = x
	}
	return h
}

func filterOnes(handles []uint64) (ones []uint64) {
	for _, h := range handles {
		if h == 1 {
			ones = append(ones, h)
		}
	}
	return ones
}

// A guaranteed response can be amended too, one that is owed cannot, nor what has not
// come, has been seen, or was on a PDC that has gone.
func TestAmendRefuses(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Responses: 1}})
	h, out := g.handleOf(g.b), make([]byte, ReplyMax)
	g.submit(1, 4)
	ws := g.send(g.a)
	amend := func(i int) error {
		_, err := g.b.m.Amend(g.now, h, amendIn(g, ws[i]), &guaranteed, out)
		return err
	}
	require.ErrorIs(t, amend(0), ErrStale, "not here yet")

	g.b.reply = Response{Kind: RespondGuaranteed, Next: pds.NextResponse, Bytes: []byte("a first word")}
	_, first := g.give(ws[0])
	require.NoError(t, amend(0))
	require.Equal(t, guaranteed.Bytes, out[pds.AckCCLen:][:12])
	require.NotEqual(t, first[0].b[pds.AckCCLen:], out[pds.AckCCLen:][:12])

	g.b.reply = Response{}
	g.give(ws[1])
	require.NoError(t, amend(1), "the PDC's own place")
	g.b.m.mem.responses.free.Head = 0
	require.ErrorIs(t, amend(2), ErrStale)
	g.b.m.get(h).rx.Accept(g.b.m.mem.far(g.b.m.get(h)), request(t, ws[2]).PSN-g.b.m.get(h).rx.Missing())
	require.ErrorIs(t, amend(2), ErrNoStore, "all places are taken: too late in any case")

	_, err := g.b.m.Amend(g.now, h, amendIn(g, ws[0]), &guaranteed, out[:ReplyMax-1])
	require.ErrorIs(t, err, ErrShortBuffer)
	_, err = g.b.m.Amend(g.now, h, &In{}, &guaranteed, out)
	require.ErrorIs(t, err, pds.ErrTruncated)
	_, err = g.b.m.Amend(g.now, h+1<<16, amendIn(g, ws[0]), &guaranteed, out)
	require.ErrorIs(t, err, ErrUnknown)

	g.b.m.target.clearTo(g.b.m.get(h), request(t, ws[1]).PSN)
	require.ErrorIs(t, amend(1), ErrStale, "seen")
}

func TestAmendOwed(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.later = true
	g.submit(1, 1)
	w := g.send(g.a)[0]
	r, _ := g.give(w)
	out := make([]byte, ReplyMax)
	_, err := g.b.m.Respond(g.now, r.ID, &Response{Kind: RespondLater}, out)
	require.NoError(t, err)
	_, err = g.b.m.Amend(g.now, r.ID.PDC, amendIn(g, w), &guaranteed, out)
	require.ErrorIs(t, err, ErrStale)
}

// A request of another PDC that waits for its answer gets it.
func TestAmendBesideARequest(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	first := g.send(g.a)[0]
	r, _ := g.give(first)
	old := r.ID.PDC
	g.h = g.open(true)
	g.submit(2, 1)
	g.b.later = true
	r, _ = g.give(g.send(g.a)[0])
	require.Equal(t, VerdictRequest, r.Verdict)
	out := make([]byte, ReplyMax)
	_, err := g.b.m.Amend(g.now, old, amendIn(g, first), &guaranteed, out)
	require.NoError(t, err)
	n, err := g.b.m.Respond(g.now, r.ID, &Response{}, out)
	require.NoError(t, err)
	require.Equal(t, r.ID.PSN, ackCC(t, wire{b: out[:n]}).CACK)
}

func TestAmendAllocs(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	g.give(w)
	h, in, out := g.handleOf(g.b), amendIn(g, w), make([]byte, ReplyMax)
	alloctest.Zero(t, "Amend", func() {
		if _, err := g.b.m.Amend(g.now, h, in, &guaranteed, out); err != nil {
			panic(err)
		}
	})
}

// Amend may take the place that another PDC's request was promised, which waits for Respond:
// then that one gets none, and not its PDC's own a second time.
func TestAmendTakesThePlaceOfAnother(t *testing.T) {
	g := established(t, pairConfig{memory: MemoryConfig{Responses: 3}, cwnd: 1 << 20})
	give := func(w wire, reply Response) (Result, *pds.Request) {
		g.b.reply = reply
		r, _ := g.give(w)
		require.Equal(t, VerdictRequest, r.Verdict)
		return r, request(t, w)
	}
	g.submit(1, 3)
	ws := g.send(g.a)
	r, q := give(ws[0], guaranteed)
	_, last := give(ws[1], guaranteed) // two of three places
	h, err := g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, JobID: 7, TC: 1}, 0)
	require.NoError(t, err)
	g.h = h
	g.submit(11, 3)
	others := g.send(g.a)
	give(others[0], guaranteed) // the third
	give(others[1], guaranteed) // and that of its own
	c := pds.Control{Ctl: pds.CtlClearCmd, SPDCID: q.SPDCID, DPDCID: r.ID.PDC.ID(), Payload: pds.Payload(last.PSN)}
	g.give(wire{from: g.a, b: c.AppendTo(nil)})
	give(ws[2], Response{})
	g.b.later = true
	waits, _ := give(others[2], Response{})
	out := make([]byte, ReplyMax)
	_, err = g.b.m.Amend(g.now, r.ID.PDC, amendIn(g, ws[2]), &guaranteed, out)
	require.NoError(t, err)
	_, err = g.b.m.Respond(g.now, waits.ID, &guaranteed, out)
	require.ErrorIs(t, err, ErrNoStore)
	_, err = g.b.m.Respond(g.now, waits.ID, &Response{Kind: RespondRefuse, Code: pds.NackNoResource}, out)
	require.NoError(t, err)
}
