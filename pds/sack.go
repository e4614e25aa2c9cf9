// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
)

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
