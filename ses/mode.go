// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Mode is the delivery service a message asks of the PDS. The zero value
// is RUD, good for every operation but datagrams.
type Mode uint8

const (
	ModeRUD  Mode = iota // reliable, unordered: each packet once, in any order
	ModeROD              // reliable, ordered, on one path; packets ahead of a gap are sent again, or kept (PDS.BufferROD)
	ModeRUDI             // reliable, unordered, for operations that may be repeated
	ModeUUD              // unreliable datagram: no answer, no record
)

var modeNames = [...]string{"RUD", "ROD", "RUDI", "UUD"}

// String returns the specification's abbreviation.
func (m Mode) String() string { return enum.Name(modeNames[:], m) }
