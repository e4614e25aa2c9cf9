// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// What a peer of another make does not do, or does otherwise: the reference provider's answers, by hand.

// unknown is its answer to a control packet that it does not know.
func (g *pair) unknown() error {
	r, _ := g.give(wire{from: g.b, b: (&pds.Nack{Code: pds.NackUnexpEvent, DPDCID: g.info(g.a).ID}).AppendTo(nil)})
	return r.Err
}

// A gap is told of once, until it fills: the reference provider counts each NACK as one of the
// five retransmissions of a packet, and ended a PDC ("NACK retries exhausted") in 1 of 9 runs
// with 2 % loss, after up to 4 NACKs for a gap.
func TestGapIsToldOfOnce(t *testing.T) {
	g := established(t, pairConfig{ordered: true})
	g.submit(1, 6)
	ws := g.send(g.a)
	g.give(ws[0])
	for _, w := range append(ws[2:], ws[2:]...) {
		_, back := g.give(w)
		require.Equal(t, w.b[7] == ws[2].b[7] && g.now < 2_000_000, len(back) == 1, "one NACK")
		g.now += 3_000_000
	}
	g.give(ws[1])
	_, back := g.give(ws[4])
	require.Len(t, back, 1, "the next gap")
	require.Equal(t, request(t, ws[2]).PSN, pds.PSN(nackOf(t, back[0]).Payload))
}

// Of a peer that says nothing of its range the first refusal tells it: with a window of 1,000
// PSNs to a peer that tracks 128, 487 to 951 of 1,000 packets were sent twice.
func TestRangeIsLearntFromARefusal(t *testing.T) {
	g := newPair(t, pairConfig{cwnd: 1_800_000, start: 1000})
	ack := func(cack pds.PSN) { // without an mpr
		g.give(wire{from: g.b, b: (&pds.Ack{SPDCID: 77, DPDCID: g.info(g.a).ID, CACK: cack}).AppendTo(nil)})
	}
	limit := func() int { return int(g.a.m.get(g.h).tx.limit) }
	g.submit(1, 400)
	g.send(g.a)
	ack(1009)
	g.send(g.a) // a CLEAR_CMD
	require.Equal(t, 1024, limit())
	require.NoError(t, g.nack(pds.Nack{Code: pds.NackPSNOORWindow, PSN: 1010 + 200, SPDCID: 77}).Err)
	require.Equal(t, 128, limit(), "fewer than 200, in units of 128")
	require.NoError(t, g.nack(pds.Nack{Code: pds.NackPSNOORWindow, PSN: 1010 + 128, SPDCID: 77}).Err)
	require.NoError(t, g.nack(pds.Nack{Code: pds.NackPSNOORWindow, PSN: 1010 + 60, SPDCID: 77}).Err)
	require.Equal(t, 128, limit(), "the least that there is")
	require.Empty(t, g.send(g.a), "what is beyond waits for the window")
	ack(1011)
	again := g.send(g.a)
	require.Len(t, again, 2, "and goes with it, at once")
	require.EqualValues(t, 1010+128, request(t, again[0]).PSN)

	a := pds.AckCC{Ack: pds.Ack{SPDCID: 77, DPDCID: g.info(g.a).ID, CACK: 1012}, SACK: pds.SACK{MPR: 4}}
	g.give(wire{from: g.b, b: a.AppendTo(nil)})
	require.Equal(t, 512, limit(), "what the peer says goes before")
	g.send(g.a)
	require.NoError(t, g.nack(pds.Nack{Code: pds.NackPSNOORWindow, Flags: pds.FlagRetx, PSN: 1013 + 128, SPDCID: 77}).Err)
	require.Equal(t, 512, limit())
}

