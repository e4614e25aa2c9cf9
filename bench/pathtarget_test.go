// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// targetEnd is a target with PDCs that each receive a long write after another.
type targetEnd struct {
	e       *uetcc.Endpoint
	reply   uetcc.Datagram
	got     uetcc.Received
	in      []uetcc.Datagram // a slice of requests, of which only what differs is written
	clock   stopwatch
	next    []uint32 // by PDCID: the next PSN, from 0
	swap    uint32   // so many packets less 1, a power of two, come last first
	head    uint64   // the first word of a request, but its PSN
	message uint64   // the first word of the semantic header, but the message_id
	ccc     uint32   // the word of a request with congestion state, but its credit_target; otherwise 0
	placed  int64    // bytes
}

const (
	pathMessage = 1 << 16 // packets
	pathQuanta  = 17      // of credit for a packet
)

func newTarget(b *testing.B, n int, control ccc.Control, flags pds.Flags) *targetEnd {
	t := &targetEnd{next: make([]uint32, n+1), reply: uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}}
	t.e = pathEndpoint(b, n, func(c *uetcc.Config) {
		c.CC.Control = control
		c.CC.RCCC.InitialCredit = pathQuanta * rccc.QuantumBytes
	})
	s := t.e.Target()
	process, _ := s.AddProcess(ses.Process{Job: 1})
	gen, _ := s.OpenIndex(0, process, 1, ses.Index{})
	if _, err := s.Register(process, 1, ses.Region{Length: 1 << 40, Key: 1, Job: 1, Rights: ses.RightWrite}); err != nil {
		b.Fatal(err)
	}
	h := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: flags, ClearOffset: -1}
	if control != ccc.ControlNSCC {
		h.Type, h.CCCID = pds.TypeRUDCCReq, 1
		t.ccc = 1 << 24
	}
	r := ses.Standard{Common: ses.Common{Opcode: ses.OpcodeWrite, Flags: ses.FlagRel, JobID: 1, Index: 1, Generation: gen},
		PayloadLength: pathMTU, RequestLength: pathMessage * pathMTU, Key: 1}
	packet := r.AppendTo(h.AppendTo(nil))
	t.head, t.message = binary.BigEndian.Uint64(packet), binary.BigEndian.Uint64(packet[h.Len():])
	for range pathSlice {
		t.in = append(t.in, uetcc.Datagram{Packet: append(packet[:len(packet):len(packet)], make([]byte, pathMTU)...), Size: 4216})
	}
	t.open(b, n)
	return t
}

// open sends the first packet on each PDC, and the one that shows that the peer has heard.
func (t *targetEnd) open(b *testing.B, n int) {
	for i := range 2 * n {
		in := &t.in[0]
		t.request(in, uint16(i/2+1))
		if i%2 == 0 {
			in.Packet[atFlags] |= byte(pds.FlagSYN)
			binary.BigEndian.PutUint16(in.Packet[atDPDCID:], uint16(pds.MakePDCInfo(false, 0)))
		}
		t.receive(0, in)
		if t.got.Action != ses.ActionPlace {
			b.Fatalf("%+v", t.got)
		}
	}
	t.placed = 0
}

// request writes the next request of a PDC: the words that are not as in the one
// before, as the floor does. The last bytes of a packet stay as they are.
func (t *targetEnd) request(in *uetcc.Datagram, id uint16) {
	psn := (t.next[id] - 2) ^ t.swap + 2
	t.next[id]++
	message := t.message | uint64(psn/pathMessage+1)<<32
	if (psn+1)%pathMessage <= 1 {
		message |= t.edge(psn)
	}
	b := (*[pds.RequestLen + ses.StandardLen]byte)(in.Packet)
	binary.BigEndian.PutUint64(b[:], t.head|uint64(psn))
	binary.BigEndian.PutUint32(b[atSPDCID:], uint32(id)<<16|uint32(id))
	s := (*[ses.StandardLen]byte)(b[pds.RequestLen:])
	if t.ccc != 0 {
		binary.BigEndian.PutUint32(b[atCCC:], t.ccc|(psn+2)*pathQuanta&0xffffff)
		s = (*[ses.StandardLen]byte)(in.Packet[pds.RequestCCLen:])
	}
	binary.BigEndian.PutUint64(s[:], message)
	binary.BigEndian.PutUint32(s[atMessageOffset:], psn%pathMessage*pathMTU)
	in.Src.Hi, in.Src.Lo = 0, pathSource|uint64(id-1)
}

// edge is what the first or the last packet of a message has besides.
func (t *targetEnd) edge(psn uint32) uint64 {
	if psn%pathMessage == 0 {
		return uint64(ses.FlagSOM) << 48
	}
	return uint64(ses.FlagEOM) << 48
}

func (t *targetEnd) receive(now int64, in *uetcc.Datagram) {
	t.e.Receive(now, in, &t.reply, &t.got)
	t.placed += int64(t.got.Length)
}

// check says whether what was received was placed and, with AR, acknowledged.
func (t *targetEnd) check(b *testing.B, packets int, ar bool) {
	s := t.e.PDS().Stats()
	opened := 2 * (len(t.next) - 1)
	if t.placed != int64(packets)*pathMTU || s.Requests != uint64(opened+packets) || ar && s.ACKs != s.Requests {
		b.Fatalf("%d packets, %d bytes placed, %+v", packets, t.placed, s)
	}
}

