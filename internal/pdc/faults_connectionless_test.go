// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

func TestFaultU1RUDI(t *testing.T) {
	g := newPair(t, pairConfig{})
	id := g.rudi(5)
	first := g.send(g.a)
	require.Len(t, first, 1)
	g.wait(1_100_000) // the response was lost
	second := g.send(g.a)
	var answers []wire
	for _, w := range append(first, second...) {
		r, _ := g.give(w)
		require.Equal(t, VerdictRUDIRequest, r.Verdict, "each arrival is executed")
		require.Equal(t, id, header[pds.RUDI](t, w).PktID)
		out := make([]byte, ReplyMax)
		n, err := g.b.m.RespondRUDI(&pds.RUDI{PktID: id}, &Response{Next: pds.NextResponse, Bytes: make([]byte, 12)}, out)
		require.NoError(t, err)
		answers = append(answers, wire{from: g.b, b: out[:n]})
	}
	r, _ := g.give(answers[0])
	require.Equal(t, VerdictRUDIResponse, r.Verdict)
	require.EqualValues(t, 5, r.Handle)
	r, _ = g.give(answers[1])
	require.ErrorIs(t, r.Err, ErrStale, "one completion")
	g.wait(100 * ms)
	require.Empty(t, g.send(g.a))
}

func TestFaultU2RUDIRefused(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.rudi(5)
	refuse := func(code pds.NackCode) {
		for _, w := range g.send(g.a) {
			g.give(w)
			out := make([]byte, ReplyMax)
			n, err := g.b.m.RespondRUDI(header[pds.RUDI](t, w), &Response{Kind: RespondRefuse, Code: code}, out)
			require.NoError(t, err)
			g.give(wire{from: g.b, b: out[:n]})
		}
	}
	refuse(pds.NackNoResource)
	require.Empty(t, g.send(g.a), "it waits")
	g.wait(1_100_000)
	refuse(pds.NackUnexpEvent)
	require.True(t, g.a.has(EventError, Cause(pds.NackUnexpEvent)))
	g.wait(100 * ms)
	require.Empty(t, g.send(g.a))
}

// RUDI has no window: what a full queue drops goes again in time, fewer at a time, and for as long as the
// peer answers others.
func TestFaultU1RUDIThroughAFullQueue(t *testing.T) {
	const room = 4 // packets that get through in a time-out
	g := newPair(t, pairConfig{})
	n, sent, over, most := 0, 0, 0, 0
	for ; ; n++ {
		_, err := g.a.m.SubmitRUDI(g.now, AddrFrom(g.a.addr), AddrFrom(g.b.addr), Packet{Handle: uint64(n) << 32, Next: pds.NextRequestSmall})
		if err != nil {
			require.ErrorIs(t, err, ErrRUDIFull)
			break
		}
	}
	require.Greater(t, n, 7*room, "more than get through in the time-outs of a packet")
	for range 10 * n {
		all := g.send(g.a)
		sent, most = sent+len(all), len(all)
		for _, w := range all[:min(len(all), room)] {
			g.give(w)
			out := make([]byte, ReplyMax)
			k, err := g.b.m.RespondRUDI(header[pds.RUDI](t, w), &Response{Next: pds.NextResponse, Bytes: make([]byte, 12)}, out)
			require.NoError(t, err)
			if r, _ := g.give(wire{from: g.b, b: out[:k]}); r.Verdict == VerdictRUDIResponse {
				over++
			}
		}
		require.False(t, g.a.has(EventError, CauseRTO), "%d of %d have ended", over, n)
		if over == n {
			break
		}
		g.wait(1_100_000)
	}
	require.Equal(t, n, over)
	require.Less(t, sent, 4*n)
	require.LessOrEqual(t, most, 2*rudiLeast)
}

