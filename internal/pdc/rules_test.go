// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
)

// What a model made of the rules of receiving found, by name.

// An ordered SYN packet that comes before the first one is told where to go back to: the
// lowest missing PSN is Start_PSN. If it were told its own, the first packet would wait for
// its timeout, and each of those behind it would be sent and refused again until then.
func TestOrderedSYNBeforeTheFirstNamesTheStart(t *testing.T) {
	g := newPair(t, pairConfig{ordered: true, start: 0xffffffff})
	g.submit(1, 4)
	ws := g.send(g.a)
	nacks := g.giveAll(ws[1:]) // the first is lost
	require.Len(t, nacks, 3)
	for i, w := range nacks {
		require.Equal(t, request(t, ws[i+1]).PSN, nackOf(t, w).PSN)
		require.Equal(t, pds.NackRODOOO, nackOf(t, w).Code)
		require.EqualValues(t, uint32(0xffffffff), nackOf(t, w).Payload)
	}
	g.giveAll(nacks)
	again := g.send(g.a)
	require.Len(t, again, 4, "all, once")
	g.giveAll(g.giveAll(again))
	require.Len(t, g.b.got, 4)
	require.Zero(t, g.a.m.Stats().RTOs)
}

// A SYN packet that is refused for what it says itself leaves nothing behind: no PDC that
// only its idle time would end.
func TestRefusedSYNLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		offset uint16
		clear  int16
		err    error
		code   pds.NackCode
	}{
		"outside the window":            {8, -9, ErrOutside, pds.NackPSNOORWindow},
		"outside any window so early":   {1024, -1025, ErrOutside, pds.NackInvalidSYN},
		"outside the widest window":     {4095, -4096, ErrOutside, pds.NackInvalidSYN},
		"clears what nobody has opened": {4, -4, ErrStale, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := newPair(t, pairConfig{Config: Config{Range: 8, OverrideMPRZero: 8}})
			q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: 3, PSN: 100,
				ClearOffset: c.clear, Info: pds.MakePDCInfo(false, c.offset)}
			r, answer := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
			require.ErrorIs(t, r.Err, c.err)
			st := g.b.m.Stats()
			require.Zero(t, st.Opened)
			if c.code == 0 {
				require.Empty(t, answer)
				require.EqualValues(t, 1, st.BadClear)
				return
			}
			require.EqualValues(t, 1, st.Outside)
			n := nackOf(t, answer[0])
			require.Equal(t, c.code, n.Code)
			require.Zero(t, n.SPDCID)
		})
	}
}

// A control packet that only a target may send changes nothing at one, and its sender is
// told: like the other way round.
func TestCloseRequestToATargetIsIllegal(t *testing.T) {
	g := established(t, pairConfig{})
	info, before := g.info(g.a), g.info(g.b)
	r, answer := g.give(g.control(g.a, pds.Control{Ctl: pds.CtlCloseReq, Flags: pds.FlagAR, PSN: info.Next}))
	require.ErrorIs(t, r.Err, ErrIllegal)
	require.Equal(t, pds.NackUnexpEvent, nackOf(t, answer[0]).Code)
	require.Equal(t, before, g.info(g.b), "its PSN is not received")
}

// A control packet with a PSN outside the window is refused like a request, within the
// same limits: its sender tracks it, and need not wait for a timeout.
func TestControlPacketBeyondTheRange(t *testing.T) {
	for _, ctl := range []pds.CtlType{pds.CtlNOOP, pds.CtlNegotiation, pds.CtlCloseCmd} {
		g := established(t, pairConfig{Config: Config{Range: 8, OverrideMPRZero: 8}})
		info, before := g.info(g.a), g.info(g.b)
		w := g.control(g.a, pds.Control{Ctl: ctl, Flags: pds.FlagAR, PSN: info.Next + 8})
		answers := 0
		for range 100 {
			r, answer := g.give(w)
			require.ErrorIs(t, r.Err, ErrOutside)
			if answers += len(answer); answers == 1 {
				require.Equal(t, pds.NackPSNOORWindow, nackOf(t, answer[0]).Code)
			}
		}
		require.Equal(t, limiterBurst, answers)
		require.Equal(t, before, g.info(g.b))
	}
}

