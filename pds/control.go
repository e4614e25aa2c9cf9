// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
)

// Sizes of a [Control] packet.
const (
	ControlLen     = 16
	negotiationLen = 20 // of a NEGOTIATION with PayloadOnOff
)

// Control is a control packet, CP.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| type 11 |  ctl  |    flags     |          probe_opaque           |
//	+---------+-------+--------------+---------------------------------+
//	|                               psn                                |
//	+--------------------------------+---------------------------------+
//	|            spdcid              |     dpdcid, or PDCInfo if SYN   |
//	+--------------------------------+---------------------------------+
//	|                  payload, by ctl_type: see Payload               |
//	+------------------------------------------------------------------+
//
// A NEGOTIATION whose payload is [PayloadOnOff] goes on with a word of features.
//
// Source: UE Specification 1.0.3, Tables 3-38 and 3-69.
type Control struct {
	Ctl         CtlType
	Flags       Flags   // FlagISROD, FlagRetx, FlagAR, FlagSYN
	ProbeOpaque uint16  // PROBE: any value, returned by the ACK; otherwise 0
	SPDCID      PDCID   // sender's PDC, never 0
	DPDCID      PDCID   // receiver's PDC, never 0; 0 while FlagSYN is set
	Info        PDCInfo // while FlagSYN is set, otherwise 0
	PSN         PSN     // see [CtlType.ConsumesPSN]
	Payload     Payload
	Features    Features // NEGOTIATION with PayloadOnOff: features that are on; otherwise 0
}

// Features are open to agreement between the ends of a PDC, a bit each.
type Features uint32

// FeatureSYNRetxTransfer is SYN_RETX_TRANSFER. The effect on an end is not public.
const FeatureSYNRetxTransfer Features = 1

// len returns the size of c on the wire.
func (c *Control) len() int {
	if c.negotiates() {
		return negotiationLen
	}
	return ControlLen
}

// negotiates reports whether a word of features follows.
func (c *Control) negotiates() bool { return c.Ctl == CtlNegotiation && c.Payload == PayloadOnOff }

// StartPSN returns the first PSN of the PDC a packet with FlagSYN opens.
func (c *Control) StartPSN() PSN { return c.PSN - PSN(c.Info.PSNOffset()) }

// Decode sets c from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
//
//uetcc:hot nobounds
func (c *Control) Decode(b []byte) (int, error) {
	if len(b) < ControlLen {
		return 0, ErrTruncated
	}
	all := b
	b = b[:ControlLen:ControlLen]
	t, ctl, flags := splitPrologue(binary.BigEndian.Uint16(b))
	if t != TypeCP {
		return 0, ErrType
	}
	features := Features(0)
	if CtlType(ctl) == CtlNegotiation && Payload(binary.BigEndian.Uint32(b[12:])) == PayloadOnOff {
		if len(all) < negotiationLen {
			return 0, ErrTruncated
		}
		features = Features(binary.BigEndian.Uint32(all[ControlLen:]))
	}
	c.Ctl, c.Flags, c.Features = CtlType(ctl), flags&cpFlags, features
	c.ProbeOpaque = binary.BigEndian.Uint16(b[2:])
	c.PSN = PSN(binary.BigEndian.Uint32(b[4:]))
	c.SPDCID = PDCID(binary.BigEndian.Uint16(b[8:]))
	c.DPDCID, c.Info = splitPeer(flags, binary.BigEndian.Uint16(b[10:]))
	c.Payload = Payload(binary.BigEndian.Uint32(b[12:])) & c.Ctl.payloadMask()
	return c.len(), nil
}

// AppendTo appends c to b.
func (c *Control) AppendTo(b []byte) []byte {
	n := c.len()
	b = extend(b, n)
	h := b[len(b)-n:]
	binary.BigEndian.PutUint16(h, joinPrologue(TypeCP, NextHdr(c.Ctl), c.Flags&cpFlags))
	binary.BigEndian.PutUint16(h[2:], c.ProbeOpaque)
	binary.BigEndian.PutUint32(h[4:], uint32(c.PSN))
	binary.BigEndian.PutUint16(h[8:], uint16(c.SPDCID))
	binary.BigEndian.PutUint16(h[10:], joinPeer(c.Flags, c.DPDCID, c.Info))
	binary.BigEndian.PutUint32(h[12:], uint32(c.Payload&c.Ctl.payloadMask()))
	if n == negotiationLen {
		binary.BigEndian.PutUint32(h[ControlLen:], uint32(c.Features))
	}
	return b
}