// A peer whose congestion state is empty shows by SACKs and by acknowledgements of single
// packets how much has overtaken what is missing: each of three losses waited for its timeout.
// And who does not know the PROBE is not probed again (6 were in vain).
func TestLossesAreInferredWithoutCongestionState(t *testing.T) {
	for name, plain := range map[string]bool{"ACK": true, "ACK_CC": false} {
		t.Run(name, func(t *testing.T) {
			g := newPair(t, pairConfig{cwnd: 40_000, start: 1000, Config: Config{InferLoss: true}})
			g.submit(1, 30)
			id := g.info(g.a).ID
			n := len(g.send(g.a))
			require.Greater(t, n, 8)
			for i := range 16 { // 1000 arrives, 1001 does not, and each one behind it is acknowledged alone
				if i == 1 {
					continue
				}
				h := pds.AckCC{Ack: pds.Ack{SPDCID: 77, DPDCID: id, CACK: 1000, Offset: int16(i)}}
				h.SetNSCC(&pds.NSCCState{})
				b := h.Ack.AppendTo(nil)
				if !plain {
					h.SACKOffset, h.Bitmap, h.Offset = int16(i), 1, 0
					b = h.AppendTo(nil)
				}
				r, _ := g.give(wire{from: g.b, b: b})
				require.NoError(t, r.Err)
				g.send(g.a)
			}
			require.EqualValues(t, 1, g.a.m.Stats().Inferred)
			require.Zero(t, g.a.m.Stats().RTOs)
		})
	}
}

// What has arrived behind the end of a SACK tells nothing of the packets before: other acknowledgements show
// those. Packets that came out of order by less than three quarters of a round trip are not lost yet.
func TestOnlyWhatASACKShowsIsMissing(t *testing.T) {
	for _, late := range []bool{false, true} {
		g := newPair(t, pairConfig{cwnd: 120_000, start: 1000, Config: Config{InferLoss: true, BaseRTT: 100_000}})
		g.submit(1, 1)
		g.settle()
		g.submit(2, 20)
		g.send(g.a)
		if late {
			g.wait(100_000)
		}
		g.submit(40, 8)
		g.send(g.a)
		g.wait(100_000)
		h := pds.AckCC{Ack: pds.Ack{SPDCID: g.info(g.a).PeerID, DPDCID: g.info(g.a).ID, CACK: 1000, Offset: 27}} // of the last
		h.SACKOffset, h.Bitmap = 1, 0b1_1110_1110                                                                // 1001 and 1005 are missing
		h.SetNSCC(&pds.NSCCState{OOOCount: 60})
		r, _ := g.give(wire{from: g.b, b: h.AppendTo(nil)})
		require.NoError(t, r.Err)
		want := 0
		if late {
			want = 2
		}
		require.EqualValues(t, want, g.a.m.Stats().Inferred)
	}
}

// The count is that of the congestion state, of either kind; with none, of the packets shown.
func TestOutOfOrderOfEachState(t *testing.T) {
	g := newPair(t, pairConfig{cwnd: 40_000, start: 1000})
	g.submit(1, 30)
	ws := g.send(g.a)
	p := g.a.m.get(g.h)
	for _, n := range []uint16{3, 1, 0, pds.OOOUnknown} {
		want := n
		if n == pds.OOOUnknown {
			want = 0
		}
		var h pds.AckCC
		h.SetNSCC(&pds.NSCCState{OOOCount: n})
		require.Equal(t, want, g.a.m.mem.outOfOrder(p, &h))
		h.SetCredit(&pds.CreditState{OOOCount: n})
		require.Equal(t, want, g.a.m.mem.outOfOrder(p, &h))
		h.CCType = 15
		require.Zero(t, g.a.m.mem.outOfOrder(p, &h))
	}
	ws = ws[1:] // lost
	for _, w := range ws[:3] {
		g.give(w)
	}
	setFlag(ws[3].b, pds.FlagAR)
	_, back := g.give(ws[3])
	g.giveAll(back)
	for _, of := range []pds.AckCC{{Ack: pds.Ack{Offset: 1}}, {Ack: pds.Ack{Offset: -1}}, {SACK: pds.SACK{Bitmap: 1}}} {
		require.EqualValues(t, 4, g.a.m.mem.outOfOrder(p, &of), "as the last SACK shows")
	}
	require.Zero(t, g.a.m.mem.outOfOrder(p, &pds.AckCC{}), "the answer in order says nothing of others")
}