// That a packet was cut is what a target says of it before it asks which PDC it is for, so
// its sender learns of the loss at once, and with the next copy that nobody is there.
func TestTrimmedForNobody(t *testing.T) {
	g := established(t, pairConfig{})
	g.submit(1, 1)
	w := g.send(g.a)[0]
	full := w
	w.b, w.trim = w.b[:pds.RequestLen], pds.NackTrimmed
	g.restart(pairConfig{})
	r, answer := g.give(w)
	require.ErrorIs(t, r.Err, ErrTrimmed)
	require.EqualValues(t, 1, g.b.m.Stats().Unknown)
	n := nackOf(t, answer[0])
	require.Equal(t, pds.NackTrimmed, n.Code)
	require.Zero(t, n.SPDCID)
	g.giveAll(answer)
	again := g.send(g.a)
	require.Len(t, again, 1)
	require.Equal(t, request(t, full).PSN, request(t, again[0]).PSN)
	g.giveAll(g.giveAll(again))
	g.settle() // it asks whether that came from its peer
	require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
}

// What comes after the CLOSE_CMD is refused whatever it is; so is another CLOSE_CMD, also
// one before it: a PDC ends once.
func TestControlPacketAfterClose(t *testing.T) {
	g := established(t, pairConfig{})
	info := g.info(g.a)
	control := func(ctl pds.CtlType, psn pds.PSN) (Result, []wire) {
		return g.give(g.control(g.a, pds.Control{Ctl: ctl, Flags: pds.FlagAR, PSN: psn}))
	}
	control(pds.CtlCloseCmd, info.Next+3) // above a hole
	before := g.info(g.b)
	for _, ctl := range []pds.CtlType{pds.CtlNOOP, pds.CtlNegotiation, pds.CtlCloseCmd} {
		r, answer := control(ctl, info.Next+4)
		require.ErrorIs(t, r.Err, ErrClosing)
		require.Equal(t, pds.NackClosing, nackOf(t, answer[0]).Code)
	}
	r, answer := control(pds.CtlCloseCmd, info.Next+1)
	require.ErrorIs(t, r.Err, ErrStale)
	require.Empty(t, answer)
	require.Equal(t, before, g.info(g.b))
}

// Whatever lets CACK reach a CLOSE_CMD closes the PDC: an acknowledgement that covers it is
// all that its initiator waits for, and then it never sends it again.
func TestWhateverReachesTheCloseCloses(t *testing.T) {
	for _, fill := range []string{"noop", "clear", "clear of a request again"} {
		t.Run(fill, func(t *testing.T) {
			g := established(t, pairConfig{})
			info := g.info(g.a)
			send := func(c pds.Control) []wire {
				_, answer := g.give(g.control(g.a, c))
				return answer
			}
			closePSN, filler := info.Next+1, pds.Control{Ctl: pds.CtlNOOP, Flags: pds.FlagAR, PSN: info.Next}
			var ws []wire
			if fill != "noop" {
				g.b.reply = guaranteed
				g.submit(1, 1)
				ws = g.send(g.a)
				filler = pds.Control{Ctl: pds.CtlClearCmd, Payload: pds.Payload(info.Next)}
			}
			require.Empty(t, send(pds.Control{Ctl: pds.CtlCloseCmd, Flags: pds.FlagAR, PSN: closePSN}))
			g.giveAll(ws)
			require.False(t, g.b.has(EventClosed, CauseNone), "its initiator may not have seen the response")
			var answer []wire
			if fill == "clear of a request again" {
				setFlag(ws[0].b, pds.FlagRetx)
				binary.BigEndian.PutUint16(ws[0].b[2:], uint16(info.Next-pds.PSN(binary.BigEndian.Uint32(ws[0].b[4:]))))
				var r Result
				r, answer = g.give(ws[0])
				require.ErrorIs(t, r.Err, ErrDuplicate, "not to be served again")
			} else {
				answer = send(filler)
			}
			require.Len(t, answer, 1)
			require.Equal(t, closePSN, ackCC(t, answer[0]).CACK)
			require.True(t, g.b.has(EventClosed, CauseNone))
		})
	}
}