// Validate returns an [ErrField] if applicable, also for undefined features.
func (c *Control) Validate() error {
	if c.Ctl.isReserved() {
		return errCtlType
	}
	if c.Features != 0 && !c.negotiates() {
		return errRange
	}
	return errorIf(c.SPDCID == 0 || c.Flags&FlagSYN == 0 && c.DPDCID == 0, errPDCID)
}

// String returns a line for people.
func (c Control) String() string {
	return fmt.Sprintf("%v %v psn=%d spdc=%d %s%s%s", TypeCP, c.Ctl, c.PSN, c.SPDCID,
		peerText(c.Flags, c.DPDCID, c.Info), cpFlagNames.list(c.Flags), c.payloadText())
}

// payloadText shows the payload, and the opaque value of a probe.
func (c *Control) payloadText() string {
	p := c.Payload
	switch c.Ctl {
	case CtlACKReq:
		return fmt.Sprintf(" message_id=%d", uint16(p))
	case CtlClearCmd, CtlClearReq:
		return fmt.Sprintf(" clear=%d", uint32(p))
	case CtlProbe:
		return fmt.Sprintf(" probe=%#04x sack_base=%d", c.ProbeOpaque, uint32(p))
	case CtlCredit:
		return fmt.Sprintf(" credit=%d", p.Credit())
	case CtlCreditReq:
		return fmt.Sprintf(" ccc=%d target=%d", p.CCCID(), p.CreditTarget())
	case CtlNegotiation:
		return fmt.Sprintf(" element=%#08x features=%#x", uint32(p), uint32(c.Features))
	default:
		return ""
	}
}

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

// Payload is the last word of a [Control] packet. The meaning depends on ctl_type:
//
//	            0             7 8            15 16           23 24           31
//	           +---------------+---------------+---------------+---------------+
//	ACK_REQ    |           reserved            |          message_id           |
//	CLEAR_CMD  |                           CLEAR_PSN                           |
//	CLEAR_REQ  |                      PSN to clear up to                       |
//	PROBE      |                      PSN of SACK bit 0                        |
//	CREDIT     |                    credit                     |   reserved    |
//	CREDIT_REQ |    ccc_id     |                 credit_target                 |
//	           +---------------+---------------+---------------+---------------+
//
// A PSN is the whole word, so a conversion: Payload(psn). The message_id is 0 for none.
//
// NOOP, CLOSE_CMD and CLOSE_REQ carry 0, NEGOTIATION the first word of an element: type 8 bits,
// length in words 8 bits, reserved 16 bits. The only element known is [PayloadOnOff].
//
// Source: UE Specification 1.0.x, Tables 3-38, 3-64 and 3-65. The place of
// credit, ccc_id and credit_target follows IxNetwork's templates; the unit
// of 256 bytes is inferred.
type Payload uint32

// PayloadOnOff is the payload of a NEGOTIATION naming the [Features] that are on:
// PDS_NEG_ON_OFF, two words long. (UE Specification 1.0.3, Table 3-69.)
const PayloadOnOff Payload = 1<<24 | 2<<16

// CreditPayload returns the payload of a CREDIT: credit granted so far in 256 B
// units, modulo 2^24.
func CreditPayload(credit uint32) Payload { return Payload(credit << 8) }

// CreditReqPayload returns the payload of a CREDIT_REQ: the congestion control
// context, and credit wanted so far in 256 B units, modulo 2^24.
func CreditReqPayload(cccID uint8, target uint32) Payload {
	return Payload(cccID)<<24 | Payload(target&maxUint24)
}

// Credit returns the credit of a CREDIT, 256 B units modulo 2^24.
func (p Payload) Credit() uint32 { return uint32(p >> 8) }

// CCCID returns the congestion control context of a CREDIT_REQ.
func (p Payload) CCCID() uint8 { return uint8(p >> 24) }

// CreditTarget returns the target of a CREDIT_REQ, 256 B units modulo 2^24.
func (p Payload) CreditTarget() uint32 { return uint32(p & maxUint24) }

// payloadMask returns the unreserved bits of the payload.
func (c CtlType) payloadMask() Payload {
	switch c {
	case CtlACKReq:
		return 0xffff
	case CtlCredit:
		return 0xffff_ff00
	default:
		return 0xffff_ffff
	}
}
