package bench

import (
	"bytes"
	"testing"

	"github.com/uetcc/uetcc/ses"
)

// sesHeader is what every SES header can do.
type sesHeader interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
}

// sesRun measures decode and encode of 64 headers in a row, as packets come.
func sesRun[T any, H interface {
	*T
	sesHeader
}](b *testing.B, name string, h T) {
	const n = 64
	wire := H(&h).AppendTo(nil)
	size := len(wire)
	buf := bytes.Repeat(wire, n)
	b.Run("op=decode/header="+name, func(b *testing.B) {
		b.ReportAllocs()
		var got T
		i := 0
		for b.Loop() {
			if _, err := H(&got).Decode(buf[i*size : i*size+size]); err != nil {
				b.Fatal(err)
			}
			i = (i + 1) & (n - 1)
		}
	})
	b.Run("op=encode/header="+name, func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			H(&h).AppendTo(buf[i*size : i*size : i*size+size])
			i = (i + 1) & (n - 1)
		}
	})
}

// BenchmarkSESHeader is each header by itself. The floor is Ack32 of the codec
// peers: 32 bytes in ten fields.
func BenchmarkSESHeader(b *testing.B) {
	common := ses.Common{
		Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM | ses.FlagEOM | ses.FlagRel,
		JobID: 101, PIDonFEP: 2, Index: 0x00a, Generation: 1,
	}
	sesRun(b, "standard", ses.Standard{Common: common, MessageID: 1, Key: 0xacce5, RequestLength: 16384})
	sesRun(b, "medium", ses.Medium{Common: common, RequestLength: 4096, Key: 0xacce5})
	sesRun(b, "small", ses.Small{Common: common, RequestLength: 4096})
	sesRun(b, "compare-swap", ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSwapEqual}})
	sesRun(b, "rendezvous", ses.Rendezvous{EagerLength: 4096})
	sesRun(b, "response", ses.Response{MessageID: 1, JobID: 101, Generation: 1, ModifiedLength: 16384})
	sesRun(b, "response-data", ses.ResponseData{Verdict: ses.Verdict{Opcode: ses.ResponseWithData}, PayloadLength: 1024})
	sesRun(b, "response-data-small", ses.ResponseDataSmall{Verdict: ses.Verdict{Opcode: ses.ResponseWithData}, PayloadLength: 16})
}

// BenchmarkSESRequest reads requests of any form.
func BenchmarkSESRequest(b *testing.B) {
	forms := []struct {
		name string
		r    ses.Request
	}{
		{"standard", ses.Request{Form: ses.FormStandard, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite}}}},
		{"medium", ses.Request{Form: ses.FormMedium}},
		{"small", ses.Request{Form: ses.FormSmall}},
		{"atomic", ses.Request{Form: ses.FormStandard, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeAtomic}}}},
	}
	for _, f := range forms {
		wire := f.r.AppendTo(nil)
		b.Run("op=decode/form="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			var got ses.Request
			for b.Loop() {
				if _, err := got.Decode(f.r.Form, wire); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=encode/form="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 128)
			for b.Loop() {
				f.r.AppendTo(buf)
			}
		})
	}
}
