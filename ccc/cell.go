// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/nscc"

// A cell is an event in an inbox, or a part of one; four fill a cache line, so few
// lines travel to the owner's core. Times have separate cells, since events posted
// together mostly share a time: a time cell precedes the first event of a batch, and
// each event whose time differs from the last event's.
//
//	         word   small   a, b           second cell    third cell
//	time     time
//	send     Size           Rtx, Reserved  Seq
//	ack      Bytes  Pend    ECN, Restore   RTT, Packets   RtxPackets, RtxBytes
//	nack     Size   Reason  CE, NoPDC      RTT
//	show                                   (for its view)
//	others   Size           -, NoPDC
type cell struct {
	head uint64 // pdc[31:0] entropy[47:32] small[55:48] a[56] b[57] sample[59:58] kind[63:60]
	word int64
}

// Bits of a cell's head.
const (
	entropyShift = 32
	smallShift   = 48
	aShift       = 56
	bShift       = 57
	sampleShift  = 58
	kindShift    = 60

	sampleMask = 3

	cellTime = uint64(eventTime) << kindShift
	cellNone = uint64(eventNone) << kindShift
)

// maxCells is the most cells of an event, with the time.
const maxCells = 4

// moreCells is the number of cells of an event of a kind besides the first.
var moreCells = [1 << 8]uint8{EventSend: 1, EventACK: 2, EventNACK: 1, eventShow: 1}

// cellsOf is the number of cells of a batch, with times.
//
//uetcc:hot inlines
func cellsOf(events []Event) (n uint64) {
	now := events[0].Now
	for i := range events {
		e := &events[i]
		n += uint64(moreCells[e.Kind])
		if e.Now != now {
			n++
		}
		now = e.Now
	}
	return n + uint64(len(events)) + 1
}

// flags are the bits a and b.
func flags(a, b bool) uint64 { return bit(a)<<aShift | bit(b)<<bShift }

func bit(b bool) (n uint64) {
	if b {
		n = 1
	}
	return n
}

func (c *cell) pdc() Handle     { return Handle(c.head) }
func (c *cell) entropy() uint16 { return uint16(c.head >> entropyShift) }
func (c *cell) kind() EventKind { return EventKind(c.head >> kindShift) }
func (c *cell) small() uint8    { return uint8(c.head >> smallShift) }
func (c *cell) a() bool         { return c.head>>aShift&1 != 0 }
func (c *cell) b() bool         { return c.head>>bShift&1 != 0 }

// bits are the small fields, in a head.
func (s *Sent) bits() uint64 { return flags(s.Rtx, s.Reserved) }

func (a *Ack) bits() uint64 {
	return flags(a.ECN, a.Restore) | uint64(a.Entropy)<<entropyShift |
		uint64(min(a.Kind, sampleMask))<<sampleShift | uint64(a.Pend)<<smallShift
}

func (n *Nack) bits() uint64 {
	return flags(n.CE, n.NoPDC) | uint64(n.Entropy)<<entropyShift | uint64(n.Reason)<<smallShift
}

func (l *Loss) bits() uint64 { return flags(false, l.NoPDC) | uint64(l.Entropy)<<entropyShift }

func (c *cell) sent(second *cell) Sent {
	return Sent{Size: c.word, Rtx: c.a(), Reserved: c.b(), Seq: second.head}
}

func (c *cell) ack(second, third *cell) Ack {
	return Ack{
		Ack: nscc.Ack{
			Bytes: c.word, RTT: int64(second.head), ECN: c.a(), Restore: c.b(), Pend: c.small(),
			Kind: nscc.SampleKind(c.head >> sampleShift & sampleMask),
		},
		Packets: int(second.word), RtxPackets: int(third.head), RtxBytes: third.word, Entropy: c.entropy(),
	}
}

func (c *cell) nack(second *cell) Nack {
	return Nack{
		nscc.Nack{Size: c.word, RTT: int64(second.head), Reason: nscc.NackReason(c.small())},
		c.entropy(), c.a(), c.b(), int32(second.word),
	}
}

func (c *cell) loss() Loss { return Loss{c.word, c.entropy(), c.b()} }
