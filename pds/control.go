// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
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

// Decode sets c from the front of b and returns the length of the header. The
// errors are [ErrTruncated] and [ErrType]; c is then unchanged.
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

// put writes c to b, of at least the header's length.
func (c *Control) put(b []byte) {
	n := c.len()
	if n == negotiationLen {
		binary.BigEndian.PutUint32(b[ControlLen:], uint32(c.Features))
	}
	b = b[:ControlLen:ControlLen]
	binary.BigEndian.PutUint16(b, joinPrologue(TypeCP, NextHdr(c.Ctl), c.Flags&cpFlags))
	binary.BigEndian.PutUint16(b[2:], c.ProbeOpaque)
	binary.BigEndian.PutUint32(b[4:], uint32(c.PSN))
	binary.BigEndian.PutUint16(b[8:], uint16(c.SPDCID))
	binary.BigEndian.PutUint16(b[10:], joinPeer(c.Flags, c.DPDCID, c.Info))
	binary.BigEndian.PutUint32(b[12:], uint32(c.Payload&c.Ctl.payloadMask()))
}

// AppendTo appends c to b.
func (c *Control) AppendTo(b []byte) []byte {
	b = extend(b, c.len())
	c.put(b[len(b)-c.len():])
	return b
}

// Validate returns [ErrCtlType], [ErrPDCID], or [ErrRange] for undefined features.
func (c *Control) Validate() error {
	if c.Ctl.isReserved() {
		return ErrCtlType
	}
	if c.Features != 0 && !c.negotiates() {
		return ErrRange
	}
	return errorIf(c.SPDCID == 0 || c.Flags&FlagSYN == 0 && c.DPDCID == 0, ErrPDCID)
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
		return fmt.Sprintf(" message_id=%d", p.MessageID())
	case CtlClearCmd, CtlClearReq:
		return fmt.Sprintf(" clear=%d", p.PSN())
	case CtlProbe:
		return fmt.Sprintf(" probe=%#04x sack_base=%d", c.ProbeOpaque, p.PSN())
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
