package ses

import "errors"

// Errors of Decode. They leave the value that was to be filled untouched.
var (
	// ErrTruncated means that the header, or its extension, does not fit the bytes.
	ErrTruncated = errors.New("ses: header truncated")
	// ErrForm means that no SES layout exists for this next_hdr.
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
