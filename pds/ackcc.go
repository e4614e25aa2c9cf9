// SPDX-License-Identifier: Apache-2.0

package pds

import "fmt"

// AckCCLen is the size of an [AckCC].
const AckCCLen = 32

// AckCC is an acknowledgement with a SACK and congestion state.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| type 8  | next  |    flags     | ack_psn_offset, or probe_opaque |  Ack
//	+---------+-------+--------------+---------------------------------+
//	|                             cack_psn                             |
//	+--------------------------------+---------------------------------+
//	|            spdcid              |             dpdcid              |
//	+---------+-------+--------------+---------------------------------+
//	| cc_type | flags |     mpr      |         sack_psn_offset         |  SACK
//	+---------+-------+--------------+---------------------------------+
//	|                           sack_bitmap                            |
//	|                             64 bits                              |
//	+------------------------------------------------------------------+
//	|                  ack_cc_state, 64 bits, by cc_type:              |  State
//	|                     NSCCState or CreditState                     |
//	+------------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-36; bit order of the bitmap from the
// Linux ultraeth patches.
type AckCC struct {
	Ack
	SACK

	// State is as on the wire, without the reserved bits of a CreditState. Read
	// with [AckCC.NSCC] and [AckCC.Credit].
	State [8]byte
}

// SACKBase returns the PSN of bit 0 of the bitmap. Any alignment is legal.
func (a *AckCC) SACKBase() PSN { return a.CACK.Add(int32(a.SACKOffset)) }

// NSCC sets s from the congestion state and reports whether the state is for
// NSCC; otherwise s is unchanged.
//
//uetcc:hot inlines nobounds
func (a *AckCC) NSCC(s *NSCCState) bool {
	if a.CCType != CCNSCC {
		return false
	}
	s.get(&a.State)
	return true
}

// SetNSCC makes s the congestion state.
func (a *AckCC) SetNSCC(s *NSCCState) { a.CCType = CCNSCC; s.put(&a.State) }

// Credit sets s from the congestion state and reports whether the state is for
// receiver credit; otherwise s is unchanged.
//
//uetcc:hot inlines nobounds
func (a *AckCC) Credit(s *CreditState) bool {
	if a.CCType != CCCredit {
		return false
	}
	s.get(&a.State)
	return true
}

// SetCredit makes s the congestion state.
func (a *AckCC) SetCredit(s *CreditState) { a.CCType = CCCredit; s.put(&a.State) }

// Decode sets a from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
//
//uetcc:hot inlines nobounds
func (a *AckCC) Decode(b []byte) (int, error) {
	if len(b) < AckCCLen {
		return 0, ErrTruncated
	}
	return a.get((*[AckCCLen]byte)(b))
}

// get is Decode without the check of the length, so Decode inlines.
func (a *AckCC) get(b *[AckCCLen]byte) (int, error) {
	if b[0]&0xf8 != byte(TypeACKCC)<<3 {
		return 0, ErrType
	}
	a.Ack.get((*[ackLen]byte)(b[:]))
	a.SACK.get((*[sackLen]byte)(b[ackLen:]))
	a.State = [8]byte(b[24:])
	if a.CCType == CCCredit {
		a.State[3], a.State[4], a.State[5] = 0, 0, 0 // reserved
	}
	return AckCCLen, nil
}

// AppendTo appends a to b. The only call is the one of put, so AppendTo inlines.
//
//uetcc:hot
func (a *AckCC) AppendTo(b []byte) []byte {
	b = append(b, make([]byte, AckCCLen)...)
	a.put((*[AckCCLen]byte)(b[len(b)-AckCCLen:]))
	return b
}

func (a *AckCC) put(b *[AckCCLen]byte) {
	a.Ack.put((*[ackLen]byte)(b[:]), TypeACKCC)
	a.SACK.put((*[sackLen]byte)(b[ackLen:]))
	*(*[8]byte)(b[24:]) = a.State
}

// Validate returns an error of [Ack.Validate] or an [ErrField].
func (a *AckCC) Validate() error {
	if err := a.Ack.Validate(); err != nil {
		return err
	}
	if a.CCType != CCNSCC && a.CCType != CCCredit && !a.CCType.isProprietary() {
		return errCCType
	}
	return errorIf(a.CCFlags > 0xf, errRange)
}

// String returns a line for people.
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

// ackCCXLen is the size of an [AckCCX].
const ackCCXLen = 40

// AckCCX is an acknowledgement with a SACK and proprietary congestion state of
// twice the size. The CCType is called ccx_type.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| type 9  | next  |    flags     | ack_psn_offset, or probe_opaque |  Ack
//	+---------+-------+--------------+---------------------------------+
//	|                             cack_psn                             |
//	+--------------------------------+---------------------------------+
//	|            spdcid              |             dpdcid              |
//	+---------+-------+--------------+---------------------------------+
//	|ccx_type | flags |     mpr      |         sack_psn_offset         |  SACK
//	+---------+-------+--------------+---------------------------------+
//	|                           sack_bitmap                            |
//	|                             64 bits                              |
//	+------------------------------------------------------------------+
//	|                          ack_ccx_state                           |  State
//	|                        128 bits, opaque                          |
//	+------------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-37, with the size in Wireshark, the
// reference provider and IxNetwork.
type AckCCX struct {
	Ack
	SACK
	State [16]byte // opaque
}

// Decode sets a from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
func (a *AckCCX) Decode(b []byte) (int, error) {
	if len(b) < ackCCXLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeACKCCX {
		return 0, ErrType
	}
	a.Ack.get((*[ackLen]byte)(b))
	a.SACK.get((*[sackLen]byte)(b[ackLen:]))
	a.State = [16]byte(b[24:])
	return ackCCXLen, nil
}

// AppendTo appends a to b.
func (a *AckCCX) AppendTo(b []byte) []byte {
	b = extend(b, ackCCXLen)
	h := b[len(b)-ackCCXLen:]
	a.Ack.put((*[ackLen]byte)(h), TypeACKCCX)
	a.SACK.put((*[sackLen]byte)(h[ackLen:]))
	*(*[16]byte)(h[24:]) = a.State
	return b
}

// Validate returns an error of [Ack.Validate] or an [ErrField]. All types but the proprietary
// types are reserved.
func (a *AckCCX) Validate() error {
	if err := a.Ack.Validate(); err != nil {
		return err
	}
	if !a.CCType.isProprietary() {
		return errCCType
	}
	return errorIf(a.CCFlags > 0xf, errRange)
}

// String returns a line for people.
func (a AckCCX) String() string {
	return fmt.Sprintf("%s%s %v state=%x", a.Ack.text(TypeACKCCX), a.SACK.text(a.CACK.Add(int32(a.SACKOffset))), a.CCType, a.State)
}
