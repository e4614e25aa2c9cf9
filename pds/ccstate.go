// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// CCStateLen is the size of [NSCCState] and [CreditState].
const CCStateLen = 8

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
func (s *NSCCState) get(b *[CCStateLen]byte) {
	v := binary.BigEndian.Uint64(b[:])
	s.ServiceTime = uint16(v >> 48)
	s.Restore = v>>47&1 != 0
	s.CwndPend = uint8(v >> 40 & 0x7f)
	s.RcvdBytes = uint32(v >> 16 & maxUint24)
	s.OOOCount = uint16(v)
}

//uetcc:hot inlines nobounds
func (s *NSCCState) put(b *[CCStateLen]byte) {
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
func (s *CreditState) get(b *[CCStateLen]byte) {
	v := binary.BigEndian.Uint64(b[:])
	s.Credit, s.OOOCount = uint32(v>>40), uint16(v)
}

//uetcc:hot inlines nobounds
func (s *CreditState) put(b *[CCStateLen]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(s.Credit&maxUint24)<<40|uint64(s.OOOCount))
}

// String returns a line for people.
func (s CreditState) String() string { return fmt.Sprintf("credit=%d ooo=%d", s.Credit, s.OOOCount) }
