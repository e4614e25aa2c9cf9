package ccc

import "github.com/uetcc/uetcc/nscc"

// A cell is an event in an inbox, or half an acknowledgement; two fill a cache line.
//
//	         kind             size         more          small   a, b
//	send                      Size         Seq                   Rtx, Reserved
//	ack                       Bytes        RTT           Pend    ECN, Restore
//	         Kind (a sample)  Packets      RtxPackets            and RtxBytes in now
//	nack                      Size         RTT           Reason  CE, NoPDC
//	others                    Size                               -, NoPDC
type cell struct {
	pdc     Handle
	entropy uint16
	kind    uint8 // with bits a and b
	small   uint8
	now     int64
	size    int64
	more    int64
}

const (
	maxCells = 2 // of an event

	bitA     = 1 << 6
	bitB     = 1 << 7
	kindMask = bitA - 1
)

func flags(a, b bool) (bits uint8) {
	if a {
		bits = bitA
	}
	if b {
		bits |= bitB
	}
	return bits
}

func (c *cell) a() bool { return c.kind&bitA != 0 }
func (c *cell) b() bool { return c.kind&bitB != 0 }

func (c *cell) sent() Sent {
	return Sent{Size: c.size, Rtx: c.a(), Reserved: c.b(), Seq: uint64(c.more)}
}

func (c *cell) ack(rest *cell) Ack {
	return Ack{
		Ack:     nscc.Ack{Bytes: c.size, RTT: c.more, ECN: c.a(), Restore: c.b(), Pend: c.small, Kind: nscc.SampleKind(rest.kind)},
		Packets: int(rest.size), RtxPackets: int(rest.more), RtxBytes: rest.now, Entropy: c.entropy,
	}
}

func (c *cell) nack() Nack {
	return Nack{nscc.Nack{Size: c.size, RTT: c.more, Reason: nscc.NackReason(c.small)}, c.entropy, c.a(), c.b()}
}

func (c *cell) loss() Loss { return Loss{c.size, c.entropy, c.b()} }