// A SYN packet with the identity of a PDC that rests, and another Start_PSN, is no old one of
// the PDC: the initiator has begun again with the PDCID too early, and is told of a Start_PSN that
// the target takes. An initiator of another make fails, and need not wait for a timeout.
func TestSYNWithAnotherStartMeetsAPDCThatRests(t *testing.T) {
	g := newPair(t, pairConfig{start: 5})
	g.submit(1, 1)
	g.settle()
	require.NoError(t, g.a.m.Close(g.now, g.h))
	g.settle()
	require.True(t, g.b.has(EventClosed, CauseNone))
	again := newPair(t, pairConfig{start: 77777})
	g.a, g.h = again.a, again.h
	g.submit(1, 2)
	ws := g.send(g.a)
	r, answer := g.give(ws[0])
	require.ErrorIs(t, r.Err, ErrStart)
	require.Equal(t, pds.NackInvalidSYN, nackOf(t, answer[0]).Code)
	require.Len(t, g.b.got, 1)
	require.EqualValues(t, 1, g.b.m.Stats().Opened)
	g.giveAll(answer)
	g.settle()
	require.Equal(t, []uint64{1, 2}, g.a.take(EventImplicit, EventResponse))
	require.Len(t, g.b.got, 3)
	_, answer = g.give(ws[1])
	require.Len(t, g.b.got, 3, "nothing of the first Start_PSN is taken")
	r, _ = g.give(answer[0])
	require.ErrorIs(t, r.Err, ErrStale)
}

// A question about a packet long acknowledged is answered with the present CACK, however
// late it comes.
func TestQuestionFarBelowTheWindow(t *testing.T) {
	g := established(t, pairConfig{start: 7})
	info := g.info(g.b)
	for _, below := range []pds.PSN{1, defaultRange, defaultRange + 1, 40_000, 1 << 30} {
		c := pds.Control{Ctl: pds.CtlACKReq, Flags: pds.FlagAR, SPDCID: g.h.ID(), DPDCID: info.ID, PSN: info.CACK - below, Payload: 0xbeef}
		_, answer := g.give(wire{from: g.a, b: c.AppendTo(nil)})
		a := ackCC(t, answer[0])
		require.Equal(t, info.CACK, a.CACK, "%d below", below)
		message := []byte{0xbe, 0xef}
		if c.PSN != a.AckPSN() {
			message = []byte{0, 0}
		}
		require.Equal(t, message, answer[0].b[pds.AckCCLen+2:][:2], "the message of the packet that is named")
		require.False(t, a.AckPSN().After(info.CACK))
	}
}

// Where what a ROD_OOO names waits for its time, all behind it waits with it: sent before,
// it would be refused again.
func TestRODGoesBackBehindWhatWaits(t *testing.T) {
	g := established(t, pairConfig{ordered: true})
	g.b.reply = Response{Kind: RespondRefuse, Code: pds.NackNoPktBuffer}
	g.submit(1, 4)
	ws := g.send(g.a)
	nacks := g.giveAll(ws)
	require.Len(t, nacks, 2)
	require.Equal(t, pds.NackNoPktBuffer, nackOf(t, nacks[0]).Code)
	require.Equal(t, pds.NackRODOOO, nackOf(t, nacks[1]).Code)
	g.giveAll(nacks)
	require.Empty(t, g.send(g.a))
	g.b.reply, g.b.got = Response{}, nil
	g.wait(1_010_000)
	again := g.send(g.a)
	require.Len(t, again, 4)
	g.giveAll(g.giveAll(again))
	require.Equal(t, []pds.PSN{1, 2, 3, 4}, g.b.got)
	require.Len(t, g.a.take(EventResponse, EventImplicit), 4)
	require.Zero(t, g.a.m.Stats().RTOs)
}

