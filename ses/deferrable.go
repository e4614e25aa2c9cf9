package ses

import (
	"encoding/binary"
	"fmt"
)

// A RestartToken names a deferred send at both ends, so that the target can ask
// for it later.
type RestartToken struct {
	Initiator, Target uint32
}

func getToken(b []byte) RestartToken {
	return RestartToken{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

func (t RestartToken) put(b []byte) {
	binary.BigEndian.PutUint32(b, t.Initiator)
	binary.BigEndian.PutUint32(b[4:], t.Target)
}

// A Deferrable is the request of a deferrable send or deferrable tagged send, of
// length [StandardLen].
//
//	bytes
//	0     [Common] with message_id
//	12    initiator_restart_token (32)
//	16    target_restart_token (32)
//	20    initiator (32)
//	24    match_bits (64)
//	32    som=1: header_data (64); som=0: 0 (18), payload_length (14), message_offset (32)
//	40    request_length (32)
//
// The layout is [Standard]'s with the tokens in the place of buffer_offset.
type Deferrable struct {
	Common
	MessageID     MessageID
	PayloadLength uint16 // som=0
	Initiator     uint32
	MessageOffset uint32 // som=0
	RequestLength uint32
	Token         RestartToken
	MatchBits     uint64
	HeaderData    uint64 // som=1
}

// Decode reads the header; n is [StandardLen]. The only error is
// [ErrTruncated].
func (h *Deferrable) Decode(b []byte) (n int, err error) {
	if len(b) < StandardLen {
		return 0, ErrTruncated
	}
	w := (*[StandardLen]byte)(b)
	h.get((*[commonLen]byte)(w[:]))
	h.MessageID = MessageID(binary.BigEndian.Uint16(w[2:]))
	h.Token = getToken(w[12:])
	h.Initiator = binary.BigEndian.Uint32(w[20:])
	h.MatchBits = binary.BigEndian.Uint64(w[24:])
	h.HeaderData, h.PayloadLength, h.MessageOffset = getPlace(Flags(w[1]), binary.BigEndian.Uint64(w[32:]))
	h.RequestLength = binary.BigEndian.Uint32(w[40:])
	return StandardLen, nil
}

// AppendTo appends the header to b.
func (h *Deferrable) AppendTo(b []byte) []byte {
	h.mustFit()
	b, tail := extend(b, StandardLen)
	p := (*[StandardLen]byte)(tail)
	h.put((*[commonLen]byte)(p[:]), uint16(h.MessageID))
	h.Token.put(p[12:])
	binary.BigEndian.PutUint32(p[20:], h.Initiator)
	binary.BigEndian.PutUint64(p[24:], h.MatchBits)
	binary.BigEndian.PutUint64(p[32:], putPlace(h.Flags, h.HeaderData, h.PayloadLength, h.MessageOffset))
	binary.BigEndian.PutUint32(p[40:], h.RequestLength)
	return b
}

// Validate reports an undefined version ([ErrVersion]) and an opcode of another
// layout ([ErrOpcode], [ErrOpcodeForm]).
func (h *Deferrable) Validate() error { return h.validate(opsDeferrable) }

// String formats the header on one line.
func (h *Deferrable) String() string {
	return fmt.Sprintf("%v id %d initiator %d match 0x%x token %x/%x data 0x%x of %d", &h.Common, h.MessageID, h.Initiator,
		h.MatchBits, h.Token.Initiator, h.Token.Target, h.HeaderData, h.RequestLength)
}
