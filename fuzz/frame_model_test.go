package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
)

// word16 is the word at an offset of b, -1 where b has none.
func word16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return -1
	}
	return int(b[at])<<8 | int(b[at+1])
}

// readFrame reads what is around the PDS header, one field after the other as RFC 791,
// 8200, 768 and IEEE 802.1Q have them, into all of f but the Packet; headers is where
// the PDS header lies and end where the datagram ends.
func readFrame(ps *uetcc.Parser, b []byte, f *uetcc.Frame) (headers, end int, err error) {
	at := 12
	for tags := 0; tags < 2 && (word16(b, at) == 0x8100 || word16(b, at) == 0x88a8); tags++ {
		at += 4
	}
	typ := word16(b, at)
	if at += 2; typ != 0x0800 && typ != 0x86dd {
		return 0, 0, uetcc.ErrNotUET
	}
	ip := b[at:]
	if len(ip) < 20 || typ == 0x0800 && ip[0]>>4 != 4 || typ == 0x86dd && (ip[0]>>4 != 6 || len(ip) < 40) {
		if len(ip) >= 20 && typ == 0x86dd && ip[0]>>4 == 6 && !slices.Contains([]int{0, 43, 60, 135, 44, 17, ours(ps)}, int(ip[6])) {
			return 0, 0, uetcc.ErrNotUET
		}
		return 0, 0, uetcc.ErrIP
	}
	var protocol, transport, total int
	odd := false                       // what UET does not use, or what cannot be
	part, cut, whole := 0, false, true // a fragment of a packet, and otherwise as it should be
	if typ == 0x0800 {
		protocol, transport, total = int(ip[9]), 4*int(ip[0]&15), word16(ip, 2)
		part = word16(ip, 6) & 0x1fff
		cut = word16(ip, 6)&0x2000 != 0 || part != 0
		whole = transport == 20 && total >= transport && total <= len(ip)
		odd = cut || !whole
		f.TOS = ip[1]
		f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff}, [16]byte{10: 0xff, 11: 0xff}
		copy(f.Src[12:], ip[12:16])
		copy(f.Dst[12:], ip[16:20])
	} else {
		protocol, transport, total = int(ip[6]), 40, 40+word16(ip, 4)
		odd = total > len(ip)
		f.TOS = ip[0]<<4 | ip[1]>>4
		copy(f.Src[:], ip[8:24])
		copy(f.Dst[:], ip[24:40])
		for !odd && slices.Contains([]int{0, 43, 60, 135}, protocol) {
			if transport+8 > total || transport+8+8*int(ip[transport+1]) > total {
				return 0, 0, uetcc.ErrIP
			}
			protocol, transport = int(ip[transport]), transport+8+8*int(ip[transport+1])
		}
		if protocol == 44 {
			if odd || transport+8 > total {
				return 0, 0, uetcc.ErrIP
			}
			protocol, part = int(ip[transport]), word16(ip, transport+2)>>3
			if transport += 8; slices.Contains([]int{0, 43, 60, 135}, protocol) {
				return 0, 0, uetcc.ErrFragment // who knows what is behind
			}
			odd, cut, ip = true, true, ip[:total]
		}
	}
	switch {
	case protocol != 17 && protocol != ours(ps):
		if odd && typ == 0x86dd && slices.Contains([]int{0, 43, 60, 135}, protocol) {
			return 0, 0, uetcc.ErrIP // who knows what is behind
		}
		return 0, 0, uetcc.ErrNotUET
	case protocol == 17 && odd && part == 0 && transport >= 20 && len(ip) >= transport+4 && word16(ip, transport+2) != portOf(ps):
		return 0, 0, uetcc.ErrNotUET
	case cut && whole:
		return 0, 0, uetcc.ErrFragment
	case odd || total-transport < 8:
		return 0, 0, uetcc.ErrIP
	case protocol == 17 && word16(ip, transport+2) != portOf(ps):
		return 0, 0, uetcc.ErrNotUET
	}
	d := pds.DSCP(f.TOS >> 2)
	f.Trimmed = 0
	switch {
	case d != 0 && d == ps.DSCPs.Trimmed:
		f.Trimmed = pds.NackTrimmed
	case d != 0 && d == ps.DSCPs.TrimmedLastHop:
		f.Trimmed = pds.NackTrimmedLastHop
	}
	f.Native = protocol != 17
	f.Entropy = uint16(word16(ip, transport))
	f.TransportLen = total - transport
	if f.Native {
		return at + transport + 4, at + total, nil
	}
	f.TransportLen = word16(ip, transport+4)
	end = transport + f.TransportLen
	if f.TransportLen < 8 || end > total && f.Trimmed == 0 {
		return 0, 0, uetcc.ErrIP
	}
	return at + transport + 8, at + min(end, total), nil
}

