// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/internal/check"
)

// Constants of InfiniBand flow control (volume 1, section 7.9).
const (
	BlockSize = 64   // bytes of a block, the unit of credit
	MaxGrant  = 2048 // blocks that can be granted ahead: 128 KiB, half the counter's range

	totalMask = 4096 - 1 // FCTBS, ABR and FCCL have 12 bits
)

// ErrConfig is wrapped by every error of a constructor or Validate; the message names
// the field.
var ErrConfig = errors.New("cbfc: invalid configuration")

// Blocks returns the credit a packet of the given length costs: whole
// 64-byte blocks over the packet from its local header through its final CRC.
func Blocks(bytes int64) int64 { return (bytes + BlockSize - 1) / BlockSize }

// Lane is one virtual lane of a port, both halves.
type Lane struct {
	Tx
	Rx

	sentAt  int64 // when the last flow control packet left
	heardAt int64 // when the last valid packet came
}

// Tx is the transmitting half of a virtual lane. The zero value is a lane whose
// link was just initialised: nothing may be sent before the first
// [Tx.OnFlowControl]. Single writer.
type Tx struct {
	FCTBS uint16 // blocks sent since initialisation, modulo 4096; to read
	Limit uint16 // FCCL of the newest flow control packet; to read
	Open  bool   // a limit has been received; to read
}

// CanSend reports whether a packet of n blocks may start:
// (FCCL - (FCTBS + n)) mod 4096 <= 2048. A packet no grant could ever cover
// (n > 2048) is blocked. So is each of InfiniBand's packets, 66 blocks at most, without
// credit, and on a transmitter that is less than 1,982 blocks past its limit. The
// rule cannot tell n blocks too many from 4,096 - n left: it lets 2,048 blocks go
// without any credit.
//
//uetcc:hot inlines nobounds
func (t *Tx) CanSend(n int64) bool {
	room := (t.Limit - t.FCTBS - uint16(n)) & totalMask
	return t.Open && uint64(n) <= MaxGrant && room <= MaxGrant
}

// OnSend counts a packet of n blocks as sent.
//
//uetcc:hot inlines nobounds
func (t *Tx) OnSend(n int64) { t.FCTBS = (t.FCTBS + uint16(n)) & totalMask }

// OnFlowControl takes the FCCL of a flow control packet for this lane. The value is
// absolute: a lost packet costs only time.
//
//uetcc:hot inlines nobounds
func (t *Tx) OnFlowControl(fccl uint16) { t.Limit, t.Open = fccl&totalMask, true }

// Credits returns (FCCL - FCTBS) mod 4096. A value above [MaxGrant] means the
// transmitter went past its limit; no large credit.
func (t *Tx) Credits() uint16 { return (t.Limit - t.FCTBS) & totalMask }

// Rx is the receiving half of a virtual lane: the adjusted total of blocks
// received and the lane's own buffer. Single writer.
type Rx struct {
	ABR      uint16 // adjusted blocks received, modulo 4096; to read
	Buffer   int64  // blocks dedicated to the lane; to read
	Occupied int64  // blocks in use, 0 to Buffer; to read
	Overruns int64  // packets discarded since initialisation; to read
}

// newRx returns the receiving half of a lane with a buffer of the given number
// of blocks. The error wraps [ErrConfig].
func newRx(buffer int64) (Rx, error) {
	if err := check.AtLeast(ErrConfig, "buffer", buffer, 0); err != nil {
		return Rx{}, err
	}
	return Rx{Buffer: buffer}, nil
}

// Receive stores a packet of n blocks and reports true, or discards it, counts
// an overrun and reports false for lack of room. A loss can only make a
// receiver grant too little, so an overrun means a faulty transmitter.
//
//uetcc:hot inlines nobounds
func (r *Rx) Receive(n int64) bool {
	if n < 0 || n > r.Buffer-r.Occupied {
		r.Overruns++
		return false
	}
	r.ABR = (r.ABR + uint16(n)) & totalMask
	r.Occupied += n
	return true
}

