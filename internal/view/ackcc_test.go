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

// plainAckCC says at length what AckCC.Plain is.
func plainAckCC(b []byte) bool {
	var a pds.AckCC
	var s pds.NSCCState
	if _, err := a.Decode(b); err != nil || a.Validate() != nil {
		return false
	}
	plain := a.NSCC(&s) && s.CwndPend == 0 && !s.Restore && s.ServiceTime < 0xff00
	return (plain || a.CCType == pds.CCCredit) && a.Next == pds.NextResponse && a.Flags&^pds.FlagM == 0
}

// checkAckCCView compares a view with what AckCC.Decode makes of the same bytes.
func checkAckCCView(t *testing.T, v *AckCC) {
	var a pds.AckCC
	var s pds.NSCCState
	require.Equal(t, plainAckCC(v[:]), v.Plain(), "% x", *v)
	if _, err := a.Decode(v[:]); err != nil {
		return
	}
	got := pds.AckCC{
		Ack:   pds.Ack{Next: a.Next, Flags: v.Flags(), Offset: v.Offset(), SPDCID: v.SPDCID(), DPDCID: v.DPDCID(), CACK: v.CACK()},
		SACK:  pds.SACK{CCType: v.CCType(), CCFlags: a.CCFlags, MPR: v.MPR(), SACKOffset: v.SACKOffset(), Bitmap: v.Bitmap()},
		State: a.State,
	}
	require.Equal(t, a, got)
	require.Equal(t, a.SACKBase(), v.SACKBase())
	if a.Flags&pds.FlagP == 0 {
		require.Equal(t, a.AckPSN(), v.AckPSN())
	}
	if a.NSCC(&s) {
		require.Equal(t, s, pds.NSCCState{
			ServiceTime: v.ServiceTime(), Restore: s.Restore, CwndPend: s.CwndPend, RcvdBytes: v.RcvdBytes(), OOOCount: v.OOOCount(),
		})
	}
	var c pds.CreditState
	if a.Credit(&c) {
		require.Equal(t, c, pds.CreditState{Credit: v.Credit(), OOOCount: v.OOOCount()})
	}
	require.Equal(t, a.Offset == 0 && a.Bitmap == 0, v.Cumulative())
	checkAckCCSet(t, &a)
}

// checkAckCCSet compares what the Set methods write with what AckCC.AppendTo does.
func checkAckCCSet(t *testing.T, a *pds.AckCC) {
	var v AckCC
	for i := range v {
		v[i] = 0xa5 // all of it is to be overwritten
	}
	v.SetAck(pds.Prologue{Type: pds.TypeNACK, Next: a.Next, Flags: a.Flags}, a.Offset, a.CACK)
	q := pds.Request{Type: pds.TypeRUDReq, ClearOffset: -1, SPDCID: a.DPDCID, DPDCID: a.SPDCID}
	v.SetAnswered((*Request)(q.AppendTo(nil)))
	first := v
	v.SetPDCs(a.SPDCID, a.DPDCID)
	require.Equal(t, first, v)
	v.SetSACK(a.CCType, a.MPR, a.SACKOffset, a.Bitmap)
	var n pds.NSCCState
	var c pds.CreditState
	switch {
	case a.NSCC(&n):
		penalty := n.CwndPend
		if n.Restore {
			penalty |= 1 << 7
		}
		v.SetNSCC(n.ServiceTime, penalty, n.RcvdBytes|1<<24, n.OOOCount)
	case a.Credit(&c):
		v.SetCredit(&c)
	default:
		return // proprietary
	}
	want := *a
	want.CCFlags = 0
	require.Equal(t, want.AppendTo(nil), v[:])
}

func TestAckCCOfEveryFirstWord(t *testing.T) {
	whole := pds.AckCC{Ack: pds.Ack{SPDCID: 1, DPDCID: 2}, SACK: pds.SACK{MPR: 8}}
	v := AckCC(whole.AppendTo(nil))
	plain := 0
	for p := range 1 << 16 {
		binary.BigEndian.PutUint16(v[:], uint16(p))
		if v.Plain() {
			plain++
		}
		if plainAckCC(v[:]) != v.Plain() {
			t.Fatalf("%#04x", p)
		}
	}
	require.Equal(t, 2*4, plain, "m, two reserved bits")
}

func TestAckCCOfRandomBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 50_000 {
		var v AckCC
		for i := 0; i < len(v); i += 8 {
			binary.LittleEndian.PutUint64(v[i:], r.Uint64())
		}
		if r.IntN(4) == 0 {
			v[2], v[3] = 0, 0 // ack_psn_offset, and perhaps the bitmap
			binary.LittleEndian.PutUint64(v[16:], r.Uint64()&-r.Uint64N(2))
		}
		if mend := r.Uint32(); mend&7 != 0 { // most are nearly plain
			v[0], v[1] = byte(pds.TypeACKCC)<<3|byte(pds.NextResponse>>1)&^(v[0]&(v[0]>>1)), v[1]&0x61|byte(mend>>8&1)<<3
			v[12], v[26] = v[12]&0xf|byte(mend>>9&1)<<4, v[26]&byte(-(mend>>10&1))
			v[8], v[9] = v[8]&byte(-(mend>>11&1)), v[9]&byte(-(mend>>12&1))
			v[10], v[11] = v[10]&byte(-(mend>>13&1)), v[11]&byte(-(mend>>14&1))
		}
		checkAckCCView(t, &v)
		if v.Plain() {
			plain++
		}
	}
	require.Greater(t, plain, 1000)
}

func TestAckCCDoesNotAllocate(t *testing.T) {
	b := (&pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, CACK: 9, SPDCID: 1, DPDCID: 2}}).AppendTo(nil)
	alloctest.Zero(t, "AckCC", func() {
		if v := (*AckCC)(b); !v.Plain() || v.CACK() != 9 {
			panic("the path under test did not run")
		}
	})
}

// What is like a plain cumulative acknowledgement is one, and of the same PDCs, and the
// other way round: with each bit turned, and with each two.
func TestAckCCLike(t *testing.T) {
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, Flags: pds.FlagM, SPDCID: 0x0102, DPDCID: 0x0304, CACK: 0x05060708}, SACK: pds.SACK{MPR: 8}}
	like := 0
	for _, set := range []func(){
		func() { a.SetNSCC(&pds.NSCCState{ServiceTime: 0x1234}) },
		func() { a.SetCredit(&pds.CreditState{Credit: 0xfe1234}) },
	} {
		set()
		w := AckCC(a.AppendTo(nil))
		require.True(t, w.Plain() && w.Cumulative() && w.Like(&w))
		for i := range 8 * pds.AckCCLen {
			for j := range 8 * pds.AckCCLen {
				v := w
				v[i/8] ^= 1 << (i % 8)
				if j != i {
					v[j/8] ^= 1 << (j % 8)
				}
				want := v.Plain() && v.Cumulative() && v.SPDCID() == w.SPDCID() && v.DPDCID() == w.DPDCID() && v.CCType() == w.CCType()
				require.Equal(t, want, v.Like(&w), "bits %d and %d", i, j)
				if want {
					like++
				}
			}
		}
	}
	require.Greater(t, like, 1000)
}