func ours(ps *uetcc.Parser) int {
	if ps.Protocol == 0 {
		return 253
	}
	return int(ps.Protocol)
}

func portOf(ps *uetcc.Parser) int {
	if ps.Port == 0 {
		return 4793
	}
	return int(ps.Port)
}

// drawFrame draws bytes: tags, both versions of IP, extension headers, both carriages,
// trailers, padding, and now and then a byte that is something else.
func drawFrame(r *rand.Rand, ps *uetcc.Parser, bodies [][]byte) []byte {
	one := func(n int) bool { return r.IntN(n) == 0 }
	be := binary.BigEndian.AppendUint16
	body := slices.Clone(bodies[r.IntN(len(bodies))])
	body = append(body, make([]byte, []int{0, 0, 1, 3, 300}[r.IntN(5)])...)
	if one(2) && !one(5) {
		body = pds.AppendCRC(body)
	}
	protocol := uint8(ours(ps))
	var t []byte
	if one(3) {
		t = append(be(nil, uint16(r.Uint32())), 0, 0)
		t = append(t, body...)
	} else {
		protocol = 17
		length := len(body) + 8 + []int{0, 0, 0, 0, -1, 1, 1000, -len(body), -len(body) - 1}[r.IntN(9)]
		t = be(be(be(nil, uint16(r.Uint32())), uint16(portOf(ps))), uint16(length))
		t = append(be(t, uint16(r.Uint32())), body...)
	}
	t = append(t, make([]byte, r.IntN(3)*r.IntN(3))...)
	b := make([]byte, 12, 256)
	for range []int{0, 0, 0, 0, 1, 2, 3}[r.IntN(7)] {
		b = be(be(b, []uint16{0x8100, 0x88a8}[r.IntN(2)]), 7)
	}
	tos := []uint8{0, 64, 66, 73, uint8(r.Uint32())}[r.IntN(5)]
	if one(2) {
		b = be(b, 0x0800)
		b = be(append(b, 0x45, tos), uint16(20+len(t)))
		b = append(be(b, uint16(r.Uint32())), []uint8{0, 64, 128, 32, 1}[r.IntN(5)], 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2)
	} else {
		var chain []byte
		next := protocol
		for range []int{0, 0, 1, 2}[r.IntN(4)] {
			words := r.IntN(3)
			head := make([]byte, 8+8*words)
			head[0], head[1] = next, uint8(words)
			chain, next = append(head, chain...), []uint8{0, 43, 60, 135, 44}[r.IntN(5)]
		}
		b = be(be(be(b, 0x86dd), 0x6000|uint16(tos)<<4), uint16(r.Uint32()))
		b = append(be(b, uint16(len(chain)+len(t))), next, 64)
		for range 32 {
			b = append(b, uint8(r.Uint32()))
		}
		b = append(b, chain...)
	}
	b = append(b, t...)
	for one(2) {
		b[12+r.IntN(min(len(b)-12, 60))] = []uint8{0, 1, 4, 8, 17, 255, uint8(r.Uint32())}[r.IntN(7)]
	}
	switch r.IntN(8) {
	case 0:
		return b[:r.IntN(len(b))]
	case 1, 2, 3:
		return append(b, make([]byte, r.IntN(30))...)
	}
	return b
}

// Every frame is read as another reader does, which looks at one field after the other,
// and the packet in it as Parser.UDP and Trimmed do without a frame; an error leaves
// everything as it was.
func TestFramesAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	bodies := framePackets()
	seen := map[string]int{}
	var got uetcc.Frame
	for range 400_000 {
		ps := uetcc.Parser{CRC: r.IntN(4) == 0}
		if r.IntN(4) == 0 {
			ps.Port = []uint16{1, 4793, 4791}[r.IntN(3)]
		}
		if r.IntN(4) == 0 {
			ps.Protocol = uint8(200 + r.IntN(3))
		}
		if r.IntN(2) == 0 {
			ps.DSCPs = pds.DSCPs{Trimmed: 16, TrimmedLastHop: []pds.DSCP{0, 18}[r.IntN(2)]}
		}
		b := drawFrame(r, &ps, bodies)
		want := got
		headers, end, err := readFrame(&ps, b, &want)
		if err == nil {
			parse := ps.UDP
			if want.Trimmed != 0 {
				parse = ps.Trimmed
			}
			if err = parse(b[headers:end], &want.Packet); err == nil {
				entropy := uint16(word16(b, headers-8))
				if want.Native {
					entropy = uint16(word16(b, headers-4))
				}
				want.Entropy = entropy
				want.PDS, want.SES, want.Payload, want.End = want.PDS+headers, want.SES+headers, want.Payload+headers, want.End+headers
			}
		}
		before := got
		gotErr := ps.Ethernet(b, &got)
		if err != gotErr {
			t.Fatalf("%v, want %v\n%+v\n%x", gotErr, err, ps, b)
		}
		if err != nil {
			seen[err.Error()]++
			want = before
		} else {
			seen["read"]++
		}
		if want != got {
			require.Equal(t, want, got, "%+v\n%x", ps, b)
		}
	}
	t.Log(seen)
	require.Greater(t, seen["read"], 10_000)
	require.Greater(t, seen[uetcc.ErrNotUET.Error()], 1000)
	require.Greater(t, seen[uetcc.ErrIP.Error()], 1000)
	require.Greater(t, seen[uetcc.ErrFragment.Error()], 1000)
}

