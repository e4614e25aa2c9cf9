// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// ackLen is the size of an [Ack].
const ackLen = 12

// Ack is the plain acknowledgement, and the first 12 bytes of [AckCC] and
// [AckCCX].
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| type 7  | next  |    flags     | ack_psn_offset, or probe_opaque |
//	+---------+-------+--------------+---------------------------------+
//	|                             cack_psn                             |
//	+--------------------------------+---------------------------------+
//	|            spdcid              |             dpdcid              |
//	+--------------------------------+---------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-35.
type Ack struct {
	Next   NextHdr // nothing, or a response
	Flags  Flags   // FlagM, FlagRetx, FlagP, and the request of [Flags.Req]
	Offset int16   // ack_psn_offset, see [Ack.AckPSN]; with FlagP probe_opaque
	DPDCID PDCID   // receiver's PDC, never 0; in front of SPDCID, so that get stores both as one word
	SPDCID PDCID   // sender's PDC, never 0
	CACK   PSN     // everything up to and including CACK has arrived
}

// AckPSN returns the PSN of the packet that triggered the acknowledgement. The
// answer to a probe (FlagP) names none; the result is then the cumulative PSN.
func (a *Ack) AckPSN() PSN {
	if a.Flags&FlagP != 0 {
		return a.CACK
	}
	return a.CACK.Add(int32(a.Offset))
}

// ProbeOpaque returns the value an ACK with FlagP copies from its probe.
func (a *Ack) ProbeOpaque() uint16 { return uint16(a.Offset) }

// Decode sets a from the front of b and returns the length of the header, or [ErrTruncated] or [ErrType].
//
//uetcc:hot nobounds
func (a *Ack) Decode(b []byte) (int, error) {
	if len(b) < ackLen {
		return 0, ErrTruncated
	}
	if Type(b[0]>>3) != TypeACK {
		return 0, ErrType
	}
	a.get((*[ackLen]byte)(b))
	return ackLen, nil
}

//uetcc:hot inlines
func (a *Ack) get(b *[ackLen]byte) {
	p := binary.BigEndian.Uint16(b[:])
	a.Next, a.Flags = NextHdr(p>>7&0xf), Flags(p)&ackFlags
	a.Offset = int16(binary.BigEndian.Uint16(b[2:]))
	a.CACK = PSN(binary.BigEndian.Uint32(b[4:]))
	ids := binary.BigEndian.Uint32(b[8:])
	a.DPDCID, a.SPDCID = PDCID(ids), PDCID(ids>>16)
}

//uetcc:hot inlines
func (a *Ack) put(b *[ackLen]byte, t Type) {
	binary.BigEndian.PutUint16(b[:], joinPrologue(t, a.Next, a.Flags&ackFlags))
	binary.BigEndian.PutUint16(b[2:], uint16(a.Offset))
	binary.BigEndian.PutUint32(b[4:], uint32(a.CACK))
	binary.BigEndian.PutUint16(b[8:], uint16(a.SPDCID))
	binary.BigEndian.PutUint16(b[10:], uint16(a.DPDCID))
}

// AppendTo appends a to b.
//
//uetcc:hot
func (a *Ack) AppendTo(b []byte) []byte {
	b = extend(b, ackLen)
	a.put((*[ackLen]byte)(b[len(b)-ackLen:]), TypeACK)
	return b
}

// Validate returns an [ErrField] if applicable.
func (a *Ack) Validate() error {
	switch {
	case !TypeACK.Allows(a.Next):
		return errNextHdr
	case a.Flags.Req() == ackReqReserved:
		return errFlags
	case a.SPDCID == 0 || a.DPDCID == 0:
		return errPDCID
	default:
		return nil
	}
}

// String returns a line for people.
func (a Ack) String() string { return a.text(TypeACK) }

func (a *Ack) text(t Type) string {
	what := fmt.Sprintf("psn=%d", a.AckPSN())
	if a.Flags&FlagP != 0 {
		what = fmt.Sprintf("probe=%#04x", a.ProbeOpaque())
	}
	s := fmt.Sprintf("%v cack=%d %s spdc=%d dpdc=%d%s", t, a.CACK, what, a.SPDCID, a.DPDCID, ackFlagNames.list(a.Flags))
	if r := a.Flags.Req(); r != AckReqNone {
		s += " " + r.String()
	}
	return s + " " + a.Next.String()
}

// ackExpectedLen is the size of an [AckExpected].
const ackExpectedLen = ackLen + 4

// flagExpected says an Expected_PSN follows an [Ack]. The flag is reserved in other ACKs.
const flagExpected = 0x40

// AckExpected is the acknowledgement that ends a PDC, from a target accepting Start_PSNs
// only from an Expected_PSN on (EXPECTED_0RTT_START). A receiver ignorant of the form reads
// an [Ack] followed by four bytes.
//
//	 0       4 5     8 9           15 16                             31
//	+---------+-------+--------------+---------------------------------+
//	| type 7  | none  | flags, 0x40  |         ack_psn_offset          |
//	+---------+-------+--------------+---------------------------------+
//	|                             cack_psn                             |
//	+--------------------------------+---------------------------------+
//	|            spdcid              |             dpdcid              |
//	+--------------------------------+---------------------------------+
//	|                           Expected_PSN                           |
//	+------------------------------------------------------------------+
//
// Source: UE Specification 1.0.x, section 3.5, laid out as in the reference provider.
type AckExpected struct {
	Ack
	Expected PSN // first Start_PSN allowed to the initiator's next PDC with the same PDCID
}

// Decode sets a from the front of b and returns the length of the header. The errors are
// [ErrTruncated] and, also for an ACK without an Expected_PSN, [ErrType]; a is then
// unchanged.
func (a *AckExpected) Decode(b []byte) (int, error) {
	switch {
	case len(b) < ackLen:
		return 0, ErrTruncated
	case Type(b[0]>>3) != TypeACK || b[1]&flagExpected == 0:
		return 0, ErrType
	case len(b) < ackExpectedLen:
		return 0, ErrTruncated
	}
	a.Ack.get((*[ackLen]byte)(b))
	a.Expected = PSN(binary.BigEndian.Uint32(b[ackLen:]))
	return ackExpectedLen, nil
}

// AppendTo appends a to b.
func (a *AckExpected) AppendTo(b []byte) []byte {
	b = extend(b, ackExpectedLen)
	h := b[len(b)-ackExpectedLen:]
	a.Ack.put((*[ackLen]byte)(h), TypeACK)
	h[1] |= flagExpected
	binary.BigEndian.PutUint32(h[ackLen:], uint32(a.Expected))
	return b
}

// String returns a line for people.
func (a AckExpected) String() string {
	return fmt.Sprintf("%v expected=%d", a.Ack, uint32(a.Expected))
}
