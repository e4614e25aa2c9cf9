// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"net/netip"

	"github.com/cespare/xxhash/v2"
	"github.com/uetcc/uetcc/internal/enum"
)

// Class is a traffic class, in rising order of service (UE Specification 1.0.3
// section 3.6.4.4).
type Class uint8

// The traffic classes.
const (
	ClassLow  Class = iota // TC_low: data; marked, and trimmed or dropped when full
	ClassMed               // TC_med: trimmed packets
	ClassHigh              // TC_high: acknowledgements, credit, control
	numClasses
)

// String is the specification's name.
func (c Class) String() string { return enum.Name([]string{"TC_low", "TC_med", "TC_high"}, c) }

// ClassSet is a set of classes, bit 1<<Class for each; the zero set is empty.
// The model takes a ClassSet for a port paused by priority flow control.
type ClassSet uint8

// Has reports whether c is in the set.
func (s ClassSet) Has(c Class) bool { return s>>c&1 != 0 }

// with is the set and c.
func (s ClassSet) with(c Class) ClassSet { return s | 1<<c }

// without is the set but for c.
func (s ClassSet) without(c Class) ClassSet { return s &^ (1 << c) }

// DSCP is the meaning of a packet's code point to a switch. The six-bit values
// are an operator's choice; only the meanings matter here. Packets of the zero
// DSCP may not be trimmed.
type DSCP uint8

// The code points of UE Specification 1.0.3 section 3.6.4.4.
const (
	DSCPNoTrim         DSCP = iota // data that is dropped rather than trimmed
	DSCPTrimmable                  // data that a switch may trim
	DSCPTrimmableRTX               // the same, sent again
	DSCPTrimmed                    // trimmed on a hop between switches
	DSCPTrimmedLastHop             // trimmed on the port that leads to the destination
	DSCPControl                    // acknowledgement, credit, probe
)

var dscpNames = [...]string{
	"DSCP_NO_TRIM", "DSCP_TRIMMABLE", "DSCP_TRIMMABLE_RTX", "DSCP_TRIMMED", "DSCP_TRIMMED_LASTHOP", "DSCP_CONTROL",
}

// String is the specification's name.
func (d DSCP) String() string { return enum.Name(dscpNames[:], d) }

// Class is the class of d. An unknown code point is data.
func (d DSCP) Class() Class {
	switch d {
	case DSCPTrimmed, DSCPTrimmedLastHop:
		return ClassMed
	case DSCPControl:
		return ClassHigh
	default:
		return ClassLow
	}
}

// trimmable reports whether a switch may cut the payload off.
func (d DSCP) trimmable() bool { return d == DSCPTrimmable || d == DSCPTrimmableRTX }

// A Packet is the queue's view of a packet. Size, DSCP and CE are the queue's
// to change; ID is the caller's handle and means nothing to the queue.
type Packet struct {
	ID   uint32
	Size int32 // bytes on the wire, 1 to 8,388,607
	DSCP DSCP
	CE   bool // congestion experienced: once set, set for good
}

// Flow hashes the common fields of a flow's packets for [Uplink]: the addresses,
// of either family, and the protocol. The entropy value (UDP source port or
// entropy header) is left out.
func Flow(src, dst netip.Addr, protocol uint8) uint32 {
	var b [33]byte
	s, d := src.As16(), dst.As16()
	copy(b[:], s[:])
	copy(b[16:], d[:])
	b[32] = protocol
	return uint32(xxhash.Sum64(b[:]))
}

// Uplink is the link of n equal-cost links over which a switch sends a packet of
// flow with the given entropy: 0 to n-1, or 0 if n is 0. The same inputs give
// the same link; a new entropy or salt draws again. Give each switch a private
// salt, or the tiers choose alike and leave links idle.
//
// The hash is a 32-bit finaliser with full avalanche, of the family in htsim;
// real switches hash as the vendor chose.
//
//uetcc:hot inlines nobounds
func Uplink(salt, flow uint32, entropy uint16, n int) int {
	h := mix(flow ^ mix(uint32(entropy)^salt))
	return int(uint64(h) * uint64(n) >> 32)
}

func mix(h uint32) uint32 {
	h += 0x9e3779b9
	h ^= h >> 16
	h *= 0x21f0aaad
	h ^= h >> 15
	h *= 0x735a2d97
	return h ^ h>>15
}