func TestPeerWithoutProbesIsNotProbed(t *testing.T) {
	g := established(t, pairConfig{Config: Config{InferLoss: true}})
	g.submit(1, 1)
	require.Len(t, filterData(g.send(g.a)), 1) // and it is lost
	probes := 0
	for range 20 {
		g.wait(100_000)
		for _, w := range filterControl(g.send(g.a)) {
			require.Equal(t, pds.CtlProbe, controlOf(t, w).Ctl)
			probes++
			require.NoError(t, g.unknown())
		}
	}
	require.Equal(t, 1, probes)
	require.ErrorIs(t, g.unknown(), ErrStale, "without a question it is no answer")
	require.NotZero(t, g.a.m.Stats().RTOs)
}

// A peer that refuses to be asked for a CLEAR is asked rarely, with each refusal after 8 times as
// long as nothing was heard otherwise: 10 times and more in 2.5 s before.
func TestPeerWithoutClearRequests(t *testing.T) {
	g := established(t, pairConfig{})
	g.b.reply = guaranteed
	g.submit(1, 1)
	g.giveAll(g.send(g.a)) // the response, which is never cleared
	var asked []int64
	for at := g.now; g.now < at+2_500_000_000; {
		g.wait(500_000)
		for _, w := range filterControl(g.send(g.b)) {
			require.Equal(t, pds.CtlClearReq, controlOf(t, w).Ctl)
			asked = append(asked, g.now-at)
			n := pds.Nack{Code: pds.NackUnexpEvent, DPDCID: g.info(g.b).ID}
			r, _ := g.give(wire{from: g.a, b: n.AppendTo(nil)})
			require.NoError(t, r.Err)
		}
	}
	require.Len(t, asked, 3, "but it is, since the CLEAR may have been lost")
	require.InDelta(t, 8*asked[1], asked[2]-asked[1], float64(ms))
}

// A peer that has begun again comes with the PDCID of its former life and another Start_PSN, as
// the reference provider does: it is refused, and asked whether it still has the PDC. Before, each
// of its messages failed until IdleTime (60 s).
func TestPeerThatBeganAgainUnderItsPDCID(t *testing.T) {
	for _, alive := range []bool{false, true} {
		g := established(t, pairConfig{})
		g.submit(1, 1)
		g.giveAll(g.giveAll(g.send(g.a)))
		old := g.info(g.b)
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN, SPDCID: g.info(g.a).ID, PSN: 0x5000_0000,
			ClearOffset: -1, Info: pds.MakePDCInfo(false, 0)}
		r, back := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
		require.ErrorIs(t, r.Err, ErrStart)
		require.Equal(t, pds.NackInvalidSYN, nackOf(t, back[0]).Code)
		asked := filterControl(g.send(g.b))
		require.Len(t, asked, 1)
		c := controlOf(t, asked[0])
		require.Equal(t, pds.CtlACKReq, c.Ctl)
		if alive { // somebody else has sent it
			_, back = g.give(asked[0])
			g.giveAll(back)
		} else {
			g.give(wire{from: g.a, b: (&pds.Nack{Code: pds.NackInvDPDCID, PSN: c.PSN, DPDCID: c.SPDCID}).AppendTo(nil)})
		}
		info, ok := g.b.m.PDC(g.b.m.pdc[old.ID].handle)
		require.Equal(t, alive, ok && info.State == StateEstablished)
	}
}

