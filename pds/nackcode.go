// SPDX-License-Identifier: Apache-2.0

package pds

import "github.com/uetcc/uetcc/internal/enum"

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

// IsReserved reports whether no meaning is assigned to c.
func (c NackCode) IsReserved() bool { return int(c) >= len(nackNames) || nackNames[c] == "" }

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
