package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Form is the next_hdr field of a PDS header: which SES layout follows. Its
// values are those on the wire.
type Form uint8

const (
	FormNone              Form = 0 // UET_HDR_NONE: no SES header
	FormSmall             Form = 1 // [Small]
	FormMedium            Form = 2 // [Medium]
	FormStandard          Form = 3 // [Standard], [Deferrable], [ReadyToRestart]
	FormResponse          Form = 4 // [Response]
	FormResponseData      Form = 5 // [ResponseData]
	FormResponseDataSmall Form = 6 // [ResponseDataSmall]
)

var formNames = [...]string{
	"UET_HDR_NONE", "UET_HDR_REQUEST_SMALL", "UET_HDR_REQUEST_MEDIUM", "UET_HDR_REQUEST_STD",
	"UET_HDR_RESPONSE", "UET_HDR_RESPONSE_DATA", "UET_HDR_RESPONSE_DATA_SMALL",
}

// String returns the specification's name.
func (f Form) String() string { return enum.Name(formNames[:], f) }

// IsRequest reports whether f is a request form, which [Request] reads.
func (f Form) IsRequest() bool { return f-FormSmall <= FormStandard-FormSmall }

// IsResponse reports whether f is a response form, which [Reply] reads.
func (f Form) IsResponse() bool { return f-FormResponse <= FormResponseDataSmall-FormResponse }

// base is the length of the header without extensions, 0 for no layout.
func (f Form) base() int {
	switch f {
	case FormSmall:
		return SmallLen
	case FormMedium:
		return MediumLen
	case FormStandard:
		return StandardLen
	case FormResponse:
		return ResponseLen
	case FormResponseData:
		return ResponseDataLen
	case FormResponseDataSmall:
		return ResponseDataSmallLen
	}
	return 0
}

// extensionLen returns the length of what follows the request header of form f and n
// bytes that b starts with. What may follow an opcode that the specification does not
// define nobody knows; Validate reports such an opcode, and a rendezvous in a short form.
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
