// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// RUDILen is the size of a [RUDI] header.
const RUDILen = 8

// RUDI is the header of a packet outside any PDC delivered at least once: RUDI_REQ, and
// RUDI_RESP in the return direction.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	|  type   | next  |    flags     |            reserved             |
//	+---------+-------+--------------+---------------------------------+
//	|                             pkt_id                               |
//	+------------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-39, as in the reference provider, XDP2,
// IxNetwork and newer versions of Wireshark; older versions of Wireshark have no
// reserved bytes.
type RUDI struct {
	Type  Type    // TypeRUDIReq or TypeRUDIResp
	Next  NextHdr // a request, or a response
	Flags Flags   // FlagRetx; in a response also FlagM
	PktID uint32  // the initiator's name for the packet; copied by the response
}

// Decode sets r from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
func (r *RUDI) Decode(b []byte) (int, error) {
	if len(b) < RUDILen {
		return 0, ErrTruncated
	}
	t, next, flags := splitPrologue(binary.BigEndian.Uint16(b))
	if t != TypeRUDIReq && t != TypeRUDIResp {
		return 0, ErrType
	}
	r.Type, r.Next, r.Flags = t, next, flags&rudiFlags(t)
	r.PktID = binary.BigEndian.Uint32(b[4:])
	return RUDILen, nil
}

// AppendTo appends r to b.
func (r *RUDI) AppendTo(b []byte) []byte {
	p := joinPrologue(r.Type, r.Next, r.Flags&rudiFlags(r.Type))
	return binary.BigEndian.AppendUint64(b, uint64(p)<<48|uint64(r.PktID))
}

// Validate returns [ErrType] or an [ErrField] if applicable.
func (r *RUDI) Validate() error {
	if r.Type != TypeRUDIReq && r.Type != TypeRUDIResp {
		return ErrType
	}
	return errorIf(!r.Type.Allows(r.Next), errNextHdr)
}

// String returns a line for people.
func (r RUDI) String() string {
	return fmt.Sprintf("%v pkt_id=%d%s %v", r.Type, r.PktID, ackFlagNames.list(r.Flags&rudiRspFlags), r.Next)
}

func rudiFlags(t Type) Flags {
	if t == TypeRUDIReq {
		return rudiReqFlags
	}
	return rudiRspFlags
}

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

// Decode sets u from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
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

// Validate returns an [ErrField] if applicable.
func (u *UUD) Validate() error { return errorIf(!TypeUUDReq.Allows(u.Next), errNextHdr) }

// String returns a line for people.
func (u UUD) String() string { return fmt.Sprintf("%v %v", TypeUUDReq, u.Next) }
