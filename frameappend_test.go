package uetcc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
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
		require.Equal(t, onesSum(0, b[:]), uint32(fold(s)), "%#x", s)
	}
}

func TestFrameAppendsBehindWhatIsThere(t *testing.T) {
	f := frameOf(writePacket())
	alone := f.AppendTo(nil, []byte("data"))
	for _, spare := range []int{0, 10, plainLen, plainLen + 20, 200} {
		dirty := make([]byte, 3, 3+spare)
		whole := dirty[:cap(dirty)]
		for i := range whole {
			whole[i] = 0xff
		}
		got := f.AppendTo(dirty, []byte("data"))
		require.Equal(t, append([]byte{0xff, 0xff, 0xff}, alone...), got, "%d bytes of room", spare)
	}
}
