// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/pds"
)

// A Reply is any response header, in the terms of [Response]. Fields absent in the form
// are 0.
//
// NextResponse is the form of a [Response]. NextResponseData carries the data of a read or fetching
// atomic; payload_length has 14 bits, as the MTU of 8192 needs. Source: figure 3-19.
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
// NextResponseDataSmall carries all the data at once, for the request of a given PSN. Source: figure 3-20.
//
//	0               16 18                32
//	+---------------+--+-----------------+
//	|    Verdict    | 0| payload_length  |
//	+---------------+--+-----------------+
//	|   reserved    |      job_id        |
//	+---------------+--------------------+
//	|        original_request_psn        |
//	+------------------------------------+
type Reply struct {
	Form               pds.NextHdr
	Response                     // MessageID is the response's own with NextResponseData, without Generation
	ReadRequestID      MessageID // NextResponseData: read_request_message_id, of the request answered
	PayloadLength      uint16    // forms with data: bytes of data here, 14 bits
	MessageOffset      uint32    // NextResponseData: place of the data in the requested range, bytes
	OriginalRequestPSN uint32    // NextResponseDataSmall
}

// Decode reads the response header of form f at the start of b; n is the header's
// length.
//
// Errors: [ErrForm] when f is not a response form, [ErrTruncated]; the reply is then
// unchanged.
func (r *Reply) Decode(f pds.NextHdr, b []byte) (n int, err error) {
	if !f.IsResponse() {
		return 0, ErrForm
	}
	if n = formLen(f); len(b) < n {
		return 0, ErrTruncated
	}
	*r = Reply{}
	r.Form = f
	switch f {
	case pds.NextResponse:
		r.Response.get((*[ResponseLen]byte)(b))
	case pds.NextResponseData:
		r.decodeData((*[responseDataLen]byte)(b))
	case pds.NextResponseDataSmall:
		r.decodeSmallData((*[responseDataSmallLen]byte)(b))
	}
	return n, nil
}

// AppendTo appends the header to b, in the form r.Form. AppendTo panics for any other
// form.
func (r *Reply) AppendTo(b []byte) []byte {
	switch r.Form {
	case pds.NextResponse:
		return r.Response.AppendTo(b)
	case pds.NextResponseData:
		return r.appendData(b)
	case pds.NextResponseDataSmall:
		return r.appendSmallData(b)
	}
	panic("ses: Reply.AppendTo: " + r.Form.String() + " is no response form")
}

// Len returns the length of the header on the wire, bytes.
func (r *Reply) Len() int { return formLen(r.Form) }

// Validate returns an [ErrField] for an undefined version, opcode or return code, and for an
// opcode of another form.
func (r *Reply) Validate() error { return r.validate(r.Form) }

// String formats the header on a line.
func (r *Reply) String() string {
	switch r.Form {
	case pds.NextResponseData:
		return fmt.Sprintf("%s id %d job %d to %d at %d+%d length %d", r.Verdict.text(), r.MessageID, r.JobID, r.ReadRequestID,
			r.MessageOffset, r.PayloadLength, r.ModifiedLength)
	case pds.NextResponseDataSmall:
		return fmt.Sprintf("%s job %d to psn 0x%x +%d", r.Verdict.text(), r.JobID, r.OriginalRequestPSN, r.PayloadLength)
	}
	return r.Response.text()
}

func (r *Reply) decodeData(b *[responseDataLen]byte) {
	r.Verdict.get(binary.BigEndian.Uint16(b[0:]))
	r.MessageID = MessageID(binary.BigEndian.Uint16(b[2:]))
	r.JobID = JobID(binary.BigEndian.Uint32(b[4:]) & 0xff_ffff)
	r.ReadRequestID = MessageID(binary.BigEndian.Uint16(b[8:]))
	r.PayloadLength = binary.BigEndian.Uint16(b[10:]) & maxLength14
	r.ModifiedLength = binary.BigEndian.Uint32(b[12:])
	r.MessageOffset = binary.BigEndian.Uint32(b[16:])
}

func (r *Reply) appendData(b []byte) []byte {
	b, tail := extend(b, responseDataLen)
	p := (*[responseDataLen]byte)(tail)
	binary.BigEndian.PutUint16(p[0:], r.wire(r.JobID))
	binary.BigEndian.PutUint16(p[2:], uint16(r.MessageID))
	binary.BigEndian.PutUint32(p[4:], uint32(r.JobID))
	binary.BigEndian.PutUint16(p[8:], uint16(r.ReadRequestID))
	binary.BigEndian.PutUint16(p[10:], length14(r.PayloadLength))
	binary.BigEndian.PutUint32(p[12:], r.ModifiedLength)
	binary.BigEndian.PutUint32(p[16:], r.MessageOffset)
	return b
}

func (r *Reply) decodeSmallData(b *[responseDataSmallLen]byte) {
	r.Verdict.get(binary.BigEndian.Uint16(b[0:]))
	r.PayloadLength = binary.BigEndian.Uint16(b[2:]) & maxLength14
	r.JobID = JobID(binary.BigEndian.Uint32(b[4:]) & 0xff_ffff)
	r.OriginalRequestPSN = binary.BigEndian.Uint32(b[8:])
}

func (r *Reply) appendSmallData(b []byte) []byte {
	b, tail := extend(b, responseDataSmallLen)
	p := (*[responseDataSmallLen]byte)(tail)
	binary.BigEndian.PutUint16(p[0:], r.wire(r.JobID))
	binary.BigEndian.PutUint16(p[2:], length14(r.PayloadLength))
	binary.BigEndian.PutUint32(p[4:], uint32(r.JobID))
	binary.BigEndian.PutUint32(p[8:], r.OriginalRequestPSN)
	return b
}
