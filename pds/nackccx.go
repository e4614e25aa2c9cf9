// SPDX-License-Identifier: Apache-2.0

package pds

import "fmt"

// nackCCXLen is the size of a [NackCCX].
const nackCCXLen = 32

// NackCCX is a refusal with proprietary congestion state.
//
//	 0       4 5     8 9           15 16            23 24           31
//	+---------+-------+--------------+----------------+--------------+
//	| type 12 | next  |    flags     |   nack_code    | vendor_code  |  Nack
//	+---------+-------+--------------+----------------+--------------+
//	|              nack_psn, or nack_pkt_id if FlagNT                |
//	+--------------------------------+-------------------------------+
//	|            spdcid              |            dpdcid             |
//	+--------------------------------+-------------------------------+
//	|                            payload                             |
//	+-----------+----------------------------------------------------+
//	| nccx_type |                  nack_ccx_state                    |  State
//	+-----------+            124 bits, opaque                        |
//	|                                                                |
//	+----------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-41, laid out as in the reference
// provider and IxNetwork.
type NackCCX struct {
	Nack
	State [16]byte // nccx_type in the upper 4 bits, then the opaque state
}

// NCCXType returns the format of the state; 14 and 15 are proprietary, the rest
// reserved.
func (n *NackCCX) NCCXType() CCType { return CCType(n.State[0] >> 4) }

// Decode sets n from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; n is then unchanged.
func (n *NackCCX) Decode(b []byte) (int, error) {
	if len(b) < nackCCXLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeNACKCCX {
		return 0, ErrType
	}
	n.Nack.get(b)
	n.State = [16]byte(b[NackLen:])
	return nackCCXLen, nil
}

// AppendTo appends n to b.
func (n *NackCCX) AppendTo(b []byte) []byte {
	b = extend(b, nackCCXLen)
	h := b[len(b)-nackCCXLen:]
	n.Nack.put(h, TypeNACKCCX)
	*(*[16]byte)(h[NackLen:]) = n.State
	return b
}

// Validate returns the errors of [Nack.Validate], then [ErrCCType].
func (n *NackCCX) Validate() error {
	if err := n.Nack.Validate(); err != nil {
		return err
	}
	return errorIf(!n.NCCXType().isProprietary(), ErrCCType)
}

// String returns a line for people.
func (n NackCCX) String() string { return fmt.Sprintf("%s state=%x", n.text(TypeNACKCCX), n.State) }
