// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
)

// ccStateLen is the size of [NSCCState] and [CreditState].
const ccStateLen = 8

// ServiceTimeUnit is the unit of service_time in nanoseconds.
const ServiceTimeUnit = 128

// ByteUnit is the unit in bytes of rcvd_bytes, credit and credit_target. For
// the last two the unit is inferred.
const ByteUnit = 256

// OOOUnknown is the ooo_count of a destination without the computation.
const OOOUnknown = 0xffff

// NSCCState is the congestion state of an [AckCC] of type [CCNSCC].
//
//	 0                              15 16 17       23 24           31
//	+---------------------------------+--+-----------+--------------+
//	|          service_time           |rc| cwnd_pend |  rcvd_bytes  |
//	+---------------------------------+--+-----------+--------------+
//	|            rcvd_bytes           |          ooo_count          |
//	+---------------------------------+-----------------------------+
//
// Source: UE Specification 1.0.x, Table 3-74; rc and rcv_cwnd_pend in byte 2 as
// in XDP2 (Wireshark reads both from the wrong byte).
type NSCCState struct {
	ServiceTime uint16 // time the destination held the packet, 128 ns units; 0 not valid, 0xFFFF 8.388 ms or more
	Restore     bool   // rc: receiver throttling ended, the saved window may return
	CwndPend    uint8  // rcv_cwnd_pend: penalty on newly received bytes, 0 none to 127 strongest
	RcvdBytes   uint32 // received so far, 256 B units modulo 2^24, rounded up
	OOOCount    uint16 // packets out of order now; [OOOUnknown] if not computed
}

//uetcc:hot inlines nobounds
func (s *NSCCState) get(b *[ccStateLen]byte) {
	v := binary.BigEndian.Uint64(b[:])
	s.ServiceTime = uint16(v >> 48)
	s.Restore = v>>47&1 != 0
	s.CwndPend = uint8(v >> 40 & 0x7f)
	s.RcvdBytes = uint32(v >> 16 & maxUint24)
	s.OOOCount = uint16(v)
}

//uetcc:hot inlines nobounds
func (s *NSCCState) put(b *[ccStateLen]byte) {
	received := uint64(s.RcvdBytes & maxUint24)
	v := uint64(s.ServiceTime)<<48 | uint64(s.CwndPend&0x7f)<<40 | received<<16 | uint64(s.OOOCount)
	if s.Restore {
		v |= 1 << 47
	}
	binary.BigEndian.PutUint64(b[:], v)
}

// String returns a line for people.
func (s NSCCState) String() string {
	rc := ""
	if s.Restore {
		rc = " rc"
	}
	service := int(s.ServiceTime) * ServiceTimeUnit
	return fmt.Sprintf("nscc service=%dns rcvd=%d pend=%d%s ooo=%d", service, s.RcvdBytes, s.CwndPend, rc, s.OOOCount)
}

// CreditState is the congestion state of an [AckCC] of type [CCCredit].
//
//	 0                                            23 24           31
//	+-----------------------------------------------+--------------+
//	|                    credit                     |   reserved   |
//	+--------------------------------+--------------+--------------+
//	|            reserved            |          ooo_count          |
//	+--------------------------------+-----------------------------+
//
// Source: UE Specification 1.0.x, Table 3-75.
type CreditState struct {
	Credit   uint32 // granted so far, 256 B units modulo 2^24
	OOOCount uint16 // packets out of order now; [OOOUnknown] if not computed
}

//uetcc:hot inlines nobounds
func (s *CreditState) get(b *[ccStateLen]byte) {
	v := binary.BigEndian.Uint64(b[:])
	s.Credit, s.OOOCount = uint32(v>>40), uint16(v)
}

//uetcc:hot inlines nobounds
func (s *CreditState) put(b *[ccStateLen]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(s.Credit&maxUint24)<<40|uint64(s.OOOCount))
}

// String returns a line for people.
func (s CreditState) String() string { return fmt.Sprintf("credit=%d ooo=%d", s.Credit, s.OOOCount) }

// CCType is the format of the congestion state in an ACK_CC or ACK_CCX. (UE
// Specification 1.0.x, Table 3-48.)
type CCType uint8

const (
	CCNSCC   CCType = 0  // [NSCCState]
	CCCredit CCType = 1  // [CreditState]: RCCC and TFC
	ccProp14 CCType = 14 // proprietary
	ccProp15 CCType = 15 // proprietary
)

var ccTypeNames = [...]string{
	CCNSCC: "CC_NSCC", CCCredit: "CC_CREDIT", ccProp14: "proprietary(14)", ccProp15: "proprietary(15)",
}

// String returns the specification's name, or the number of a reserved type.
func (c CCType) String() string { return enum.Name(ccTypeNames[:], c) }

// isProprietary reports whether vendors are free to use c.
func (c CCType) isProprietary() bool { return c == ccProp14 || c == ccProp15 }

// SACK is the part of an ACK_CC and an ACK_CCX with the packets received beyond
// the cumulative acknowledgement.
//
//	 0       3 4     7 8           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| cc_type | flags |     mpr      |         sack_psn_offset         |
//	+---------+-------+--------------+---------------------------------+
//	|                           sack_bitmap                            |
//	|                  bit 0 is the least significant                  |
//	+------------------------------------------------------------------+
type SACK struct {
	CCType     CCType // format of the congestion state that follows
	CCFlags    uint8  // reserved, 4 bits
	MPR        uint8  // PSNs that the target tracks, in units of 128
	SACKOffset int16  // sack_psn_offset, see [AckCC.SACKBase]
	Bitmap     uint64 // bit i: SACKBase + i has arrived; a clear bit says nothing
}

const sackLen = 12

//uetcc:hot inlines
func (s *SACK) get(b *[sackLen]byte) {
	flags := binary.LittleEndian.Uint16(b[0:]) & 0xff0f // as the two fields lie in memory
	s.CCFlags, s.MPR = uint8(flags), uint8(flags>>8)
	s.CCType = CCType(b[0] >> 4)
	s.SACKOffset = int16(binary.BigEndian.Uint16(b[2:]))
	s.Bitmap = binary.BigEndian.Uint64(b[4:])
}

//uetcc:hot inlines
func (s *SACK) put(b *[sackLen]byte) {
	b[0], b[1] = uint8(s.CCType)<<4|s.CCFlags&0xf, s.MPR
	binary.BigEndian.PutUint16(b[2:], uint16(s.SACKOffset))
	binary.BigEndian.PutUint64(b[4:], s.Bitmap)
}

func (s *SACK) text(base PSN) string {
	return fmt.Sprintf(" mpr=%d sack=%d:%#016x", s.MPR, base, s.Bitmap)
}
