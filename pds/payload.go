// SPDX-License-Identifier: Apache-2.0

package pds

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

// PSNPayload returns the payload of a CLEAR_CMD, CLEAR_REQ or PROBE.
func PSNPayload(p PSN) Payload { return Payload(p) }

// CreditPayload returns the payload of a CREDIT: credit granted so far in 256 B
// units, modulo 2^24.
func CreditPayload(credit uint32) Payload { return Payload(credit << 8) }

// CreditReqPayload returns the payload of a CREDIT_REQ: the congestion control
// context, and credit wanted so far in 256 B units, modulo 2^24.
func CreditReqPayload(cccID uint8, target uint32) Payload {
	return Payload(cccID)<<24 | Payload(target&maxUint24)
}

// PSN returns the PSN of a CLEAR_CMD, CLEAR_REQ or PROBE.
func (p Payload) PSN() PSN { return PSN(p) }

// MessageID returns the message of an ACK_REQ, 0 for none.
func (p Payload) MessageID() uint16 { return uint16(p) }

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
