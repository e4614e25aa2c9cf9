// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/ses"
)

// A StandardView is the header of a [Standard] request in place in the packet: for
// readers of some fields without a copy of all. Each method is a load and at most a
// mask, and returns the value of Standard.Decode for any bytes; PayloadLength and
// MessageOffset are valid while FlagSOM is not set.
type StandardView [ses.StandardLen]byte

// opcode returns the operation. Unless [Opcode.IsPlain] the header has a different
// layout.
func (v *StandardView) opcode() ses.Opcode { return ses.Opcode(v[0] & opcodeMask) }

// flags returns the flags.
func (v *StandardView) flags() ses.Flags { return ses.Flags(v[1] & flagsMask) }

// IsEdge reports whether the packet is the first or the last of a message.
//
//uetcc:hot inlines nobounds
func (v *StandardView) IsEdge() bool { return ses.Flags(v[1])&flagsOnly != 0 }

// isWhole reports whether the packet is a message.
//
//uetcc:hot inlines nobounds
func (v *StandardView) isWhole() bool { return ses.Flags(v[1]).Has(flagsOnly) }

// messageID returns message_id.
func (v *StandardView) messageID() ses.MessageID {
	return ses.MessageID(binary.BigEndian.Uint16(v[2:]))
}

// bufferOffset returns where the operation starts in the target's buffer, bytes.
func (v *StandardView) bufferOffset() uint64 { return binary.BigEndian.Uint64(v[12:]) }

// key returns the memory key or the match bits.
func (v *StandardView) key() uint64 { return binary.BigEndian.Uint64(v[24:]) }

// PayloadLength returns how many bytes of data the packet has.
//
//uetcc:hot inlines nobounds
func (v *StandardView) PayloadLength() uint16 {
	return binary.BigEndian.Uint16(v[34:]) & maxLength14
}

// MessageOffset returns the place of the payload in the message, bytes.
//
//uetcc:hot inlines nobounds
func (v *StandardView) MessageOffset() uint32 { return binary.BigEndian.Uint32(v[36:]) }

// data returns the completion data, if present in a packet with FlagSOM.
//
//uetcc:hot inlines nobounds
func (v *StandardView) data() (has bool, data uint64) {
	if ses.Flags(v[1])&ses.FlagHD != 0 {
		return true, binary.BigEndian.Uint64(v[32:])
	}
	return false, 0
}

// requestLength returns how many bytes the whole message has.
func (v *StandardView) requestLength() uint32 { return binary.BigEndian.Uint32(v[40:]) }

// word is the first eight bytes: opcode, flags, message_id, ri_generation, job_id.
func (v *StandardView) word() uint64 { return binary.BigEndian.Uint64(v[0:]) }

//uetcc:hot inlines nobounds
func (v *StandardView) head() head { return head(v.word() & headMask) }

// at equals atOf of the request.
//
//uetcc:hot inlines nobounds
func (v *StandardView) at() uint32 { return binary.BigEndian.Uint32(v[8:]) & (0xfff<<16 | 0xfff) }

// PutDefault writes the default response to a request: success, and the whole
// message.
//
//uetcc:hot inlines nobounds
func PutDefault(b *[ses.ResponseLen]byte, v *StandardView) {
	*(*[2]byte)(b[0:]) = [2]byte{byte(ses.ResponseDefault), byte(ses.RCOK)}
	*(*[6]byte)(b[2:]) = *(*[6]byte)(v[2:])  // message_id, ri_generation, job_id
	*(*[4]byte)(b[8:]) = *(*[4]byte)(v[40:]) // request_length
}