// BenchmarkTargetPath is the whole step of a target: bytes of a request in,
// decoded, its PDC found, tracked, judged by the semantic sublayer, and the bytes
// of an ACK_CC out if one is due.
func BenchmarkTargetPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, pathMost} {
		for _, per := range []int{1, 4} {
			for _, batch := range []int{1, pathBatch} {
				b.Run(fmt.Sprintf("pdcs=%d/packets-per-ack=%d/batch=%d", n, per, batch), func(b *testing.B) {
					flags := pds.Flags(0)
					if per == 1 {
						flags = pds.FlagAR
					}
					targetPath(b, newTarget(b, n, ccc.ControlNSCC, flags), batch)
				})
			}
		}
	}
}

// BenchmarkTargetSpray is TargetPath where packets overtake each other: those of each 32
// of a PDC come last first. The peers' Receive/spray does the same.
func BenchmarkTargetSpray(b *testing.B) {
	for _, n := range []int{1, 1 << 10, pathMost} {
		b.Run(fmt.Sprintf("pdcs=%d", n), func(b *testing.B) {
			t := newTarget(b, n, ccc.ControlNSCC, pds.FlagAR)
			t.swap = 31
			t.head -= uint64(t.swap) << 32 // of clear_psn_offset: what has come by then
			targetPath(b, t, 1)
		})
	}
}

func targetPath(b *testing.B, t *targetEnd, batch int) {
	n, ar := len(t.next)-1, pds.Flags(t.head>>48)&pds.FlagAR != 0
	order := (*[1 << 16]uint16)(pathOrder(n))
	b.ReportAllocs()
	packets := 0
	for ; b.Loop(); packets += len(t.in) {
		for i := range t.in {
			t.request(&t.in[i], order[(packets+i)&0xffff]+1)
		}
		t.clock.time(len(t.in), func() { t.take(int64(packets)*42, batch) })
	}
	t.clock.report(b)
	t.check(b, packets, ar)
}

// take takes the slice in, of which so many requests are looked at together first.
func (t *targetEnd) take(now int64, batch int) {
	for i := range t.in {
		if batch > 1 && i%batch == 0 {
			t.e.Prefetch(t.in[i : i+batch])
		}
		t.receive(now+int64(i)*42, &t.in[i])
	}
}

// BenchmarkTargetMessage is the step of a target for writes of few packets.
func BenchmarkTargetMessage(b *testing.B) {
	for _, n := range []int{1, 1 << 10} {
		for _, length := range []uint32{1, 4} {
			b.Run(fmt.Sprintf("pdcs=%d/packets=%d", n, length), func(b *testing.B) {
				t := newTarget(b, n, ccc.ControlNSCC, pds.FlagAR)
				for h := range t.e.PDS().All() {
					(*msg.Target)(t.e.Target()).ClosePeer(uint64(h), nil) // the long message that it was opened with
				}
				order := (*[1 << 16]uint16)(pathOrder(n))
				b.ReportAllocs()
				packets := 0
				for ; b.Loop(); packets += len(t.in) {
					for i := range t.in {
						id := order[(packets+i)&0xffff] + 1
						k := t.next[id] - 2
						t.request(&t.in[i], id)
						t.cut(&t.in[i], k, length)
					}
					t.clock.time(len(t.in), func() { t.take(int64(packets)*42, 1) })
				}
				t.clock.report(b)
				t.check(b, packets, true)
			})
		}
	}
}

// cut makes a request packet i of messages of n packets, a power of two.
func (t *targetEnd) cut(in *uetcc.Datagram, i, n uint32) {
	s := (*[ses.StandardLen]byte)(in.Packet[pds.RequestLen:])
	binary.BigEndian.PutUint32(s[atRequestLength:], n*pathMTU)
	message := t.message | uint64(i>>bits.TrailingZeros32(n)&0xffff)<<32
	i &= n - 1
	if i == 0 {
		message |= uint64(ses.FlagSOM) << 48
	}
	if i == n-1 {
		message |= uint64(ses.FlagEOM) << 48
	}
	binary.BigEndian.PutUint64(s[:], message)
	binary.BigEndian.PutUint32(s[atMessageOffset:], i*pathMTU)
}

// BenchmarkGrantPath is a target's step under receiver credit: bytes of a request
// in, which asks for credit, and the bytes of the CREDIT packet out that is due
// after every fourth or so. In batches the memory for the requests is prefetched.
func BenchmarkGrantPath(b *testing.B) {
	for _, n := range []int{64, 1 << 10, pathMost} {
		for _, batch := range []int{1, pathBatch} {
			b.Run(fmt.Sprintf("senders=%d/batch=%d", n, batch), func(b *testing.B) {
				t := newTarget(b, n, ccc.ControlRCCC, 0)
				order := pathOrder(n)
				out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
				b.ReportAllocs()
				packets, grants, now := 0, 0, int64(1)
				for ; b.Loop(); packets += len(t.in) {
					for i := range t.in {
						t.request(&t.in[i], order[(packets+i)&0xffff]+1)
					}
					t.clock.time(len(t.in), func() {
						for i := range t.in {
							if batch > 1 && i%batch == 0 {
								t.e.Prefetch(t.in[i : i+batch])
							}
							now += pathQuanta * rccc.QuantumBytes * 8 / 100 // at 100 Gb/s
							t.receive(now, &t.in[i])
							for t.e.Transmit(now, &out) {
								grants++
							}
						}
					})
				}
				t.clock.report(b)
				b.ReportMetric(float64(grants)/float64(packets), "grants/packet")
				t.check(b, packets, false)
			})
		}
	}
}
