// SPDX-License-Identifier: Apache-2.0

package pds

import "github.com/uetcc/uetcc/internal/enum"

// CtlType is the 4-bit ctl_type of a control packet; in the place of other
// packets' next_hdr. (UE Specification 1.0.x, Table 3-38.)
type CtlType uint8

const (
	CtlNOOP        CtlType = 0 // nothing; may open a PDC
	CtlACKReq      CtlType = 1 // source: asks about the fate of a PSN
	CtlClearCmd    CtlType = 2 // initiator: responses up to the PSN may go
	CtlClearReq    CtlType = 3 // target: please clear up to the PSN
	CtlCloseCmd    CtlType = 4 // initiator: the PDC closes
	CtlCloseReq    CtlType = 5 // target: please close the PDC
	CtlProbe       CtlType = 6 // source: send me an ACK of the present state
	CtlCredit      CtlType = 7 // destination: credit granted so far
	CtlCreditReq   CtlType = 8 // source: credit wanted so far
	CtlNegotiation CtlType = 9 // opaque; may open a PDC
)

var ctlNames = [...]string{"NOOP", "ACK_REQ", "CLEAR_CMD", "CLEAR_REQ", "CLOSE_CMD", "CLOSE_REQ", "PROBE",
	"CREDIT", "CREDIT_REQ", "NEGOTIATION"}

// String returns the specification's name, or the number of a reserved value.
func (c CtlType) String() string { return enum.Name(ctlNames[:], c) }

// isReserved reports whether no meaning is assigned to c.
func (c CtlType) isReserved() bool { return c > CtlNegotiation }

// ConsumesPSN reports whether a control packet of this type takes a PSN and is
// retransmitted until acknowledged.
func (c CtlType) ConsumesPSN() bool {
	return c == CtlNOOP || c == CtlCloseCmd || c == CtlCloseReq || c == CtlNegotiation
}
