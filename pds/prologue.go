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

// Validate returns [ErrType] for a reserved type, then an [ErrField] for a reserved ctl_type, for
// a next_hdr that may not follow the type, or for a value wider than the field. With [TypeTSS] the
// bits of both fields are the security header's, and any are allowed.
func (p *Prologue) Validate() error {
	switch {
	case p.Type == typeReserved || p.Type > TypeRODCCReq:
		return ErrType
	case p.Type == TypeCP && CtlType(p.Next).isReserved():
		return errCtlType
	case p.Type != TypeCP && p.Type != TypeTSS && !p.Type.Allows(p.Next):
		return errNextHdr
	default:
		return errorIf(p.Next > 0xf || p.Flags > 0x7f, errRange)
	}
}

// String returns a line for people.
func (p Prologue) String() string {
	if p.Type == TypeCP {
		return fmt.Sprintf("%v %v flags=%#02x", p.Type, CtlType(p.Next), uint8(p.Flags))
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

// String returns the specification's name.
func (r AckReq) String() string {
	return enum.Name([]string{"none", "REQ_CLEAR", "REQ_CLOSE", "reserved"}, r)
}

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

// Type is the 5-bit packet type, the first field of every PDS header. The zero
// value is reserved. (UE Specification 1.0.x, Table 3-32.)
type Type uint8

const (
	typeReserved Type = 0  // no packet
	TypeTSS      Type = 1  // transport security header, with a different layout
	TypeRUDReq   Type = 2  // reliable unordered request
	TypeRODReq   Type = 3  // reliable ordered request
	TypeRUDIReq  Type = 4  // reliable unordered request for idempotent operations
	TypeRUDIResp Type = 5  // response to TypeRUDIReq
	TypeUUDReq   Type = 6  // unreliable datagram
	TypeACK      Type = 7  // acknowledgement
	TypeACKCC    Type = 8  // acknowledgement with SACK and congestion state
	TypeACKCCX   Type = 9  // the same with a wider, proprietary state
	TypeNACK     Type = 10 // refusal
	TypeCP       Type = 11 // control packet
	TypeNACKCCX  Type = 12 // refusal with proprietary congestion state
	TypeRUDCCReq Type = 13 // RUD request with congestion state
	TypeRODCCReq Type = 14 // ROD request with congestion state
)

var typeNames = [...]string{"reserved", "TSS", "RUD_REQ", "ROD_REQ", "RUDI_REQ", "RUDI_RESP", "UUD_REQ", "ACK",
	"ACK_CC", "ACK_CCX", "NACK", "CP", "NACK_CCX", "RUD_CC_REQ", "ROD_CC_REQ"}

// String returns the specification's name, or the number of a reserved type.
func (t Type) String() string { return enum.Name(typeNames[:], t) }

// IsRequest reports whether t is a RUD or ROD request, with or without
// congestion state: the types decoded by [Request].
func (t Type) IsRequest() bool { return t&^1 == TypeRUDReq || t == TypeRUDCCReq || t == TypeRODCCReq }

// IsROD reports whether t is a request of an ordered PDC.
func (t Type) IsROD() bool { return t == TypeRODReq || t == TypeRODCCReq }

var headerLens = [32]uint8{
	TypeRUDReq: RequestLen, TypeRODReq: RequestLen, TypeRUDCCReq: RequestCCLen, TypeRODCCReq: RequestCCLen,
	TypeRUDIReq: RUDILen, TypeRUDIResp: RUDILen, TypeUUDReq: uudLen,
	TypeACK: ackLen, TypeACKCC: AckCCLen, TypeACKCCX: ackCCXLen,
	TypeNACK: nackLen, TypeNACKCCX: nackCCXLen, TypeCP: ControlLen,
}

// HeaderLen returns the size of the PDS header of type t. 0 for reserved types
// and for TSS, whose first byte tells the size.
func (t Type) HeaderLen() int { return int(headerLens[t&31]) }

// NextHdr is the 4-bit next_hdr: the type of the semantic header that follows.
// Control packets carry a [CtlType] in the same place. (UE Specification 1.0.x,
// Table 3-16.)
type NextHdr uint8

const (
	NextNone              NextHdr = 0 // nothing follows
	NextRequestSmall      NextHdr = 1 // request of 20 bytes
	NextRequestMedium     NextHdr = 2 // request of 32 bytes
	NextRequestStd        NextHdr = 3 // request of 44 bytes
	NextResponse          NextHdr = 4 // response of 12 bytes
	NextResponseData      NextHdr = 5 // response of 20 bytes, with data
	NextResponseDataSmall NextHdr = 6 // response of 12 bytes, with data
)

var nextHdrNames = [...]string{"UET_HDR_NONE", "UET_HDR_REQUEST_SMALL", "UET_HDR_REQUEST_MEDIUM",
	"UET_HDR_REQUEST_STD", "UET_HDR_RESPONSE", "UET_HDR_RESPONSE_DATA", "UET_HDR_RESPONSE_DATA_SMALL"}

// String returns the specification's name, or the number of a reserved value.
func (n NextHdr) String() string { return enum.Name(nextHdrNames[:], n) }

// IsRequest reports whether a request follows, readable by Request of package ses.
func (n NextHdr) IsRequest() bool { return n-NextRequestSmall <= NextRequestStd-NextRequestSmall }

// IsResponse reports whether a response follows, readable by Reply of package ses.
func (n NextHdr) IsResponse() bool { return n-NextResponse <= NextResponseDataSmall-NextResponse }

// Sets of next_hdr values, one bit each.
const (
	nextRequests  = 1<<NextRequestSmall | 1<<NextRequestMedium | 1<<NextRequestStd
	nextReadData  = 1<<NextResponseData | 1<<NextResponseDataSmall
	nextResponses = 1<<NextResponse | nextReadData
)

// nextAllowed holds, for each type, the allowed next_hdr values. A read
// response travels as a separate request, hence nextReadData there.
var nextAllowed = [32]uint16{
	TypeRUDReq:   nextRequests | nextReadData,
	TypeRODReq:   nextRequests | nextReadData,
	TypeRUDCCReq: nextRequests | nextReadData,
	TypeRODCCReq: nextRequests | nextReadData,
	TypeRUDIReq:  nextRequests,
	TypeRUDIResp: nextResponses,
	TypeUUDReq:   nextRequests,
	TypeACK:      1<<NextNone | nextResponses,
	TypeACKCC:    1<<NextNone | nextResponses,
	TypeACKCCX:   1<<NextNone | nextResponses,
	TypeNACK:     1 << NextNone,
	TypeNACKCCX:  1 << NextNone,
}

// Allows reports whether a packet of type t may carry next. False for TSS and
// control packets, without next_hdr, and for reserved types.
func (t Type) Allows(next NextHdr) bool {
	return t < 32 && nextAllowed[t]>>next&1 != 0
}
