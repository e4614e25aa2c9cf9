// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"encoding/binary"
	"errors"
)

// Errors of [FlowControl.Decode].
var (
	ErrTruncated = errors.New("cbfc: flow control packet truncated")
	ErrOp        = errors.New("cbfc: reserved operation")
	ErrCRC       = errors.New("cbfc: wrong link packet CRC")
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

// Decode sets f from the first [FlowControlLen] bytes of b. After an error
// ([ErrTruncated], [ErrCRC], [ErrOp]) f is unchanged.
func (f *FlowControl) Decode(b []byte) error {
	if len(b) < FlowControlLen {
		return ErrTruncated
	}
	if binary.LittleEndian.Uint16(b[4:]) != linkCRC(b[:4]) {
		return ErrCRC
	}
	v := binary.BigEndian.Uint32(b)
	if v>>28 > 1 {
		return ErrOp
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
