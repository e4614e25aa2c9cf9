// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"testing"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// sesBurst is how many headers lie in a row, as packets of a batch do.
const sesBurst = 64

func sesCommon() ses.Common {
	return ses.Common{
		Opcode: ses.OpcodeWrite, Flags: ses.FlagSOM | ses.FlagRel,
		JobID: 101, PIDonFEP: 2, Index: 0x00a, Generation: 1,
	}
}

// BenchmarkSESStandard is the header of a write. The floor is Ack32 of the codec
// peers: 32 bytes in ten fields, against 44 bytes in fifteen.
func BenchmarkSESStandard(b *testing.B) {
	h := ses.Standard{Common: sesCommon(), MessageID: 1, Key: 0xacce5, RequestLength: 16384}
	buf := bytes.Repeat(h.AppendTo(nil), sesBurst)
	b.Run("op=decode", func(b *testing.B) {
		b.ReportAllocs()
		var got ses.Standard
		i := 0
		for b.Loop() {
			if _, err := got.Decode(buf[i*ses.StandardLen : (i+1)*ses.StandardLen]); err != nil {
				b.Fatal(err)
			}
			i = (i + 1) & (sesBurst - 1)
		}
	})
	b.Run("op=encode", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			h.AppendTo(buf[i*ses.StandardLen : i*ses.StandardLen])
			h.MessageOffset++
			i = (i + 1) & (sesBurst - 1)
		}
	})
}

// BenchmarkSESResponse is what rides in every ACK.
func BenchmarkSESResponse(b *testing.B) {
	h := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: 1, JobID: 101, Generation: 1, ModifiedLength: 16384}
	buf := bytes.Repeat(h.AppendTo(nil), sesBurst)
	b.Run("op=decode", func(b *testing.B) {
		b.ReportAllocs()
		var got ses.Response
		i := 0
		for b.Loop() {
			if _, err := got.Decode(buf[i*ses.ResponseLen : (i+1)*ses.ResponseLen]); err != nil {
				b.Fatal(err)
			}
			i = (i + 1) & (sesBurst - 1)
		}
	})
	b.Run("op=encode", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			h.AppendTo(buf[i*ses.ResponseLen : i*ses.ResponseLen])
			h.ModifiedLength++
			i = (i + 1) & (sesBurst - 1)
		}
	})
}

// BenchmarkSESHeader is the frequent headers through an interface, which costs two
// nanoseconds of its own.
func BenchmarkSESHeader(b *testing.B) {
	for _, c := range []struct {
		name string
		h    interface {
			Decode(b []byte) (int, error)
			AppendTo(b []byte) []byte
		}
	}{
		{"standard", &ses.Standard{Common: sesCommon()}},
		{"response", &ses.Response{MessageID: 1}},
	} {
		wire := c.h.AppendTo(nil)
		b.Run("op=decode/header="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.h.Decode(wire); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=encode/header="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.h.AppendTo(wire[:0])
			}
		})
	}
}

// BenchmarkSESRequest reads and writes requests whose form is only known at run
// time.
func BenchmarkSESRequest(b *testing.B) {
	for _, f := range []struct {
		name string
		r    ses.Request
	}{
		{"standard", ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite}}}},
		{"medium", ses.Request{Form: pds.NextRequestMedium}},
		{"small", ses.Request{Form: pds.NextRequestSmall}},
		{"atomic", ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeAtomic}}}},
		{"compare-swap", ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeAtomic}}, Swap: ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSwapEqual}}}},
		{"rendezvous", ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeRendezvousSend}}}},
		{"deferrable", ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeDeferrableSend}}}},
	} {
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
			for b.Loop() {
				f.r.AppendTo(wire[:0])
			}
		})
	}
}

