// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Form is the next_hdr field of a PDS header: the SES layout that follows. Values are
// as on the wire.
type Form uint8

const (
	FormNone Form = 0 // UET_HDR_NONE: no SES header; the rest are REQ_SMALL, REQ_MEDIUM, REQ_STD, RSP, RSP_DATA and RSP_DATA_SMALL

	// FormSmall is for a message of one packet where the resource index alone selects
	// the memory. The hd flag is reserved. Source: figure 3-13.
	//
	//	0              16 18                32
	//	+---------------+--+----------------+
	//	| opcode, flags | 0| request_length |
	//	+---------------+--+----------------+
	//	| ri_generation |      job_id       |
	//	+------------+--+-+-----------------+
	//	| 0|pid_on_fep|0| resource_index    |
	//	+------------+----+-----------------+
	//	|        buffer_offset (64)         |
	//	+-----------------------------------+
	FormSmall Form = 1

	// FormMedium is for a message of one packet with a key or match bits. With
	// header data its operation starts at offset 0. Source: figure 3-14.
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
	FormMedium Form = 2

	FormStandard Form = 3 // for every request, see [Standard]
	FormResponse Form = 4 // for an answer without data, see [Response]

	// FormResponseData carries the data of a read or fetching atomic.
	// payload_length has 14 bits: as the MTU of 8192 needs. Source: figure 3-19.
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
	FormResponseData Form = 5

	// FormResponseDataSmall carries all the data at once, for the request of a given PSN.
	// Source: figure 3-20.
	//
	//	0               16 18                32
	//	+---------------+--+-----------------+
	//	|    Verdict    | 0| payload_length  |
	//	+---------------+--+-----------------+
	//	|   reserved    |      job_id        |
	//	+---------------+--------------------+
	//	|        original_request_psn        |
	//	+------------------------------------+
	FormResponseDataSmall Form = 6
)

var formNames = [...]string{
	"UET_HDR_NONE", "UET_HDR_REQUEST_SMALL", "UET_HDR_REQUEST_MEDIUM", "UET_HDR_REQUEST_STD",
	"UET_HDR_RESPONSE", "UET_HDR_RESPONSE_DATA", "UET_HDR_RESPONSE_DATA_SMALL",
}

// String returns the specification's name.
func (f Form) String() string { return enum.Name(formNames[:], f) }

// IsRequest reports whether f is a request form, readable by [Request].
func (f Form) IsRequest() bool { return f-FormSmall <= FormStandard-FormSmall }

// IsResponse reports whether f is a response form, readable by [Reply].
func (f Form) IsResponse() bool { return f-FormResponse <= FormResponseDataSmall-FormResponse }

// Lengths of the headers of single forms, bytes.
const (
	smallLen             = 20
	mediumLen            = 32
	responseDataLen      = 20
	responseDataSmallLen = 12
)

var formLens = [16]int{
	FormSmall: smallLen, FormMedium: mediumLen, FormStandard: StandardLen,
	FormResponse: ResponseLen, FormResponseData: responseDataLen, FormResponseDataSmall: responseDataSmallLen,
}

// base is the length of the header without extensions, 0 for no layout.
func (f Form) base() int { return formLens[f&15] }

// extensionLen returns the length of the extension after the request header of form f and
// n bytes at the start of b. For an undefined opcode the extension is unknown; Validate
// reports such an opcode, and a rendezvous in a short form.
func extensionLen(f Form, n int, b []byte) int {
	switch op := Opcode(b[0] & opcodeMask); {
	case op.IsAtomic() && len(b) > n && AtomicOpcode(b[n]).IsSwap():
		return CompareSwapLen
	case op.IsAtomic():
		return AtomicLen
	case op.IsRendezvous() && f == FormStandard:
		return RendezvousLen
	}
	return 0
}
