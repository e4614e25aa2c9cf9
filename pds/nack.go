// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// NackLen is the size of a [Nack].
const NackLen = 16

// Nack refuses one packet.
//
//	 0       4 5     8 9           15 16            23 24           31
//	+---------+-------+--------------+----------------+--------------+
//	| type 10 | next  |    flags     |   nack_code    | vendor_code  |
//	+---------+-------+--------------+----------------+--------------+
//	|              nack_psn, or nack_pkt_id if FlagNT                |
//	+--------------------------------+-------------------------------+
//	|            spdcid              |            dpdcid             |
//	+--------------------------------+-------------------------------+
//	|                            payload                             |
//	+----------------------------------------------------------------+
//
// A ROD_OOO names the packet that came too early, and has the PSN expected as its payload: so two
// public models of 1.0.3 have it. No public text of the specification says that other codes
// have one, but for NEW_START_PSN. Wireshark calls the word "max received PSN + 1" whatever the code.
//
// Source: UE Specification 1.0.x, Table 3-40.
type Nack struct {
	Next    NextHdr // NextNone
	Flags   Flags   // FlagM, FlagRetx, FlagNT
	Code    NackCode
	Vendor  uint8  // vendor_code, free
	SPDCID  PDCID  // sender's PDC; 0 if none
	DPDCID  PDCID  // receiver's PDC; 0 with FlagNT
	PSN     PSN    // nack_psn: the packet refused; with FlagNT see [Nack.PktID]
	Payload uint32 // by code; NEW_START_PSN: the PSN to start from; ROD_OOO: the PSN expected; otherwise 0, or by Vendor
}

// PktID returns the nack_pkt_id of a NACK with FlagNT.
func (n *Nack) PktID() uint32 { return uint32(n.PSN) }

// Decode sets n from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; n is then unchanged.
//
//uetcc:hot nobounds
func (n *Nack) Decode(b []byte) (int, error) {
	if len(b) < NackLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeNACK {
		return 0, ErrType
	}
	n.get(b)
	return NackLen, nil
}

func (n *Nack) get(b []byte) {
	b = b[:NackLen:NackLen]
	p := binary.BigEndian.Uint16(b)
	n.Next, n.Flags = NextHdr(p>>7&0xf), Flags(p)&nackFlags
	n.Code, n.Vendor = NackCode(b[2]), b[3]
	n.PSN = PSN(binary.BigEndian.Uint32(b[4:]))
	n.SPDCID = PDCID(binary.BigEndian.Uint16(b[8:]))
	n.DPDCID = PDCID(binary.BigEndian.Uint16(b[10:]))
	n.Payload = binary.BigEndian.Uint32(b[12:])
}

//uetcc:hot inlines
func (n *Nack) put(b []byte, t Type) {
	b = b[:NackLen:NackLen]
	binary.BigEndian.PutUint16(b, joinPrologue(t, n.Next, n.Flags&nackFlags))
	b[2], b[3] = uint8(n.Code), n.Vendor
	binary.BigEndian.PutUint32(b[4:], uint32(n.PSN))
	binary.BigEndian.PutUint16(b[8:], uint16(n.SPDCID))
	binary.BigEndian.PutUint16(b[10:], uint16(n.DPDCID))
	binary.BigEndian.PutUint32(b[12:], n.Payload)
}

// AppendTo appends n to b.
//
//uetcc:hot
func (n *Nack) AppendTo(b []byte) []byte {
	b = extend(b, NackLen)
	n.put(b[len(b)-NackLen:], TypeNACK)
	return b
}

// Validate returns [ErrNextHdr], [ErrNackCode] or [ErrPDCID], in order of checking. A
// NACK of a RUDI packet names no PDC; any other names both, except for codes of a
// sender without PDC.
func (n *Nack) Validate() error {
	switch {
	case n.Next != NextNone:
		return ErrNextHdr
	case n.Code.IsReserved():
		return ErrNackCode
	case n.Flags&FlagNT != 0:
		return errorIf(n.SPDCID != 0 || n.DPDCID != 0, ErrPDCID)
	default:
		return errorIf(n.SPDCID == 0 && !n.Code.mayLackPDC() || n.DPDCID == 0, ErrPDCID)
	}
}

// String returns a line for people.
func (n Nack) String() string { return n.text(TypeNACK) }

func (n *Nack) text(t Type) string {
	what := fmt.Sprintf("psn=%d", n.PSN)
	if n.Flags&FlagNT != 0 {
		what = fmt.Sprintf("pkt_id=%d", n.PktID())
	}
	return fmt.Sprintf("%v %v %s spdc=%d dpdc=%d payload=%d vendor=%d%s", t, n.Code, what, n.SPDCID, n.DPDCID,
		n.Payload, n.Vendor, nackFlagNames.list(n.Flags))
}
