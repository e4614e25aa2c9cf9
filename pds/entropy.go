// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"encoding/binary"
	"fmt"
)

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
