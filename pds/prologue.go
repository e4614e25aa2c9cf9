// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// PrologueLen is the size of a [Prologue].
const PrologueLen = 2

// Prologue is the first word of every PDS header but TSS.
//
//	 0       4 5     8 9           15
//	+---------+-------+--------------+
//	|  type   |  next |    flags     |
//	+---------+-------+--------------+
//
// Source: UE Specification 1.0.x, Table 3-32.
type Prologue struct {
	Type  Type
	Next  NextHdr // the ctl_type when Type is [TypeCP]
	Flags Flags   // all 7 bits, reserved ones too
}

// Decode sets p from the front of b and returns the length of the header. The
// only error is [ErrTruncated]; reserved types are left to Validate.
//
//uetcc:hot inlines nobounds
func (p *Prologue) Decode(b []byte) (int, error) {
	if len(b) < PrologueLen {
		return 0, ErrTruncated
	}
	v := binary.BigEndian.Uint16(b)
	p.Type, p.Next, p.Flags = splitPrologue(v)
	return PrologueLen, nil
}

// AppendTo appends p to b.
func (p *Prologue) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint16(b, joinPrologue(p.Type, p.Next, p.Flags))
}

// Ctl returns the type of a control packet.
func (p *Prologue) Ctl() CtlType { return CtlType(p.Next) }

// Validate returns [ErrType] for a reserved type, then [ErrCtlType] or
// [ErrNextHdr] for a next_hdr that may not follow the type.
func (p *Prologue) Validate() error {
	switch {
	case p.Type == typeReserved || p.Type > TypeRODCCReq:
		return ErrType
	case p.Type == TypeTSS:
		return nil
	case p.Type == TypeCP:
		return errorIf(p.Ctl().isReserved(), ErrCtlType)
	default:
		return errorIf(!p.Type.Allows(p.Next), ErrNextHdr)
	}
}

// String returns a line for people.
func (p Prologue) String() string {
	if p.Type == TypeCP {
		return fmt.Sprintf("%v %v flags=%#02x", p.Type, p.Ctl(), uint8(p.Flags))
	}
	return fmt.Sprintf("%v %v flags=%#02x", p.Type, p.Next, uint8(p.Flags))
}

func splitPrologue(v uint16) (Type, NextHdr, Flags) {
	return Type(v >> 11), NextHdr(v >> 7 & 0xf), Flags(v & 0x7f)
}

func joinPrologue(t Type, n NextHdr, f Flags) uint16 {
	return uint16(t)<<11 | uint16(n&0xf)<<7 | uint16(f&0x7f)
}

// PeekType returns the type of the packet whose PDS or TSS header begins b. The
// error is [ErrTruncated] for an empty b, [ErrType] for a reserved type.
//
//uetcc:hot inlines nobounds
func PeekType(b []byte) (Type, error) {
	if len(b) == 0 {
		return 0, ErrTruncated
	}
	t := Type(b[0] >> 3)
	if t == typeReserved || t > TypeRODCCReq {
		return 0, ErrType
	}
	return t, nil
}
