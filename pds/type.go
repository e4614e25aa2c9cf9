// SPDX-License-Identifier: Apache-2.0

package pds

import "github.com/uetcc/uetcc/internal/enum"

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
	TypeACK: AckLen, TypeACKCC: AckCCLen, TypeACKCCX: AckCCXLen,
	TypeNACK: NackLen, TypeNACKCCX: nackCCXLen, TypeCP: ControlLen,
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
