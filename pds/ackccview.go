// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"math/bits"
)

// An AckCCView is an ACK_CC in place in the packet: for readers of some fields without
// a copy of all, as [AckCC] is. Each method is a load and at most a mask.
//
//	if len(b) >= pds.AckCCLen {
//		if v := (*pds.AckCCView)(b); v.Plain() {
//
// The methods reading a field return the value of AckCC.Decode for any bytes. The
// congestion state is valid only if CCType is [CCNSCC].
type AckCCView [AckCCLen]byte

// plainAckBits are the bits of the first word checked by [AckCCView.Plain], the type,
// next_hdr, and the forbidden flags, and plainAck is the wanted value. The word is
// read in little-endian order, without an exchange of bytes.
const (
	plainAckBits = 0xff | 1<<15 | uint16(FlagRetx|FlagP|FlagsReq)<<8
	plainAck     = uint16(TypeACKCC)<<3 | uint16(NextResponse)>>1 | uint16(NextResponse)&1<<15
)

// Plain reports whether v is like nearly all: an ACK_CC readable by AckCC.Decode and
// valid by AckCC.Validate, with the congestion state of NSCC, followed by a response
// ([NextResponse]), with no flag but perhaps [FlagM], so no answer to a probe or a
// retransmission and without a request, and with neither a penalty (rcv_cwnd_pend) nor
// a restored window (rc), nor a service time of 8.3 ms or more, the largest being
// without meaning.
func (v *AckCCView) Plain() bool {
	return binary.LittleEndian.Uint16(v[0:])&plainAckBits == plainAck &&
		v[12] < 1<<4 && v[26] == 0 && v[24] != 0xff && // CCNSCC; rc, rcv_cwnd_pend; service_time
		binary.LittleEndian.Uint16(v[8:]) != 0 && binary.LittleEndian.Uint16(v[10:]) != 0 // spdcid, dpdcid
}

// Type returns the packet type.
func (v *AckCCView) Type() Type { return Type(v[0] >> 3) }

// Next returns the type of the next header.
func (v *AckCCView) Next() NextHdr { return NextHdr(binary.BigEndian.Uint16(v[0:]) >> 7 & 0xf) }

// Flags returns the flags of an ACK.
func (v *AckCCView) Flags() Flags { return Flags(v[1]) & ackFlags }

// Offset returns ack_psn_offset.
func (v *AckCCView) Offset() int16 { return int16(binary.BigEndian.Uint16(v[2:])) }

// CACK returns cack_psn: everything up to and including cack_psn has arrived.
func (v *AckCCView) CACK() PSN { return PSN(binary.BigEndian.Uint32(v[4:])) }

// Cumulative reports whether v says nothing of packets above CACK.
func (v *AckCCView) Cumulative() bool {
	return binary.LittleEndian.Uint16(v[2:]) == 0 && binary.LittleEndian.Uint64(v[16:]) == 0 // ack_psn_offset, bitmap
}

// Like reports whether v, too, is plain and cumulative, and of the same PDCs, if w is.
func (v *AckCCView) Like(w *AckCCView) bool {
	const head, rest = uint64(plainAckBits) | 0xffff<<16, 0xf0<<32 | 0xffff_ffff // and ack_psn_offset; ccType, PDCs
	return (binary.LittleEndian.Uint64(v[0:])^binary.LittleEndian.Uint64(w[0:]))&head == 0 &&
		(binary.LittleEndian.Uint64(v[8:])^binary.LittleEndian.Uint64(w[8:]))&rest == 0 &&
		binary.LittleEndian.Uint64(v[16:]) == 0 && v[26] == 0 // bitmap; rc, rcv_cwnd_pend
}

// AckPSN returns the PSN of the packet that triggered the acknowledgement. An answer
// to a probe, never a plain ACK_CC, names none.
func (v *AckCCView) AckPSN() PSN { return v.CACK().Add(int32(v.Offset())) }

// SPDCID returns the sender's PDC.
func (v *AckCCView) SPDCID() PDCID { return PDCID(binary.BigEndian.Uint16(v[8:])) }

