// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

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

// frameToWrite draws a frame with one of some packets.
func frameToWrite(r *rand.Rand, bodies [][]byte) (f frame.Frame) {
	for new(frame.Parser).UDP(bodies[r.IntN(len(bodies))], &f.Packet) != nil || f.Type == pds.TypeTSS {
		f.Packet = frame.Packet{}
	}
	f.TOS, f.Native, f.Entropy = uint8(r.Uint32()), r.IntN(3) == 0, uint16(r.Uint32())
	for i := range 16 {
		f.Src[i], f.Dst[i] = uint8(r.Uint32()), uint8(r.Uint32())
	}
	f.UDPSum = r.IntN(2) == 0
	copy(f.SrcMAC[:], f.Src[:])
	copy(f.DstMAC[:], f.Dst[:])
	if r.IntN(2) == 0 {
		f.Src = netip.AddrFrom4([4]byte(f.Src[12:])).As16()
		f.Dst = netip.AddrFrom4([4]byte(f.Dst[12:])).As16()
	}
	return f
}

// checkWritten checks what is around the PDS header of f in b.
func checkWritten(t *testing.T, f *frame.Frame, b []byte) {
	require.Equal(t, f.DstMAC[:], b[:6])
	require.Equal(t, f.SrcMAC[:], b[6:12])
	ip := b[14:]
	if f.SrcAddr().Is4() {
		require.Equal(t, 0x0800, word16(b, 12))
		require.EqualValues(t, 0xffff, onesSum(ip[:20]), "checksum of IPv4")
		require.Equal(t, len(ip), word16(ip, 2))
		require.Equal(t, 0x4000, word16(ip, 6))
		return
	}
	require.Equal(t, 0x86dd, word16(b, 12))
	require.Equal(t, len(ip)-40, word16(ip, 4))
	if u := ip[40:]; !f.Native && !f.UDPSum {
		require.Zero(t, word16(u, 6))
	} else if !f.Native {
		require.NotZero(t, word16(u, 6))
		require.EqualValues(t, 0xffff, onesSum(ip[8:40], []byte{0, 17, uint8(len(u) >> 8), uint8(len(u))}, u), "checksum of UDP")
	}
}

// Every frame written has the lengths, addresses and checksums that a receiver expects,
// and is read again as it was.
func TestFramesWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	bodies := framePackets()
	zero := 0
	for n := range 60_000 {
		f := frameToWrite(r, bodies)
		payload := make([]byte, []int{0, 1, 2, 3, 5, 64, 4096, 8192 + 64, 60_000}[r.IntN(9)])
		for i := range min(len(payload), 40) {
			payload[i] = uint8(r.Uint32())
		}
		if f.SrcAddr().Is6() && !f.Native && n%4 == 0 { // make the checksum zero, which means that there is none
			payload, f.UDPSum = make([]byte, 2), true
			sum := f.AppendTo(nil, payload)
			copy(payload, sum[60:62])
			zero++
		}
		prefix := []byte("prefix")[:r.IntN(6)]
		b := f.AppendTo(slices.Clone(prefix), payload)
		require.Equal(t, prefix, b[:len(prefix)])
		b = b[len(prefix):]
		require.True(t, slices.Equal(payload, b[len(b)-len(payload):]))
		checkWritten(t, &f, b)

		back := frame.Frame{SrcMAC: f.SrcMAC, DstMAC: f.DstMAC, UDPSum: f.UDPSum}
		require.NoError(t, new(frame.Parser).Ethernet(b, &back))
		require.Equal(t, len(b), back.End)
		require.Equal(t, len(b)-len(payload), back.Payload)
		f.PDS, f.SES, f.Payload, f.End, f.TransportLen = back.PDS, back.SES, back.Payload, back.End, back.TransportLen
		require.True(t, slices.Equal(b, back.AppendTo(nil, payload)))
		require.Equal(t, f, back)
	}
	require.Greater(t, zero, 1000)
}
