package fuzz

import (
	"testing"

	"github.com/uetcc/uetcc/pds"
)

// FuzzPDSAckCCView checks of any 32 bytes that a view reads what Decode reads, and
// that it calls them plain if they are.
func FuzzPDSAckCCView(f *testing.F) {
	addSeeds(f, "ack_cc_nscc", "ack_cc_credit")
	plain := pds.AckCC{Ack: pds.Ack{CACK: 9, Offset: -3, SPDCID: 1, DPDCID: 2}, SACK: pds.SACK{MPR: 8, SACKOffset: 1, Bitmap: 5}}
	f.Add(plain.AppendTo(nil))
	plain.Flags, plain.Next = pds.FlagM, pds.NextResponse
	f.Add(plain.AppendTo(nil))
	plain.Next = pds.NextResponseData // one bit from a response
	f.Add(plain.AppendTo(nil))
	plain.Next, plain.SPDCID = pds.NextNone, 0x100 // of whose bytes one is zero
	f.Add(plain.AppendTo(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		var a pds.AckCC
		if _, err := a.Decode(in); err != nil {
			if len(in) >= pds.AckCCLen && (*pds.AckCCView)(in).Plain() {
				t.Fatalf("%x: %v, but plain", in, err)
			}
			return
		}
		v := (*pds.AckCCView)(in)
		var s pds.NSCCState
		nscc := a.NSCC(&s)
		want := a.Validate() == nil && nscc && s.CwndPend == 0 && !s.Restore && a.Flags&^pds.FlagM == 0 &&
			(a.Next == pds.NextNone || a.Next == pds.NextResponse)
		if v.Plain() != want || want && v.HasResponse() != (a.Next == pds.NextResponse) {
			t.Fatalf("%x: plain %t, want %t", in, v.Plain(), want)
		}
		got := a
		got.Ack = pds.Ack{Next: v.Next(), Flags: v.Flags(), Offset: v.Offset(), SPDCID: v.SPDCID(), DPDCID: v.DPDCID(), CACK: v.CACK()}
		got.CCType, got.MPR, got.SACKOffset, got.Bitmap = v.CCType(), v.MPR(), v.SACKOffset(), v.Bitmap()
		if v.Type() != pds.TypeACKCC || got != a || v.SACKBase() != a.SACKBase() || a.Flags&pds.FlagP == 0 && v.AckPSN() != a.AckPSN() {
			t.Fatalf("%x: %+v, want %+v", in, got, a)
		}
		state := pds.NSCCState{ServiceTime: v.ServiceTime(), Restore: v.Restore(), CwndPend: v.CwndPend(), RcvdBytes: v.RcvdBytes(), OOOCount: v.OOOCount()}
		if nscc && state != s {
			t.Fatalf("%x: %+v, want %+v", in, state, s)
		}
	})
}
