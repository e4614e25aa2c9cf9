// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// word16 is the word at an offset of b, -1 where b has none.
func word16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return -1
	}
	return int(b[at])<<8 | int(b[at+1])
}

// A plainFrame is what is around the PDS header, read one field after the other as RFC 791,
// 8200, 768 and IEEE 802.1Q have them. Offsets count from the IP header.
type plainFrame struct {
	ps        *frame.Parser
	typ       int    // of Ethernet
	ip        []byte // the IP packet and what comes after it
	protocol  int
	transport int  // where what follows IP begins
	total     int  // where the IP packet ends
	odd       bool // what UET does not use, or what cannot be
	cut       bool // a fragment, and otherwise as it should be
	first     bool // no fragment, or the first of them
}

// readFrame reads b into all of f but the Packet; source is where the addresses lie, headers
// where the PDS header lies and end where the datagram ends.
func readFrame(ps *frame.Parser, b []byte, f *frame.Frame) (source, headers, end int, err error) {
	at := 12
	for tags := 0; tags < 2 && (word16(b, at) == 0x8100 || word16(b, at) == 0x88a8); tags++ {
		at += 4
	}
	x := plainFrame{ps: ps, typ: word16(b, at), first: true}
	if at += 2; x.typ != 0x0800 && x.typ != 0x86dd {
		return 0, 0, 0, frame.ErrNotUET
	}
	x.ip = b[at:]
	if err = x.readIP(f); err == nil {
		err = x.refused()
	}
	if err != nil {
		return 0, 0, 0, err
	}
	source = at + 12
	if x.typ == 0x86dd {
		source = at + 8
	}
	f.Trimmed, f.Native, f.Entropy = trimmedBy(ps, f.TOS), x.protocol != 17, uint16(word16(x.ip, x.transport))
	if f.Native {
		f.TransportLen = x.total - x.transport
		return source, at + x.transport + 4, at + x.total, nil
	}
	f.TransportLen = word16(x.ip, x.transport+4)
	end = x.transport + f.TransportLen
	if f.TransportLen < 8 || end > x.total && f.Trimmed == 0 {
		return 0, 0, 0, frame.ErrIP
	}
	return source, at + x.transport + 8, at + min(end, x.total), nil
}

// readIP reads the IP header.
func (x *plainFrame) readIP(f *frame.Frame) error {
	switch version := word16(x.ip, 0) >> 12; {
	case len(x.ip) < 20 || x.typ == 0x0800 && version != 4 || x.typ == 0x86dd && version != 6:
		return frame.ErrIP
	case version == 4:
		x.readIP4(f)
		return nil
	case len(x.ip) >= 40:
		return x.readIP6(f)
	}
	if protocol := int(x.ip[6]); !isChained(protocol) && protocol != 44 && protocol != 17 && protocol != ours(x.ps) {
		return frame.ErrNotUET
	}
	return frame.ErrIP
}

func (x *plainFrame) readIP4(f *frame.Frame) {
	fragment := word16(x.ip, 6)
	x.protocol, x.transport, x.total = int(x.ip[9]), 4*int(x.ip[0]&15), word16(x.ip, 2)
	x.first = fragment&0x1fff == 0
	broken := x.transport != 20 || x.total < x.transport || x.total > len(x.ip)
	x.odd = broken || fragment&0x3fff != 0
	x.cut = x.odd && !broken
	f.TOS = x.ip[1]
	f.Src, f.Dst = [16]byte{10: 0xff, 11: 0xff}, [16]byte{10: 0xff, 11: 0xff}
	copy(f.Src[12:], x.ip[12:16])
	copy(f.Dst[12:], x.ip[16:20])
}

func (x *plainFrame) readIP6(f *frame.Frame) error {
	x.protocol, x.transport, x.total = int(x.ip[6]), 40, 40+word16(x.ip, 4)
	x.odd = x.total > len(x.ip)
	f.TOS = x.ip[0]<<4 | x.ip[1]>>4
	copy(f.Src[:], x.ip[8:24])
	copy(f.Dst[:], x.ip[24:40])
	for !x.odd && isChained(x.protocol) {
		if x.transport+8 > x.total || x.transport+8+8*int(x.ip[x.transport+1]) > x.total {
			return frame.ErrIP
		}
		x.protocol, x.transport = int(x.ip[x.transport]), x.transport+8+8*int(x.ip[x.transport+1])
	}
	if x.protocol == 44 {
		return x.readFragment()
	}
	return nil
}

// readFragment reads the fragment header of IPv6.
func (x *plainFrame) readFragment() error {
	if x.odd || x.transport+8 > x.total {
		return frame.ErrIP
	}
	x.odd, x.cut, x.ip = true, true, x.ip[:x.total]
	x.protocol, x.first = int(x.ip[x.transport]), word16(x.ip, x.transport+2)>>3 == 0
	x.transport += 8
	if isChained(x.protocol) {
		return frame.ErrFragment // who knows what is behind
	}
	return nil
}

