// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// NackClass is the reaction of a refused packet's source. The zero
// value does nothing.
type NackClass uint8

const (
	NackIgnore   NackClass = iota // count the NACK; the retransmission timer decides
	NackRetx                      // the PDC lives: send the refused PSN again
	NackRetry                     // the target has no PDC yet: send the SYN again later
	NackGoBack                    // ordered PDC: send everything from the refused PSN again
	NackRenumber                  // number everything anew from the PSN in the payload
	NackNewPDC                    // the PDC will not take the packet; a new PDC may
	NackFatal                     // the PDC fails
)

// nackClasses follows UE Specification 1.0.x, Table 3-59. RCVD_SES_PROCG is
// ignored as the reference provider does: a packet sent again while the target still
// works on the first copy only brings the next NACK.
var nackClasses = [256]NackClass{
	pds.NackTrimmed: NackRetx, pds.NackTrimmedLastHop: NackRetx, pds.NackTrimmedACK: NackRetx,
	pds.NackNoPDCAvail: NackRetry, pds.NackNoCCCAvail: NackRetry, pds.NackNoBitmap: NackRetry,
	pds.NackNoPktBuffer: NackRetx, pds.NackNoGtdDelAvail: NackRetx, pds.NackNoSESMsgAvail: NackRetx, pds.NackNoResource: NackRetx,
	pds.NackPSNOORWindow: NackRetx, pds.NackRODOOO: NackGoBack,
	pds.NackInvDPDCID: NackNewPDC, pds.NackPDCHdrMismatch: NackNewPDC, pds.NackClosing: NackNewPDC, pds.NackClosingInErr: NackFatal,
	pds.NackPktNotRcvd: NackRetx, pds.NackGtdRespUnavail: NackFatal, pds.NackACKWithData: NackRetx,
	pds.NackInvalidSYN: NackFatal, pds.NackPDCModeMismatch: NackFatal, pds.NackNewStartPSN: NackRenumber,
	pds.NackUnexpEvent: NackFatal, pds.NackRcvrInferLoss: NackRetx,
	pds.NackExpNormal: NackRetx, pds.NackExpErr: NackNewPDC, pds.NackExpFatal: NackFatal,
}

// ClassOf returns the source's reaction to c; [NackIgnore] for reserved codes.
func ClassOf(c pds.NackCode) NackClass { return nackClasses[c] }
