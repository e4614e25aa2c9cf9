// SPDX-License-Identifier: Apache-2.0

package ses

import "errors"

// Errors of Decode. After an error the destination is unchanged.
var (
	// ErrTruncated means bytes too short for the header or extension.
	ErrTruncated = errors.New("ses: header truncated")
	// ErrForm means a next_hdr without an SES layout.
	ErrForm = errors.New("ses: no header layout for this next_hdr")
)

// Errors of Validate: the layout can be read, but the specification does not
// define the value or the combination.
var (
	ErrVersion        = errors.New("ses: unknown version")
	ErrOpcode         = errors.New("ses: reserved request opcode")
	ErrOpcodeForm     = errors.New("ses: opcode not allowed in this header form")
	ErrFraming        = errors.New("ses: header form needs som and eom")
	ErrResponseOpcode = errors.New("ses: reserved response opcode")
	ErrReturnCode     = errors.New("ses: reserved return code")
	ErrAtomicOpcode   = errors.New("ses: reserved atomic opcode")
	ErrAtomicType     = errors.New("ses: reserved atomic datatype")
)

// Errors of a target's tables, for its owner and never by a peer's doing.
var (
	ErrFull     = errors.New("ses: table full")
	ErrExists   = errors.New("ses: exists already")
	ErrNotFound = errors.New("ses: no such object")
	ErrRange    = errors.New("ses: value out of range")
	ErrHeldBack = errors.New("ses: generation changed too often, old packets may live")
)

// ErrStale means a handle of no packet or message in flight: answered already, or
// of an earlier life of the slot. Nothing has changed.
var ErrStale = errors.New("ses: stale handle")