// DPDCID returns the receiver's PDC.
func (v *AckCCView) DPDCID() PDCID { return PDCID(binary.BigEndian.Uint16(v[10:])) }

// CCType returns the type of the congestion state.
func (v *AckCCView) CCType() CCType { return CCType(v[12] >> 4) }

// MPR returns how many PSNs the target tracks, in units of 128.
func (v *AckCCView) MPR() uint8 { return v[13] }

// SACKOffset returns sack_psn_offset.
func (v *AckCCView) SACKOffset() int16 { return int16(binary.BigEndian.Uint16(v[14:])) }

// SACKBase returns the PSN of bit 0 of the bitmap.
func (v *AckCCView) SACKBase() PSN { return v.CACK().Add(int32(v.SACKOffset())) }

// Bitmap returns the SACK: bit i set: SACKBase + i has arrived.
func (v *AckCCView) Bitmap() uint64 { return binary.BigEndian.Uint64(v[16:]) }

// ServiceTime returns the field of [NSCCState].
func (v *AckCCView) ServiceTime() uint16 { return binary.BigEndian.Uint16(v[24:]) }

// CwndPend returns the field of [NSCCState].
func (v *AckCCView) CwndPend() uint8 { return v[26] & 0x7f }

// Restore returns the field of [NSCCState].
func (v *AckCCView) Restore() bool { return v[26]&0x80 != 0 }

// RcvdBytes returns the field of [NSCCState].
func (v *AckCCView) RcvdBytes() uint32 { return binary.BigEndian.Uint32(v[26:]) & maxUint24 }

// OOOCount returns the field of [NSCCState].
func (v *AckCCView) OOOCount() uint16 { return binary.BigEndian.Uint16(v[30:]) }

// SetAck writes the first eight bytes: an ACK_CC with the fields of p except the type,
// ack_psn_offset or probe_opaque, and cack_psn.
func (v *AckCCView) SetAck(p Prologue, offset int16, cack PSN) {
	head := joinPrologue(TypeACKCC, p.Next, p.Flags&ackFlags)
	binary.BigEndian.PutUint64(v[0:], uint64(head)<<48|uint64(uint16(offset))<<32|uint64(cack))
}

// SetPDCs writes the sender's PDC and the receiver's.
func (v *AckCCView) SetPDCs(spdcid, dpdcid PDCID) {
	binary.BigEndian.PutUint32(v[8:], uint32(spdcid)<<16|uint32(dpdcid))
}

// SetAnswered writes the PDCs for an answer to q: the sender's becomes the receiver's.
func (v *AckCCView) SetAnswered(q *RequestView) {
	binary.LittleEndian.PutUint32(v[8:], bits.RotateLeft32(binary.LittleEndian.Uint32(q[8:]), 16))
}

// SetSACK writes the type of the congestion state, the PSNs the target tracks in
// units of 128, sack_psn_offset, and the bitmap.
func (v *AckCCView) SetSACK(t CCType, mpr uint8, offset int16, bitmap uint64) {
	// BigEndian.PutUint32 would take the word to pieces where t is a constant.
	binary.LittleEndian.PutUint32(v[12:], bits.ReverseBytes32(uint32(t&0xf)<<28|uint32(mpr)<<16|uint32(uint16(offset))))
	binary.BigEndian.PutUint64(v[16:], bitmap)
}

// SetNSCC writes the congestion state where CCType is [CCNSCC]. Fields as in
// [NSCCState]; penalty is rc in the highest bit and rcv_cwnd_pend.
func (v *AckCCView) SetNSCC(serviceTime uint16, penalty uint8, rcvdBytes uint32, oooCount uint16) {
	received := uint64(rcvdBytes & maxUint24)
	binary.BigEndian.PutUint64(v[24:], uint64(serviceTime)<<48|uint64(penalty)<<40|received<<16|uint64(oooCount))
}

// SetCredit writes the congestion state where CCType is [CCCredit].
func (v *AckCCView) SetCredit(s *CreditState) { s.put((*[CCStateLen]byte)(v[24:])) }
