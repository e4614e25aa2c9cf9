// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/checksum"
	"github.com/uetcc/uetcc/pds"
)

// onesSum is the sum of RFC 1071 word by word, as the RFC writes it.
func onesSum(s uint32, b []byte) uint32 {
	for ; len(b) > 1; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
		s = s&0xffff + s>>16
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s&0xffff + s>>16
}

func TestFrameChecksumsVerify(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		f := frameOf(writePacket())
		f.TOS, f.Entropy, f.Native = uint8(rnd.Uint32()), uint16(rnd.Uint32()), rnd.IntN(2) == 0
		for i := 12; i < 16; i++ {
			f.Src[i], f.Dst[i] = uint8(rnd.Uint32()), uint8(rnd.Uint32())
		}
		payload := make([]byte, rnd.IntN(9000))
		for i := range payload {
			payload[i] = uint8(rnd.Uint32())
		}
		b := f.AppendTo(nil, payload)
		require.Equal(t, uint32(0xffff), onesSum(0, b[etherLen:etherLen+ip4Len]), "%x", b[:plainLen])
		require.Equal(t, len(b)-etherLen, int(binary.BigEndian.Uint16(b[etherLen+2:])))

		f.Src[0], f.Dst[0], f.Native = 0xfd, 0xfd, false
		require.Zero(t, binary.BigEndian.Uint16(f.AppendTo(nil, payload)[etherLen+ip6Len+6:]), "UE Specification 1.0.3")
		f.UDPSum = true
		u := f.AppendTo(nil, payload)[etherLen+ip6Len:]
		pseudo := onesSum(onesSum(uint32(len(u))+protoUDP, f.Src[:]), f.Dst[:])
		require.Equal(t, uint32(0xffff), onesSum(pseudo, u))
		require.NotZero(t, binary.BigEndian.Uint16(u[6:]))
	}
}

// The sums at which the carries meet, against the definition.
func TestFold(t *testing.T) {
	for _, s := range []uint64{0, 1, 0xffff, 0x10000, 0x1ffff, 0xffff_0000, 0xffff_ffff, 0x1_0000_0000, 0xffff_ffff_ffff_ffff,
		0x8000_8000_8000_8000, 0xfffe_ffff_0001, 0x1234_5678_9abc_def0} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], s)
		require.Equal(t, onesSum(0, b[:]), uint32(checksum.Fold(s)), "%#x", s)
	}
}

// The straight line for IPv4 and UDP, and in it that for an ACK_CC, write what the general
// way writes, into whatever room there is.
func TestFrameAppendsBehindWhatIsThere(t *testing.T) {
	for _, f := range append(plainFrames(), frameOf(Packet{Type: pds.TypeACK}), frameOf(Packet{Type: pds.TypeCP})) {
		for _, payload := range [][]byte{nil, []byte("data")} {
			want := f.appendAny([]byte{0xff, 0xff, 0xff}, payload)
			for _, spare := range []int{0, 10, plainLen, plainLen + 20, len(plainHead{}) - 1, len(plainHead{}), 200} {
				dirty := bytes.Repeat([]byte{0xff}, 3+spare)
				require.Equal(t, want, f.AppendTo(dirty[:3], payload), "%v, %d bytes of room", &f, spare)
			}
		}
	}
}

// Who writes says port, protocol and CRC, and a Parser that is told the same reads it. Before,
// the port was 4793 and the protocol 253 whatever the network has, and nobody wrote a CRC.
func TestFrameWritesWhatItsParserReads(t *testing.T) {
	for i := range 1 << 5 {
		f, ps := frameOf(writePacket()), Parser{}
		f.Native, f.CRC, f.LittleCRC = i&1 != 0, i&2 != 0, i&4 != 0
		ps.CRC, ps.LittleCRC = f.CRC, f.LittleCRC
		if i&8 != 0 {
			f.Port, f.Protocol = 49150, 254
			ps.Port, ps.Protocol = f.Port, f.Protocol
		}
		if i&16 != 0 {
			f.Src[0], f.Dst[0] = 0xfd, 0xfd
		}
		b := f.AppendTo([]byte{1}, []byte("data!"))[1:]
		got := f
		got.Packet = Packet{}
		require.NoError(t, ps.Ethernet(b, &got), "%d: %x", i, b)
		require.Equal(t, "data!", string(b[got.Payload:got.End]))
		require.Equal(t, f.Req, got.Req)
		require.Equal(t, b, got.AppendTo(nil, b[got.Payload:got.End]), "again")
		require.Equal(t, b, got.Wrap(nil, b[got.PDS:got.Payload], b[got.Payload:got.End]), "around headers that are written")
		if wrong := ps; f.CRC {
			wrong.LittleCRC = !ps.LittleCRC
			require.ErrorIs(t, wrong.Ethernet(b, &got), pds.ErrCRC)
		}
		if i&8 != 0 {
			require.ErrorIs(t, new(Parser).Ethernet(b, &got), ErrNotUET)
		}
	}
}

// A packet with a security header has its tag, which is payload here, and no CRC.
func TestFrameWritesNoCRCBehindATag(t *testing.T) {
	f := frameOf(Packet{Type: pds.TypeTSS})
	want := f.AppendTo(nil, make([]byte, 40))
	f.CRC = true
	require.Equal(t, want, f.AppendTo(nil, make([]byte, 40)))
}
