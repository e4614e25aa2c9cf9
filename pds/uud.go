// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// uudLen is the size of a [UUD] header.
const uudLen = 4

// UUD is the header of an unreliable datagram, UUD_REQ.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| type 6  | next  |   reserved   |            reserved             |
//	+---------+-------+--------------+---------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-42.
type UUD struct {
	Next NextHdr // a request
}

// Decode sets u from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; u is then unchanged.
func (u *UUD) Decode(b []byte) (int, error) {
	if len(b) < uudLen {
		return 0, ErrTruncated
	}
	t, next, _ := splitPrologue(binary.BigEndian.Uint16(b))
	if t != TypeUUDReq {
		return 0, ErrType
	}
	u.Next = next
	return uudLen, nil
}

// AppendTo appends u to b.
func (u *UUD) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(joinPrologue(TypeUUDReq, u.Next, 0))<<16)
}

// Validate returns [ErrNextHdr] if applicable.
func (u *UUD) Validate() error { return errorIf(!TypeUUDReq.Allows(u.Next), ErrNextHdr) }

// String returns a line for people.
func (u UUD) String() string { return fmt.Sprintf("%v %v", TypeUUDReq, u.Next) }