// rcvd_bytes counts the nominal size of each packet of data once, in units of 256 bytes rounded up:
// neither copies nor what a switch has cut.
func TestRcvdBytesCountsWhatIsNew(t *testing.T) {
	g := established(t, pairConfig{Config: Config{AckPerPacket: true}})
	before := g.b.m.target.byID(g.info(g.b).ID).rcvd
	g.submit(1, 3)
	ws := g.send(g.a)
	rcvd := func(w wire) uint32 {
		_, back := g.give(w)
		require.Len(t, back, 1)
		var a pds.AckCC
		_, err := a.Decode(back[0].b)
		require.NoError(t, err)
		var s pds.NSCCState
		require.True(t, a.NSCC(&s))
		return s.RcvdBytes
	}
	units := func(packets uint32) uint32 {
		return (before + packets*uint32(len(ws[0].b)+8) + 255) / 256
	}
	require.Equal(t, units(1), rcvd(ws[0]))
	again := ws[0]
	again.b = append([]byte(nil), again.b...)
	again.b[1] |= byte(pds.FlagRetx)
	require.Equal(t, units(1), rcvd(again), "a copy")
	cut := ws[1]
	cut.trim = pds.NackTrimmed
	g.give(cut)
	require.Equal(t, units(2), rcvd(ws[2]), "not what was cut")
	require.Equal(t, units(3), rcvd(ws[1]))
	for bytes, units := range map[uint32]uint32{0: 0, 1: 1, 255: 1, 256: 1, 257: 2, 512: 2} { // a unit begun counts whole
		require.Equal(t, units, (&PDC{rcvd: bytes}).rcvdUnits(), bytes)
	}
}

// A stranger that sends SYN packets in another's name, under the PDCID that the other is to use next, keeps
// nobody out, though the stranger guesses the PDCID given to the other, and so "proves" the address, or has
// the target ask the other and end the PDC. The other starts at a Start_PSN that strangers do not hear of,
// and takes the place. Before, the other's PDC ended with INVALID_SYN or INV_DPDCID.
func TestPDCOpenedInAnothersName(t *testing.T) {
	for _, typ := range []pds.Type{pds.TypeRUDReq, pds.TypeRODReq} {
		for _, how := range []string{"unproven", "proven", "resting", "pending, of the other mode"} {
			t.Run(typ.String()+", "+how, func(t *testing.T) {
				c := pairConfig{ordered: typ == pds.TypeRODReq}
				if how == "pending, of the other mode" {
					c.ordered, c.Start = !c.ordered, StartRandom1RTT
				}
				g := newPair(t, c)
				q := pds.Request{Type: typ, Next: pds.NextRequestStd, Flags: pds.FlagSYN | pds.FlagAR, SPDCID: g.h.ID(), PSN: 0x5000_0000, ClearOffset: -1}
				send := func() (Result, []wire) {
					return g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
				}
				r, _ := send()
				strange := r.ID.PDC
				switch how {
				case "proven":
					q.Flags, q.DPDCID, q.PSN, q.ClearOffset = pds.FlagAR, strange.ID(), q.PSN+1, 0
					r, _ = send()
				case "resting":
					require.NoError(t, g.b.m.Abort(g.now, strange))
				}
				require.Equal(t, r.Err == nil, c.Start == StartAny)
				g.b.got = nil
				g.submit(1, 5)
				ws := g.send(g.a)
				g.giveAll(g.giveAll(ws))
				g.settle()
				g.wait(2 * ms)
				g.settle()
				require.Len(t, g.a.take(EventImplicit, EventResponse), 5)
				require.Len(t, g.b.got, 5, "each once")
				_, ok := g.b.m.PDC(strange)
				require.False(t, ok)
				require.Equal(t, StateEstablished, g.info(g.b).State)
				_, err := g.b.m.table.Target(&TargetKey{Source: g.a.addr, Destination: g.b.addr, SPDCID: g.h.ID()})
				require.NoError(t, err)
				g.giveAll(g.giveAll(ws))
				require.Len(t, g.b.got, 5, "late packets of the first Start_PSN")
				require.Empty(t, g.a.take(EventClosed, EventError))
			})
		}
	}
}