// What arrives on the return direction does not let the source go back twice for one gap.
func TestRODGoesBackOnceWhateverArrives(t *testing.T) {
	g := established(t, pairConfig{ordered: true})
	g.submit(1, 3)
	g.send(g.a)
	gap := pds.Nack{Code: pds.NackRODOOO, PSN: g.info(g.a).Base}
	next := g.now + 1_000_000
	g.nack(gap)
	require.Len(t, g.send(g.a), 3)
	_, err := g.b.m.Submit(g.now, g.b.m.target.byID(g.info(g.b).ID).handle, Packet{Handle: 9, Size: 4160, Next: pds.NextResponseData, EOM: true})
	require.NoError(t, err)
	g.giveAll(g.send(g.b))
	require.Len(t, g.a.got, 1)
	g.nack(gap)
	require.Empty(t, filterData(g.send(g.a)))
	g.now = next - 1
	g.nack(gap)
	require.Empty(t, filterData(g.send(g.a)))
	g.now++
	g.nack(gap)
	require.Len(t, filterData(g.send(g.a)), 3, "NACK_Retx_Time has passed")
}

// Some targets name the packet that came too early in a ROD_OOO, and in the payload the one
// that they expect. A payload that names no earlier packet that is out means nothing.
func TestRODGoesBackToTheExpectedPSN(t *testing.T) {
	for payload, want := range map[pds.PSN]int{0: 4, 1: 3, 2: 2, 3: 2, 4: 2, 1 << 31: 2, 1<<32 - 1: 2} {
		g := established(t, pairConfig{ordered: true})
		g.submit(1, 4)
		require.Len(t, g.send(g.a), 4)
		base := g.info(g.a).Base
		g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: base + 2, Payload: uint32(base + payload)})
		again := g.send(g.a)
		require.Len(t, again, want, "%#x", payload)
		require.Equal(t, base+pds.PSN(4-want), request(t, again[0]).PSN)
		g.now += 999_999
		g.nack(pds.Nack{Code: pds.NackRODOOO, PSN: base + 3, Payload: uint32(base + payload)})
		if again = filterData(g.send(g.a)); payload < 3 {
			require.Empty(t, again, "the same gap")
		} else {
			require.Len(t, again, 1, "%#x", payload)
		}
	}
}

// A PDC that closes in error clears nothing more: what it has given up counts as released
// there, and the target may never have had it.
func TestFailedPDCClearsNothing(t *testing.T) {
	g := established(t, pairConfig{Config: Config{MaxRTORetx: 1}})
	g.b.reply = guaranteed
	g.submit(1, 2)
	acks := g.giveAll(g.send(g.a)[:1])
	g.wait(1_010_000)
	require.Len(t, filterData(g.send(g.a)), 2, "lost")
	g.wait(1_800_000)
	g.giveAll(acks)
	require.Equal(t, []uint64{1}, g.a.take(EventResponse), "a CLEAR is due")
	require.NoError(t, g.a.m.Fail(g.now, g.a.m.target.byID(g.info(g.a).ID).handle, CauseMessageTimeout))
	for range 8 {
		g.wait(ms / 2)
		for _, w := range filterControl(g.send(g.a)) {
			require.NotEqual(t, pds.CtlClearCmd, controlOf(t, w).Ctl)
		}
	}
	require.True(t, g.a.has(EventClosing, CauseMessageTimeout))
}

// A PDC that waited in vain for the Start_PSN it had asked for leaves nothing behind: its
// initiator, who has not heard, may still ask again, and is told again.
func TestPendingPDCIsForgottenAtOnce(t *testing.T) {
	g := newPair(t, pairConfig{start: 9, Config: Config{Start: StartRandom1RTT}})
	g.submit(1, 2)
	for _, at := range []int64{0, 1_010_000, 3_020_000} {
		g.wait(at - g.now)
		for _, w := range g.send(g.a) {
			g.give(w) // NEW_START_PSN is lost
		}
		require.Equal(t, StatePending, g.info(g.b).State)
	}
	g.wait(2_100_000) // New_PDC_Time
	require.EqualValues(t, 1, g.b.m.Stats().PendingOver)
	s := g.b.m.table.Stats().General
	require.Equal(t, s.Capacity, s.Free, "no quarantine for what took no packet")
	g.wait(2 * ms)
	again := g.send(g.a)
	require.Len(t, again, 2)
	answer := g.giveAll(again)
	require.Equal(t, pds.NackNewStartPSN, nackOf(t, answer[0]).Code)
	g.giveAll(answer)
	g.settle()
	require.Equal(t, []uint64{1, 2}, g.a.take(EventResponse, EventImplicit))
	require.Len(t, g.b.got, 2)
}

