package ses

import (
	"encoding/binary"
	"fmt"
)

// SmallLen is the length of a [Small] request without extension, bytes.
const SmallLen = 20

// A Small request is a message of one packet where the resource index alone
// selects the memory.
//
//	0              16 18                32
//	+---------------+--+----------------+
//	| opcode, flags | 0| request_length |
//	+---------------+--+----------------+
//	| ri_generation |      job_id       |
//	+------------+--+-+-----------------+
//	| 0|pid_on_fep|0| resource_index    |
//	+------------+----+-----------------+
//	|        buffer_offset (64)         |
//	+-----------------------------------+
//
// The hd flag is reserved in this form. Source: figure 3-13.
type Small struct {
	Common
	RequestLength uint16 // bytes in the message, 14 bits
	BufferOffset  uint64
}

// Decode reads a small header; n is [SmallLen]. The only error is
// [ErrTruncated].
func (h *Small) Decode(b []byte) (n int, err error) {
	if len(b) < SmallLen {
		return 0, ErrTruncated
	}
	w := (*[SmallLen]byte)(b)
	h.get((*[commonLen]byte)(w[:]))
	h.RequestLength = binary.BigEndian.Uint16(w[2:]) & maxLength14
	h.Flags &^= FlagHD
	h.BufferOffset = binary.BigEndian.Uint64(w[12:])
	return SmallLen, nil
}

// AppendTo appends the header to b.
func (h *Small) AppendTo(b []byte) []byte {
	h.mustFit()
	b, tail := extend(b, SmallLen)
	p := (*[SmallLen]byte)(tail)
	h.put((*[commonLen]byte)(p[:]), length14(h.RequestLength))
	p[1] &^= byte(FlagHD)
	binary.BigEndian.PutUint64(p[12:], h.BufferOffset)
	return b
}

// Validate reports an undefined version or opcode, an opcode without a small
// form ([ErrOpcodeForm]), and a message of more than one packet ([ErrFraming]).
func (h *Small) Validate() error { return h.validateOne(opsSmall) }

// String formats the header on one line.
func (h *Small) String() string {
	return fmt.Sprintf("small %v offset 0x%x of %d", &h.Common, h.BufferOffset, h.RequestLength)
}

// validateOne is validate for the forms that have one packet.
func (c *Common) validateOne(form uint64) error {
	if err := c.validate(form); err != nil {
		return err
	}
	if !c.Flags.Has(flagsOnly) {
		return ErrFraming
	}
	return nil
}
