// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// plainRequestHeader says at length what Request.Plain and PlainCC are.
func plainRequestHeader(b []byte) (plain, cc bool) {
	var r pds.Request
	_, err := r.Decode(b)
	ok := err == nil && r.Next == pds.NextRequestStd && r.Flags&pds.FlagSYN == 0 && r.ClearOffset < 0
	return ok && !r.HasCC(), ok && r.HasCC()
}

// checkPlain reports whether the view of b is plain, either way.
func checkPlain(t *testing.T, b []byte) bool {
	v := (*Request)(b)
	plain, cc := plainRequestHeader(b)
	if v.Plain() != plain || v.PlainCC() != cc {
		t.Fatalf("% x", b)
	}
	return plain || cc
}

func TestRequestOfEveryFirstWord(t *testing.T) {
	whole := pds.Request{Type: pds.TypeRUDReq, ClearOffset: -1, SPDCID: 1, DPDCID: 2}
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

func TestRequestOfEveryClearOffset(t *testing.T) {
	for off := -1 << 15; off < 1<<15; off++ {
		whole := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: 3, ClearOffset: int16(off), SPDCID: 1, DPDCID: 2}
		var b [pds.RequestLen]byte
		whole.AppendTo(b[:0])
		v := (*Request)(&b)
		if v.ClearOffset() != int16(off) || v.ClearPSN() != whole.ClearPSN() || v.Plain() != (off < 0) {
			t.Fatal(off)
		}
	}
}

func TestRequestOfRandomBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	plain := 0
	for range 50_000 {
		var b [pds.RequestCCLen]byte
		binary.LittleEndian.PutUint64(b[:], r.Uint64())
		binary.LittleEndian.PutUint64(b[8:], r.Uint64())
		if mend := r.Uint32(); mend&7 != 0 { // most are nearly plain
			b[0], b[1] = byte(pds.TypeRUDReq)<<3|1, b[1]&^byte(pds.FlagSYN)|0x80|byte(mend>>8&1)<<2
			b[8], b[9] = b[8]&byte(-(mend>>11&1)), b[9]&byte(-(mend>>12&1))
			b[10], b[11] = b[10]&byte(-(mend>>13&1)), b[11]&byte(-(mend>>14&1))
		}
		v := (*Request)(b[:])
		if checkPlain(t, b[:]) {
			plain++
		}
		var want pds.Request
		if _, err := want.Decode(b[:]); err != nil {
			continue
		}
		got := want
		got.Type, got.Next, got.Flags, got.ClearOffset, got.PSN, got.SPDCID = v.Type(), v.Next(), v.Flags(), v.ClearOffset(), v.PSN(), v.SPDCID()
		if want.Flags&pds.FlagSYN == 0 {
			got.DPDCID = v.DPDCID()
		}
		require.Equal(t, want, got)
		require.Equal(t, want.ClearPSN(), v.ClearPSN())
	}
	require.Greater(t, plain, 2000)
}

func TestRequestDoesNotAllocate(t *testing.T) {
	var b [pds.RequestLen]byte
	alloctest.Zero(t, "Request", func() {
		r := MakeRun(pds.TypeRUDReq, pds.NextRequestStd, -1, 7, 1, 2)
		r.Put(&b, 0, 1)
		if v := (*Request)(&b); !v.Plain() || v.PSN() != 7 {
			panic("the path under test did not run")
		}
	})
}