// framePackets are packets of each type, and bytes that are none.
func framePackets() (bodies [][]byte) {
	for first := range 64 { // type, and the upper bits of next_hdr
		for _, second := range []uint8{0, 0x80} {
			body := make([]byte, 64)
			for i := range body {
				body[i] = uint8(i * 7)
			}
			body[0], body[1] = uint8(first<<2), second
			bodies = append(bodies, body[:40], body)
		}
	}
	return bodies
}

// onesSum is the Internet checksum's sum of the 16-bit words of b (RFC 1071).
func onesSum(parts ...[]byte) uint32 {
	s := uint32(0)
	for _, b := range parts {
		for i := 0; i < len(b); i++ {
			s += uint32(b[i]) << (8 * (1 - i%2))
			s = s>>16 + s&0xffff
		}
	}
	return s
}

// Every frame written has the lengths, addresses and checksums that a receiver expects,
// and is read again as it was.
func TestFramesWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	bodies := framePackets()
	var f, back uetcc.Frame
	zero := 0
	for n := range 60_000 {
		f = uetcc.Frame{}
		for new(uetcc.Parser).UDP(bodies[r.IntN(len(bodies))], &f.Packet) != nil || f.Type == pds.TypeTSS {
		}
		f.TOS, f.Native, f.Entropy = uint8(r.Uint32()), r.IntN(3) == 0, uint16(r.Uint32())
		for i := range 16 {
			f.Src[i], f.Dst[i] = uint8(r.Uint32()), uint8(r.Uint32())
		}
		copy(f.SrcMAC[:], f.Src[:])
		copy(f.DstMAC[:], f.Dst[:])
		v4 := r.IntN(2) == 0
		if v4 {
			copy(f.Src[:], []byte{10: 0xff, 11: 0xff})
			copy(f.Dst[:], []byte{10: 0xff, 11: 0xff})
			clear(f.Src[:10])
			clear(f.Dst[:10])
		}
		payload := make([]byte, []int{0, 1, 2, 3, 5, 64, 4096, 8192 + 64, 60_000}[r.IntN(9)])
		for i := range min(len(payload), 40) {
			payload[i] = uint8(r.Uint32())
		}
		if !v4 && !f.Native && n%4 == 0 { // make the checksum zero, which means that there is none
			payload = make([]byte, 2)
			sum := f.AppendTo(nil, payload)
			copy(payload, sum[60:62])
			zero++
		}
		prefix := []byte("prefix")[:r.IntN(6)]
		b := f.AppendTo(slices.Clone(prefix), payload)
		require.Equal(t, prefix, b[:len(prefix)])
		b = b[len(prefix):]
		require.True(t, slices.Equal(payload, b[len(b)-len(payload):]))
		require.Equal(t, f.DstMAC[:], b[:6])
		require.Equal(t, f.SrcMAC[:], b[6:12])
		ip := b[14:]
		if v4 {
			require.Equal(t, 0x0800, word16(b, 12))
			require.EqualValues(t, 0xffff, onesSum(ip[:20]), "checksum of IPv4")
			require.Equal(t, len(ip), word16(ip, 2))
			require.Equal(t, 0x4000, word16(ip, 6))
		} else {
			require.Equal(t, 0x86dd, word16(b, 12))
			require.Equal(t, len(ip)-40, word16(ip, 4))
			if u := ip[40:]; !f.Native {
				require.NotZero(t, word16(u, 6))
				require.EqualValues(t, 0xffff, onesSum(ip[8:40], []byte{0, 17, uint8(len(u) >> 8), uint8(len(u))}, u), "checksum of UDP")
			}
		}
		require.NoError(t, new(uetcc.Parser).Ethernet(b, &back))
		back.SrcMAC, back.DstMAC = f.SrcMAC, f.DstMAC
		f.PDS, f.SES, f.Payload, f.End, f.TransportLen = back.PDS, back.SES, back.Payload, back.End, back.TransportLen
		require.Equal(t, len(b), back.End)
		require.Equal(t, len(b)-len(payload), back.Payload)
		again := back.AppendTo(nil, payload)
		require.True(t, slices.Equal(b, again))
		back = uetcc.Frame{}
	}
	require.Greater(t, zero, 1000)
}
