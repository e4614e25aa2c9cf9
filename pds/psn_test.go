// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPSNDiffAcrossZero(t *testing.T) {
	require.Equal(t, int32(5), PSN(0x00000003).Diff(0xfffffffe))
	require.Equal(t, int32(-5), PSN(0xfffffffe).Diff(0x3))
	require.True(t, PSN(3).After(0xfffffffe))
	require.False(t, PSN(0xfffffffe).After(3))
	require.False(t, PSN(7).After(7))
}

func TestPSNAddAcrossZero(t *testing.T) {
	require.Equal(t, PSN(0xfffffffd), PSN(1).Add(-4)) // psn 1, clear_psn_offset 0xfffc
	require.Equal(t, PSN(2), PSN(0xffffffff).Add(3))  // cack 0xffffffff, ack_psn_offset 3
	require.Equal(t, PSN(0x12000), PSN(0x12003).Add(-3))
	require.Equal(t, PSN(335), PSN(336).Add(-1)) // the specification's example
}

func TestOffsetsAtTheirLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      func(a, b PSN) (int16, bool)
		a, b   PSN
		off    int16
		wantOK bool
	}{
		{"clear at the packet itself", ClearOffset, 7, 7, 0, true},
		{"clear one before, across zero", ClearOffset, 0, 0xffffffff, -1, true},
		{"clear as far back as the field goes", ClearOffset, 32768, 0, -32768, true},
		{"clear further back", ClearOffset, 32769, 0, 0, false},
		{"clear after the packet", ClearOffset, 7, 8, 0, false},
		{"ack above a hole, across zero", AckOffset, 0xffffffff, 2, 3, true},
		{"ack far above", AckOffset, 1, 32768, 32767, true},
		{"ack too far above", AckOffset, 1, 32769, 0, false},
		{"sack base far below", AckOffset, 32768, 0, -32768, true},
		{"sack base too far below", AckOffset, 32769, 0, 0, false},
	} {
		off, ok := c.f(c.a, c.b)
		require.Equal(t, c.wantOK, ok, c.name)
		if ok {
			require.Equal(t, c.off, off, c.name)
		}
	}
	for _, c := range []struct {
		psn, start PSN
		off        uint16
		wantOK     bool
	}{{3, 3, 0, true}, {2, 0xffffffff, 3, true}, {4095, 0, 4095, true}, {4096, 0, 0, false}, {3, 4, 0, false}} {
		off, ok := StartOffset(c.psn, c.start)
		require.Equal(t, c.wantOK, ok, "%+v", c)
		if ok {
			require.Equal(t, c.off, off, "%+v", c)
		}
	}
}

func TestPDCInfo(t *testing.T) {
	i := MakePDCInfo(true, 4095)
	require.Equal(t, PDCInfo(0x8fff), i)
	require.True(t, i.UseRsvPDC())
	require.Equal(t, uint16(4095), i.PSNOffset())
	require.Equal(t, PDCInfo(0), MakePDCInfo(false, 4096), "bits beyond the field are dropped")
}
