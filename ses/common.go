// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

type (
	// A JobID names a job, 24 bits.
	JobID uint32
	// A PIDonFEP names a process on a fabric endpoint, 12 bits: within the job
	// when addressing is relative, on the whole endpoint when absolute.
	PIDonFEP uint16
	// A ResourceIndex chooses a receive queue or memory region, 12 bits.
	ResourceIndex uint16
	// A Generation is the ri_generation of a resource index; wrapping.
	Generation uint8
	// A MessageID names a live message of an initiator. 0 stands for a datagram
	// or for none.
	MessageID uint16
)

// Common are the fields every request starts with.
//
//	0   2        8  10          16                              32
//	+---+--------+---+-+-+-+-+-+-+------------------------------+
//	| 0 | opcode |ver|D|I|R|H|E|S| message_id or request_length |  D delivery complete
//	+---+--------+---+-+-+-+-+-+-+------------------------------+  I initiator error
//	|  ri_generation |                 job_id                   |  R relative, H header data
//	+---+------------+-------+---+------------------------------+  E end, S start of message
//	| 0 |     pid_on_fep     | 0 |        resource_index        |
//	+---+--------------------+---+------------------------------+
//
// Bytes 2 and 3 are the message_id of a standard request; small and medium
// requests have 2 reserved bits and a request_length of 14 bits there.
// Source: figures 3-9 to 3-14.
type Common struct {
	Opcode     Opcode // and Flags in one word, for get
	Flags      Flags
	Version    uint8 // 0 is the only one defined
	Generation Generation
	Index      ResourceIndex // and the next two in one word, for get
	PIDonFEP   PIDonFEP
	JobID      JobID
}

const commonLen = 12

// get takes the common fields from the front of a header.
//
//uetcc:hot inlines nobounds
func (c *Common) get(b *[commonLen]byte) {
	what := binary.LittleEndian.Uint16(b[0:]) & (flagsMask<<8 | opcodeMask) // as the two fields lie in memory
	c.Opcode, c.Flags, c.Version = Opcode(what), Flags(what>>8), b[1]>>6
	c.Generation = Generation(b[4])
	whom := binary.BigEndian.Uint64(b[4:]) & 0xff_ffff_0fff_0fff
	c.Index, c.PIDonFEP, c.JobID = ResourceIndex(whom), PIDonFEP(whom>>16), JobID(whom>>32)
}

// mustFit panics unless every field fits the place on the wire.
//
//uetcc:hot inlines nobounds
func (c *Common) mustFit() {
	pid := uint32(c.PIDonFEP) | uint32(c.Index)
	if uint32(c.Opcode)>>6|uint32(c.Version)>>2|uint32(c.Flags)>>6|uint32(c.JobID)>>24|pid>>12 != 0 {
		panic("ses: request field wider than on the wire")
	}
}

// put is the inverse of get, with v as bytes 2 and 3. The fields must fit.
//
//uetcc:hot inlines nobounds
func (c *Common) put(b *[commonLen]byte, v uint16) {
	b[0], b[1] = byte(c.Opcode), c.Version<<6|byte(c.Flags)
	binary.BigEndian.PutUint16(b[2:], v)
	binary.BigEndian.PutUint32(b[4:], uint32(c.Generation)<<24|uint32(c.JobID))
	binary.BigEndian.PutUint16(b[8:], uint16(c.PIDonFEP)) // not with Index, as get: one load of what two stores
	binary.BigEndian.PutUint16(b[10:], uint16(c.Index))   // have just written would wait for both
}

// validate checks version and opcode; form is the set of opcodes the header
// form has.
func (c *Common) validate(form uint64) error {
	if c.Version != 0 {
		return ErrVersion
	}
	return c.Opcode.validate(form)
}

func (c *Common) text() string {
	return fmt.Sprintf("%v %v job %d pid %d ri 0x%03x gen %d", c.Opcode, c.Flags, c.JobID, c.PIDonFEP,
		uint16(c.Index), c.Generation)
}

// extend returns b with n more bytes, and the new bytes alone. The new bytes
// hold old content: the caller writes all of them.
func extend(b []byte, n int) (whole, tail []byte) {
	at := len(b)
	if cap(b)-at < n {
		b = slices.Grow(b, n)
	}
	return b[:at+n], b[at : at+n]
}

// maxLength14 is the largest length a 14-bit length field can carry.
const maxLength14 = 1<<14 - 1

// length14 returns n, at most 14 bits wide.
func length14(n uint16) uint16 {
	if n > maxLength14 {
		panic("ses: length wider than its 14 bits on the wire")
	}
	return n
}

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

// Flags are the flag bits of a request, at their places in the second byte.
type Flags uint8

const (
	FlagSOM Flags = 0x01 // first packet of the message
	FlagEOM Flags = 0x02 // last packet of the message
	FlagHD  Flags = 0x04 // header data present; not in the small form
	FlagRel Flags = 0x08 // relative addressing (JobID and PIDonFEP), otherwise absolute
	FlagIE  Flags = 0x10 // the initiator met an error on the message
	FlagDC  Flags = 0x20 // delivery complete requested

	flagsOnly = FlagSOM | FlagEOM // a message of one packet
	flagsMask = 0x3f
)

// Has reports whether all flags of set are set.
func (f Flags) Has(set Flags) bool { return f&set == set }

// String lists the flags set, as in "som,eom,rel", or "-".
func (f Flags) String() string { return string(f.appendText(nil)) }

var flagNames = [...]string{"som", "eom", "hd", "rel", "ie", "dc"}

func (f Flags) appendText(b []byte) []byte {
	start := len(b)
	for i, name := range flagNames {
		if f>>i&1 == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(b, name...)
	}
	if len(b) == start {
		b = append(b, '-')
	}
	return b
}