// BenchmarkSESReply is BenchmarkSESRequest for answers.
func BenchmarkSESReply(b *testing.B) {
	data := ses.Response{Verdict: ses.Verdict{Opcode: ses.ResponseWithData}}
	for _, f := range []struct {
		name string
		r    ses.Reply
	}{
		{"response", ses.Reply{Form: pds.NextResponse}},
		{"data", ses.Reply{Form: pds.NextResponseData, Response: data}},
		{"data-small", ses.Reply{Form: pds.NextResponseDataSmall, Response: data}},
	} {
		wire := f.r.AppendTo(nil)
		b.Run("op=decode/form="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			var got ses.Reply
			for b.Loop() {
				if _, err := got.Decode(f.r.Form, wire); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=encode/form="+f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.r.AppendTo(wire[:0])
			}
		})
	}
}

// BenchmarkSESTarget is one fragment of a write of four, validated, recorded and
// answered. The processes are of one job.
func BenchmarkSESTarget(b *testing.B) {
	for _, n := range []struct {
		name      string
		processes int
	}{{"1", 1}, {"1k", 1 << 10}, {"4k", 1 << 12}} {
		b.Run("op=fragment/processes="+n.name, func(b *testing.B) {
			b.ReportAllocs()
			t, err := msg.NewTarget(ses.TargetConfig{MTU: 4096, Processes: n.processes, Indices: 1, Regions: n.processes, Messages: 64})
			if err != nil {
				b.Fatal(err)
			}
			for pid := range n.processes {
				ep, _ := t.AddProcess(ses.Process{Job: 1, PID: ses.PIDonFEP(pid)})
				_, _ = t.OpenIndex(0, ep, 0, ses.Index{})
				if _, err := t.Register(ep, 0, ses.Region{Length: 1 << 30, Key: 9, Job: 1, Rights: ses.RightWrite}); err != nil {
					b.Fatal(err)
				}
			}
			var packets [4]ses.Request
			for i := range packets {
				r := &packets[i]
				r.Form, r.Opcode, r.Flags, r.JobID, r.Key = pds.NextRequestStd, ses.OpcodeWrite, ses.FlagRel, 1, 9
				r.MessageID, r.RequestLength, r.PayloadLength, r.MessageOffset = 1, 16384, 4096, uint32(i)*4096
			}
			packets[0].Flags, packets[0].PayloadLength = ses.FlagRel|ses.FlagSOM, 0
			packets[3].Flags |= ses.FlagEOM
			a := msg.Arrival{Peer: 1, Payload: 4096}
			var d msg.Decision
			i := 0
			for b.Loop() {
				r := &packets[i&3]
				r.PIDonFEP = ses.PIDonFEP(i >> 2 * 7 & (n.processes - 1))
				t.Receive(r, a, &d)
				if d.Check != step.None {
					b.Fatal(d.Check)
				}
				i++
			}
		})
	}
}

// BenchmarkSESInitiator is one packet of a write of four, made and answered; a
// quarter of starting and ending a message is in it.
func BenchmarkSESInitiator(b *testing.B) {
	b.ReportAllocs()
	in, err := msg.NewInitiator(msg.InitiatorConfig{MTU: 4096, Messages: 1024})
	if err != nil {
		b.Fatal(err)
	}
	o := msg.Operation{Opcode: ses.OpcodeWrite, Relative: true, Job: 1, Key: 9, Length: 16384}
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: 1}
	response := y.AppendTo(nil)
	var q msg.TxReq
	var h ses.Handle
	var ev msg.Event
	header := make([]byte, ses.StandardLen)
	i := 0
	for b.Loop() {
		if i&3 == 0 {
			if h, err = in.Start(&o); err != nil {
				b.Fatal(err)
			}
		}
		if n := in.Next(0, h, &q); n == 0 || in.Handed(h, 1) != nil {
			b.Fatal("no packet")
		}
		if n, _ := in.PutHeader(header, q.Packet); n == 0 {
			b.Fatal("no header")
		}
		if _, err := in.RxRsp(0, q.Packet, pds.NextResponse, response, &ev); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
