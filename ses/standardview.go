package ses

import "encoding/binary"

// A StandardView is the header of a [Standard] request as it lies in the packet: for
// readers that need some of its fields and no copy of all. Each method is a load and
// at most a mask, and says what Standard.Decode would set, whatever the bytes are;
// PayloadLength and MessageOffset are meant while FlagSOM is not set.
type StandardView [StandardLen]byte

// Opcode returns the operation. Unless [Opcode.IsPlain] the header has another layout.
func (v *StandardView) Opcode() Opcode { return Opcode(v[0] & opcodeMask) }

// Flags returns the flags.
func (v *StandardView) Flags() Flags { return Flags(v[1] & flagsMask) }

// IsEdge reports whether the packet is the first or the last of a message.
func (v *StandardView) IsEdge() bool { return Flags(v[1])&flagsOnly != 0 }

// IsWhole reports whether the packet is a message.
func (v *StandardView) IsWhole() bool { return Flags(v[1]).Has(flagsOnly) }

// MessageID returns message_id.
func (v *StandardView) MessageID() MessageID { return MessageID(binary.BigEndian.Uint16(v[2:])) }

// BufferOffset returns where the operation starts in the target's buffer, bytes.
func (v *StandardView) BufferOffset() uint64 { return binary.BigEndian.Uint64(v[12:]) }

// Key returns the memory key or the match bits.
func (v *StandardView) Key() uint64 { return binary.BigEndian.Uint64(v[24:]) }

// PayloadLength returns how many bytes of data the packet has.
func (v *StandardView) PayloadLength() uint16 { return binary.BigEndian.Uint16(v[34:]) & maxLength14 }

// MessageOffset returns where they start in the message, bytes.
func (v *StandardView) MessageOffset() uint32 { return binary.BigEndian.Uint32(v[36:]) }

// data returns the completion data, if a packet with FlagSOM has it.
func (v *StandardView) data() (has bool, data uint64) {
	if Flags(v[1])&FlagHD != 0 {
		return true, binary.BigEndian.Uint64(v[32:])
	}
	return false, 0
}

// RequestLength returns how many bytes the whole message has.
func (v *StandardView) RequestLength() uint32 { return binary.BigEndian.Uint32(v[40:]) }

// word is the first eight bytes: opcode, flags, message_id, ri_generation, job_id.
func (v *StandardView) word() uint64 { return binary.BigEndian.Uint64(v[0:]) }

func (v *StandardView) head() head { return head(v.word() & headMask) }

// at is what atOf returns of the request.
func (v *StandardView) at() uint32 { return binary.BigEndian.Uint32(v[8:]) & (0xfff<<16 | 0xfff) }
