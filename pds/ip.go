// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
)

// How UET rides on IP.
const (
	UDPPort    = 4793 // destination port; the source port is the entropy value
	IPProtocol = 253  // without UDP; not assigned: the reference provider takes the experimental 253
)

// The smallest IP payload a trimming switch leaves of a packet, MIN_TRIM_SIZE: the first 16
// bytes from the PDS header on, so a request keeps the whole header. (UE Specification 1.0.x,
// Table 4-1.)
const (
	MinTrimmedUDP    = 8 + 16
	MinTrimmedNative = EntropyLen + 16
)

// nominalOverhead is what [NominalSize] adds for the headers below.
const nominalOverhead = 40

// NominalSize returns nominal_pktsize, the bytes counted by congestion control for a packet,
// at the source and at the destination alike: the transport length (transport_pktsize) plus 40. The transport
// length is the UDP length, or without UDP everything from the entropy header to the trailer.
// (UE Specification 1.0.x, section 3.6.12.)
func NominalSize(transportLen int) int64 { return int64(transportLen) + nominalOverhead }

// ECN is the congestion notification field of IP, the low 2 bits of the TOS or
// traffic class byte. (RFC 3168.)
type ECN uint8

const (
	ECNNotECT ECN = 0 // switches drop instead of marking
	ECNECT1   ECN = 1 // may be marked
	ECNECT0   ECN = 2 // may be marked
	ECNCE     ECN = 3 // marked: congestion experienced
)

// String returns the name in RFC 3168.
func (e ECN) String() string { return enum.Name([]string{"Not-ECT", "ECT(1)", "ECT(0)", "CE"}, e) }

// DSCP is the IP code point of a traffic class, 6 bits.
type DSCP uint8

// TOS returns the TOS or traffic class byte of d and e.
func TOS(d DSCP, e ECN) uint8 { return uint8(d)<<2 | uint8(e)&3 }

// SplitTOS returns the parts of a TOS or traffic class byte.
func SplitTOS(b uint8) (DSCP, ECN) { return DSCP(b >> 2), ECN(b & 3) }

// DSCPs are the code points of a network. The specification names the uses and leaves the
// values to the operator. (UE Specification 1.0.3, sections 3.6.4.7 and 4.1.)
type DSCPs struct {
	Trimmable      DSCP // data that switches may trim
	TrimmableRetx  DSCP // the same, sent again; 0: Trimmable
	NoTrim         DSCP // data where switches do not trim
	Trimmed        DSCP // a trimmed packet; 0 names none
	TrimmedLastHop DSCP // a packet trimmed by the last switch; may equal Trimmed; 0 names none
	Control        DSCP // ACK, NACK and control packets

	// TrimmableACKSize is the least size behind the IP header, bytes, of a trimmable
	// acknowledgement with data (Trimmable_ACK_Size, 0: 10,240).
	TrimmableACKSize int
}

// trimmableACKSize is the default of Trimmable_ACK_Size.
const trimmableACKSize = 10 << 10

// Of returns the code point a host sends a packet with: by type, retransmission, and size
// behind the IP header, bytes. Without Trimmed the network does not trim.
func (d *DSCPs) Of(t Type, retx bool, size int) DSCP {
	ack := t == TypeACK || t == TypeACKCC || t == TypeACKCCX
	switch {
	case t == TypeNACK, t == TypeNACKCCX, t == TypeCP, ack && size <= cmp.Or(d.TrimmableACKSize, trimmableACKSize):
		return d.Control
	case d.Trimmed == 0:
		return d.NoTrim
	case retx && d.TrimmableRetx != 0:
		return d.TrimmableRetx
	}
	return d.Trimmable
}

// Validate returns an [ErrField] if a trimmed packet could not be told from others, or a value
// has more than 6 bits.
func (d *DSCPs) Validate() error {
	tooWide := (d.Trimmable | d.TrimmableRetx | d.NoTrim | d.Trimmed | d.TrimmedLastHop | d.Control) > 63
	taken := func(v DSCP) bool {
		return v == d.Trimmable || v == d.Control || v != 0 && (v == d.TrimmableRetx || v == d.NoTrim)
	}
	return errorIf(tooWide || taken(d.Trimmed) || taken(d.TrimmedLastHop), errDSCP)
}

// TrimmedBy returns [NackTrimmed] or [NackTrimmedLastHop] if v is a code point of packets cut
// by a switch, otherwise 0.
func (d *DSCPs) TrimmedBy(v DSCP) NackCode {
	switch {
	case v == 0:
		return 0
	case v == d.Trimmed:
		return NackTrimmed
	case v == d.TrimmedLastHop:
		return NackTrimmedLastHop
	}
	return 0
}

// EntropyLen is the size of an [Entropy] header.
const EntropyLen = 4

// Entropy is the header in front of the PDS header of a packet directly over
// IP. Over UDP the source port takes the header's place.
//
//	 0                              15 16                             31
//	+---------------------------------+---------------------------------+
//	|             entropy             |            reserved             |
//	+---------------------------------+---------------------------------+
//
// Source: UE Specification 1.0.x, Table 3-31.
type Entropy struct {
	Value uint16 // path entropy value: hashed by switches to choose a path
}

// Decode sets e from the front of b and returns the length of the header. The
// only error is [ErrTruncated].
//
//uetcc:hot inlines nobounds
func (e *Entropy) Decode(b []byte) (int, error) {
	if len(b) < EntropyLen {
		return 0, ErrTruncated
	}
	e.Value = binary.BigEndian.Uint16(b)
	return EntropyLen, nil
}

// AppendTo appends e to b.
func (e *Entropy) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(e.Value)<<16)
}

// Validate returns nil: every value is legal.
func (e *Entropy) Validate() error { return nil }

// String returns a line for people.
func (e Entropy) String() string { return fmt.Sprintf("ENTROPY %#04x", e.Value) }
