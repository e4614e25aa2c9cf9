// SPDX-License-Identifier: Apache-2.0

package pds

import "fmt"

// AckCCXLen is the size of an [AckCCX].
const AckCCXLen = 40

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

// sackBase returns the PSN of bit 0 of the bitmap. Any alignment is legal.
func (a *AckCCX) sackBase() PSN { return a.CACK.Add(int32(a.SACKOffset)) }

// Decode sets a from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; a is then unchanged.
func (a *AckCCX) Decode(b []byte) (int, error) {
	if len(b) < AckCCXLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeACKCCX {
		return 0, ErrType
	}
	a.Ack.get((*[AckLen]byte)(b))
	a.SACK.get((*[sackLen]byte)(b[AckLen:]))
	a.State = [16]byte(b[24:])
	return AckCCXLen, nil
}

// AppendTo appends a to b.
func (a *AckCCX) AppendTo(b []byte) []byte {
	b = extend(b, AckCCXLen)
	h := b[len(b)-AckCCXLen:]
	a.Ack.put((*[AckLen]byte)(h), TypeACKCCX)
	a.SACK.put((*[sackLen]byte)(h[AckLen:]))
	*(*[16]byte)(h[24:]) = a.State
	return b
}

// Validate returns an error of [Ack.Validate], [ErrCCType] or [ErrRange], in
// order of checking. All types but the proprietary types are reserved.
func (a *AckCCX) Validate() error {
	if err := a.Ack.Validate(); err != nil {
		return err
	}
	if !a.CCType.isProprietary() {
		return ErrCCType
	}
	return errorIf(a.CCFlags > 0xf, ErrRange)
}

// String returns a line for people.
func (a AckCCX) String() string {
	return fmt.Sprintf("%s%s %v state=%x", a.Ack.text(TypeACKCCX), a.SACK.text(a.sackBase()), a.CCType, a.State)
}
