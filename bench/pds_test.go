// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A pdsHeader is any header of package pds.
type pdsHeader interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
}

const (
	ringSlots = 64 // packets that a benchmark goes round in
	slotSize  = 64
)

// ring is a buffer of packets that all begin with h.
func ring(h pdsHeader) []byte {
	buf := make([]byte, ringSlots*slotSize)
	for i := range ringSlots {
		h.AppendTo(buf[i*slotSize : i*slotSize])
	}
	return buf
}

// benchHeader measures one header. T is not called through an interface: the
// generic functions get it as the methods of a concrete pointer.
func benchHeader[T any, P interface {
	*T
	pdsHeader
}](b *testing.B, name string, h P, decode func(h P, b []byte) (int, error), encode func(h P, b []byte) []byte) {
	buf := ring(h)
	b.Run("op=decode/header="+name, func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i = (i + slotSize) % len(buf) {
			if _, err := decode(h, buf[i:i+slotSize]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=encode/header="+name, func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i = (i + slotSize) % len(buf) {
			encode(h, buf[i:i])
		}
	})
}

// BenchmarkPDSHeader reads and writes each header in place. The call through a
// function value costs the same in all of them; BenchmarkPDSAckCC is without.
func BenchmarkPDSHeader(b *testing.B) {
	ack := pds.Ack{CACK: 9, SPDCID: 1, DPDCID: 2}
	nack := pds.Nack{Code: pds.NackTrimmed, SPDCID: 1, DPDCID: 2}
	benchHeader(b, "entropy", &pds.Entropy{Value: 7}, (*pds.Entropy).Decode, (*pds.Entropy).AppendTo)
	benchHeader(b, "rud_req", &pds.Request{Type: pds.TypeRUDReq}, (*pds.Request).Decode, (*pds.Request).AppendTo)
	benchHeader(b, "rud_req_syn", &pds.Request{Type: pds.TypeRUDReq, Flags: pds.FlagSYN}, (*pds.Request).Decode, (*pds.Request).AppendTo)
	benchHeader(b, "rud_cc_req", &pds.Request{Type: pds.TypeRUDCCReq}, (*pds.Request).Decode, (*pds.Request).AppendTo)
	benchHeader(b, "rudi_req", &pds.RUDI{Type: pds.TypeRUDIReq}, (*pds.RUDI).Decode, (*pds.RUDI).AppendTo)
	benchHeader(b, "uud_req", &pds.UUD{}, (*pds.UUD).Decode, (*pds.UUD).AppendTo)
	benchHeader(b, "ack", &ack, (*pds.Ack).Decode, (*pds.Ack).AppendTo)
	benchHeader(b, "ack_cc", &pds.AckCC{Ack: ack}, (*pds.AckCC).Decode, (*pds.AckCC).AppendTo)
	benchHeader(b, "ack_ccx", &pds.AckCCX{Ack: ack}, (*pds.AckCCX).Decode, (*pds.AckCCX).AppendTo)
	benchHeader(b, "nack", &nack, (*pds.Nack).Decode, (*pds.Nack).AppendTo)
	benchHeader(b, "nack_ccx", &pds.NackCCX{Nack: nack}, (*pds.NackCCX).Decode, (*pds.NackCCX).AppendTo)
	benchHeader(b, "cp_credit", &pds.Control{Ctl: pds.CtlCredit}, (*pds.Control).Decode, (*pds.Control).AppendTo)
	benchHeader(b, "tss", &pds.TSS{}, (*pds.TSS).Decode, (*pds.TSS).AppendTo)
	benchHeader(b, "tss_ssi", &pds.TSS{SP: true}, (*pds.TSS).Decode, (*pds.TSS).AppendTo)
}

// BenchmarkPDSAckCC is the hot header in the loop of Ack32 of the codec peers:
// op=decode against get/floor-fields, op=encode against put/floor-fields.
func BenchmarkPDSAckCC(b *testing.B) {
	a := pds.AckCC{Ack: pds.Ack{CACK: 0x112233, Offset: -16, SPDCID: 0x4001, DPDCID: 0x4011}, SACK: pds.SACK{MPR: 8, SACKOffset: 16, Bitmap: 0xff00ff}}
	state := pds.NSCCState{ServiceTime: 9, RcvdBytes: 77}
	a.SetNSCC(&state)
	wire := a.AppendTo(nil)
	var buf []byte
	for range ringSlots {
		buf = append(buf, wire...)
	}
	at := func(i int) []byte { return buf[i*pds.AckCCLen : i*pds.AckCCLen+pds.AckCCLen] }
	var sum uint64
	b.Run("op=decode", func(b *testing.B) {
		b.ReportAllocs()
		a := a
		for i := 0; b.Loop(); i = (i + 1) & (ringSlots - 1) {
			if _, err := a.Decode(at(i)); err != nil {
				b.Fatal(err)
			}
			sum += a.Bitmap + uint64(a.CACK)
		}
	})
	b.Run("op=decode+nscc", func(b *testing.B) {
		b.ReportAllocs()
		a := a
		for i := 0; b.Loop(); i = (i + 1) & (ringSlots - 1) {
			if _, err := a.Decode(at(i)); err != nil || !a.NSCC(&state) {
				b.Fatal(err)
			}
			sum += a.Bitmap + uint64(a.CACK) + uint64(state.RcvdBytes)
		}
	})
	b.Run("op=validate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if a.Validate() != nil {
				b.Fatal("not legal")
			}
		}
	})
	b.Run("op=encode", func(b *testing.B) {
		b.ReportAllocs()
		a := a
		for i := 0; b.Loop(); i = (i + 1) & (ringSlots - 1) {
			a.CACK++
			a.AppendTo(at(i)[:0])
		}
	})
}

// BenchmarkPDSRequest is a RUD_CC_REQ with a standard request behind it, 60
// bytes, as two headers. The floor is Ack32 of the codec peers.
func BenchmarkPDSRequest(b *testing.B) {
	h := pds.Request{Type: pds.TypeRUDCCReq, Next: pds.NextRequestStd, PSN: 5, SPDCID: 1, DPDCID: 2, CreditTarget: 9}
	s := ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagEOM | ses.FlagSOM, JobID: 101}, RequestLength: 4096}
	wire := s.AppendTo(h.AppendTo(nil))
	b.Run("op=decode/header=pds", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := h.Decode(wire); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=decode/header=pds+ses", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n, err := h.Decode(wire)
			if err != nil {
				b.Fatal(err)
			}
			if _, err = s.Decode(wire[n:]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=encode/header=pds+ses", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.AppendTo(h.AppendTo(wire[:0]))
		}
	})
}