// An initiator may take the target's PDCID from the NEW_START_PSN, and so need no SYN packet
// any more: a packet of the window that the target has asked for opens the PDC as well. Any
// other changes nothing.
func TestPendingPDCTakesAPacketWithoutSYN(t *testing.T) {
	g := newPair(t, pairConfig{start: 9, Config: Config{Start: StartRandom1RTT}})
	g.submit(1, 1)
	_, answer := g.give(g.send(g.a)[0])
	n := nackOf(t, answer[0])
	send := func(psn pds.PSN) (Result, []wire) {
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, SPDCID: g.h.ID(), DPDCID: n.SPDCID, PSN: psn, ClearOffset: -1}
		return g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
	}
	before := g.info(g.b)
	for _, c := range []pds.Control{{Ctl: pds.CtlClearCmd}, {Ctl: pds.CtlProbe}, {Ctl: pds.CtlCloseCmd, PSN: 9}} {
		c.SPDCID, c.DPDCID = g.h.ID(), n.SPDCID
		_, answer := g.give(wire{from: g.a, b: c.AppendTo(nil)})
		require.Empty(t, answer)
	}
	_, answer = send(9)
	require.Empty(t, answer)
	require.Equal(t, before, g.info(g.b))
	require.Empty(t, g.b.got)
	r, answer := send(pds.PSN(n.Payload))
	require.NoError(t, r.Err)
	require.Equal(t, pds.PSN(n.Payload), ackCC(t, answer[0]).CACK)
	require.Equal(t, StateEstablished, g.info(g.b).State)
	g.wait(100 * ms)
	require.Equal(t, StateEstablished, g.info(g.b).State)
}

// While a message waits for a PDC, one that becomes idle is closed for it, and what is over
// with its quarantine is not waited for.
func TestIdlePDCIsClosedForAWaitingMessage(t *testing.T) {
	g := newPair(t, pairConfig{own: 1})
	open := func(tc uint8, ticket uint64) (Handle, error) {
		return g.a.m.Open(g.now, &InitiatorKey{Source: g.a.addr, Destination: g.b.addr, TC: tc}, ticket)
	}
	for round := range 3 {
		g.submit(uint64(round*10+1), 1)
		ws := g.send(g.a)
		ticket := uint64(500 + round)
		_, err := open(uint8(10+round), ticket)
		require.ErrorIs(t, err, ErrWaiting)
		g.giveAll(g.giveAll(ws))
		g.a.take()
		for range 10 {
			g.wait(ms / 2)
			g.settle()
		}
		require.Equal(t, []uint64{ticket}, g.a.take(EventMessage), "round %d", round)
		g.h, err = open(uint8(10+round), 0)
		require.NoError(t, err)
	}
}

// A refusal of a RUDI packet counts only from where that was sent to.
func TestRUDINACKFromAnotherSource(t *testing.T) {
	g := newPair(t, pairConfig{})
	id := g.rudi(5)
	require.Len(t, g.send(g.a), 1)
	for _, code := range []pds.NackCode{pds.NackTrimmed, pds.NackNoResource, pds.NackUnexpEvent} {
		n := pds.Nack{Code: code, Flags: pds.FlagNT, PSN: pds.PSN(id)}
		r, _ := g.give(wire{from: g.b, b: n.AppendTo(nil), dst: netip.MustParseAddr("10.9.9.9")})
		require.ErrorIs(t, r.Err, ErrStale)
	}
	require.Empty(t, g.send(g.a))
	require.Empty(t, g.a.take(EventError))
	n := pds.Nack{Code: pds.NackUnexpEvent, Flags: pds.FlagNT, PSN: pds.PSN(id)}
	r, _ := g.give(wire{from: g.b, b: n.AppendTo(nil)})
	require.NoError(t, r.Err)
	require.Equal(t, []uint64{5}, g.a.take(EventError))
}

