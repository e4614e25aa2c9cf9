package pds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrailer(t *testing.T) {
	// RFC 3720, B.4: 32 bytes of zeros, in the order of the wire.
	require.Equal(t, []byte{0xaa, 0x36, 0x91, 0x8a}, AppendCRC(make([]byte, 32))[32:])
	b := AppendCRC([]byte("123456789"))
	p, err := CheckCRC(b)
	require.NoError(t, err)
	require.Equal(t, "123456789", string(p))
	b[3] ^= 1
	_, err = CheckCRC(b)
	require.ErrorIs(t, err, ErrCRC)
	_, err = CheckCRC(b[:3])
	require.ErrorIs(t, err, ErrTruncated)
	_, err = CheckCRC([]byte{0, 0, 0, 0})
	require.NoError(t, err, "the sum of nothing is zero")
}

func TestNominalSize(t *testing.T) {
	require.Equal(t, int64(4096+60+8+40), NominalSize(8+60+4096))
}

func TestTOS(t *testing.T) {
	require.Equal(t, uint8(46<<2|3), TOS(46, ECNCE))
	d, e := SplitTOS(0x22)
	require.Equal(t, DSCP(8), d)
	require.Equal(t, ECNECT0, e)
	require.Equal(t, "ECT(0)", e.String())
	require.Equal(t, "DSCP 8", d.String())
}

func TestDSCPs(t *testing.T) {
	d := DSCPs{Trimmable: 8, Trimmed: 16, TrimmedLastHop: 18, Control: 46}
	require.NoError(t, d.Validate())
	require.Equal(t, NackTrimmedLastHop, d.TrimmedBy(18))
	require.True(t, d.TrimmedBy(18).IsTrimmed())
	require.Zero(t, d.TrimmedBy(8))

	d.TrimmedLastHop = 16
	require.NoError(t, d.Validate(), "the last hop may go unmarked")
	require.Equal(t, NackTrimmed, d.TrimmedBy(16))
	for _, bad := range []DSCPs{{Trimmable: 8, Trimmed: 8, TrimmedLastHop: 9}, {Trimmed: 46, TrimmedLastHop: 9, Control: 46},
		{Trimmed: 64, TrimmedLastHop: 9}, {}} {
		require.ErrorIs(t, bad.Validate(), ErrDSCP)
	}
}

func TestDSCPsZeroNamesNoTrimmedPacket(t *testing.T) {
	for _, d := range []DSCPs{{}, {Trimmed: 16}, {TrimmedLastHop: 18}} {
		require.Zero(t, d.TrimmedBy(0), "best effort is the code point of any packet")
	}
}
