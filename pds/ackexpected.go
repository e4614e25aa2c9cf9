// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

// AckExpectedLen is the size of an [AckExpected].
const AckExpectedLen = AckLen + 4

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
	case len(b) < AckLen:
		return 0, ErrTruncated
	case Type(b[0]>>3) != TypeACK || b[1]&flagExpected == 0:
		return 0, ErrType
	case len(b) < AckExpectedLen:
		return 0, ErrTruncated
	}
	a.Ack.get((*[AckLen]byte)(b))
	a.Expected = PSN(binary.BigEndian.Uint32(b[AckLen:]))
	return AckExpectedLen, nil
}

// AppendTo appends a to b.
func (a *AckExpected) AppendTo(b []byte) []byte {
	b = extend(b, AckExpectedLen)
	h := b[len(b)-AckExpectedLen:]
	a.Ack.put((*[AckLen]byte)(h), TypeACK)
	h[1] |= flagExpected
	binary.BigEndian.PutUint32(h[AckLen:], uint32(a.Expected))
	return b
}

// String returns a line for people.
func (a AckExpected) String() string {
	return fmt.Sprintf("%v expected=%d", a.Ack, uint32(a.Expected))
}
