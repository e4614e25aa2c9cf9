// SPDX-License-Identifier: Apache-2.0

package llr

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ordered sets byte by byte, put together by hand from the tables.
var sets = []struct {
	hex string
	set Set
}{
	{"4b01123456000000", Set{Type: TypeACK, Seq: 0x12345}},
	{"4b02003846000000", Set{Type: TypeNACK, Seq: 900}},
	{"4b03000016eeff00", Set{Type: TypeInit, Seq: 1, Data: 0xffee}},
	{"4b04000016eeff00", Set{Type: TypeInitEcho, Seq: 1, Data: 0xffee}},
	{"4b101923468ffff0", Set{Type: TypeCFUpdate, Freed: [2]VCCount{{3, 0x1234}, {17, 0x7fff}}}},
}

func TestSets(t *testing.T) {
	for _, c := range sets {
		b, err := hex.DecodeString(c.hex)
		require.NoError(t, err)
		var s Set
		require.NoError(t, s.Decode(b))
		require.Equal(t, c.set, s)
		require.Equal(t, c.hex, hex.EncodeToString(s.AppendTo(nil)))
	}
	for want, bad := range map[error][]string{
		errTruncated: {"", "4b011234560000"},
		errForm:      {"5c01123456000000", "4b01123455000000"},
		errType:      {"4b00123456000000", "4b11123456000000"},
		errReserved:  {"4b01123456000001", "4b02123456010000", "4b03000016eeff01"},
	} {
		for _, h := range bad {
			b, _ := hex.DecodeString(h)
			s := Set{Type: TypeACK, Seq: 7}
			require.ErrorIs(t, s.Decode(b), want, h)
			require.Equal(t, Set{Type: TypeACK, Seq: 7}, s)
		}
	}
	require.Equal(t, "LLR_INIT_ECHO", TypeInitEcho.String())
	require.Equal(t, "Type(9)", Type(9).String())
}

func TestSeq(t *testing.T) {
	require.Equal(t, Seq(1), Seq(seqMask).add(2))
	require.Equal(t, 2, Seq(1).diff(seqMask))
	require.Equal(t, -2, Seq(seqMask).diff(1))
	require.Equal(t, -half, Seq(half).diff(0))
}

// FuzzSet: what decodes is written again, but for the four bits that a CF_Update reserves.
func FuzzSet(f *testing.F) {
	for _, c := range sets {
		b, _ := hex.DecodeString(c.hex)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Set
		if s.Decode(b) != nil {
			if s != (Set{}) {
				t.Fatal("changed by an error")
			}
			return
		}
		want := bytes.Clone(b[:setLen])
		if s.Type == TypeCFUpdate {
			want[7] &^= 0xf
		}
		if got := s.AppendTo(nil); !bytes.Equal(want, got) {
			t.Fatalf("%x: %x", want, got)
		}
	})
}