// Release frees n blocks of the buffer, at most as many as are in use.
func (r *Rx) Release(n int64) { r.Occupied -= max(0, min(n, r.Occupied)) }

// OnFlowControl takes the FCTBS of a flow control packet for this lane: blocks
// of packets lost on the wire return to the credit. The rule relies on the order of
// the wire: every packet sent before has arrived or is lost.
func (r *Rx) OnFlowControl(fctbs uint16) { r.ABR = fctbs & totalMask }

// FCCL returns the limit to announce: (ABR + min(2048, free)) mod 4096.
//
//uetcc:hot inlines nobounds
func (r *Rx) FCCL() uint16 {
	return (r.ABR + uint16(min(MaxGrant, r.Buffer-r.Occupied))) & totalMask
}

// ErrPacket is wrapped by every error of [FlowControl.Decode]: what has come is to be discarded.
var ErrPacket = errors.New("cbfc: no flow control packet")

var (
	errTruncated = fmt.Errorf("%w: truncated", ErrPacket)
	errOp        = fmt.Errorf("%w: reserved operation", ErrPacket)
	errCRC       = fmt.Errorf("%w: wrong link packet CRC", ErrPacket)
)

// FlowControlLen is the length in bytes of a flow control packet.
const FlowControlLen = 6

// FlowControl is an InfiniBand flow control packet: one number of the sender as
// transmitter, one of the sender as receiver, for one lane. Flow control packets are
// never subject to flow control.
//
//	 0    4               16   20              32              48
//	+----+----------------+----+---------------+---------------+
//	| Op |     FCTBS      | VL |     FCCL      |     LPCRC     |
//	+----+----------------+----+---------------+---------------+
type FlowControl struct {
	Init  bool   // Op: the link is initialising, data may not flow yet
	VL    uint8  // virtual lane, 0..14
	FCTBS uint16 // blocks that the sender has sent on the lane, modulo 4096
	FCCL  uint16 // total that the sender, as receiver, allows, modulo 4096
}

// Decode sets f from the first [FlowControlLen] bytes of b. After an error, which wraps [ErrPacket], f is
// unchanged.
func (f *FlowControl) Decode(b []byte) error {
	if len(b) < FlowControlLen {
		return errTruncated
	}
	if binary.LittleEndian.Uint16(b[4:]) != linkCRC(b[:4]) {
		return errCRC
	}
	v := binary.BigEndian.Uint32(b)
	if v>>28 > 1 {
		return errOp
	}
	f.Init, f.FCTBS = v>>28 != 0, uint16(v>>16)&totalMask
	f.VL, f.FCCL = uint8(v>>12)&0xf, uint16(v)&totalMask
	return nil
}

// AppendTo appends the packet with its CRC to b. Bits above a field's width are
// cut off.
func (f *FlowControl) AppendTo(b []byte) []byte {
	v := uint32(f.FCTBS&totalMask)<<16 | uint32(f.VL&0xf)<<12 | uint32(f.FCCL&totalMask)
	if f.Init {
		v |= 1 << 28
	}
	b = binary.BigEndian.AppendUint32(b, v)
	return binary.LittleEndian.AppendUint16(b, linkCRC(b[len(b)-4:]))
}

// linkCRC is InfiniBand's 16-bit CRC for link packets: polynomial 0x100B, all
// ones at the start, complemented at the end, least significant bit of a byte
// first. The highest term is the lowest bit, so the low byte goes first on the wire,
// as with the ICRC and VCRC.
func linkCRC(b []byte) uint16 {
	const reversed = 0xd008 // 0x100B with the bits in reverse order
	crc := uint16(0xffff)
	for _, c := range b {
		crc ^= uint16(c)
		for range 8 {
			crc = crc>>1 ^ reversed&-(crc&1)
		}
	}
	return ^crc
}
