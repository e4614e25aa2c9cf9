package ses

import (
	"encoding/binary"
	"fmt"
)

// ResponseDataLen is the length of a [ResponseData], bytes.
const ResponseDataLen = 20

// A ResponseData carries what a read or a fetching atomic asked for.
//
//	0               16 18                32
//	+---------------+---------------------+
//	|    Verdict    |     message_id      |
//	+---------------+---------------------+
//	|   reserved    |       job_id        |
//	+---------------+--+------------------+
//	| read_request_id | 0| payload_length |
//	+-----------------+--+----------------+
//	|           modified_length           |
//	+-------------------------------------+
//	|           message_offset            |
//	+-------------------------------------+
//
// payload_length has 14 bits: the MTU of 8192 needs them. Source: figure 3-19.
type ResponseData struct {
	Verdict
	MessageID      MessageID // of this response
	ReadRequestID  MessageID // read_request_message_id: of the request answered
	PayloadLength  uint16    // bytes of data here, 14 bits
	JobID          JobID
	ModifiedLength uint32
	MessageOffset  uint32 // where the data starts in what was asked for, bytes
}

// Decode reads a response with data; n is [ResponseDataLen]. The only error is
// [ErrTruncated].
func (h *ResponseData) Decode(b []byte) (n int, err error) {
	if len(b) < ResponseDataLen {
		return 0, ErrTruncated
	}
	b = b[:ResponseDataLen:ResponseDataLen]
	h.get(binary.BigEndian.Uint16(b))
	h.MessageID = MessageID(binary.BigEndian.Uint16(b[2:]))
	h.JobID = JobID(binary.BigEndian.Uint32(b[4:]) & 0xff_ffff)
	h.ReadRequestID = MessageID(binary.BigEndian.Uint16(b[8:]))
	h.PayloadLength = binary.BigEndian.Uint16(b[10:]) & maxLength14
	h.ModifiedLength = binary.BigEndian.Uint32(b[12:])
	h.MessageOffset = binary.BigEndian.Uint32(b[16:])
	return ResponseDataLen, nil
}

// AppendTo appends the header to b.
func (h *ResponseData) AppendTo(b []byte) []byte {
	b, tail := extend(b, ResponseDataLen)
	p := (*[ResponseDataLen]byte)(tail)
	binary.BigEndian.PutUint16(p[:], h.wire(h.JobID))
	binary.BigEndian.PutUint16(p[2:], uint16(h.MessageID))
	binary.BigEndian.PutUint32(p[4:], uint32(h.JobID))
	binary.BigEndian.PutUint16(p[8:], uint16(h.ReadRequestID))
	binary.BigEndian.PutUint16(p[10:], length14(h.PayloadLength))
	binary.BigEndian.PutUint32(p[12:], h.ModifiedLength)
	binary.BigEndian.PutUint32(p[16:], h.MessageOffset)
	return b
}

// Validate reports an undefined version, opcode or return code, and the opcode
// of a response without data ([ErrOpcodeForm]).
func (h *ResponseData) Validate() error { return h.validate(true) }

// String formats the header on one line.
func (h *ResponseData) String() string {
	return fmt.Sprintf("%v id %d job %d to %d at %d+%d length %d", &h.Verdict, h.MessageID, h.JobID, h.ReadRequestID,
		h.MessageOffset, h.PayloadLength, h.ModifiedLength)
}

// ResponseDataSmallLen is the length of a [ResponseDataSmall], bytes.
const ResponseDataSmallLen = 12

// A ResponseDataSmall is the short form of [ResponseData]: all the data at once,
// for the request that had a given PSN.
//
//	0               16 18                32
//	+---------------+--+-----------------+
//	|    Verdict    | 0| payload_length  |
//	+---------------+--+-----------------+
//	|   reserved    |      job_id        |
//	+---------------+--------------------+
//	|        original_request_psn        |
//	+------------------------------------+
//
// Source: figure 3-20.
type ResponseDataSmall struct {
	Verdict
	PayloadLength      uint16 // bytes of data here, 14 bits
	JobID              JobID
	OriginalRequestPSN uint32
}

// Decode reads the header; n is [ResponseDataSmallLen]. The only error is
// [ErrTruncated].
func (h *ResponseDataSmall) Decode(b []byte) (n int, err error) {
	if len(b) < ResponseDataSmallLen {
		return 0, ErrTruncated
	}
	b = b[:ResponseDataSmallLen:ResponseDataSmallLen]
	h.get(binary.BigEndian.Uint16(b))
	h.PayloadLength = binary.BigEndian.Uint16(b[2:]) & maxLength14
	h.JobID = JobID(binary.BigEndian.Uint32(b[4:]) & 0xff_ffff)
	h.OriginalRequestPSN = binary.BigEndian.Uint32(b[8:])
	return ResponseDataSmallLen, nil
}

// AppendTo appends the header to b.
func (h *ResponseDataSmall) AppendTo(b []byte) []byte {
	b, tail := extend(b, ResponseDataSmallLen)
	p := (*[ResponseDataSmallLen]byte)(tail)
	binary.BigEndian.PutUint16(p[:], h.wire(h.JobID))
	binary.BigEndian.PutUint16(p[2:], length14(h.PayloadLength))
	binary.BigEndian.PutUint32(p[4:], uint32(h.JobID))
	binary.BigEndian.PutUint32(p[8:], h.OriginalRequestPSN)
	return b
}

// Validate reports an undefined version, opcode or return code, and the opcode
// of a response without data ([ErrOpcodeForm]).
func (h *ResponseDataSmall) Validate() error { return h.validate(true) }

// String formats the header on one line.
func (h *ResponseDataSmall) String() string {
	return fmt.Sprintf("%v job %d to psn 0x%x +%d", &h.Verdict, h.JobID, h.OriginalRequestPSN, h.PayloadLength)
}
