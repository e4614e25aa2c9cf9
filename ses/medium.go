package ses

import (
	"encoding/binary"
	"fmt"
)

// MediumLen is the length of a [Medium] request without extension, bytes.
const MediumLen = 32

// A Medium request is a message of one packet with a key or match bits.
//
//	0              16 18                32
//	+---------------+--+----------------+
//	| opcode, flags | 0| request_length |
//	+---------------+--+----------------+
//	| ri_generation |      job_id       |
//	+------------+--+-+-----------------+
//	| 0|pid_on_fep|0| resource_index    |
//	+------------+----+-----------------+
//	|  hd=1: header_data (64)           |
//	|  hd=0: buffer_offset (64)         |
//	+-----------------------------------+
//	|            initiator              |
//	+-----------------------------------+
//	|   memory_key or match_bits (64)   |
//	+-----------------------------------+
//
// Source: figure 3-14.
type Medium struct {
	Common
	RequestLength uint16 // bytes in the message, 14 bits
	Initiator     uint32
	HeaderData    uint64 // with [FlagHD]
	BufferOffset  uint64 // without; with it the operation starts at 0
	Key           uint64
}

// Decode reads a medium header; n is [MediumLen]. The only error is
// [ErrTruncated].
func (h *Medium) Decode(b []byte) (n int, err error) {
	if len(b) < MediumLen {
		return 0, ErrTruncated
	}
	w := (*[MediumLen]byte)(b)
	h.get((*[commonLen]byte)(w[:]))
	h.RequestLength = binary.BigEndian.Uint16(w[2:]) & maxLength14
	if v := binary.BigEndian.Uint64(w[12:]); h.Flags&FlagHD != 0 {
		h.HeaderData, h.BufferOffset = v, 0
	} else {
		h.HeaderData, h.BufferOffset = 0, v
	}
	h.Initiator = binary.BigEndian.Uint32(w[20:])
	h.Key = binary.BigEndian.Uint64(w[24:])
	return MediumLen, nil
}

// AppendTo appends the header to b. Of HeaderData and BufferOffset it takes the
// one that [FlagHD] chooses.
func (h *Medium) AppendTo(b []byte) []byte {
	h.mustFit()
	b, tail := extend(b, MediumLen)
	p := (*[MediumLen]byte)(tail)
	h.put((*[commonLen]byte)(p[:]), length14(h.RequestLength))
	v := h.BufferOffset
	if h.Flags&FlagHD != 0 {
		v = h.HeaderData
	}
	binary.BigEndian.PutUint64(p[12:], v)
	binary.BigEndian.PutUint32(p[20:], h.Initiator)
	binary.BigEndian.PutUint64(p[24:], h.Key)
	return b
}

// Validate reports an undefined version or opcode, an opcode without a medium
// form ([ErrOpcodeForm]), and a message of more than one packet ([ErrFraming]).
func (h *Medium) Validate() error { return h.validateOne(opsMedium) }

// String formats the header on one line.
func (h *Medium) String() string {
	s := fmt.Sprintf("medium %v initiator %d key 0x%x", &h.Common, h.Initiator, h.Key)
	if h.Flags&FlagHD != 0 {
		return fmt.Sprintf("%s data 0x%x of %d", s, h.HeaderData, h.RequestLength)
	}
	return fmt.Sprintf("%s offset 0x%x of %d", s, h.BufferOffset, h.RequestLength)
}
