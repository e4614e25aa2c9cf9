package ses

import (
	"encoding/binary"
	"fmt"
)

// A Reply is what any response header says. Fields that its form lacks are 0.
type Reply struct {
	Form Form
	Verdict
	Generation         Generation // FormResponse
	MessageID          MessageID  // of the request in a FormResponse, of the response in a FormResponseData
	ReadRequestID      MessageID  // FormResponseData: of the request
	PayloadLength      uint16     // forms with data: bytes of data here
	JobID              JobID
	ModifiedLength     uint32 // FormResponse and FormResponseData
	MessageOffset      uint32 // FormResponseData: place of the data in what was asked for
	OriginalRequestPSN uint32 // FormResponseDataSmall
}

// Decode reads the response header of form f that b starts with; n is its
// length.
//
// Errors: [ErrForm] when f is not a response form, [ErrTruncated]; they leave
// the reply as it was.
func (r *Reply) Decode(f Form, b []byte) (n int, err error) {
	if !f.IsResponse() {
		return 0, ErrForm
	}
	if n = f.base(); len(b) < n {
		return 0, ErrTruncated
	}
	*r = Reply{}
	r.Form = f
	switch f {
	case FormResponse:
		r.get(binary.BigEndian.Uint16(b))
		r.MessageID = MessageID(binary.BigEndian.Uint16(b[2:]))
		job := binary.BigEndian.Uint32(b[4:])
		r.Generation, r.JobID = Generation(job>>24), JobID(job&0xff_ffff)
		r.ModifiedLength = binary.BigEndian.Uint32(b[8:])
	case FormResponseData:
		var h ResponseData
		_, _ = h.Decode(b)
		r.Verdict, r.MessageID, r.ReadRequestID, r.PayloadLength = h.Verdict, h.MessageID, h.ReadRequestID, h.PayloadLength
		r.JobID, r.ModifiedLength, r.MessageOffset = h.JobID, h.ModifiedLength, h.MessageOffset
	case FormResponseDataSmall:
		var h ResponseDataSmall
		_, _ = h.Decode(b)
		r.Verdict, r.PayloadLength, r.JobID, r.OriginalRequestPSN = h.Verdict, h.PayloadLength, h.JobID, h.OriginalRequestPSN
	}
	return n, nil
}

// AppendTo appends the header to b, in the form r.Form. It panics when that is
// not a response form.
func (r *Reply) AppendTo(b []byte) []byte {
	switch r.Form {
	case FormResponse:
		h := Response{
			Verdict: r.Verdict, Generation: r.Generation, MessageID: r.MessageID,
			JobID: r.JobID, ModifiedLength: r.ModifiedLength,
		}
		return h.AppendTo(b)
	case FormResponseData:
		h := ResponseData{
			Verdict: r.Verdict, MessageID: r.MessageID, ReadRequestID: r.ReadRequestID,
			PayloadLength: r.PayloadLength, JobID: r.JobID, ModifiedLength: r.ModifiedLength, MessageOffset: r.MessageOffset,
		}
		return h.AppendTo(b)
	case FormResponseDataSmall:
		h := ResponseDataSmall{
			Verdict: r.Verdict, PayloadLength: r.PayloadLength, JobID: r.JobID,
			OriginalRequestPSN: r.OriginalRequestPSN,
		}
		return h.AppendTo(b)
	}
	panic("ses: Reply.AppendTo: " + r.Form.String() + " is no response form")
}

// Len returns the length of the header on the wire, bytes.
func (r *Reply) Len() int { return r.Form.base() }

// Validate reports what the Validate of the form would.
func (r *Reply) Validate() error { return r.validate(r.Form != FormResponse) }

// String formats the header on one line.
func (r *Reply) String() string {
	switch r.Form {
	case FormResponseData:
		return fmt.Sprintf("%v id %d job %d to %d at %d+%d length %d", &r.Verdict, r.MessageID, r.JobID, r.ReadRequestID,
			r.MessageOffset, r.PayloadLength, r.ModifiedLength)
	case FormResponseDataSmall:
		return fmt.Sprintf("%v job %d to psn 0x%x +%d", &r.Verdict, r.JobID, r.OriginalRequestPSN, r.PayloadLength)
	}
	return fmt.Sprintf("%v id %d job %d gen %d length %d", &r.Verdict, r.MessageID, r.JobID, r.Generation, r.ModifiedLength)
}