// A NOOP that would open a PDC of the other mode does not belong to one that is there.
func TestNOOPOfTheOtherMode(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		g := newPair(t, pairConfig{ordered: ordered})
		require.NoError(t, g.a.m.Noop(g.h))
		w := g.send(g.a)[0]
		_, answer := g.give(w)
		require.Len(t, answer, 1)
		before := g.info(g.b)
		c := controlOf(t, w)
		c.Flags ^= pds.FlagISROD
		r, answer := g.give(wire{from: g.a, b: c.AppendTo(nil)})
		require.ErrorIs(t, r.Err, ErrMode)
		require.Equal(t, pds.NackPDCModeMismatch, nackOf(t, answer[0]).Code)
		require.Equal(t, before, g.info(g.b))
	}
}

// A gap that a NOOP has filled is over: the next one is told of, however soon.
func TestGapFilledByANOOPIsOver(t *testing.T) {
	g := established(t, pairConfig{ordered: true})
	require.NoError(t, g.a.m.Noop(g.h))
	g.submit(1, 3)
	ws := g.send(g.a)
	require.Len(t, ws, 4)
	_, answer := g.give(ws[1])
	require.EqualValues(t, controlOf(t, ws[0]).PSN, nackOf(t, answer[0]).Payload)
	_, answer = g.give(ws[2])
	require.Empty(t, answer, "once")
	g.give(ws[0])
	_, answer = g.give(ws[2])
	require.Len(t, answer, 1)
	require.EqualValues(t, request(t, ws[1]).PSN, nackOf(t, answer[0]).Payload)
}

// An ACK_REQ for a packet whose answer carries data: this target keeps the data and repeats
// it, to the byte, without asking the layer above again. One that would have to read it
// again says ACK_WITH_DATA (UE Specification 1.0.x, Table 3-59), and this initiator sends
// the request again, at once. Either way there is one completion, and one execution here.
func TestQuestionAboutAReadThatWasAnswered(t *testing.T) {
	data := Response{Kind: RespondGuaranteed, Next: pds.NextResponseData, Bytes: []byte("a header of 20 bytes and its data")}
	for name, refuses := range map[string]bool{"repeats": false, "asks for the request": true} {
		t.Run(name, func(t *testing.T) {
			g := established(t, pairConfig{})
			g.submit(1, 2)
			ws := g.send(g.a)
			g.b.reply = data
			lost := g.giveAll(ws[:1])
			require.Equal(t, pds.NextResponseData, ackCC(t, lost[0]).Next)
			g.b.reply = Response{}
			g.giveAll(g.giveAll(ws[1:])) // whose SACK shows that the first has arrived
			require.Equal(t, []uint64{2}, g.a.take(EventResponse, EventImplicit))
			g.wait(1_100_000)
			ask := filterControl(g.send(g.a))
			require.Equal(t, pds.CtlACKReq, controlOf(t, ask[0]).Ctl)
			answer := g.giveAll(ask)
			if refuses {
				n := pds.Nack{Code: pds.NackACKWithData, PSN: request(t, ws[0]).PSN, SPDCID: g.info(g.b).ID, DPDCID: g.h.ID()}
				g.give(wire{from: g.b, b: n.AppendTo(nil)})
				again := filterData(g.send(g.a))
				require.Equal(t, request(t, ws[0]).PSN, request(t, again[0]).PSN)
				require.NotZero(t, request(t, again[0]).Flags&pds.FlagRetx)
				answer = g.giveAll(again)
			}
			require.Equal(t, lost[0].b[pds.AckCCLen:], answer[0].b[pds.AckCCLen:])
			r, _ := g.give(answer[0])
			require.Equal(t, VerdictResponse, r.Verdict)
			g.give(answer[0])
			require.Equal(t, []uint64{1}, g.a.take(EventResponse, EventImplicit), "once")
			require.Len(t, g.b.got, 2)
		})
	}
}

