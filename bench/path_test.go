package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// The whole paths through an Endpoint; the floors are FloorPath/pdcs=N/... of the
// peers. Each PDC has a peer and a congestion control context of its own, packets
// are of PDCs in random order, and one iteration is one data packet.

const (
	pathMTU   = 4096
	pathBatch = 32
	pathRTT   = 10_000 // ns between a packet and its acknowledgement
)

func pathEndpoint(b *testing.B, n int, edit func(*uetcc.Config)) *uetcc.Endpoint {
	c := uetcc.Config{
		Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), MTU: pathMTU, Seed: 1,
		PDS:      pdc.Config{RTOInit: 8e9, IdleTime: 1e15},
		CC:       ccc.Config{NSCC: nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000}},
		PDCs:     pdc.TableConfig{General: n + 1, FirstID: 1, Quarantine: 1},
		Contexts: n, Messages: max(n, 32), Answers: 1, Memory: pdc.MemoryConfig{Chunks: min(8*n+64, 65535), Responses: 64},
		Target: ses.TargetConfig{Messages: max(n, 16)},
	}
	if edit != nil {
		edit(&c)
	}
	e, err := uetcc.NewEndpoint(c)
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func pathPeer(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)})
}

func pathOrder(n int) []uint16 {
	r := rand.New(rand.NewPCG(1, 5))
	order := make([]uint16, 1<<16)
	for i := range order {
		order[i] = uint16(r.IntN(n))
	}
	return order
}

// pathMetrics adds what the time of a packet means.
func pathMetrics(b *testing.B, packets int) {
	ns := float64(b.Elapsed().Nanoseconds()) / float64(packets)
	b.ReportMetric(ns, "ns/packet")
	b.ReportMetric(1e9/ns, "packets/s")
	b.ReportMetric(pathMTU*8/ns, "Gb/s")
}

// sourceEnd is an initiator whose PDCs all write, and what is known of each.
type sourceEnd struct {
	e     *uetcc.Endpoint
	now   int64
	frac  int64 // of now, 1/1024 ns
	tick  int64 // 1/1024 ns a packet
	out   uetcc.Datagram
	reply uetcc.Datagram
	acked []uint32 // by PDCID: the next PSN to acknowledge
	sent  []uint32 // by PDCID: the next PSN to be sent
	got   uetcc.Received
}

func newSource(b *testing.B, n, window int) *sourceEnd {
	s := &sourceEnd{acked: make([]uint32, n+2), sent: make([]uint32, n+2)}
	s.e = pathEndpoint(b, n, func(c *uetcc.Config) {
		// A ceiling of so many packets, which no round trip here shall lower: the
		// window follows the shortest, and the acknowledgements follow the window.
		c.CC.NSCC.BaseRTT = 100
		c.CC.NSCC.LinkRate = int64(window) * (pathMTU + 200) * 1e9 / 100 * 2 / 3
		c.CC.NSCC.Tuning = nscc.Tuning{TargetQdelay: 16 * pathRTT, QAThreshold: 1e12}
	})
	s.tick = pathRTT * 1024 / int64(n*window)
	s.out.Packet, s.reply.Packet = make([]byte, 0, uetcc.HeaderMax), make([]byte, 0, uetcc.HeaderMax)
	for i := range n {
		m := uetcc.Message{To: uetcc.Destination{Address: pathPeer(i), Job: 1}, Length: ses.MaxMessage}
		h, err := s.e.Connect(0, &m)
		if err != nil {
			b.Fatal(err)
		}
		s.e.PDS().SetStartPSN(h, 0)
		for range 1 + 16/n {
			if _, err := s.e.Write(0, &m); err != nil {
				b.Fatal(err)
			}
		}
	}
	for s.send() {
	}
	s.now = pathRTT
	return s
}

// send sends one packet if one may go.
func (s *sourceEnd) send() bool {
	if !s.e.Transmit(s.now, &s.out) {
		return false
	}
	if binary.BigEndian.Uint16(s.out.Packet)>>11 != uint16(pds.TypeCP) {
		s.sent[binary.BigEndian.Uint16(s.out.Packet[8:])]++
	}
	return true
}

// ackOf writes the acknowledgement of the next most packets of a PDC and returns
// how many it covers.
func (s *sourceEnd) ackOf(in *uetcc.Datagram, id uint16, most uint32, marked bool) uint32 {
	k := min(most, s.sent[id]-s.acked[id])
	if k == 0 {
		return 0
	}
	s.acked[id] += k
	h := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: pds.PDCID(id), DPDCID: pds.PDCID(id), CACK: pds.PSN(s.acked[id] - 1)}}
	h.MPR = 8
	if marked {
		h.Flags = pds.FlagM
	}
	n, _ := h.Encode(in.Packet[:cap(in.Packet)])
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: 1, JobID: 1, ModifiedLength: ses.MaxMessage}
	in.Packet = y.AppendTo(in.Packet[:n])
	in.Src, in.Size = pdc.AddrFrom4([4]byte{11, 0, uint8((id - 1) >> 8), uint8(id - 1)}), 116
	return k
}

