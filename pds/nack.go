// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
)

// nackLen is the size of a [Nack].
const nackLen = 16

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

// Decode sets n from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
//
//uetcc:hot nobounds
func (n *Nack) Decode(b []byte) (int, error) {
	if len(b) < nackLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeNACK {
		return 0, ErrType
	}
	n.get(b)
	return nackLen, nil
}

func (n *Nack) get(b []byte) {
	b = b[:nackLen:nackLen]
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
	b = b[:nackLen:nackLen]
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
	b = extend(b, nackLen)
	n.put(b[len(b)-nackLen:], TypeNACK)
	return b
}

// Validate returns an [ErrField] if applicable. A NACK of a RUDI packet names no PDC; any other
// names both, except for codes of a sender without PDC.
func (n *Nack) Validate() error {
	switch {
	case n.Next != NextNone:
		return errNextHdr
	case n.Code.isReserved():
		return errNackCode
	case n.Flags&FlagNT != 0:
		return errorIf(n.SPDCID != 0 || n.DPDCID != 0, errPDCID)
	default:
		return errorIf(n.SPDCID == 0 && !n.Code.mayLackPDC() || n.DPDCID == 0, errPDCID)
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
	State [16]byte // nccx_type in the upper 4 bits, a [CCType] of which 14 and 15 are proprietary and the rest reserved; then opaque
}

// Decode sets n from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
func (n *NackCCX) Decode(b []byte) (int, error) {
	if len(b) < nackCCXLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeNACKCCX {
		return 0, ErrType
	}
	n.Nack.get(b)
	n.State = [16]byte(b[nackLen:])
	return nackCCXLen, nil
}

// AppendTo appends n to b.
func (n *NackCCX) AppendTo(b []byte) []byte {
	b = extend(b, nackCCXLen)
	h := b[len(b)-nackCCXLen:]
	n.Nack.put(h, TypeNACKCCX)
	*(*[16]byte)(h[nackLen:]) = n.State
	return b
}

// Validate returns an error of [Nack.Validate], or an [ErrField] for a reserved nccx_type.
func (n *NackCCX) Validate() error {
	if err := n.Nack.Validate(); err != nil {
		return err
	}
	return errorIf(!CCType(n.State[0]>>4).isProprietary(), errCCType)
}

// String returns a line for people.
func (n NackCCX) String() string { return fmt.Sprintf("%s state=%x", n.text(TypeNACKCCX), n.State) }

// NackCode says why a packet was refused. The zero value is not used on the
// wire. (UE Specification 1.0.x, Table 3-59; 3-58 in 1.0.3.)
type NackCode uint8

const (
	NackTrimmed         NackCode = 0x01 // arrived trimmed
	NackTrimmedLastHop  NackCode = 0x02 // trimmed by the last switch
	NackTrimmedACK      NackCode = 0x03 // an ACK with data arrived trimmed; not sent since 1.0.3
	NackNoPDCAvail      NackCode = 0x04 // no PDC left
	NackNoCCCAvail      NackCode = 0x05 // no congestion control context left
	NackNoBitmap        NackCode = 0x06 // no PSN tracking left
	NackNoPktBuffer     NackCode = 0x07 // no packet buffer
	NackNoGtdDelAvail   NackCode = 0x08 // no room to keep a guaranteed response
	NackNoSESMsgAvail   NackCode = 0x09 // no message state left
	NackNoResource      NackCode = 0x0A // any other resource
	NackPSNOORWindow    NackCode = 0x0B // PSN outside the tracked window
	NackRODOOO          NackCode = 0x0D // out of order on a ROD PDC
	NackInvDPDCID       NackCode = 0x0E // unknown dpdcid without SYN
	NackPDCHdrMismatch  NackCode = 0x0F // does not match the PDC's state, such as its peer
	NackClosing         NackCode = 0x10 // new PSN on a closing or closed PDC
	NackClosingInErr    NackCode = 0x11 // the target timed out while closing
	NackPktNotRcvd      NackCode = 0x12 // ACK Request for a PSN never received
	NackGtdRespUnavail  NackCode = 0x13 // duplicate whose guaranteed response is gone
	NackACKWithData     NackCode = 0x14 // ACK Request for a PSN whose response carries data and is not kept
	NackInvalidSYN      NackCode = 0x15 // SYN with a PSN outside the opening range
	NackPDCModeMismatch NackCode = 0x16 // RUD packet on a ROD PDC, or the reverse
	NackNewStartPSN     NackCode = 0x17 // send everything again from the PSN in the payload
	NackRcvdSESProcg    NackCode = 0x18 // received, the layer above still at work
	NackUnexpEvent      NackCode = 0x19 // unsupported, or an internal error
	NackRcvrInferLoss   NackCode = 0x1A // the receiver believes that the PSN is lost
	NackExpNormal       NackCode = 0xFD // experimental
	NackExpErr          NackCode = 0xFE // experimental
	NackExpFatal        NackCode = 0xFF // experimental
)

var nackNames = [...]string{
	NackTrimmed: "UET_TRIMMED", NackTrimmedLastHop: "UET_TRIMMED_LASTHOP", NackTrimmedACK: "UET_TRIMMED_ACK",
	NackNoPDCAvail: "UET_NO_PDC_AVAIL", NackNoCCCAvail: "UET_NO_CCC_AVAIL", NackNoBitmap: "UET_NO_BITMAP",
	NackNoPktBuffer: "UET_NO_PKT_BUFFER", NackNoGtdDelAvail: "UET_NO_GTD_DEL_AVAIL",
	NackNoSESMsgAvail: "UET_NO_SES_MSG_AVAIL", NackNoResource: "UET_NO_RESOURCE",
	NackPSNOORWindow: "UET_PSN_OOR_WINDOW", NackRODOOO: "UET_ROD_OOO",
	NackInvDPDCID: "UET_INV_DPDCID", NackPDCHdrMismatch: "UET_PDC_HDR_MISMATCH", NackClosing: "UET_CLOSING",
	NackClosingInErr: "UET_CLOSING_IN_ERR", NackPktNotRcvd: "UET_PKT_NOT_RCVD", NackGtdRespUnavail: "UET_GTD_RESP_UNAVAIL",
	NackACKWithData: "UET_ACK_WITH_DATA", NackInvalidSYN: "UET_INVALID_SYN", NackPDCModeMismatch: "UET_PDC_MODE_MISMATCH",
	NackNewStartPSN: "UET_NEW_START_PSN", NackRcvdSESProcg: "UET_RCVD_SES_PROCG", NackUnexpEvent: "UET_UNEXP_EVENT",
	NackRcvrInferLoss: "UET_RCVR_INFER_LOSS",
	NackExpNormal:     "UET_EXP_NACK_NORMAL", NackExpErr: "UET_EXP_NACK_ERR", NackExpFatal: "UET_EXP_NACK_FATAL",
}

// String returns the specification's name, or the number of a reserved code.
func (c NackCode) String() string { return enum.Name(nackNames[:], c) }

// isReserved reports whether no meaning is assigned to c.
func (c NackCode) isReserved() bool { return int(c) >= len(nackNames) || nackNames[c] == "" }

// IsTrimmed reports whether c names a cut by a switch: a proven loss, reported to
// congestion control.
func (c NackCode) IsTrimmed() bool { return c >= NackTrimmed && c <= NackTrimmedACK }

// IsShortage reports whether c names a lack of memory at the target, for now, and only
// for the packet and the packet's message, not for the PDC.
func (c NackCode) IsShortage() bool { return c >= NackNoPktBuffer && c <= NackNoResource }

// mayLackPDC reports whether a NACK with code c may have spdcid 0, for a sender
// without context.
func (c NackCode) mayLackPDC() bool {
	switch c {
	case NackTrimmed, NackTrimmedLastHop, NackNoPDCAvail, NackNoCCCAvail, NackNoBitmap, NackNoPktBuffer, NackNoResource,
		NackRODOOO, NackInvDPDCID, NackPDCHdrMismatch, NackInvalidSYN, NackPDCModeMismatch, NackUnexpEvent:
		return true // also what refuses a SYN packet that was cut or came too early
	}
	return false
}
