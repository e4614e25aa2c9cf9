// SPDX-License-Identifier: Apache-2.0

// Package view reads and writes single fields of headers where they lie in a packet, for the
// paths that a packet takes most often. Package pds has the headers as structs.
package view

import (
	"encoding/binary"
	"math/bits"

	"github.com/uetcc/uetcc/pds"
)

// An AckCC is an ACK_CC in place in the packet: for readers of some fields without
// a copy of all, as [pds.AckCC] is. Each method is a load and at most a mask.
//
//	if len(b) >= pds.AckCCLen {
//		if v := (*view.AckCC)(b); v.Plain() {
//
// The methods reading a field return the value of AckCC.Decode for any bytes. The
// fields of the congestion state are valid only with their CCType, [pds.CCNSCC] or [pds.CCCredit].
type AckCC [pds.AckCCLen]byte

// plainAckBits are the bits of the first word checked by [AckCC.Plain], the type,
// next_hdr, and the forbidden flags, and plainAck is the wanted value. The word is
// read in little-endian order, without an exchange of bytes.
const (
	plainAckBits = 0xff | 1<<15 | uint16(pds.FlagRetx|pds.FlagP|pds.FlagsReq)<<8
	plainAck     = uint16(pds.TypeACKCC)<<3 | uint16(pds.NextResponse)>>1 | uint16(pds.NextResponse)&1<<15
)

const (
	ackFlags  = pds.FlagM | pds.FlagRetx | pds.FlagP | pds.FlagsReq
	maxUint24 = 1<<24 - 1
)

// prologue returns the first two bytes of a header.
func prologue(t pds.Type, n pds.NextHdr, f pds.Flags) uint16 {
	return uint16(t)<<11 | uint16(n&0xf)<<7 | uint16(f&0x7f)
}

// Plain reports whether v is like nearly all: an ACK_CC readable by AckCC.Decode and
// valid by AckCC.Validate, followed by a response ([pds.NextResponse]), with no flag but
// perhaps [pds.FlagM], so no answer to a probe or a retransmission and without a request.
// The congestion state is of receiver credit, or of NSCC with neither a penalty
// (rcv_cwnd_pend) nor a restored window (rc), nor a service time of 8.3 ms or more, the
// largest being without meaning.
//
//uetcc:hot inlines nobounds
func (v *AckCC) Plain() bool {
	return binary.LittleEndian.Uint16(v[0:])&plainAckBits == plainAck &&
		(v[12] < 1<<4 && v[26] == 0 && v[24] != 0xff || v.hasCredit()) && // CCNSCC; rc, rcv_cwnd_pend; service_time
		binary.LittleEndian.Uint16(v[8:]) != 0 && binary.LittleEndian.Uint16(v[10:]) != 0 // spdcid, dpdcid
}

func (v *AckCC) hasCredit() bool { return v[12]>>4 == byte(pds.CCCredit) }

// Flags returns the flags of an ACK.
//
//uetcc:hot inlines nobounds
func (v *AckCC) Flags() pds.Flags { return pds.Flags(v[1]) & ackFlags }

// Offset returns ack_psn_offset.
func (v *AckCC) Offset() int16 { return int16(binary.BigEndian.Uint16(v[2:])) }

// CACK returns cack_psn: everything up to and including cack_psn has arrived.
func (v *AckCC) CACK() pds.PSN { return pds.PSN(binary.BigEndian.Uint32(v[4:])) }

// Cumulative reports whether v says nothing of packets above CACK.
//
//uetcc:hot inlines nobounds
func (v *AckCC) Cumulative() bool {
	return binary.LittleEndian.Uint16(v[2:]) == 0 && binary.LittleEndian.Uint64(v[16:]) == 0 // ack_psn_offset, bitmap
}

// Like reports whether v, too, is plain and cumulative, of the same PDCs and with the same
// congestion state, if w is.
//
//uetcc:hot inlines nobounds
func (v *AckCC) Like(w *AckCC) bool {
	const head, rest = uint64(plainAckBits) | 0xffff<<16, 0xf0<<32 | 0xffff_ffff // and ack_psn_offset; ccType, PDCs
	return (binary.LittleEndian.Uint64(v[0:])^binary.LittleEndian.Uint64(w[0:]))&head == 0 &&
		(binary.LittleEndian.Uint64(v[8:])^binary.LittleEndian.Uint64(w[8:]))&rest == 0 &&
		binary.LittleEndian.Uint64(v[16:]) == 0 && (v[26] == 0 || v.hasCredit()) // bitmap; rc, rcv_cwnd_pend
}

// AckPSN returns the PSN of the packet that triggered the acknowledgement. An answer
// to a probe, never a plain ACK_CC, names none.
//
//uetcc:hot inlines nobounds
func (v *AckCC) AckPSN() pds.PSN { return v.CACK().Add(int32(v.Offset())) }

