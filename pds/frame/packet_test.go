// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// writePacket is a RUD_CC_REQ with a standard write behind it.
func writePacket() Packet {
	return Packet{
		Type: pds.TypeRUDCCReq, Form: pds.NextRequestStd, Entropy: 0x1234,
		Req: pds.Request{Type: pds.TypeRUDCCReq, Next: pds.NextRequestStd, ClearOffset: -1, PSN: 336, SPDCID: 0x4001, DPDCID: 0x4011,
			CreditTarget: 16},
		Request: ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{
			Common:    ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM | ses.FlagEOM, JobID: 7},
			MessageID: 3, Key: 0xacce5, RequestLength: 4}},
	}
}

func frameOf(p Packet) Frame {
	f := Frame{Packet: p, TOS: pds.TOS(8, pds.ECNECT0), DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}}
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}
	return f
}

func TestParserUDPPlaces(t *testing.T) {
	want := writePacket()
	b := append(want.AppendTo(nil), "data"...)
	var p Packet
	require.NoError(t, new(Parser).UDP(b, &p))
	require.Equal(t, []int{0, 16, 60, 64}, []int{p.PDS, p.SES, p.Payload, p.End})
	require.Equal(t, want.Req, p.Req)
	require.Equal(t, want.Request, p.Request)
	require.NoError(t, p.Validate())
	require.Contains(t, p.String(), "| 4 bytes")
}

// UDP and Native do not see what else the CRC covers.
func TestParserNativeWithTrailer(t *testing.T) {
	want := writePacket()
	b := append([]byte{0x12, 0x34, 0, 0}, want.AppendTo(nil)...)
	b = append(b, "data\x01\x02\x03\x04"...)
	ps := Parser{CRC: true}
	var p Packet
	require.NoError(t, ps.Native(b, &p))
	require.Equal(t, "data", string(b[p.Payload:p.End]))
	require.Equal(t, uint16(0x1234), p.Entropy)
	require.ErrorIs(t, ps.UDP(nil, &p), pds.ErrTruncated)
	require.Equal(t, "data", string(b[p.Payload:p.End]))
}

// The reference provider sums from the IP source address on, and writes the most significant
// byte first. The sums here are those of a division bit by bit. AppendTo writes the same, and
// with LittleCRC both have the bytes the other way round.
func TestParserChecksTheCRCFromTheAddressesOn(t *testing.T) {
	for name, tc := range map[string]struct {
		native, v6 bool
		source     int
		crc        uint32
	}{
		"IPv4":        {source: 12, crc: 0xcec15993},
		"native IPv4": {source: 12, crc: 0x5884f22b, native: true},
		"IPv6":        {source: 8, crc: 0x9bb4a575, v6: true},
		"native IPv6": {source: 8, crc: 0x4e6a7f07, native: true, v6: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := frameOf(writePacket())
			f.Native, f.UDPSum = tc.native, true
			if tc.v6 {
				f.Src[0], f.Dst[0] = 0xfd, 0xfd
			}
			b := f.AppendTo(nil, []byte("dataCRC!"))
			binary.BigEndian.PutUint32(b[len(b)-pds.CRCLen:], tc.crc)
			ps := Parser{CRC: true}
			if f.CRC = true; f.Native || !tc.v6 { // the UDP checksum of IPv6 is another one then
				require.Equal(t, b[etherLen+tc.source:], f.AppendTo(nil, []byte("data"))[etherLen+tc.source:])
			}
			require.NoError(t, ps.Ethernet(b, &f), "%x", b)
			require.Equal(t, "data", string(b[f.Payload:f.End]))
			require.NoError(t, ps.Ethernet(append(slices.Clone(b), 0, 0), &f), "padding")
			require.Equal(t, "data", string(b[f.Payload:f.End]))
			require.NoError(t, ps.IP(b[etherLen:], &f))
			b[etherLen+1] ^= 0x30 // traffic class
			require.NoError(t, ps.Ethernet(b, &f))
			for i := etherLen + tc.source; i < len(b); i++ {
				b[i] ^= 1
				require.Error(t, ps.Ethernet(b, &f), "byte %d", i)
				b[i] ^= 1
			}
			b[f.Payload] ^= 1
			require.ErrorIs(t, ps.Ethernet(b, &f), pds.ErrCRC)
		})
	}
}

func TestParserLeavesSecuredPacketsAlone(t *testing.T) {
	h := pds.TSS{SP: true, SSI: 9, SDI: 5}
	b := append(h.AppendTo(nil), make([]byte, 20+pds.TSSTagLen)...)
	var p Packet
	require.NoError(t, (&Parser{CRC: true}).UDP(b, &p))
	require.Equal(t, pds.TypeTSS, p.Type)
	require.Equal(t, []int{16, 36}, []int{p.Payload, p.End}, "between header and tag")
	require.Equal(t, h, p.TSS)
	for n := range pds.TSSSSILen + pds.TSSTagLen {
		require.ErrorIs(t, new(Parser).UDP(b[:n], &p), pds.ErrTruncated, "%d bytes", n)
	}
}