// receive takes an acknowledgement of k packets in and sends what it lets go.
func (s *sourceEnd) receive(in *uetcc.Datagram, k uint32) {
	s.frac += s.tick * int64(k)
	s.now += s.frac >> 10
	s.frac &= 1023
	s.e.Receive(s.now, in, &s.reply, &s.got)
	for range k {
		s.send()
	}
	for { // keep completions from piling up
		if _, ok := s.e.Poll(); !ok {
			return
		}
	}
}

// BenchmarkSourcePath is the whole step of a source: bytes of an ACK_CC in,
// decoded, its PDC found, packets released, the window updated, and as many new
// packets admitted, with header bytes out. It does what FloorPath's source and
// send do together; the acknowledgements are written inside the loop too.
func BenchmarkSourcePath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, 1 << 15} {
		for _, per := range []uint32{1, 4} {
			for _, signals := range []string{"clean", "marked"} {
				for _, batch := range []int{1, pathBatch} {
					if batch > n {
						continue // one PDC has no batch of acknowledgements outstanding
					}
					b.Run(fmt.Sprintf("pdcs=%d/packets-per-ack=%d/signals=%s/batch=%d", n, per, signals, batch), func(b *testing.B) {
						sourcePath(b, n, per, signals == "marked", batch)
					})
				}
			}
		}
	}
}

func sourcePath(b *testing.B, n int, per uint32, marked bool, batch int) {
	s := newSource(b, n, 8)
	order := pathOrder(n)
	in, covers := make([]uetcc.Datagram, batch), make([]uint32, batch)
	for i := range in {
		in[i].Packet = make([]byte, 0, uetcc.HeaderMax)
	}
	b.ReportAllocs()
	at, packets := 0, 0
	for b.Loop() {
		for i := range in {
			covers[i] = 0
			for covers[i] == 0 {
				covers[i] = s.ackOf(&in[i], order[at&0xffff]+1, per, marked && at%16 == 0)
				at++
			}
		}
		if batch > 1 {
			sinkI64 += s.e.Touch(in)
		}
		for i := range in {
			s.receive(&in[i], covers[i])
			packets += int(covers[i])
		}
	}
	if d := s.e.PDS().Stats(); d.Malformed+d.Unknown+d.BadACK > 0 {
		b.Fatalf("%+v", d)
	}
	pathMetrics(b, packets)
}

var sinkI64 int64

// BenchmarkSendPath sends packets whose acknowledgements come for 32 at a time:
// admission, path choice and header bytes.
func BenchmarkSendPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10} {
		b.Run(fmt.Sprintf("pdcs=%d", n), func(b *testing.B) {
			s := newSource(b, n, 64)
			in := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
			b.ReportAllocs()
			at, packets := 0, 0
			for b.Loop() {
				if k := s.ackOf(&in, uint16(at%n)+1, 32, false); k > 0 {
					s.receive(&in, k)
					packets += int(k)
				}
				at++
			}
			pathMetrics(b, packets)
		})
	}
}

// targetEnd is a target with PDCs that each receive a long write after another.
type targetEnd struct {
	e     *uetcc.Endpoint
	reply uetcc.Datagram
	got   uetcc.Received
	next  []uint32 // by PDCID: the next PSN, from 0
	gen   ses.Generation
}

const pathMessage = 1 << 16 // packets

func newTarget(b *testing.B, n int) *targetEnd {
	t := &targetEnd{next: make([]uint32, n+1), reply: uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}}
	t.e = pathEndpoint(b, n, nil)
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

// request writes the next request of a PDC.
func (t *targetEnd) request(in *uetcc.Datagram, id uint16, ar bool) {
	psn := t.next[id]
	t.next[id]++
	h := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: pds.PSN(psn), ClearOffset: -1, SPDCID: pds.PDCID(id), DPDCID: pds.PDCID(id)}
	if psn == 0 {
		h.Flags, h.DPDCID, h.Info = pds.FlagSYN, 0, pds.MakePDCInfo(false, 0)
	}
	if ar {
		h.Flags |= pds.FlagAR
	}
	n, _ := h.Encode(in.Packet[:cap(in.Packet)])
	i := psn % pathMessage
	r := ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagRel, JobID: 1, Index: 1, Generation: t.gen},
		MessageID: ses.MessageID(psn/pathMessage + 1), PayloadLength: pathMTU, MessageOffset: i * pathMTU, RequestLength: pathMessage * pathMTU, Key: 1}
	switch i {
	case 0:
		r.Flags |= ses.FlagSOM
	case pathMessage - 1:
		r.Flags |= ses.FlagEOM
	}
	in.Packet = r.AppendTo(in.Packet[:n])
	in.Packet = in.Packet[:len(in.Packet)+pathMTU]
	in.Src, in.Size = pdc.AddrFrom4([4]byte{11, 0, uint8((id - 1) >> 8), uint8(id - 1)}), 4216
}

// BenchmarkTargetPath is the whole step of a target: bytes of a request in,
// decoded, its PDC found, tracked, judged by the semantic sublayer, and the bytes
// of an ACK_CC out if one is due. The requests are written inside the loop.
func BenchmarkTargetPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, 1<<16 - 2} {
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
	t := newTarget(b, n)
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
			sinkI64 += t.e.Touch(in)
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