// refused says why the packet is none of UET, or not one that UET may have.
func (x *plainFrame) refused() error {
	if x.protocol != 17 && x.protocol != ours(x.ps) {
		if x.typ == 0x86dd && isChained(x.protocol) {
			return frame.ErrIP // it is odd: who knows what is behind
		}
		return frame.ErrNotUET
	}
	others := x.protocol == 17 && word16(x.ip, x.transport+2) != portOf(x.ps)
	switch {
	case x.odd && others && x.first && x.transport >= 20 && len(x.ip) >= x.transport+4:
		return frame.ErrNotUET
	case x.cut:
		return frame.ErrFragment
	case x.odd || x.total-x.transport < 8:
		return frame.ErrIP
	case others:
		return frame.ErrNotUET
	}
	return nil
}

// isChained reports whether a header of IPv6 may be followed by another.
func isChained(protocol int) bool { return slices.Contains([]int{0, 43, 60, 135}, protocol) }

func trimmedBy(ps *frame.Parser, tos uint8) pds.NackCode {
	switch d := pds.DSCP(tos >> 2); {
	case d == 0:
		return 0
	case d == ps.DSCPs.Trimmed:
		return pds.NackTrimmed
	case d == ps.DSCPs.TrimmedLastHop:
		return pds.NackTrimmedLastHop
	}
	return 0
}

func ours(ps *frame.Parser) int {
	if ps.Protocol == 0 {
		return 253
	}
	return int(ps.Protocol)
}

func portOf(ps *frame.Parser) int {
	if ps.Port == 0 {
		return 4793
	}
	return int(ps.Port)
}

// castagnoli is the polynomial of the CRC-32C that ends a packet.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcOrder is the order of the bytes of the CRC that ps reads.
func crcOrder(ps *frame.Parser) binary.ByteOrder {
	if ps.LittleCRC {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// drawFrame draws bytes: tags, both versions of IP, extension headers, both carriages,
// trailers, padding, and now and then a byte that is something else.
func drawFrame(r *rand.Rand, ps *frame.Parser, bodies [][]byte) []byte {
	one := func(n int) bool { return r.IntN(n) == 0 }
	be := binary.BigEndian.AppendUint16
	body := slices.Clone(bodies[r.IntN(len(bodies))])
	body = append(body, make([]byte, []int{0, 0, 1, 3, 300}[r.IntN(5)])...)
	crc := one(2) && !one(5)
	if crc {
		body = append(body, 0, 0, 0, 0)
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
	tail := r.IntN(3) * r.IntN(3)
	t = append(t, make([]byte, tail)...)
	b := make([]byte, 12, 256)
	for range []int{0, 0, 0, 0, 1, 2, 3}[r.IntN(7)] {
		b = be(be(b, []uint16{0x8100, 0x88a8}[r.IntN(2)]), 7)
	}
	source := len(b) + 2
	tos := []uint8{0, 64, 66, 73, uint8(r.Uint32())}[r.IntN(5)]
	if one(2) {
		b = be(b, 0x0800)
		b = be(append(b, 0x45, tos), uint16(20+len(t)))
		source += 12
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
		source += 8
		b = be(be(be(b, 0x86dd), 0x6000|uint16(tos)<<4), uint16(r.Uint32()))
		b = append(be(b, uint16(len(chain)+len(t))), next, 64)
		b = append(b, randomBytes(r, 32)...)
		b = append(b, chain...)
	}
	b = append(b, t...)
	if crc {
		end := len(b) - tail - 4
		crcOrder(ps).PutUint32(b[end:], crc32.Checksum(b[source:end], castagnoli))
	}
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
	seen, summed := map[string]int{}, 0
	var got frame.Frame
	for range 400_000 {
		ps := frame.Parser{CRC: r.IntN(4) == 0, LittleCRC: r.IntN(2) == 0}
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
		err := readWhole(&ps, b, &want)
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
			if ps.CRC && want.Trimmed == 0 && want.Type != pds.TypeTSS {
				summed++
			}
		}
		if want != got {
			require.Equal(t, want, got, "%+v\n%x", ps, b)
		}
	}
	t.Log(seen, summed)
	require.Greater(t, seen["read"], 10_000)
	require.Greater(t, seen[frame.ErrNotUET.Error()], 1000)
	require.Greater(t, seen[frame.ErrIP.Error()], 1000)
	require.Greater(t, seen[frame.ErrFragment.Error()], 1000)
	require.Greater(t, seen[pds.ErrCRC.Error()], 1000)
	require.Greater(t, summed, 500)
}

// readWhole reads b into f, a frame that may hold an earlier one.
func readWhole(ps *frame.Parser, b []byte, f *frame.Frame) error {
	source, headers, end, err := readFrame(ps, b, f)
	if err != nil {
		return err
	}
	entropy, parse := f.Entropy, ps.UDP
	switch pd := b[headers:end]; {
	case f.Trimmed != 0:
		parse = ps.Trimmed
	case ps.CRC && len(pd) >= 4 && pd[0]>>3 != 1: // no security header
		sum := crcOrder(ps).Uint32(pd[len(pd)-4:])
		if crc32.Checksum(b[source:end-4], castagnoli) != sum {
			return pds.ErrCRC
		}
	}
	if err := parse(b[headers:end], &f.Packet); err != nil {
		return err
	}
	f.Entropy = entropy
	f.PDS, f.SES, f.Payload, f.End = f.PDS+headers, f.SES+headers, f.Payload+headers, f.End+headers
	return nil
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
