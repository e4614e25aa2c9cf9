// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"encoding/binary"
	"fmt"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/pds"
)

// A ResponseOpcode is the kind of a response, 6 bits. Source: table 3-18.
type ResponseOpcode uint8

const (
	ResponseDefault  ResponseOpcode = 0 // success, may be coalesced by the PDS
	ResponseExplicit ResponseOpcode = 1 // UET_RESPONSE
	ResponseWithData ResponseOpcode = 2 // followed by the data asked for
	ResponseNone     ResponseOpcode = 3 // no answer

	responseVendor ResponseOpcode = 0x30 // to 0x3f
)

var responseOpcodeNames = [...]string{"UET_DEFAULT_RESPONSE", "UET_RESPONSE", "UET_RESPONSE_W_DATA", "UET_NO_RESPONSE"}

// String returns the specification's name, or the number.
func (o ResponseOpcode) String() string { return enum.Name(responseOpcodeNames[:], o) }

// A List names the matching list of receive buffers, 2 bits; 2 and 3 are the
// vendors'. Source: table 3-20.
type List uint8

const (
	ListExpected List = 0 // a posted buffer; also for RMA
	ListOverflow List = 1 // the list of unexpected messages; with NO_MATCH, a deferrable send remembered there
)

// String returns the specification's name, or the number.
func (l List) String() string { return enum.Name([]string{"UET_EXPECTED", "UET_OVERFLOW"}, l) }

// Verdict are the fields every response starts with.
//
//	0      2        8     10            16
//	+------+--------+-----+-------------+
//	| list | opcode | ver | return_code |
//	+------+--------+-----+-------------+
//
// Source: table 3-11.
type Verdict struct {
	List       List
	Opcode     ResponseOpcode
	Version    uint8 // only 0 is defined
	ReturnCode ReturnCode
}

//uetcc:hot inlines nobounds
func (v *Verdict) get(w uint16) {
	v.List = List(w >> 14)
	v.Opcode = ResponseOpcode(w >> 8 & 0x3f)
	v.Version = uint8(w >> 6 & 3)
	v.ReturnCode = ReturnCode(w & 0x3f)
}

// wire returns the two bytes; wire panics when a field or the JobID is too
// wide.
func (v *Verdict) wire(job JobID) uint16 {
	if uint8(v.List)>>2|v.Version>>2|uint8(v.Opcode)>>6|uint8(v.ReturnCode)>>6 != 0 || job>>24 != 0 {
		panic("ses: response field wider than on the wire")
	}
	return uint16(v.List)<<14 | uint16(v.Opcode)<<8 | uint16(v.Version)<<6 | uint16(v.ReturnCode)
}

// validate checks the fields of a response of form f.
func (v *Verdict) validate(f pds.NextHdr) error {
	switch {
	case v.Version != 0:
		return errVersion
	case v.Opcode > ResponseNone && v.Opcode < responseVendor: // kept for later
		return errResponseOpcode
	case (v.Opcode == ResponseWithData) != (f != pds.NextResponse):
		return errOpcodeForm
	case v.ReturnCode.IsReserved():
		return errReturnCode
	}
	return nil
}

func (v *Verdict) text() string {
	return fmt.Sprintf("%v %v %v", v.Opcode, v.ReturnCode, v.List)
}

// ResponseLen is the length of a [Response], bytes.
const ResponseLen = 12

// A Response answers a request without carrying data. The default response of a
// PDS has the same layout.
//
//	0               16                 32
//	+---------------+------------------+
//	|    Verdict    |    message_id    |
//	+---------------+------------------+
//	| ri_generation |     job_id       |
//	+---------------+------------------+
//	|         modified_length          |
//	+----------------------------------+
//
// Source: figure 3-18, tables 3-11 and 3-43.
type Response struct {
	Verdict
	Generation     Generation // current generation of the resource index
	MessageID      MessageID  // of the request
	JobID          JobID
	ModifiedLength uint32 // bytes of the message delivered, not of the packet
}

// Decode reads a response; n is [ResponseLen]. The only error is
// [ErrTruncated].
//
//uetcc:hot nobounds
func (h *Response) Decode(b []byte) (n int, err error) {
	if len(b) < ResponseLen {
		return 0, ErrTruncated
	}
	h.get((*[ResponseLen]byte)(b))
	return ResponseLen, nil
}

func (h *Response) get(b *[ResponseLen]byte) {
	h.Verdict.get(binary.BigEndian.Uint16(b[0:]))
	h.MessageID = MessageID(binary.BigEndian.Uint16(b[2:]))
	h.Generation = Generation(b[4])
	h.JobID = JobID(binary.BigEndian.Uint32(b[4:]) & 0xff_ffff)
	h.ModifiedLength = binary.BigEndian.Uint32(b[8:])
}

// AppendTo appends the response to b.
//
//uetcc:hot
func (h *Response) AppendTo(b []byte) []byte {
	b, tail := extend(b, ResponseLen)
	p := (*[ResponseLen]byte)(tail)
	binary.BigEndian.PutUint16(p[:], h.wire(h.JobID))
	binary.BigEndian.PutUint16(p[2:], uint16(h.MessageID))
	binary.BigEndian.PutUint32(p[4:], uint32(h.Generation)<<24|uint32(h.JobID))
	binary.BigEndian.PutUint32(p[8:], h.ModifiedLength)
	return b
}

func (h *Response) text() string {
	return fmt.Sprintf("%s id %d job %d gen %d length %d", h.Verdict.text(), h.MessageID, h.JobID, h.Generation,
		h.ModifiedLength)
}
