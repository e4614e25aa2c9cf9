package pds

import (
	"encoding/binary"
	"fmt"
)

// Sizes of [AckCC] and [AckCCX].
const (
	AckCCLen  = 32
	AckCCXLen = 40
)

// CCType says what the congestion state of an ACK_CC or ACK_CCX is. (UE
// Specification 1.0.x, Table 3-48.)
type CCType uint8

const (
	CCNSCC   CCType = 0  // [NSCCState]
	CCCredit CCType = 1  // [CreditState]: RCCC and TFC
	CCProp14 CCType = 14 // proprietary
	CCProp15 CCType = 15 // proprietary
)

var ccTypeNames = [...]string{CCNSCC: "CC_NSCC", CCCredit: "CC_CREDIT", CCProp14: "proprietary(14)", CCProp15: "proprietary(15)"}

// String returns the specification's name, or the number of a reserved type.
func (c CCType) String() string { return enumName(ccTypeNames[:], "CCType", uint8(c)) }

// isProprietary reports whether vendors are free to use c.
func (c CCType) isProprietary() bool { return c == CCProp14 || c == CCProp15 }

// SACK is the part of an ACK_CC and an ACK_CCX that says which packets beyond
// the cumulative acknowledgement have arrived.
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

// AckCC is an acknowledgement with a SACK and congestion state.
//
//	+------------------------------------------------------------------+
//	|                     Ack, 12 bytes, type 8                        |
//	+------------------------------------------------------------------+
//	|                          SACK, 12 bytes                          |
//	+------------------------------------------------------------------+
//	|         ack_cc_state, 8 bytes: NSCCState or CreditState          |
//	+------------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-36; bit order of the bitmap from the
// Linux ultraeth patches.
type AckCC struct {
	Ack
	SACK
	State [8]byte // as on the wire; [AckCC.NSCC] and [AckCC.Credit] read it
}

// SACKBase returns the PSN of bit 0 of the bitmap. Any alignment is legal.
func (a *AckCC) SACKBase() PSN { return a.CACK.Add(int32(a.SACKOffset)) }

// NSCC sets s from the congestion state and reports whether there was one for
// NSCC; otherwise s is as it was.
func (a *AckCC) NSCC(s *NSCCState) bool {
	if a.CCType != CCNSCC {
		return false
	}
	s.get(&a.State)
	return true
}

// SetNSCC makes s the congestion state.
func (a *AckCC) SetNSCC(s *NSCCState) { a.CCType = CCNSCC; s.put(&a.State) }

// Credit sets s from the congestion state and reports whether there was one
// for receiver credit; otherwise s is as it was.
func (a *AckCC) Credit(s *CreditState) bool {
	if a.CCType != CCCredit {
		return false
	}
	s.get(&a.State)
	return true
}

// SetCredit makes s the congestion state.
func (a *AckCC) SetCredit(s *CreditState) { a.CCType = CCCredit; s.put(&a.State) }

// Decode sets a from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; they leave a as it was.
func (a *AckCC) Decode(b []byte) (int, error) {
	if len(b) < AckCCLen {
		return 0, ErrTruncated
	}
	b = b[:AckCCLen:AckCCLen]
	if Type(b[0]>>3) != TypeACKCC {
		return 0, ErrType
	}
	a.Ack.get(b)
	a.SACK.get(b[AckLen:])
	a.State = [8]byte(b[24:])
	if CCType(b[12]>>4) == CCCredit {
		a.State[3], a.State[4], a.State[5] = 0, 0, 0 // reserved
	}
	return AckCCLen, nil
}

func (s *SACK) get(b []byte) {
	b = b[:12:12]
	s.CCType, s.CCFlags, s.MPR = CCType(b[0]>>4), b[0]&0xf, b[1]
	s.SACKOffset = int16(binary.BigEndian.Uint16(b[2:]))
	s.Bitmap = binary.BigEndian.Uint64(b[4:])
}

// Encode writes a to the front of b and returns the length of the header. The
// only error is [ErrTruncated].
func (a *AckCC) Encode(b []byte) (int, error) {
	if len(b) < AckCCLen {
		return 0, ErrTruncated
	}
	a.Ack.put(b, TypeACKCC)
	a.SACK.put(b[AckLen:])
	*(*[8]byte)(b[24:]) = a.State
	return AckCCLen, nil
}

