// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"testing"

	"github.com/uetcc/uetcc/internal/view"
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
	plain.Next, plain.SPDCID = pds.NextResponse, 0x100 // of whose bytes one is zero
	f.Add(plain.AppendTo(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		var a pds.AckCC
		if _, err := a.Decode(in); err != nil {
			if len(in) >= pds.AckCCLen && (*view.AckCC)(in).Plain() {
				t.Fatalf("%x: %v, but plain", in, err)
			}
			return
		}
		v := (*view.AckCC)(in)
		var s pds.NSCCState
		nscc := a.NSCC(&s)
		plain := a.CCType == pds.CCCredit || nscc && s.CwndPend == 0 && !s.Restore && s.ServiceTime < 0xff00 // 8.3 ms and more: the largest is no time at all
		want := plain && a.Validate() == nil && a.Flags&^pds.FlagM == 0 && a.Next == pds.NextResponse
		if v.Plain() != want || v.Cumulative() != (a.Offset == 0 && a.Bitmap == 0) {
			t.Fatalf("%x: plain %t, cumulative %t; want %t", in, v.Plain(), v.Cumulative(), want)
		}
		got := a
		got.Ack = pds.Ack{Next: a.Next, Flags: v.Flags(), Offset: v.Offset(), SPDCID: v.SPDCID(), DPDCID: v.DPDCID(), CACK: v.CACK()}
		got.CCType, got.MPR, got.SACKOffset, got.Bitmap = v.CCType(), v.MPR(), v.SACKOffset(), v.Bitmap()
		if got != a || v.SACKBase() != a.SACKBase() || a.Flags&pds.FlagP == 0 && v.AckPSN() != a.AckPSN() {
			t.Fatalf("%x: %+v, want %+v", in, got, a)
		}
		state := pds.NSCCState{ServiceTime: v.ServiceTime(), Restore: s.Restore, CwndPend: s.CwndPend, RcvdBytes: v.RcvdBytes(), OOOCount: v.OOOCount()}
		if nscc && state != s {
			t.Fatalf("%x: %+v, want %+v", in, state, s)
		}
	})
}

// FuzzPDSRequestView checks the same of a request, and that PutRequest writes what
// AppendTo does.
func FuzzPDSRequestView(f *testing.F) {
	addSeeds(f, "rud_req", "rud_req_syn", "rod_req", "rud_cc_req", "rod_cc_req_syn")
	plain := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagAR, ClearOffset: -1, PSN: 9, SPDCID: 1, DPDCID: 2}
	f.Add(plain.AppendTo(nil))
	plain.ClearOffset = 0 // clears itself
	f.Add(plain.AppendTo(nil))
	plain.ClearOffset, plain.DPDCID = -1, 0x100 // of whose bytes one is zero
	f.Add(plain.AppendTo(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		var q pds.Request
		if _, err := q.Decode(in); err != nil {
			if len(in) >= pds.RequestLen && (*view.Request)(in).Plain() || len(in) >= pds.RequestCCLen && (*view.Request)(in).PlainCC() {
				t.Fatalf("%x: %v, but plain", in, err)
			}
			return
		}
		open := q.Flags&pds.FlagSYN == 0
		known := pds.Request{Type: q.Type, Next: q.Next, CCCID: 1, CreditTarget: 1, Info: 1} // what an earlier packet left
		if q.HasCC() {
			known.DecodeRestCC((*[pds.RequestCCLen]byte)(in))
		} else {
			known.DecodeRest((*[pds.RequestLen]byte)(in))
		}
		if open && known != q {
			t.Fatalf("%x: known %+v, decoded %+v", in, known, q)
		}
		v := (*view.Request)(in)
		plain := open && q.Next == pds.NextRequestStd && q.ClearOffset < 0
		if v.Plain() != (plain && !q.HasCC()) || v.PlainCC() != (plain && q.HasCC()) {
			t.Fatalf("%x: plain %t, with congestion state %t", in, v.Plain(), v.PlainCC())
		}
		got := q
		got.Type, got.Next, got.Flags, got.ClearOffset, got.PSN, got.SPDCID = v.Type(), v.Next(), v.Flags(), v.ClearOffset(), v.PSN(), v.SPDCID()
		if open {
			got.DPDCID = v.DPDCID()
		}
		if got != q || v.ClearPSN() != q.ClearPSN() {
			t.Fatalf("%x: %+v, want %+v", in, got, q)
		}
		var out [pds.RequestLen]byte
		run := view.MakeRun(q.Type, q.Next, q.ClearOffset, q.PSN, q.SPDCID, q.DPDCID)
		run.Put(&out, 0, uint32(q.Flags&pds.FlagAR/pds.FlagAR))
		if open && q.Flags&^pds.FlagAR == 0 && !bytes.Equal(out[:], q.AppendTo(nil)[:pds.RequestLen]) {
			t.Fatalf("%+v is written as %x", q, out)
		}
	})
}
