package pds

import "encoding/binary"

// A RequestView is the first 12 bytes of a request as they lie in the packet: for
// readers that need some of its fields, each where it stands, and need no copy of
// all, which is what [Request] is. Each method is a load and at most a mask.
//
// The methods say what Request.Decode would set, whatever the bytes are; DPDCID is
// meant while FlagSYN is not set. Credit and context of a request with congestion
// state lie behind these bytes.
type RequestView [RequestLen]byte

// The bits of the first word that [RequestView.Plain] looks at: type, but for that
// which tells ROD from RUD, next_hdr, the flag SYN, and the sign of clear_psn_offset.
// The word is read as it lies in the memory of a little-endian machine, which saves an
// exchange of its bytes.
const (
	plainRequest     = uint32(TypeRUDReq<<3) | plainNext
	plainRequestBits = uint32(TypeRUDReq^TypeRODReq^0x1f)<<3 | plainNextBits

	plainNext     = uint32(NextRequestStd>>1) | uint32(NextRequestStd&1)<<15 | 1<<23
	plainNextBits = 7 | 1<<15 | uint32(FlagSYN)<<8 | 1<<23
)

// Plain reports whether v is what nearly all are where it matters: a RUD_REQ or
// ROD_REQ on a PDC that is open ([FlagSYN] is not set), which clears a PSN before its
// own (clear_psn_offset < 0), and is followed by a standard semantic header
// ([NextRequestStd]).
func (v *RequestView) Plain() bool {
	return binary.LittleEndian.Uint32(v[0:])&plainRequestBits == plainRequest
}

// PlainCC is Plain for a RUD_CC_REQ or ROD_CC_REQ.
func (v *RequestView) PlainCC() bool {
	return v.Type()-TypeRUDCCReq <= TypeRODCCReq-TypeRUDCCReq && binary.LittleEndian.Uint32(v[0:])&plainNextBits == plainNext
}

// Type returns the packet type.
func (v *RequestView) Type() Type { return Type(v[0] >> 3) }

// Next returns what follows the header.
func (v *RequestView) Next() NextHdr { return NextHdr(binary.BigEndian.Uint16(v[0:]) >> 7 & 0xf) }

// Flags returns the flags of a request.
func (v *RequestView) Flags() Flags { return Flags(v[1]) & requestFlags }

// ClearOffset returns clear_psn_offset.
func (v *RequestView) ClearOffset() int16 { return int16(binary.BigEndian.Uint16(v[2:])) }

// ClearPSN returns the PSN up to which the initiator releases responses.
func (v *RequestView) ClearPSN() PSN { return v.PSN().Add(int32(v.ClearOffset())) }

// PSN returns the packet's own.
func (v *RequestView) PSN() PSN { return PSN(binary.BigEndian.Uint32(v[4:])) }

// SPDCID returns the sender's PDC.
func (v *RequestView) SPDCID() PDCID { return PDCID(binary.BigEndian.Uint16(v[8:])) }

// DPDCID returns the receiver's PDC.
func (v *RequestView) DPDCID() PDCID { return PDCID(binary.BigEndian.Uint16(v[10:])) }

// PutRequest writes a RUD_REQ or ROD_REQ of an open PDC to b, with two stores. It is
// Request.Encode where p.Type is one of these and p.Flags lacks [FlagSYN], which is
// not written.
func PutRequest(b *[RequestLen]byte, p Prologue, clearOffset int16, psn PSN, spdcid, dpdcid PDCID) {
	head := joinPrologue(p.Type, p.Next, p.Flags&(requestFlags&^FlagSYN))
	binary.BigEndian.PutUint64(b[0:], uint64(head)<<48|uint64(uint16(clearOffset))<<32|uint64(psn))
	binary.BigEndian.PutUint32(b[8:], uint32(spdcid)<<16|uint32(dpdcid))
}
