// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// plainRequestHeader says at length what RequestView.Plain and PlainCC are.
func plainRequestHeader(b []byte) (plain, cc bool) {
	var r Request
	_, err := r.Decode(b)
	ok := err == nil && r.Next == NextRequestStd && r.Flags&FlagSYN == 0 && r.ClearOffset < 0
	return ok && !r.HasCC(), ok && r.HasCC()
}

// checkPlain reports whether the view of b is plain, either way.
func checkPlain(t *testing.T, b []byte) bool {
	v := (*RequestView)(b)
	plain, cc := plainRequestHeader(b)
	if v.Plain() != plain || v.PlainCC() != cc {
		t.Fatalf("% x", b)
	}
	return plain || cc
}

func TestRequestViewOfEveryFirstWord(t *testing.T) {
	whole := Request{Type: TypeRUDReq, ClearOffset: -1, SPDCID: 1, DPDCID: 2}
	b := append(whole.AppendTo(nil), 0, 0, 0, 0)
	plain := 0
	for p := range 1 << 16 {
		binary.BigEndian.PutUint16(b, uint16(p))
		if checkPlain(t, b) {
			plain++
		}
	}
	require.Equal(t, 4*4*16, plain, "types, retx, ar, four reserved bits")
}

func TestRequestViewOfEveryClearOffset(t *testing.T) {
	for off := -1 << 15; off < 1<<15; off++ {
		whole := Request{Type: TypeRUDReq, Next: NextRequestStd, PSN: 3, ClearOffset: int16(off), SPDCID: 1, DPDCID: 2}
		var b [RequestLen]byte
		_, _ = whole.Encode(b[:])
		v := (*RequestView)(&b)
		if v.ClearOffset() != int16(off) || v.ClearPSN() != whole.ClearPSN() || v.Plain() != (off < 0) {
			t.Fatal(off)
		}
	}
}

func TestRequestViewOfRandomBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	plain := 0
	for range 50_000 {
		var b [RequestCCLen]byte
		binary.LittleEndian.PutUint64(b[:], r.Uint64())
		binary.LittleEndian.PutUint64(b[8:], r.Uint64())
		if mend := r.Uint32(); mend&7 != 0 { // most are nearly plain
			b[0], b[1] = byte(TypeRUDReq)<<3|1, b[1]&^byte(FlagSYN)|0x80|byte(mend>>8&1)<<2
			b[8], b[9] = b[8]&byte(-(mend>>11&1)), b[9]&byte(-(mend>>12&1))
			b[10], b[11] = b[10]&byte(-(mend>>13&1)), b[11]&byte(-(mend>>14&1))
		}
		v := (*RequestView)(b[:])
		if checkPlain(t, b[:]) {
			plain++
		}
		var want Request
		if _, err := want.Decode(b[:]); err != nil {
			continue
		}
		got := want
		got.Type, got.Next, got.Flags, got.ClearOffset, got.PSN, got.SPDCID = v.Type(), v.Next(), v.Flags(), v.ClearOffset(), v.PSN(), v.SPDCID()
		if want.Flags&FlagSYN == 0 {
			got.DPDCID = v.DPDCID()
		}
		require.Equal(t, want, got)
		require.Equal(t, want.ClearPSN(), v.ClearPSN())
	}
	require.Greater(t, plain, 2000)
}

func TestPutRequestIsEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		want := Request{
			Type: TypeRUDReq + Type(r.Uint32()&1), Next: NextHdr(r.Uint32() & 0xf), Flags: Flags(r.Uint32()) &^ FlagSYN,
			ClearOffset: int16(r.Uint32()), PSN: PSN(r.Uint32()), SPDCID: PDCID(r.Uint32()), DPDCID: PDCID(r.Uint32()),
		}
		var b [RequestLen]byte
		copy(b[:], bytes.Repeat([]byte{0xa5}, len(b))) // buffers arrive dirty
		PutRequest(&b, Prologue{want.Type, want.Next, want.Flags}, want.ClearOffset, want.PSN, want.SPDCID, want.DPDCID)
		require.Equal(t, want.AppendTo(nil), b[:], "%+v", want)
	}
	var open, syn [RequestLen]byte
	PutRequest(&open, Prologue{Type: TypeRODReq, Flags: FlagAR}, -1, 7, 1, 2)
	PutRequest(&syn, Prologue{Type: TypeRODReq, Flags: FlagAR | FlagSYN | FlagM}, -1, 7, 1, 2)
	require.Equal(t, open, syn, "what would give the last field another meaning is not written")
}

func TestRequestViewDoesNotAllocate(t *testing.T) {
	var b [RequestLen]byte
	alloctest.Zero(t, "RequestView", func() {
		PutRequest(&b, Prologue{TypeRUDReq, NextRequestStd, FlagAR}, -1, 7, 1, 2)
		if v := (*RequestView)(&b); !v.Plain() || v.PSN() != 7 {
			panic("the path under test did not run")
		}
	})
}
