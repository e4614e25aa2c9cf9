// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// plainFrames are frames that the parser reads in a straight line, one a kind.
func plainFrames() (all []Frame) {
	for _, t := range []pds.Type{pds.TypeRUDReq, pds.TypeRODReq, pds.TypeRUDCCReq, pds.TypeRODCCReq} {
		p := writePacket()
		p.Type, p.Req.Type = t, t
		if !p.Req.HasCC() {
			p.Req.CreditTarget = 0
		}
		all = append(all, frameOf(p))
	}
	ack := Packet{Type: pds.TypeACKCC, Ack: pds.AckCC{Ack: pds.Ack{CACK: 7, SPDCID: 1, DPDCID: 2}, SACK: pds.SACK{CCType: pds.CCCredit, Bitmap: 5}}}
	return append(all, frameOf(ack))
}

// straightAndAny parses b both ways, into copies of before, and requires the same
// of them. It returns the error.
func straightAndAny(t *testing.T, ps *Parser, b []byte, before *Frame) error {
	t.Helper()
	straight, general := *before, *before
	err := ps.Ethernet(b, &straight)
	if want := ps.anyFrame(b, &general); err != want || straight != general || err != nil && straight != *before {
		t.Fatalf("%x: %v, not %v:\n%+v\n%+v", b, err, want, straight, general)
	}
	if len(b) > plainLen {
		h := b[plainLen:]
		straight, general = *before, *before
		got, want := ps.decode(h, 9, &straight.Packet), ps.decodeAny(h, 9, &general.Packet)
		if got != want || straight != general {
			t.Fatalf("%x: %v, not %v:\n%+v\n%+v", h, got, want, straight, general)
		}
	}
	return err
}

func TestStraightLineReadsLikeTheGeneralWay(t *testing.T) {
	var dirty Frame
	other := Packet{Type: pds.TypeNACK, Nack: pds.NackCCX{Nack: pds.Nack{Code: pds.NackTrimmed, SPDCID: 3}}}
	otherFrame := frameOf(other)
	require.NoError(t, new(Parser).Ethernet(otherFrame.AppendTo(nil, nil), &dirty))
	dirty.Native, dirty.Trimmed = true, pds.NackTrimmed
	parsers := []*Parser{{}, {Port: 4794}, {CRC: true}, {DSCPs: pds.DSCPs{Trimmed: 8}}, {DSCPs: pds.DSCPs{TrimmedLastHop: 8}},
		{Port: pds.UDPPort, DSCPs: pds.DSCPs{Trimmed: 9, TrimmedLastHop: 8}}, {Protocol: 17}}
	for _, f := range plainFrames() {
		whole := f.AppendTo(nil, []byte("data"))
		for _, ps := range parsers {
			for n := range len(whole) {
				_ = straightAndAny(t, ps, whole[:n], &dirty)
			}
			b := append([]byte(nil), whole...)
			for i := range b {
				for _, x := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
					b[i] ^= x
					_ = straightAndAny(t, ps, b, &dirty)
					b[i] ^= x
				}
			}
		}
		require.NoError(t, straightAndAny(t, parsers[0], whole, &dirty))
		require.ErrorIs(t, straightAndAny(t, parsers[1], whole, &dirty), ErrNotUET)
		require.ErrorIs(t, straightAndAny(t, parsers[2], whole, &dirty), pds.ErrCRC)
	}
}

// Lengths decide which way is taken, so each frame gets every length of datagram
// and every opcode, the header consistent with it.
func TestStraightLineAtEveryLengthAndOpcode(t *testing.T) {
	var before Frame
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, f := range plainFrames() {
		b := f.AppendTo(nil, make([]byte, 40))
		for op := range 64 {
			for i := plainLen + pds.RequestLen; i < len(b); i++ {
				b[i] = byte(rnd.Uint32())
			}
			b[plainLen+pds.RequestLen], b[plainLen+pds.RequestCCLen] = byte(op), byte(op)
			for udp := udpLen; etherLen+ip4Len+udp <= len(b); udp++ {
				binary.BigEndian.PutUint16(b[etherLen+2:], uint16(ip4Len+udp))
				binary.BigEndian.PutUint16(b[etherLen+ip4Len+4:], uint16(udp))
				_ = straightAndAny(t, new(Parser), b, &before)
			}
		}
	}
}

func TestStraightLineKeepsWhatItDoesNotRead(t *testing.T) {
	p := writePacket()
	p.Ack.CACK, p.Reply.JobID, p.Request.Token.Target = 99, 98, 97
	ack := Packet{Type: pds.TypeACKCC}
	require.NoError(t, new(Parser).UDP(ack.AppendTo(nil), &p))
	require.Equal(t, []any{pds.TypeACKCC, pds.NextNone, pds.PSN(0)}, []any{p.Type, p.Form, p.Ack.CACK})
	require.Equal(t, writePacket().Request.Standard, p.Request.Standard, "headers that are not meant hold what they held")
	w := writePacket()
	require.NoError(t, new(Parser).UDP(w.AppendTo(nil), &p))
	require.Equal(t, ses.JobID(98), p.Reply.JobID)
	require.Equal(t, uint32(97), uint32(p.Request.Token.Target))
}
