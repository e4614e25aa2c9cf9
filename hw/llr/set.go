// SPDX-License-Identifier: Apache-2.0

package llr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
)

// Seq numbers the frames of a link, 20 bits.
type Seq uint32

const (
	seqBits = 20
	seqMask = 1<<seqBits - 1
	half    = 1 << (seqBits - 1)
)

// add is s + n, modulo 2^20.
func (s Seq) add(n int) Seq { return (s + Seq(n)) & seqMask }

// to is the way forward from s to o, 0 to 2^20 - 1.
func (s Seq) to(o Seq) int { return int((o - s) & seqMask) }

// diff is s - o as a signed distance, -2^19 to 2^19 - 1.
func (s Seq) diff(o Seq) int { return int((s-o+half)&seqMask) - half }

// Type is the message of a control ordered set. Source: table 5-29.
type Type uint8

// The types.
const (
	TypeACK      Type = 0x01 // receiver: everything up to Seq has come
	TypeNACK     Type = 0x02 // receiver: everything up to Seq has come, the next frame was damaged
	TypeInit     Type = 0x03 // transmitter: the next frame is Seq
	TypeInitEcho Type = 0x04 // receiver: so be it
	TypeCFUpdate Type = 0x10 // credits freed on two virtual channels, see package cbfc
)

var typeNames = map[Type]string{
	TypeACK: "LLR_ACK", TypeNACK: "LLR_NACK", TypeInit: "LLR_INIT", TypeInitEcho: "LLR_INIT_ECHO", TypeCFUpdate: "CF_Update",
}

// String returns the specification's name, or the number.
func (t Type) String() string {
	if n, ok := typeNames[t]; ok {
		return n
	}
	return enum.Name(nil, t)
}

// ErrSet is wrapped by every error of [Set.Decode]: what has come is to be discarded.
var ErrSet = errors.New("llr: no control ordered set")

var (
	errTruncated = fmt.Errorf("%w: truncated", ErrSet)
	errForm      = fmt.Errorf("%w: another block type or O-code", ErrSet)
	errType      = fmt.Errorf("%w: unknown type", ErrSet)
	errReserved  = fmt.Errorf("%w: reserved bits are set", ErrSet)
)

// setLen is the size of a control ordered set, bytes.
const setLen = 8

// A Set is a control ordered set in the form of a 64B/66B block: block type 0x4B, type, and the
// O-code 6 in the lower half of the fifth byte.
//
//	          0      8      16               32   36  40      48      56      64
//	          +------+------+----------------+----+---+-------+-------+-------+
//	ACK, NACK | 0x4B | type |         seq         | 6 |           0           |
//	INIT      | 0x4B | type |         seq         | 6 | data, low byte 1st| 0 |
//	CF_Update | 0x4B | 0x10 | VC 5, count 15      | 6 | VC 5, count 15    | 0 |
//	          +------+------+---------------------+---+-------------------+---+
type Set struct {
	Type  Type
	Seq   Seq        // ACK, NACK: the last good frame; INIT, INIT_ECHO: the next frame
	Data  uint16     // INIT, INIT_ECHO (init_data): echoed, without a public meaning
	Freed [2]VCCount // CF_Update
}

// A VCCount is how many credits a virtual channel has freed, the low 15 bits of R_CF. The R_CF for
// OnCFUpdate of package cbfc is the next after S_CF with these bits, (S_CF + (Count - S_CF) mod 2^15)
// mod 2^20: right as long as a channel's limit is below 2^15.
type VCCount struct {
	VC    uint8  // 0 to 31
	Count uint16 // 0 to 32,767
}

func (c VCCount) word() uint32 { return uint32(c.VC&31)<<15 | uint32(c.Count&0x7fff) }

func countOf(w uint32) VCCount { return VCCount{VC: uint8(w >> 15 & 31), Count: uint16(w & 0x7fff)} }

const (
	blockType = 0x4b
	oCode     = 0x6
)

// Decode sets s from the first [setLen] bytes of b. After an error, which wraps [ErrSet], s is
// unchanged.
func (s *Set) Decode(b []byte) error {
	if len(b) < setLen {
		return errTruncated
	}
	v := binary.BigEndian.Uint64(b)
	x := Set{Type: Type(v >> 48)}
	first, second := uint32(v>>28)&seqMask, uint32(v>>4)&seqMask
	switch {
	case v>>56 != blockType || v>>24&0xf != oCode:
		return errForm
	case x.Type == TypeCFUpdate:
		x.Freed = [2]VCCount{countOf(first), countOf(second)} // the last four bits are reserved, and not looked at
	case x.Type == TypeACK || x.Type == TypeNACK:
		if v&0xffffff != 0 {
			return errReserved
		}
		x.Seq = Seq(first)
	case x.Type == TypeInit || x.Type == TypeInitEcho:
		if v&0xff != 0 {
			return errReserved
		}
		x.Seq, x.Data = Seq(first), binary.LittleEndian.Uint16(b[5:])
	default:
		return errType
	}
	*s = x
	return nil
}

// AppendTo appends s to b. Bits above a field's width are cut off.
func (s *Set) AppendTo(b []byte) []byte {
	v := uint64(blockType)<<56 | uint64(s.Type)<<48 | oCode<<24
	switch s.Type {
	case TypeCFUpdate:
		v |= uint64(s.Freed[0].word())<<28 | uint64(s.Freed[1].word())<<4
	case TypeInit, TypeInitEcho:
		v |= uint64(s.Data&0xff)<<16 | uint64(s.Data>>8)<<8
		fallthrough
	default:
		v |= uint64(s.Seq&seqMask) << 28
	}
	return binary.BigEndian.AppendUint64(b, v)
}
