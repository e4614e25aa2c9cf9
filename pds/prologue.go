// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/uetcc/uetcc/internal/enum"
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

// Flags are the 7 flag bits of the prologue. Their meaning depends on the
// packet type; bits a type does not use are reserved.
//
//	type                 0x40  0x20   0x10  0x08  0x04 0x02  0x01
//	RUD, ROD requests     -     -     retx   ar   syn    -    -
//	RUDI_REQ              -     -     retx   -     -     -    -
//	RUDI_RESP             -     m     retx   -     -     -    -
//	UUD_REQ               -     -      -     -     -     -    -
//	ACK, ACK_CC, ACK_CCX  -     m     retx   p    [  req  ]   -
//	NACK, NACK_CCX        -     m     retx   nt    -     -    -
//	CP                    -   isrod   retx   ar   syn    -    -
//
// Source: UE Specification 1.0.x, Tables 3-32 to 3-42.
type Flags uint8

const (
	FlagM     Flags = 0x20 // the answered packet arrived with a CE mark
	FlagISROD Flags = 0x20 // control packet NOOP or NEGOTIATION: the PDC is ordered
	FlagRetx  Flags = 0x10 // retransmission; in an ACK or NACK, the answered packet was a retransmission
	FlagAR    Flags = 0x08 // the destination should acknowledge now
	FlagP     Flags = 0x08 // the ACK answers a probe
	FlagNT    Flags = 0x08 // the NACK refuses a RUDI packet
	FlagSYN   Flags = 0x04 // the PDC is being opened: [PDCInfo] replaces the PDCID

	FlagsReq Flags = reqMask // ACK: the two bits of [Flags.Req]
)

const (
	reqShift = 1
	reqMask  = 3 << reqShift

	requestFlags = FlagRetx | FlagAR | FlagSYN
	rudiReqFlags = FlagRetx
	rudiRspFlags = FlagM | FlagRetx
	ackFlags     = FlagM | FlagRetx | FlagP | reqMask
	nackFlags    = FlagM | FlagRetx | FlagNT
	cpFlags      = FlagISROD | FlagRetx | FlagAR | FlagSYN
)

// AckReq is the target's request to the initiator in an ACK. Initiators send
// zero.
type AckReq uint8

const (
	AckReqNone     AckReq = 0 // nothing
	AckReqClear    AckReq = 1 // a clear of guaranteed responses
	AckReqClose    AckReq = 2 // a close of the PDC
	ackReqReserved AckReq = 3 // not legal
)

var ackReqNames = [...]string{"none", "REQ_CLEAR", "REQ_CLOSE", "reserved"}

// String returns the specification's name.
func (r AckReq) String() string { return enum.Name(ackReqNames[:], r) }

// Req returns the request in the flags of an ACK.
func (f Flags) Req() AckReq { return AckReq(f & reqMask >> reqShift) }

// WithReq returns f with the request of an ACK set to r.
func (f Flags) WithReq(r AckReq) Flags { return f&^reqMask | Flags(r)<<reqShift&reqMask }

// flagNames are the names of the bits of a packet type, from 0x20 down.
type flagNames [4]string

var (
	requestFlagNames = flagNames{"", "retx", "ar", "syn"}
	ackFlagNames     = flagNames{"m", "retx", "p", ""}
	nackFlagNames    = flagNames{"m", "retx", "nt", ""}
	cpFlagNames      = flagNames{"isrod", "retx", "ar", "syn"}
)

// list returns the names of the bits set, each after a blank.
func (n *flagNames) list(f Flags) string {
	var s strings.Builder
	for i, name := range n {
		if f&(FlagM>>i) != 0 && name != "" {
			s.WriteString(" " + name)
		}
	}
	return s.String()
}
