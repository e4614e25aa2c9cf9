package ses

import (
	"encoding/binary"
	"fmt"
)

// A ReadyToRestart tells the initiator of a deferred send that there is room for
// it now. Its length is [StandardLen].
//
//	bytes
//	0     [Common] with message_id
//	12    buffer_offset (64)
//	20    initiator (32)
//	24    initiator_restart_token (32)
//	28    target_restart_token (32)
//	32    header_data (64)
//	40    request_length (32)
//
// The layout is [Standard]'s with the tokens in the place of the key. It is a
// message of one packet without payload, so header_data always stands.
type ReadyToRestart struct {
	Common
	MessageID     MessageID
	Initiator     uint32
	RequestLength uint32
	Token         RestartToken
	BufferOffset  uint64
	HeaderData    uint64
}

// Decode reads the header; n is [StandardLen]. The only error is
// [ErrTruncated].
func (h *ReadyToRestart) Decode(b []byte) (n int, err error) {
	if len(b) < StandardLen {
		return 0, ErrTruncated
	}
	w := (*[StandardLen]byte)(b)
	h.get((*[commonLen]byte)(w[:]))
	h.MessageID = MessageID(binary.BigEndian.Uint16(w[2:]))
	h.BufferOffset = binary.BigEndian.Uint64(w[12:])
	h.Initiator = binary.BigEndian.Uint32(w[20:])
	h.Token = getToken(w[24:])
	h.HeaderData = binary.BigEndian.Uint64(w[32:])
	h.RequestLength = binary.BigEndian.Uint32(w[40:])
	return StandardLen, nil
}

// AppendTo appends the header to b.
func (h *ReadyToRestart) AppendTo(b []byte) []byte {
	h.mustFit()
	b, tail := extend(b, StandardLen)
	p := (*[StandardLen]byte)(tail)
	h.put((*[commonLen]byte)(p[:]), uint16(h.MessageID))
	binary.BigEndian.PutUint64(p[12:], h.BufferOffset)
	binary.BigEndian.PutUint32(p[20:], h.Initiator)
	h.Token.put(p[24:])
	binary.BigEndian.PutUint64(p[32:], h.HeaderData)
	binary.BigEndian.PutUint32(p[40:], h.RequestLength)
	return b
}

// Validate reports an undefined version ([ErrVersion]) and an opcode of another
// layout ([ErrOpcode], [ErrOpcodeForm]).
func (h *ReadyToRestart) Validate() error { return h.validate(1 << OpcodeDeferrableRTR) }

// String formats the header on one line.
func (h *ReadyToRestart) String() string {
	return fmt.Sprintf("%v id %d initiator %d token %x/%x offset 0x%x data 0x%x of %d", &h.Common, h.MessageID, h.Initiator,
		h.Token.Initiator, h.Token.Target, h.BufferOffset, h.HeaderData, h.RequestLength)
}
