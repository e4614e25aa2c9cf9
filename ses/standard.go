// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/standard"
)

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