func TestParserTrimmed(t *testing.T) {
	h := writePacket()
	b := h.AppendTo(nil)[:16]
	var p Packet
	ps := Parser{}
	require.ErrorIs(t, ps.UDP(b, &p), ses.ErrTruncated)
	require.Zero(t, p)
	require.NoError(t, ps.Trimmed(b, &p))
	require.Equal(t, pds.PSN(336), p.Req.PSN)
	require.Equal(t, [4]int{0, pds.RequestCCLen, pds.RequestCCLen, 16}, [4]int{p.PDS, p.SES, p.Payload, p.End})
	require.ErrorIs(t, ps.Trimmed(b[:15], &p), pds.ErrTruncated)
	require.ErrorIs(t, ps.Trimmed([]byte{byte(pds.TypeTSS) << 3, 0, 0, 0}, &p), pds.ErrTruncated, "nothing of a sealed one can be read")

	p = Packet{Type: pds.TypeACKCC, Form: pds.NextRequestStd} // of the packet before
	require.NoError(t, ps.Trimmed(b, &p))
	require.Equal(t, h.Type, p.Type)
	require.Equal(t, pds.NextNone, p.Form)
	require.Equal(t, pds.PSN(336), p.Req.PSN)
}

func TestParserTrimmedFrameKeepsItsUDPLength(t *testing.T) {
	f := frameOf(writePacket())
	b := f.AppendTo(nil, make([]byte, 4096))
	b = b[:etherLen+ip4Len+pds.MinTrimmedUDP]
	binary.BigEndian.PutUint16(b[etherLen+2:], ip4Len+pds.MinTrimmedUDP)
	var got Frame
	ps := Parser{}
	require.ErrorIs(t, ps.Ethernet(b, &got), ErrIP)
	ps.DSCPs = pds.DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}
	b[etherLen+1] = pds.TOS(18, pds.ECNECT0)
	require.NoError(t, ps.Ethernet(b, &got))
	require.Equal(t, pds.NackTrimmedLastHop, got.Trimmed)
	require.Equal(t, pds.PSN(336), got.Req.PSN)
	require.Equal(t, 8+60+4096, got.TransportLen, "what congestion control counts is the size before")
}

func TestPacketValidate(t *testing.T) {
	p := writePacket()
	require.NoError(t, p.Validate())
	p.Request.Flags, p.Request.PayloadLength = 0, 5
	p.End = 4
	require.ErrorIs(t, p.Validate(), ErrPayloadLength)
	p.Request.Opcode = ses.OpcodeRead
	require.ErrorIs(t, p.Validate(), ErrPayloadLength)
	p.End = p.Payload
	require.NoError(t, p.Validate(), "it has no data, and asks for so much")
	p.Request.Opcode = 0x20
	require.ErrorIs(t, p.Validate(), ses.ErrField)
	require.ErrorContains(t, p.Validate(), "reserved request opcode")
	p.Req.SPDCID = 0
	require.ErrorIs(t, p.Validate(), pds.ErrField)
	require.ErrorContains(t, p.Validate(), "PDCID zero")
	p = Packet{}
	require.ErrorIs(t, p.Validate(), pds.ErrType)
	require.Equal(t, "reserved", p.String())
}

func TestFrameRoundTrip(t *testing.T) {
	for name, change := range map[string]func(f *Frame){
		"IPv4":        func(f *Frame) {},
		"IPv6":        func(f *Frame) { f.Src[0], f.Dst[0] = 0xfd, 0xfd },
		"native IPv4": func(f *Frame) { f.Native = true },
		"native IPv6": func(f *Frame) { f.Native, f.Src[0], f.Dst[0] = true, 0xfd, 0xfd },
	} {
		t.Run(name, func(t *testing.T) {
			want := frameOf(writePacket())
			change(&want)
			b := want.AppendTo(nil, []byte("data!"))
			got := Frame{DstMAC: want.DstMAC, SrcMAC: want.SrcMAC}
			require.NoError(t, new(Parser).Ethernet(append(b, 0, 0, 0), &got), "with padding")
			require.Equal(t, "data!", string(b[got.Payload:got.End]))
			require.Equal(t, len(b)-got.PDS+map[bool]int{true: 4, false: 8}[want.Native], got.TransportLen)
			want.TransportLen, want.PDS, want.SES, want.Payload, want.End = got.TransportLen, got.PDS, got.SES, got.Payload, got.End
			require.Equal(t, want, got)
			require.NotEmpty(t, got.String())
		})
	}
}