// A packet that waits after a refusal may be sent before its timer is looked at; it
// still times out after that.
func TestFaultU2RefusedAndSentBeforeTheTick(t *testing.T) {
	g := newPair(t, pairConfig{})
	g.rudi(5)
	w := g.send(g.a)[0]
	g.give(w)
	out := make([]byte, ReplyMax)
	n, err := g.b.m.RespondRUDI(header[pds.RUDI](t, w), &Response{Kind: RespondRefuse, Code: pds.NackNoResource}, out)
	require.NoError(t, err)
	g.give(wire{from: g.b, b: out[:n]})
	g.now += 1_100_000
	require.Len(t, g.send(g.a), 1, "lost")
	sent := 0
	for range 20 {
		g.wait(1_100_000)
		sent += len(g.send(g.a))
	}
	require.Greater(t, sent, 1)
}

// A peer without a PDC for an answer is shown that this end receives: by an ACK_REQ to the PDCID in
// the acknowledgement of a NOOP, and nothing else.
func TestFaultU2RefusedForWantOfAPDC(t *testing.T) {
	g := newPair(t, pairConfig{})
	src := AddrFrom(g.a.addr)
	g.rudi(5)
	w := g.send(g.a)[0]
	out := make([]byte, ReplyMax)
	n, err := g.b.m.RespondRUDI(header[pds.RUDI](t, w), &Response{Kind: RespondRefuse, Code: pds.NackNoPDCAvail}, out)
	require.NoError(t, err)
	g.give(wire{from: g.b, b: out[:n]})
	noop := g.send(g.a)
	require.Len(t, noop, 1)
	require.Equal(t, pds.CtlNOOP, controlOf(t, noop[0]).Ctl)
	g.giveAll(g.giveAll(noop))
	require.True(t, g.b.m.DoubtsSource(src))
	asks := g.send(g.a)
	require.Len(t, asks, 1)
	c := controlOf(t, asks[0])
	require.Equal(t, pds.CtlACKReq, c.Ctl)
	id := c.SPDCID
	require.Equal(t, g.info(g.b).ID, c.DPDCID)
	_, err = g.a.m.table.Match(id, g.b.addr, c.DPDCID+1)
	require.ErrorIs(t, err, ErrPeer, "the table knows the peer's PDCID")
	g.giveAll(asks)
	require.False(t, g.b.m.DoubtsSource(src))
}

func TestFaultU3Datagram(t *testing.T) {
	g := newPair(t, pairConfig{})
	b := make([]byte, 64)
	(&pds.UUD{Next: pds.NextRequestSmall}).AppendTo(b[:0])
	w := wire{from: g.a, b: b}
	for range 2 {
		r, answer := g.give(w)
		require.Equal(t, VerdictDatagram, r.Verdict)
		require.Empty(t, answer)
	}
	w.trim = pds.NackTrimmed
	r, answer := g.give(w)
	require.ErrorIs(t, r.Err, ErrTrimmed)
	require.Empty(t, answer)
	require.EqualValues(t, 1, g.b.m.Stats().Trimmed)
	w.b = w.b[:3]
	r, answer = g.give(w)
	require.ErrorIs(t, r.Err, pds.ErrTruncated)
	require.Empty(t, answer)
}

// The rules of RUDI packets that nothing above asks about.
func TestRUDIRules(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{MaxNackRetx: 1}})
	submit := func() (id uint32, w wire) {
		return g.rudi(5), g.send(g.a)[0]
	}
	answer := func(id uint32, f pds.Flags, a Response) Result {
		out := make([]byte, ReplyMax)
		n, err := g.b.m.RespondRUDI(&pds.RUDI{PktID: id, Flags: f}, &a, out)
		require.NoError(t, err)
		require.Equal(t, f, pds.Flags(out[1])&pds.FlagRetx, "the mark is echoed")
		r, _ := g.give(wire{from: g.b, b: out[:n]})
		return r
	}
	first, w := submit()
	w.trim = pds.NackTrimmed
	r, back := g.give(w)
	require.ErrorIs(t, r.Err, ErrTrimmed)
	n := nackOf(t, back[0])
	require.NotZero(t, n.Flags&pds.FlagNT)
	require.Equal(t, first, n.PktID())

	g.wait(1_100_000) // it waits to be sent again when its response comes
	require.Equal(t, VerdictRUDIResponse, answer(first, 0, Response{Next: pds.NextResponse, Bytes: make([]byte, 12)}).Verdict)
	require.Empty(t, g.send(g.a))
	require.True(t, g.a.m.Idle())

	second, _ := submit()
	require.NotEqual(t, first, second, "a late answer to the one before must not end it")
	answer(second, 0, Response{Kind: RespondRefuse, Code: pds.NackNoResource})
	g.wait(1_100_000)
	require.Len(t, g.send(g.a), 1)
	answer(second, pds.FlagRetx, Response{Kind: RespondRefuse, Code: pds.NackNoResource})
	require.True(t, g.a.has(EventError, Cause(pds.NackNoResource)), "refused once too often")
}

