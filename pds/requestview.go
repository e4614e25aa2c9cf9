// SPDX-License-Identifier: Apache-2.0

package pds

import "encoding/binary"

// A RequestView is the first 12 bytes of a request in place in the packet, for the fast
// path: each field is read with a load and at most a mask. [Request] is a copy of all
// fields.
//
// Methods return the values of Request.Decode for any bytes, except for DPDCID while
// FlagSYN is set. The credit target and the ccc_id of a request with congestion state lie
// behind the view.
type RequestView [RequestLen]byte

// The bits of the first word checked by [RequestView.Plain]: the type without the ROD/RUD
// bit, next_hdr, the flag SYN, and the sign of clear_psn_offset. The word is read in
// little-endian order, without a byte swap.
const (
	plainRequest     = uint32(TypeRUDReq<<3) | plainNext
	plainRequestBits = uint32(TypeRUDReq^TypeRODReq^0x1f)<<3 | plainNextBits

	plainNext     = uint32(NextRequestStd>>1) | uint32(NextRequestStd&1)<<15 | 1<<23
	plainNextBits = 7 | 1<<15 | uint32(FlagSYN)<<8 | 1<<23
)

// Plain reports whether v is a request like nearly all: a RUD_REQ or ROD_REQ on an open
// PDC ([FlagSYN] is not set) with a CLEAR_PSN before the PSN (clear_psn_offset < 0) and
// followed by a standard semantic header ([NextRequestStd]).
func (v *RequestView) Plain() bool {
	return binary.LittleEndian.Uint32(v[0:])&plainRequestBits == plainRequest
}

// PlainCC is Plain for a RUD_CC_REQ or ROD_CC_REQ.
func (v *RequestView) PlainCC() bool {
	return v.Type()-TypeRUDCCReq <= TypeRODCCReq-TypeRUDCCReq &&
		binary.LittleEndian.Uint32(v[0:])&plainNextBits == plainNext
}

// Type returns the packet type.
func (v *RequestView) Type() Type { return Type(v[0] >> 3) }

// Next returns the type of the next header.
func (v *RequestView) Next() NextHdr { return NextHdr(binary.BigEndian.Uint16(v[0:]) >> 7 & 0xf) }

// Flags returns the flags of a request.
func (v *RequestView) Flags() Flags { return Flags(v[1]) & requestFlags }

// ClearOffset returns clear_psn_offset.
func (v *RequestView) ClearOffset() int16 { return int16(binary.BigEndian.Uint16(v[2:])) }

// ClearPSN returns the PSN up to which the initiator releases responses.
func (v *RequestView) ClearPSN() PSN { return v.PSN().Add(int32(v.ClearOffset())) }

// PSN returns the packet's PSN.
func (v *RequestView) PSN() PSN { return PSN(binary.BigEndian.Uint32(v[4:])) }

// SPDCID returns the sender's PDC.
func (v *RequestView) SPDCID() PDCID { return PDCID(binary.BigEndian.Uint16(v[8:])) }

// DPDCID returns the receiver's PDC.
func (v *RequestView) DPDCID() PDCID { return PDCID(binary.BigEndian.Uint16(v[10:])) }

// PutRequest writes a RUD_REQ or ROD_REQ of an open PDC to b, with two stores, as
// Request.Encode does. p.Type has to be RUD_REQ or ROD_REQ; [FlagSYN] in p.Flags is
// ignored.
func PutRequest(b *[RequestLen]byte, p Prologue, clearOffset int16, psn PSN, spdcid, dpdcid PDCID) {
	head := joinPrologue(p.Type, p.Next, p.Flags&(requestFlags&^FlagSYN))
	binary.BigEndian.PutUint64(b[0:], uint64(head)<<48|uint64(uint16(clearOffset))<<32|uint64(psn))
	binary.BigEndian.PutUint32(b[8:], uint32(spdcid)<<16|uint32(dpdcid))
}