func TestParserSkipsTagsAndExtensionHeaders(t *testing.T) {
	f := frameOf(writePacket())
	f.Src[0], f.Dst[0] = 0xfd, 0xfd
	b := f.AppendTo(nil, nil)
	tags := []byte{0x88, 0xa8, 0, 1, 0x81, 0, 0, 2}
	b = append(append(append([]byte{}, b[:12]...), tags...), b[12:]...)
	ip := etherLen + 8
	options := append([]byte{60, 0, 1, 4, 0, 0, 0, 0}, 17, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b[ip+6] = 0 // hop by hop, then destination options
	b = append(append(append([]byte{}, b[:ip+ip6Len]...), options...), b[ip+ip6Len:]...)
	binary.BigEndian.PutUint16(b[ip+4:], uint16(len(b)-ip-ip6Len))
	var got Frame
	require.NoError(t, new(Parser).Ethernet(b, &got))
	require.Equal(t, f.Req, got.Req)
	require.Equal(t, ip+ip6Len+24+udpLen, got.PDS)
}

func TestParserRefusesFrames(t *testing.T) {
	plain := frameOf(writePacket())
	native, v6 := plain, plain
	native.Native = true
	v6.Src[0], v6.Dst[0] = 0xfd, 0xfd
	fragment6 := func(next uint8, offset uint16) func([]byte) []byte { // with a fragment header in front of UDP
		return func(b []byte) []byte {
			b[20], b[19] = protoFragment, b[19]+fragmentLen
			return slices.Insert(b, etherLen+ip6Len, next, 0, uint8(offset>>8), uint8(offset), 1, 2, 3, 4)
		}
	}
	for _, c := range []struct {
		name string
		f    *Frame
		want error
		edit func(b []byte) []byte
	}{
		{"no Ethernet header", &plain, ErrNotUET, func(b []byte) []byte { return b[:13] }},
		{"ARP", &plain, ErrNotUET, func(b []byte) []byte { b[13] = 6; return b }},
		{"a tag and nothing more", &plain, ErrNotUET, func(b []byte) []byte { b[12], b[13] = 0x81, 0; return b[:15] }},
		{"IPv4 options", &plain, ErrIP, func(b []byte) []byte {
			b[14], b[17] = 0x46, b[17]+4
			return slices.Insert(b, etherLen+ip4Len, 1, 1, 1, 0)
		}},
		{"cut in IPv4", &plain, ErrIP, func(b []byte) []byte { return b[:33] }},
		{"total length beyond the frame", &plain, ErrIP, func(b []byte) []byte { b[16] = 9; return b }},
		{"total length below the header", &plain, ErrIP, func(b []byte) []byte { b[16], b[17] = 0, 19; return b }},
		{"first fragment", &plain, ErrFragment, func(b []byte) []byte { b[20] |= 0x20; return b }},
		{"later fragment", &plain, ErrFragment, func(b []byte) []byte { b[21] = 1; return b }},
		{"TCP", &plain, ErrNotUET, func(b []byte) []byte { b[23] = 6; return b }},
		{"another port", &plain, ErrNotUET, func(b []byte) []byte { b[37]++; return b }},
		{"port 0, which a Parser has for its default", &plain, ErrNotUET, func(b []byte) []byte { b[36], b[37] = 0, 0; return b }},
		{"IPv4 under the type of IPv6", &plain, ErrIP, func(b []byte) []byte { b[12], b[13] = 0x86, 0xdd; return b }},
		{"IPv6 under the type of IPv4", &v6, ErrIP, func(b []byte) []byte { b[12], b[13] = 0x08, 0; return b }},
		{"first fragment without UDP", &native, ErrFragment, func(b []byte) []byte { b[20] |= 0x20; return b }},
		{"later fragment without UDP", &native, ErrFragment, func(b []byte) []byte { b[21] = 1; return b }},
		{"a fragment that ends behind the frame", &plain, ErrIP, func(b []byte) []byte { b[16], b[20] = 9, 0x20; return b }},
		{"a fragment with IPv4 options", &plain, ErrIP, func(b []byte) []byte {
			b[14], b[17], b[20] = 0x46, b[17]+4, 0x20
			return slices.Insert(b, etherLen+ip4Len, 1, 1, 1, 0)
		}},
		{"first fragment over IPv6", &v6, ErrFragment, fragment6(protoUDP, 1)},
		{"later fragment over IPv6", &v6, ErrFragment, fragment6(protoUDP, 8|1)},
		{"last fragment over IPv6", &v6, ErrFragment, fragment6(protoUDP, 8)},
		{"a whole packet with a fragment header", &v6, ErrFragment, fragment6(protoUDP, 0)},
		{"later fragment over IPv6 without UDP", &v6, ErrFragment, fragment6(pds.IPProtocol, 8)},
		{"a fragment of options over IPv6", &v6, ErrFragment, fragment6(60, 0)},
		{"a fragment of TCP over IPv6", &v6, ErrNotUET, fragment6(6, 1)},
		{"a later fragment of TCP over IPv6", &v6, ErrNotUET, fragment6(6, 8)},
		{"first fragment to another port over IPv6", &v6, ErrNotUET, func(b []byte) []byte { b[56]++; return fragment6(protoUDP, 1)(b) }},
		{"no room for the fragment header", &v6, ErrIP, func(b []byte) []byte { b[18], b[19], b[20] = 0, 7, 44; return b }},
		{"a fragment header cut by the frame", &v6, ErrIP, func(b []byte) []byte { return fragment6(protoUDP, 1)(b)[:58] }},
		{"UDP length beyond IP", &plain, ErrIP, func(b []byte) []byte { b[38] = 9; return b }},
		{"UDP length below the header", &plain, ErrIP, func(b []byte) []byte { b[38], b[39] = 0, 7; return b }},
		{"no room for UDP", &plain, ErrIP, func(b []byte) []byte { b[16], b[17] = 0, 27; return b }},
		{"UDP and nothing", &plain, pds.ErrTruncated, func(b []byte) []byte { b[38], b[39] = 0, 8; return b }},
		{"cut in IPv6", &v6, ErrIP, func(b []byte) []byte { return b[:53] }},
		{"payload length beyond the frame", &v6, ErrIP, func(b []byte) []byte { b[18] = 9; return b }},
		{"extension beyond the packet", &v6, ErrIP, func(b []byte) []byte { b[20] = 60; b[55] = 255; return b }},
		{"extension in nothing", &v6, ErrIP, func(b []byte) []byte { b[20] = 60; b[18], b[19] = 0, 7; return b }},
		{"options of IGMP", &plain, ErrNotUET, func(b []byte) []byte { b[14], b[23] = 0x46, 2; return b }},
		{"a fragment of TCP", &plain, ErrNotUET, func(b []byte) []byte { b[20], b[23] = 0x20, 6; return b }},
		{"the first fragment to another port", &plain, ErrNotUET, func(b []byte) []byte { b[20], b[36] = 0x20, 0; return b }},
		{"a later fragment of UDP, which has no port", &plain, ErrFragment, func(b []byte) []byte { b[21], b[36] = 1, 0; return b }},
		{"ICMP without room for UDP", &plain, ErrNotUET, func(b []byte) []byte { b[16], b[17], b[23] = 0, 27, 1; return b }},
		{"TCP that ends behind the frame", &plain, ErrNotUET, func(b []byte) []byte { b[16], b[23] = 9, 6; return b }},
		{"IPv6 and nothing", &v6, ErrNotUET, func(b []byte) []byte { b[18], b[19], b[20] = 0, 0, 59; return b }},
		{"TCP that ends behind the frame, over IPv6", &v6, ErrNotUET, func(b []byte) []byte { b[18], b[20] = 9, 6; return b }},
		{"a header length of IPv4 that is none", &plain, ErrIP, func(b []byte) []byte { b[14], b[16], b[17] = 0x44, 0, 16; return b }},
		{"version 5", &v6, ErrIP, func(b []byte) []byte { b[14] = 0x50; return b }},
	} {
		var got Frame
		err := new(Parser).Ethernet(c.edit(c.f.AppendTo(nil, nil)), &got)
		require.ErrorIs(t, err, c.want, c.name)
		require.Zero(t, got, c.name)
	}
}

func TestParserDoesNotAllocate(t *testing.T) {
	f := frameOf(writePacket())
	b := f.AppendTo(nil, []byte("data"))
	ps := Parser{}
	alloctest.Zero(t, "Ethernet", func() {
		if ps.Ethernet(b, &f) != nil || f.Validate() != nil {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "Ethernet/error", func() {
		if ps.Ethernet(b[:70], &f) == nil {
			panic("the path under test did not run")
		}
	})
	buf := make([]byte, 0, 256)
	alloctest.Zero(t, "AppendTo", func() { buf = f.AppendTo(buf[:0], nil) })
	ack := Packet{Type: pds.TypeACKCC}
	wire := ack.AppendTo(nil)
	for _, typ := range []pds.Type{pds.TypeACK, pds.TypeACKCC, pds.TypeNACK, pds.TypeCP, pds.TypeRUDIReq, pds.TypeUUDReq} {
		wire := append([]byte{byte(typ) << 3}, wire[1:]...)
		alloctest.Zero(t, typ.String(), func() { _ = ps.UDP(wire, &ack) })
	}
}