// A peer that works out the number of a RUDI packet before it is sent ends nothing: whoever
// counts what is sent would wait for it for good.
func TestRUDIResponseToWhatWasNotSent(t *testing.T) {
	g := newPair(t, pairConfig{})
	id := g.rudi(5)
	out := make([]byte, ReplyMax)
	n, err := g.b.m.RespondRUDI(&pds.RUDI{PktID: id}, &Response{Next: pds.NextResponse, Bytes: make([]byte, 12)}, out)
	require.NoError(t, err)
	r, _ := g.give(wire{from: g.b, b: out[:n]})
	require.ErrorIs(t, r.Err, ErrStale)
	require.Len(t, g.send(g.a), 1)
	r, _ = g.give(wire{from: g.b, b: out[:n]})
	require.Equal(t, VerdictRUDIResponse, r.Verdict)
}

// Where few packets may be on their way the old go before the new, which have the places of those answered
// last: sought from the first place on, all new ones went before the ninth.
func TestRUDIPacketsGoInTurn(t *testing.T) {
	g := newPair(t, pairConfig{manager: func(c *ManagerConfig) { c.RUDI = 20 }})
	g.a.m.rudi.most = rudiLeast
	next := uint64(0)
	for range 20 {
		g.rudi(next)
		next++
	}
	out := make([]byte, ReplyMax)
	want := uint64(0)
	for range 50 {
		sent := g.send(g.a)
		g.a.m.rudi.most = rudiLeast
		require.NotEmpty(t, sent)
		for _, w := range sent {
			var h pds.RUDI
			_, err := h.Decode(w.b)
			require.NoError(t, err)
			n, err := g.b.m.RespondRUDI(&h, &Response{Next: pds.NextResponse, Bytes: make([]byte, 12)}, out)
			require.NoError(t, err)
			r, _ := g.give(wire{from: g.b, b: out[:n]})
			require.Equal(t, want, r.Handle)
			g.rudi(next)
			next++
			want++
		}
	}
}

// As many RUDI packets may be outstanding as were asked for, also where that is the most.
func TestRUDIPacketsAreAsManyAsConfigured(t *testing.T) {
	for _, n := range []int{1, 3, 65535} {
		g := newPair(t, pairConfig{manager: func(c *ManagerConfig) { c.RUDI = n }})
		for range n {
			g.rudi(5)
		}
		id, err := g.a.m.SubmitRUDI(g.now, AddrFrom(g.a.addr), AddrFrom(g.b.addr), Packet{Next: pds.NextRequestSmall})
		require.ErrorIs(t, err, ErrRUDIFull)
		require.Zero(t, id)
		require.Equal(t, n, g.a.m.RUDI())
	}
}

// A response that is too long is refused, and so is a buffer that is too short, each alone.
func TestRespondRUDIRefusesWhatDoesNotFit(t *testing.T) {
	g := newPair(t, pairConfig{})
	for _, c := range []struct {
		bytes, buf int
		want       error
	}{
		{ResponseMax, ReplyMax, nil}, {ResponseMax + 1, ReplyMax, ErrShortBuffer}, {12, ReplyMax - 1, ErrShortBuffer},
		{ResponseMax + 1, 2 * ReplyMax, ErrShortBuffer},
	} {
		_, err := g.b.m.RespondRUDI(&pds.RUDI{PktID: 7}, &Response{Next: pds.NextResponse, Bytes: make([]byte, c.bytes)}, make([]byte, c.buf))
		require.ErrorIs(t, err, c.want, "%d bytes into %d", c.bytes, c.buf)
	}
}
