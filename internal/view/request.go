// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

// A Request is the first 12 bytes of a request in place in the packet, for the fast
// path: each field is read with a load and at most a mask. [pds.Request] is a copy of all
// fields.
//
// Methods return the values of Request.Decode for any bytes, except for DPDCID while
// FlagSYN is set. The credit target and the ccc_id of a request with congestion state lie
// behind the view.
type Request [pds.RequestLen]byte

// The bits of the first word checked by [Request.Plain]: the type without the ROD/RUD
// bit, next_hdr, the flag SYN, and the sign of clear_psn_offset. The word is read in
// little-endian order, without a byte swap.
const (
	plainRequest     = uint32(pds.TypeRUDReq<<3) | plainNext
	plainRequestBits = uint32(pds.TypeRUDReq^pds.TypeRODReq^0x1f)<<3 | plainNextBits

	plainNext     = uint32(pds.NextRequestStd>>1) | uint32(pds.NextRequestStd&1)<<15 | 1<<23
	plainNextBits = 7 | 1<<15 | uint32(pds.FlagSYN)<<8 | 1<<23
)

const requestFlags = pds.FlagRetx | pds.FlagAR | pds.FlagSYN

// Plain reports whether v is a request like nearly all: a RUD_REQ or ROD_REQ on an open
// PDC ([pds.FlagSYN] is not set) with a CLEAR_PSN before the PSN (clear_psn_offset < 0) and
// followed by a standard semantic header ([pds.NextRequestStd]).
//
//uetcc:hot inlines nobounds
func (v *Request) Plain() bool {
	return binary.LittleEndian.Uint32(v[0:])&plainRequestBits == plainRequest
}

// PlainCC is Plain for a RUD_CC_REQ or ROD_CC_REQ.
//
//uetcc:hot inlines nobounds
func (v *Request) PlainCC() bool {
	return v.Type()-pds.TypeRUDCCReq <= pds.TypeRODCCReq-pds.TypeRUDCCReq &&
		binary.LittleEndian.Uint32(v[0:])&plainNextBits == plainNext
}

// Type returns the packet type.
func (v *Request) Type() pds.Type { return pds.Type(v[0] >> 3) }

// Next returns the type of the next header.
func (v *Request) Next() pds.NextHdr { return pds.NextHdr(binary.BigEndian.Uint16(v[0:]) >> 7 & 0xf) }

// Flags returns the flags of a request.
//
//uetcc:hot inlines nobounds
func (v *Request) Flags() pds.Flags { return pds.Flags(v[1]) & requestFlags }

// ClearOffset returns clear_psn_offset.
//
//uetcc:hot inlines nobounds
func (v *Request) ClearOffset() int16 { return int16(binary.BigEndian.Uint16(v[2:])) }

// ClearPSN returns the PSN up to which the initiator releases responses.
//
//uetcc:hot inlines nobounds
func (v *Request) ClearPSN() pds.PSN { return v.PSN().Add(int32(v.ClearOffset())) }

// PSN returns the packet's PSN.
//
//uetcc:hot inlines nobounds
func (v *Request) PSN() pds.PSN { return pds.PSN(binary.BigEndian.Uint32(v[4:])) }

// SPDCID returns the sender's PDC.
//
//uetcc:hot inlines nobounds
func (v *Request) SPDCID() pds.PDCID { return pds.PDCID(binary.BigEndian.Uint16(v[8:])) }

// DPDCID returns the receiver's PDC.
//
//uetcc:hot inlines nobounds
func (v *Request) DPDCID() pds.PDCID { return pds.PDCID(binary.BigEndian.Uint16(v[10:])) }

// A Run writes the headers of RUD_REQs or ROD_REQs of an open PDC with consecutive PSNs
// and the same CLEAR_PSN.
type Run struct {
	prologue uint64  // in its place in the first word
	psn      pds.PSN // of the first
	clear    uint32  // clear_psn_offset of the first
	ids      uint32  // SPDCID and DPDCID
}

// MakeRun returns the run whose first packet has these fields. t has to be RUD_REQ or ROD_REQ.
func MakeRun(t pds.Type, next pds.NextHdr, clearOffset int16, psn pds.PSN, spdcid, dpdcid pds.PDCID) Run {
	return Run{
		prologue: uint64(prologue(t, next, 0)) << 48, psn: psn, clear: uint32(uint16(clearOffset)),
		ids: uint32(spdcid)<<16 | uint32(dpdcid),
	}
}

// Put writes the header of packet k, from 0, with [pds.FlagAR] if bit k%32 of asks is set.
//
//uetcc:hot inlines nobounds
func (r *Run) Put(b *[pds.RequestLen]byte, k, asks uint32) {
	head := r.prologue | uint64(asks>>(k%32)&1)*(uint64(pds.FlagAR)<<48)
	binary.BigEndian.PutUint64(b[0:], head|uint64(uint16(r.clear-k))<<32|uint64(uint32(r.psn)+k))
	binary.BigEndian.PutUint32(b[8:], r.ids)
}

// PutTarget makes the header in b, which Put has written, that of a RUD_CC_REQ or ROD_CC_REQ with
// these fields.
//
//uetcc:hot inlines nobounds
func (r *Run) PutTarget(b *[pds.RequestCCLen]byte, cccID uint8, target uint32) {
	b[0] += byte(pds.TypeRUDCCReq-pds.TypeRUDReq) << 3
	binary.BigEndian.PutUint32(b[12:], uint32(cccID)<<24|target&maxUint24)
}
