// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// remainder divides as it is written: a bit at a time in the order of the wire, the
// polynomial from its highest term down.
func remainder(b []byte) uint16 {
	rest := uint16(0xffff)
	for bit := range 8 * len(b) {
		top := rest >> 15
		rest <<= 1
		if top != uint16(b[bit/8]>>(bit%8)&1) {
			rest ^= 0x100b
		}
	}
	return rest
}

func TestLinkCRC(t *testing.T) {
	for _, b := range [][]byte{{0, 0, 0, 0}, {1, 2, 3, 4}, {0xff, 0xff, 0xff, 0xff}, {0x10, 0x80, 0x40, 0x20}} {
		require.Equal(t, ^bits.Reverse16(remainder(b)), linkCRC(b), "% x", b)
	}
}

// A receiver that divides a packet with its CRC, as the bits come, is left with the same
// remainder each time.
func TestLinkCRCFollowsInTheOrderOfDivision(t *testing.T) {
	for _, f := range []FlowControl{{}, {Init: true, FCCL: 2048}, {VL: 14, FCTBS: 4095, FCCL: 1}, {VL: 3, FCTBS: 1000, FCCL: 3000}} {
		require.EqualValues(t, 0xf6aa, remainder(f.AppendTo(nil)), "%+v", f)
	}
}

// Every field comes back, and what does not fit one does not spill into the next.
func TestFlowControlFields(t *testing.T) {
	for sent, want := range map[FlowControl]FlowControl{
		{}: {}, {Init: true}: {Init: true}, {VL: 14}: {VL: 14}, {FCTBS: 4095}: {FCTBS: 4095}, {FCCL: 4095}: {FCCL: 4095},
		{VL: 0xf3, FCTBS: 0xf321, FCCL: 0xf123}: {VL: 3, FCTBS: 0x321, FCCL: 0x123},
	} {
		var got FlowControl
		require.NoError(t, got.Decode(sent.AppendTo(nil)))
		require.Equal(t, want, got)
	}
}

func TestFlowControlErrors(t *testing.T) {
	good := (&FlowControl{VL: 14, FCTBS: 4095, FCCL: 1}).AppendTo(nil)
	require.Len(t, good, FlowControlLen)
	before := FlowControl{VL: 3}
	f := before
	for n := range good {
		require.ErrorIs(t, f.Decode(good[:n]), errTruncated)
	}
	for bit := range 8 * FlowControlLen {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		require.ErrorIs(t, f.Decode(bad), errCRC, "bit %d", bit)
	}
	reserved := []byte{2 << 4, 0, 0, 0}
	require.ErrorIs(t, f.Decode(binary.LittleEndian.AppendUint16(reserved, linkCRC(reserved))), errOp)
	require.Equal(t, before, f, "an error leaves the value as it was")
}