// A target that has forgotten a PDC may have opened a stranger's since, in the initiator's name and under the
// same two PDCIDs. The initiator is told that its PDC has gone, and may ask to be sure. Before, its packets were
// refused as out of the window, and came again each NACK_Retx_Time for ever: seed 360000443.
func TestStrangersPDCUnderTheSameIDs(t *testing.T) {
	for _, closing := range []bool{true, false} {
		c := pairConfig{Config: Config{MaxRTORetx: 15, MaxNackRetx: 31}}
		g := established(t, c)
		old := g.info(g.b).ID
		if closing {
			require.NoError(t, g.a.m.Close(g.now, g.h))
		} else {
			g.submit(1, 2)
		}
		require.NotEmpty(t, g.send(g.a), "lost, or the answer is")
		g.b = newPairEnd(t, &c, 1)
		q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN | pds.FlagAR, SPDCID: g.h.ID(), PSN: 0x9000_0000, ClearOffset: -1}
		r, _ := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
		require.NoError(t, r.Err)
		require.Equal(t, old, r.ID.PDC.ID())
		for range 8 {
			g.wait(ms)
			g.settle()
		}
		require.Nil(t, g.a.m.get(g.h))
		if closing {
			require.True(t, g.a.has(EventClosed, CauseNone))
		} else {
			require.True(t, g.a.has(EventClosed, Cause(pds.NackInvDPDCID)))
			require.Equal(t, []uint64{1, 2}, g.a.take(EventError))
		}
		require.Len(t, g.b.got, 1, "nothing of it is taken for the stranger's")
		_, ok := g.b.m.PDC(r.ID.PDC)
		require.True(t, ok)
	}
}

// The Start_PSN for which a stranger's PDC gives way is good while the stranger has the PDCID: the
// initiator goes there once, and what is lost then comes some time-outs later.
func TestStrangerGivesWayLater(t *testing.T) {
	g := newPair(t, pairConfig{Config: Config{RTOInit: 3000 * ms}})
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagSYN | pds.FlagAR, SPDCID: g.h.ID(), PSN: 0x5000_0000, ClearOffset: -1}
	r, _ := g.give(wire{from: g.a, b: append(q.AppendTo(nil), make([]byte, 60)...)})
	g.submit(1, 1)
	g.giveAll(g.giveAll(g.send(g.a)))
	for range 2 {
		require.Len(t, g.send(g.a), 1, "lost")
		g.wait(7000 * ms)
	}
	_, ok := g.b.m.PDC(r.ID.PDC)
	require.True(t, ok)
	g.settle()
	require.Equal(t, []uint64{1}, g.a.take(EventImplicit, EventResponse))
	_, ok = g.b.m.PDC(r.ID.PDC)
	require.False(t, ok)
}

// A PDC that has been told to start elsewhere before has sent packets of two Start_PSNs. A target that has
// begun again may have taken late ones of the first, so the PDC ends with the conflict and starts at no
// third PSN: the bytes would be taken twice. A target of another make has no Start_PSN to offer.
func TestPDCStartsElsewhereOnce(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		g := newPair(t, pairConfig{})
		g.submit(1, 3)
		late := g.send(g.a)
		start := request(t, late[0]).PSN
		if foreign {
			require.NoError(t, g.nack(pds.Nack{Code: pds.NackInvalidSYN, PSN: start, SPDCID: 9, Payload: 0x5000_0000}).Err)
		} else {
			require.NoError(t, g.nack(pds.Nack{Code: pds.NackNewStartPSN, PSN: start, SPDCID: noPDC, Payload: 0x5000_0000}).Err)
			g.giveAll(late[:1])
			require.Len(t, g.b.got, 1)
			g.giveAll(g.giveAll(g.send(g.a)))
			require.Len(t, g.b.got, 1)
		}
		require.Equal(t, []uint64{1, 2, 3}, g.a.take(EventError))
	}
}
