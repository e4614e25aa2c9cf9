// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/internal/standard"
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
		return errVersion
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

// ErrField is wrapped by every error of Validate: the layout can be read, but the specification
// does not define the value or the combination that the message names.
var ErrField = errors.New("ses: illegal field")

var (
	errVersion        = fmt.Errorf("%w: unknown version", ErrField)
	errOpcode         = fmt.Errorf("%w: reserved request opcode", ErrField)
	errOpcodeForm     = fmt.Errorf("%w: opcode not allowed in this header form", ErrField)
	errFraming        = fmt.Errorf("%w: header form needs som and eom", ErrField)
	errResponseOpcode = fmt.Errorf("%w: reserved response opcode", ErrField)
	errReturnCode     = fmt.Errorf("%w: reserved return code", ErrField)
	errAtomicOpcode   = fmt.Errorf("%w: reserved atomic opcode", ErrField)
	errAtomicType     = fmt.Errorf("%w: reserved atomic datatype", ErrField)
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
func (f Flags) String() string {
	var set []string
	for i, name := range [...]string{"som", "eom", "hd", "rel", "ie", "dc"} {
		if f>>i&1 != 0 {
			set = append(set, name)
		}
	}
	return cmp.Or(strings.Join(set, ","), "-")
}

// StandardLen is the length of a [Standard] request without extension, bytes.
const StandardLen = 44

// A Standard request is the form every operation can use.
//
//	bytes  0              8              16             24             32
//	0      +--------------+--------------+--------------+--------------+
//	       | opcode, flags, message_id, generation, job, pid: [Common] |
//	8      +-----------------------------+-----------------------------+
//	       |    [Common]'s last word     |       buffer_offset         |
//	16     +-----------------------------+-----------------------------+
//	       |    buffer_offset (low)      |         initiator           |
//	24     +-----------------------------+-----------------------------+
//	       |                memory_key or match_bits                   |
//	32     +-----------------------------------------------------------+
//	som=1  |                       header_data                         |
//	som=0  |   0 (18 bits) | payload_length 14 |   message_offset 32   |
//	40     +-----------------------------+-----------------------------+
//	       |       request_length        |
//	44     +-----------------------------+
//
// Only the first packet of a message has header_data, only later packets have
// payload_length and message_offset: the first packet's payload is the rest of
// the packet. Source: tables 3-8 and 3-9.
type Standard struct {
	Common
	MessageID     MessageID
	PayloadLength uint16 // som=0: bytes of data in the packet, or asked for by the packet of a read, 14 bits
	Initiator     uint32 // rank of the sender, opaque here
	MessageOffset uint32 // som=0: place of the packet in the message, bytes
	RequestLength uint32 // bytes in the whole message
	BufferOffset  uint64 // where the operation starts in the target's buffer, bytes
	Key           uint64 // memory key of RMA and atomics, match bits of tagged sends
	HeaderData    uint64 // som=1: completion data, meaningful with [FlagHD]
}

// Decode reads a standard header; n is [StandardLen]. The only error is
// [ErrTruncated].
//
//uetcc:hot inlines nobounds
func (h *Standard) Decode(b []byte) (n int, err error) {
	if len(b) < StandardLen {
		return 0, ErrTruncated
	}
	h.get((*[StandardLen]byte)(b))
	return StandardLen, nil
}

// get is Decode without the check of the length, so Decode inlines.
func (h *Standard) get(w *[StandardLen]byte) {
	h.Common.get((*[commonLen]byte)(w[:]))
	h.MessageID = MessageID(binary.BigEndian.Uint16(w[2:]))
	h.BufferOffset = binary.BigEndian.Uint64(w[12:])
	h.Initiator = binary.BigEndian.Uint32(w[20:])
	h.Key = binary.BigEndian.Uint64(w[24:])
	if v := binary.BigEndian.Uint64(w[32:]); w[1]&byte(FlagSOM) != 0 {
		h.HeaderData, h.PayloadLength, h.MessageOffset = v, 0, 0
	} else {
		h.HeaderData, h.PayloadLength, h.MessageOffset = 0, uint16(v>>32&maxLength14), uint32(v)
	}
	h.RequestLength = binary.BigEndian.Uint32(w[40:])
}

// AppendTo appends the header to b. Fields absent in the layout (see [FlagSOM])
// are ignored.
func (h *Standard) AppendTo(b []byte) []byte {
	h.mustFit()
	b, tail := extend(b, StandardLen)
	p := (*[StandardLen]byte)(tail)
	h.put((*[commonLen]byte)(p[:]), uint16(h.MessageID))
	place := h.HeaderData
	if h.Flags&FlagSOM == 0 {
		place = uint64(length14(h.PayloadLength))<<32 | uint64(h.MessageOffset)
	}
	standard.Put(p, h.BufferOffset, h.Key, place, h.Initiator, h.RequestLength)
	return b
}

func (h *Standard) text() string {
	s := fmt.Sprintf("%s id %d initiator %d key 0x%x offset 0x%x", h.Common.text(), h.MessageID, h.Initiator, h.Key,
		h.BufferOffset)
	if h.Flags&FlagSOM == 0 {
		s += fmt.Sprintf(" at %d+%d", h.MessageOffset, h.PayloadLength)
	} else if h.Flags&FlagHD != 0 {
		s += fmt.Sprintf(" data 0x%x", h.HeaderData)
	}
	return fmt.Sprintf("%s of %d", s, h.RequestLength)
}
