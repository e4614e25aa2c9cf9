// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// Sizes of a [Request] on the wire.
const (
	RequestLen   = 12 // RUD_REQ, ROD_REQ
	RequestCCLen = 16 // RUD_CC_REQ, ROD_CC_REQ
)

// Request is the header of a data packet on a PDC: RUD_REQ, ROD_REQ, and the two
// with congestion state, RUD_CC_REQ and ROD_CC_REQ.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	|  type   | next  |    flags     |        clear_psn_offset         |
//	+---------+-------+--------------+---------------------------------+
//	|                               psn                                |
//	+--------------------------------+---------------------------------+
//	|            spdcid              |     dpdcid, or PDCInfo if SYN   |
//	+----------------+---------------+---------------------------------+
//	|     ccc_id     |                  credit_target                  |  RUD_CC_REQ, ROD_CC_REQ only
//	+----------------+-------------------------------------------------+
//
// Source: UE Specification 1.0.x, Tables 3-33 and 3-34. The unit of credit_target,
// 256 bytes, is inferred.
type Request struct {
	// The fields of each word on the wire from back to front, so DecodeRestCC stores
	// whole words.
	PSN          PSN
	ClearOffset  int16   // clear_psn_offset, -32768 to 0; see [Request.ClearPSN]
	Flags        Flags   // FlagRetx, FlagAR, FlagSYN
	CCCID        uint8   // congestion control context of the source; with CC state only
	CreditTarget uint32  // credit wanted so far, 256 B units modulo 2^24; with CC state only
	DPDCID       PDCID   // receiver's PDC, never 0; 0 while FlagSYN is set
	SPDCID       PDCID   // sender's PDC, never 0
	Info         PDCInfo // while FlagSYN is set, otherwise 0
	Type         Type    // one of the four that [Type.IsRequest] knows
	Next         NextHdr // a request, or read data
}

// HasCC reports whether r carries congestion state.
func (r *Request) HasCC() bool { return r.Type >= TypeRUDCCReq }

// Len returns the size of r on the wire.
func (r *Request) Len() int {
	if r.HasCC() {
		return RequestCCLen
	}
	return RequestLen
}

// ClearPSN returns the PSN up to which the initiator releases responses.
func (r *Request) ClearPSN() PSN { return r.PSN.Add(int32(r.ClearOffset)) }

// StartPSN returns the first PSN of the PDC a packet with FlagSYN opens.
func (r *Request) StartPSN() PSN { return r.PSN - PSN(r.Info.PSNOffset()) }

// Decode sets r from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
//
//uetcc:hot nobounds
func (r *Request) Decode(b []byte) (int, error) {
	if len(b) < RequestLen {
		return 0, ErrTruncated
	}
	w, n := (*[RequestLen]byte)(b), RequestLen
	switch Type(w[0] >> 3) {
	case TypeRUDCCReq, TypeRODCCReq:
		if len(b) < RequestCCLen {
			return 0, ErrTruncated
		}
		n = RequestCCLen
		r.DecodeRestCC((*[RequestCCLen]byte)(b))
	case TypeRUDReq, TypeRODReq:
		r.DecodeRest(w)
	default:
		return 0, ErrType
	}
	r.Type, r.Next = Type(w[0]>>3), NextHdr(binary.BigEndian.Uint16(w[0:])>>7&0xf)
	if r.Flags&FlagSYN != 0 {
		r.DPDCID, r.Info = 0, PDCInfo(r.DPDCID)&pdcInfoMask
	}
	return n, nil
}

// DecodeRest is Decode for b known to be a RUD_REQ or ROD_REQ without [FlagSYN].
// DecodeRest does not set Type and Next, and cannot fail.
//
//uetcc:hot inlines nobounds
func (r *Request) DecodeRest(b *[RequestLen]byte) {
	r.PSN = PSN(binary.BigEndian.Uint32(b[4:]))
	r.ClearOffset = int16(binary.BigEndian.Uint16(b[2:]))
	r.Flags, r.CCCID, r.CreditTarget = Flags(b[1])&requestFlags, 0, 0
	ids := binary.BigEndian.Uint32(b[8:])
	r.DPDCID, r.SPDCID, r.Info = PDCID(ids), PDCID(ids>>16), 0
}

// DecodeRestCC is DecodeRest for a RUD_CC_REQ or ROD_CC_REQ.
//
//uetcc:hot inlines nobounds
func (r *Request) DecodeRestCC(b *[RequestCCLen]byte) {
	const (
		front = uint64(requestFlags)<<48 | 1<<48 - 1 // flags, clear_psn_offset, psn
		back  = 0xffff_ffff<<32 | maxUint24          // spdcid, dpdcid, credit_target
	)
	v := binary.BigEndian.Uint64(b[0:])&front | uint64(b[12])<<56
	r.PSN, r.ClearOffset, r.Flags, r.CCCID = PSN(v), int16(v>>32), Flags(v>>48), uint8(v>>56)
	v = binary.BigEndian.Uint64(b[8:]) & back
	r.CreditTarget, r.DPDCID, r.SPDCID, r.Info = uint32(v), PDCID(v>>32), PDCID(v>>48), 0
}

// AppendTo appends r to b.
//
//uetcc:hot
func (r *Request) AppendTo(b []byte) []byte {
	n := r.Len()
	b = extend(b, n)
	h := b[len(b)-n:]
	w := (*[RequestLen]byte)(h)
	binary.BigEndian.PutUint16(w[:], joinPrologue(r.Type, r.Next, r.Flags&requestFlags))
	binary.BigEndian.PutUint16(w[2:], uint16(r.ClearOffset))
	binary.BigEndian.PutUint32(w[4:], uint32(r.PSN))
	binary.BigEndian.PutUint16(w[8:], uint16(r.SPDCID))
	binary.BigEndian.PutUint16(w[10:], joinPeer(r.Flags, r.DPDCID, r.Info))
	if n == RequestCCLen {
		binary.BigEndian.PutUint32(h[12:], uint32(r.CCCID)<<24|r.CreditTarget&maxUint24)
	}
	return b
}

// Validate returns [ErrType] or an [ErrField] if applicable.
func (r *Request) Validate() error {
	switch {
	case !r.Type.IsRequest():
		return ErrType
	case !r.Type.Allows(r.Next):
		return errNextHdr
	case r.ClearOffset > 0:
		return errClearOffset
	case r.SPDCID == 0 || r.Flags&FlagSYN == 0 && r.DPDCID == 0:
		return errPDCID
	case r.CreditTarget > maxUint24:
		return errRange
	default:
		return nil
	}
}

// String returns a line for people.
func (r Request) String() string {
	s := fmt.Sprintf("%v psn=%d clear=%d spdc=%d %s%s %v", r.Type, r.PSN, r.ClearPSN(), r.SPDCID,
		peerText(r.Flags, r.DPDCID, r.Info), requestFlagNames.list(r.Flags), r.Next)
	if r.HasCC() {
		s += fmt.Sprintf(" ccc=%d target=%d", r.CCCID, r.CreditTarget)
	}
	return s
}