func (s *SACK) put(b []byte) {
	b = b[:12:12]
	b[0], b[1] = uint8(s.CCType)<<4|s.CCFlags&0xf, s.MPR
	binary.BigEndian.PutUint16(b[2:], uint16(s.SACKOffset))
	binary.BigEndian.PutUint64(b[4:], s.Bitmap)
}

// AppendTo appends a to b.
func (a *AckCC) AppendTo(b []byte) []byte {
	b = extend(b, AckCCLen)
	p := (*[AckCCLen]byte)(b[len(b)-AckCCLen:])
	a.Ack.put(p[:], TypeACKCC) // not Encode: on the ACK path the second call shows
	a.SACK.put(p[AckLen:])
	*(*[8]byte)(p[24:]) = a.State
	return b
}

// Validate returns the first of the errors of [Ack.Validate], [ErrCCType] and
// [ErrRange] that applies.
func (a *AckCC) Validate() error {
	if err := a.Ack.Validate(); err != nil {
		return err
	}
	if a.CCType != CCNSCC && a.CCType != CCCredit && !a.CCType.isProprietary() {
		return ErrCCType
	}
	return errorIf(a.CCFlags > 0xf, ErrRange)
}

// String returns one line for people.
func (a AckCC) String() string {
	s := a.Ack.text(TypeACKCC) + a.SACK.text(a.SACKBase())
	switch a.CCType {
	case CCNSCC:
		var st NSCCState
		a.NSCC(&st)
		return s + " " + st.String()
	case CCCredit:
		var st CreditState
		a.Credit(&st)
		return s + " " + st.String()
	default:
		return fmt.Sprintf("%s %v state=%x", s, a.CCType, a.State)
	}
}

func (s *SACK) text(base PSN) string {
	return fmt.Sprintf(" mpr=%d sack=%d:%#016x", s.MPR, base, s.Bitmap)
}

// AckCCX is an acknowledgement with a SACK and proprietary congestion state of
// twice the size. Its CCType is called ccx_type.
//
//	+------------------------------------------------------------------+
//	|                     Ack, 12 bytes, type 9                        |
//	+------------------------------------------------------------------+
//	|                          SACK, 12 bytes                          |
//	+------------------------------------------------------------------+
//	|                     ack_ccx_state, 16 bytes                      |
//	+------------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-37, with the size that Wireshark, the
// reference provider and IxNetwork give it.
type AckCCX struct {
	Ack
	SACK
	State [16]byte // opaque
}

// SACKBase returns the PSN of bit 0 of the bitmap. Any alignment is legal.
func (a *AckCCX) SACKBase() PSN { return a.CACK.Add(int32(a.SACKOffset)) }

// Decode sets a from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; they leave a as it was.
func (a *AckCCX) Decode(b []byte) (int, error) {
	if len(b) < AckCCXLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeACKCCX {
		return 0, ErrType
	}
	a.Ack.get(b)
	a.SACK.get(b[AckLen:])
	a.State = [16]byte(b[24:])
	return AckCCXLen, nil
}

// Encode writes a to the front of b and returns the length of the header. The
// only error is [ErrTruncated].
func (a *AckCCX) Encode(b []byte) (int, error) {
	if len(b) < AckCCXLen {
		return 0, ErrTruncated
	}
	a.Ack.put(b, TypeACKCCX)
	a.SACK.put(b[AckLen:])
	*(*[16]byte)(b[24:]) = a.State
	return AckCCXLen, nil
}

// AppendTo appends a to b.
func (a *AckCCX) AppendTo(b []byte) []byte {
	b = extend(b, AckCCXLen)
	a.Encode(b[len(b)-AckCCXLen:])
	return b
}

// Validate returns the first of the errors of [Ack.Validate], [ErrCCType] and
// [ErrRange] that applies. All types but the proprietary ones are reserved.
func (a *AckCCX) Validate() error {
	if err := a.Ack.Validate(); err != nil {
		return err
	}
	if !a.CCType.isProprietary() {
		return ErrCCType
	}
	return errorIf(a.CCFlags > 0xf, ErrRange)
}

// String returns one line for people.
func (a AckCCX) String() string {
	return fmt.Sprintf("%s%s %v state=%x", a.Ack.text(TypeACKCCX), a.SACK.text(a.SACKBase()), a.CCType, a.State)
}