// SPDCID returns the sender's PDC.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SPDCID() pds.PDCID { return pds.PDCID(binary.BigEndian.Uint16(v[8:])) }

// DPDCID returns the receiver's PDC.
//
//uetcc:hot inlines nobounds
func (v *AckCC) DPDCID() pds.PDCID { return pds.PDCID(binary.BigEndian.Uint16(v[10:])) }

// CCType returns the type of the congestion state.
func (v *AckCC) CCType() pds.CCType { return pds.CCType(v[12] >> 4) }

// MPR returns how many PSNs the target tracks, in units of 128.
//
//uetcc:hot inlines nobounds
func (v *AckCC) MPR() uint8 { return v[13] }

// SACKOffset returns sack_psn_offset.
func (v *AckCC) SACKOffset() int16 { return int16(binary.BigEndian.Uint16(v[14:])) }

// SACKBase returns the PSN of bit 0 of the bitmap.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SACKBase() pds.PSN { return v.CACK().Add(int32(v.SACKOffset())) }

// Bitmap returns the SACK: bit i set: SACKBase + i has arrived.
//
//uetcc:hot inlines nobounds
func (v *AckCC) Bitmap() uint64 { return binary.BigEndian.Uint64(v[16:]) }

// ServiceTime returns the field of [pds.NSCCState].
//
//uetcc:hot inlines nobounds
func (v *AckCC) ServiceTime() uint16 { return binary.BigEndian.Uint16(v[24:]) }

// Credit returns the credit of a state of [pds.CCCredit], 256 B units modulo 2^24.
func (v *AckCC) Credit() uint32 { return binary.BigEndian.Uint32(v[24:]) >> 8 }

// RcvdBytes returns the field of [pds.NSCCState].
//
//uetcc:hot inlines nobounds
func (v *AckCC) RcvdBytes() uint32 { return binary.BigEndian.Uint32(v[26:]) & maxUint24 }

// OOOCount returns the field of [pds.NSCCState].
func (v *AckCC) OOOCount() uint16 { return binary.BigEndian.Uint16(v[30:]) }

// SetAck writes the first eight bytes: an ACK_CC with the fields of p except the type,
// ack_psn_offset or probe_opaque, and cack_psn.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetAck(p pds.Prologue, offset int16, cack pds.PSN) {
	head := prologue(pds.TypeACKCC, p.Next, p.Flags&ackFlags)
	binary.BigEndian.PutUint64(v[0:], uint64(head)<<48|uint64(uint16(offset))<<32|uint64(cack))
}

// SetPDCs writes the sender's PDC and the receiver's.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetPDCs(spdcid, dpdcid pds.PDCID) {
	binary.BigEndian.PutUint32(v[8:], uint32(spdcid)<<16|uint32(dpdcid))
}

// SetAnswered writes the PDCs for an answer to q: the sender's becomes the receiver's.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetAnswered(q *Request) {
	binary.LittleEndian.PutUint32(v[8:], bits.RotateLeft32(binary.LittleEndian.Uint32(q[8:]), 16))
}

// SetSACK writes the type of the congestion state, the PSNs the target tracks in
// units of 128, sack_psn_offset, and the bitmap.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetSACK(t pds.CCType, mpr uint8, offset int16, bitmap uint64) {
	// BigEndian.PutUint32 would take the word to pieces where t is a constant.
	binary.LittleEndian.PutUint32(v[12:], bits.ReverseBytes32(uint32(t&0xf)<<28|uint32(mpr)<<16|uint32(uint16(offset))))
	binary.BigEndian.PutUint64(v[16:], bitmap)
}

// SetCCType writes the type of the congestion state alone.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetCCType(t pds.CCType) { v[12] = v[12]&0xf | byte(t)<<4 }

// SetNSCC writes the congestion state where CCType is [pds.CCNSCC]. Fields as in
// [pds.NSCCState]; penalty is rc in the highest bit and rcv_cwnd_pend.
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetNSCC(serviceTime uint16, penalty uint8, rcvdBytes uint32, oooCount uint16) {
	received := uint64(rcvdBytes & maxUint24)
	binary.BigEndian.PutUint64(v[24:], uint64(serviceTime)<<48|uint64(penalty)<<40|received<<16|uint64(oooCount))
}

// SetCredit writes the congestion state where CCType is [pds.CCCredit].
//
//uetcc:hot inlines nobounds
func (v *AckCC) SetCredit(s *pds.CreditState) {
	binary.BigEndian.PutUint64(v[24:], uint64(s.Credit&maxUint24)<<40|uint64(s.OOOCount))
}
