package bench

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// targetEnd is a target with PDCs that each receive a long write after another.
type targetEnd struct {
	e      *uetcc.Endpoint
	reply  uetcc.Datagram
	got    uetcc.Received
	next   []uint32 // by PDCID: the next PSN, from 0
	gen    ses.Generation
	asking bool // requests carry a credit_target
	sum    int64
}

const (
	pathMessage = 1 << 16 // packets
	pathQuanta  = 17      // of credit for a packet
)

func newTarget(b *testing.B, n int, control ccc.Control) *targetEnd {
	t := &targetEnd{next: make([]uint32, n+1), asking: control != ccc.ControlNSCC, reply: uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}}
	t.e = pathEndpoint(b, n, func(c *uetcc.Config) {
		c.CC.Control = control
		c.CC.RCCC.InitialCredit = pathQuanta * rccc.QuantumBytes
	})
	s := t.e.Target()
	process, _ := s.AddEndpoint(ses.Endpoint{Job: 1})
	t.gen, _ = s.OpenIndex(0, process, 1, ses.Index{})
	if _, err := s.Register(process, 1, ses.Region{Length: 1 << 40, Key: 1, Job: 1, Rights: ses.RightWrite}); err != nil {
		b.Fatal(err)
	}
	in := uetcc.Datagram{Packet: make([]byte, 0, 2*pathMTU)}
	for id := 1; id <= n; id++ {
		t.request(&in, uint16(id), false)
		t.e.Receive(0, &in, &t.reply, &t.got)
		if t.got.Action != ses.ActionPlace {
			b.Fatalf("%+v", t.got)
		}
	}
	return t
}

// request writes the next request of a PDC. One like the one before is patched.
func (t *targetEnd) request(in *uetcc.Datagram, id uint16, ar bool) {
	psn := t.next[id]
	t.next[id]++
	i := psn % pathMessage
	if i == 0 || i == pathMessage-1 || len(in.Packet) < pathMTU || in.Packet[t.semantic()+atMessageFlags]&byte(ses.FlagSOM|ses.FlagEOM) != 0 {
		t.newRequest(in, id, psn)
	}
	setPDC(in, id)
	if psn == 0 {
		binary.BigEndian.PutUint16(in.Packet[atDPDCID:], uint16(pds.MakePDCInfo(false, 0)))
	}
	in.Packet[atFlags] &^= byte(pds.FlagAR)
	if ar {
		in.Packet[atFlags] |= byte(pds.FlagAR)
	}
	binary.BigEndian.PutUint32(in.Packet[atPSN:], psn)
	if t.asking {
		binary.BigEndian.PutUint32(in.Packet[atCreditTarget:], 1<<24|(psn+2)*pathQuanta&0xffffff)
	}
	request := in.Packet[t.semantic():]
	binary.BigEndian.PutUint16(request[atMessageID:], uint16(psn/pathMessage+1))
	if i > 0 {
		binary.BigEndian.PutUint32(request[atMessageOffset:], i*pathMTU)
	}
}

// semantic is where the semantic header of a request begins.
func (t *targetEnd) semantic() int {
	if t.asking {
		return pds.RequestCCLen
	}
	return pds.RequestLen
}

func (t *targetEnd) newRequest(in *uetcc.Datagram, id uint16, psn uint32) {
	h := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, ClearOffset: -1, SPDCID: pds.PDCID(id)}
	if t.asking {
		h.Type = pds.TypeRUDCCReq
	}
	if psn == 0 {
		h.Flags = pds.FlagSYN
	}
	r := ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagRel, JobID: 1, Index: 1, Generation: t.gen},
		PayloadLength: pathMTU, RequestLength: pathMessage * pathMTU, Key: 1}
	switch psn % pathMessage {
	case 0:
		r.Flags |= ses.FlagSOM
	case pathMessage - 1:
		r.Flags |= ses.FlagEOM
	}
	in.Packet = r.AppendTo(h.AppendTo(in.Packet[:0]))
	in.Packet, in.Size = in.Packet[:len(in.Packet)+pathMTU], 4216
}

// BenchmarkTargetPath is the whole step of a target: bytes of a request in,
// decoded, its PDC found, tracked, judged by the semantic sublayer, and the bytes
// of an ACK_CC out if one is due. The requests are written inside the loop.
func BenchmarkTargetPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, pathMost} {
		for _, per := range []int{1, 4} {
			for _, batch := range []int{1, pathBatch} {
				b.Run(fmt.Sprintf("pdcs=%d/packets-per-ack=%d/batch=%d", n, per, batch), func(b *testing.B) {
					targetPath(b, n, per == 1, batch)
				})
			}
		}
	}
}

func targetPath(b *testing.B, n int, ar bool, batch int) {
	t := newTarget(b, n, ccc.ControlNSCC)
	order := pathOrder(n)
	in := make([]uetcc.Datagram, batch)
	for i := range in {
		in[i].Packet = make([]byte, 0, 2*pathMTU)
	}
	b.ReportAllocs()
	at, packets, now := 0, 0, int64(1)
	for b.Loop() {
		for i := range in {
			t.request(&in[i], order[at&0xffff]+1, ar)
			at++
		}
		if batch > 1 {
			t.sum += t.e.Touch(in)
		}
		for i := range in {
			now += 42
			t.e.Receive(now, &in[i], &t.reply, &t.got)
			if t.got.Action != ses.ActionPlace {
				b.Fatalf("%+v", t.got)
			}
		}
		packets += batch
	}
	pathMetrics(b, packets)
}

// BenchmarkGrantPath is a target's step under receiver credit: bytes of a request
// in, which asks for credit, and the bytes of the CREDIT packet out that is due
// after every fourth or so.
func BenchmarkGrantPath(b *testing.B) {
	for _, n := range []int{64, 1 << 10, pathMost} {
		b.Run(fmt.Sprintf("senders=%d", n), func(b *testing.B) {
			t := newTarget(b, n, ccc.ControlRCCC)
			order := pathOrder(n)
			in := uetcc.Datagram{Packet: make([]byte, 0, 2*pathMTU)}
			out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
			b.ReportAllocs()
			packets, grants, now := 0, 0, int64(1)
			for b.Loop() {
				t.request(&in, order[packets&0xffff]+1, false)
				now += pathQuanta * rccc.QuantumBytes * 8 / 100 // at 100 Gb/s
				t.e.Receive(now, &in, &t.reply, &t.got)
				if t.got.Action != ses.ActionPlace {
					b.Fatalf("%+v", t.got)
				}
				for t.e.Transmit(now, &out) {
					grants++
				}
				packets++
			}
			pathMetrics(b, packets)
			b.ReportMetric(float64(grants)/float64(packets), "grants/packet")
		})
	}
}