// An acknowledgement that is asked for above a hole cannot tell of what is missing, which may
// ask for none. So the last packet that closes the hole is acknowledged too: else reordering
// alone would have it sent again after a timeout.
func TestLastBelowOneThatAskedIsAcknowledged(t *testing.T) {
	for _, short := range []bool{false, true} {
		t.Run(map[bool]string{false: "Receive", true: "Take"}[short], func(t *testing.T) {
			g := established(t, pairConfig{Config: Config{AckTrigger: 32 << 10}})
			g.submit(0, 1)
			g.settle()
			g.submit(1, 4)
			ws := g.send(g.a)
			give := func(i int) []wire { _, ws := g.give(ws[i]); return ws }
			if short {
				give = func(i int) []wire { return g.takeWire(ws[i]) }
			}
			last := give(3)
			require.Len(t, last, 1, "asks for it")
			require.Empty(t, give(1))
			require.Empty(t, give(0))
			closes := give(2)
			require.Len(t, closes, 1)
			require.Equal(t, request(t, ws[3]).PSN, ackCC(t, closes[0]).CACK)
			g.giveAll(append(last, closes...))
			require.Zero(t, g.info(g.a).Outstanding)

			g.submit(5, 3)
			ws = g.send(g.a)
			require.Empty(t, give(1), "nobody has asked")
			require.Empty(t, give(0))
			require.Len(t, give(2), 1)
		})
	}
}

// The bytes that cause an acknowledgement are counted from the last one.
func TestACKTriggerCountsFromTheLastACK(t *testing.T) {
	g := established(t, pairConfig{Config: Config{AckTrigger: 2*4096 + 1}, cwnd: 1 << 20})
	before := g.b.m.Stats().ACKs
	g.submit(1, 10)
	var acks []pds.PSN
	ws := g.send(g.a)
	for _, w := range ws[:9] {
		if _, back := g.give(w); len(back) != 0 {
			acks = append(acks, ackCC(t, back[0]).CACK)
		}
	}
	require.Equal(t, []pds.PSN{request(t, ws[2]).PSN, request(t, ws[5]).PSN, request(t, ws[8]).PSN}, acks)
	require.Equal(t, before+3, g.b.m.Stats().ACKs)
}

// takeWire has b take a request the short way.
func (g *pair) takeWire(w wire) []wire {
	q, src := (*view.Request)(w.b[:pds.RequestLen]), AddrFrom(w.from.addr)
	p := g.b.m.target.expect(q, src)
	require.NotNil(g.t, p)
	var out [pds.AckCCLen]byte
	n, ok := g.b.m.Fast().Take(g.now, p, &Taken{Request: q, Src: &src, State: &AckState{}, Size: int64(len(w.b)) + 8, Payload: 4096}, &out)
	require.True(g.t, ok)
	if n == 0 {
		return nil
	}
	return []wire{{from: g.b, b: append([]byte(nil), out[:n]...)}}
}

// A reference provider sends again the packet that nack_psn names, whatever the payload is: for such
// peers NackMissing names the one that is missing in both words.
func TestNackMissingNamesTheGapTwice(t *testing.T) {
	g := established(t, pairConfig{ordered: true, Config: Config{NackMissing: true}})
	g.submit(1, 3)
	ws := g.send(g.a)
	nacks := g.giveAll(ws[1:])
	require.Len(t, nacks, 1)
	gap := request(t, ws[0]).PSN
	require.Equal(t, gap, nackOf(t, nacks[0]).PSN)
	require.EqualValues(t, gap, nackOf(t, nacks[0]).Payload)
	g.giveAll(nacks)
	g.giveAll(g.giveAll(g.send(g.a)))
	require.Len(t, g.b.got, 3)
}
