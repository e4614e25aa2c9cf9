// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCRC(t *testing.T) {
	// The sum of RFC 3720, B.4: 32 bytes of zeros, in the order of the reference provider.
	require.Equal(t, uint32(0x8a9136aa), CRC(make([]byte, 32)))
	require.Equal(t, uint32(0xe3069283), CRC([]byte("123456789")), "the check value of CRC-32C")
	require.Zero(t, CRC(nil))
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
		require.ErrorIs(t, bad.Validate(), errDSCP)
	}
}

// The code point of each kind of packet, with trimming and without. (UE Specification 1.0.3,
// section 3.6.4.7; rows of acknowledgements with data are this package's reading.)
func TestDSCPsOf(t *testing.T) {
	trims := DSCPs{Trimmable: 8, TrimmableRetx: 9, NoTrim: 10, Trimmed: 16, TrimmedLastHop: 18, Control: 46}
	plain, drops := trims, trims
	plain.TrimmableRetx, drops.Trimmed, drops.TrimmedLastHop = 0, 0, 0
	require.NoError(t, trims.Validate())
	for _, c := range []struct {
		t                 Type
		retx              bool
		size              int
		trims, plain, off DSCP
	}{
		{TypeRUDReq, false, 4200, 8, 8, 10},
		{TypeRODReq, false, 60, 8, 8, 10}, // ahead of data it would overtake it
		{TypeRUDCCReq, true, 4200, 9, 8, 10},
		{TypeRUDIReq, false, 4200, 8, 8, 10},
		{TypeRUDIResp, true, 4200, 9, 8, 10},
		{TypeUUDReq, false, 4200, 8, 8, 10},
		{TypeACKCC, false, 60, 46, 46, 46},
		{TypeACK, false, 10_240, 46, 46, 46},
		{TypeACK, true, 10_241, 9, 8, 10},
		{TypeNACK, false, 24, 46, 46, 46},
		{TypeCP, true, 24, 46, 46, 46},
	} {
		require.Equal(t, c.trims, trims.Of(c.t, c.retx, c.size), c)
		require.Equal(t, c.plain, plain.Of(c.t, c.retx, c.size), c)
		require.Equal(t, c.off, drops.Of(c.t, c.retx, c.size), c)
	}
	trims.TrimmableACKSize = 16
	require.EqualValues(t, 8, trims.Of(TypeACKCC, false, 60))
	trims.NoTrim = trims.Trimmed
	require.ErrorIs(t, trims.Validate(), errDSCP)
}

func TestDSCPsZeroNamesNoTrimmedPacket(t *testing.T) {
	for _, d := range []DSCPs{{}, {Trimmed: 16}, {TrimmedLastHop: 18}} {
		require.Zero(t, d.TrimmedBy(0), "best effort is the code point of any packet")
	}
}
