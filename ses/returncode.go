package ses

import "github.com/uetcc/uetcc/internal/enum"

// A ReturnCode is the verdict of a response, 6 bits. Source: table 3-19.
type ReturnCode uint8

const (
	RCNull               ReturnCode = 0x00
	RCOK                 ReturnCode = 0x01
	RCBadGeneration      ReturnCode = 0x02
	RCDisabled           ReturnCode = 0x03
	RCDisabledGen        ReturnCode = 0x04
	RCNoMatch            ReturnCode = 0x05
	RCUnsupportedOp      ReturnCode = 0x06
	RCUnsupportedSize    ReturnCode = 0x07
	RCATInvalid          ReturnCode = 0x08
	RCATPerm             ReturnCode = 0x09
	RCATATSError         ReturnCode = 0x0a
	RCATNoTrans          ReturnCode = 0x0b
	RCATOutOfRange       ReturnCode = 0x0c
	RCHostPoisoned       ReturnCode = 0x0d
	RCHostUnsuccessCmpl  ReturnCode = 0x0e
	RCAMOUnsupportedOp   ReturnCode = 0x0f
	RCAMOUnsupportedDT   ReturnCode = 0x10
	RCAMOUnsupportedSize ReturnCode = 0x11
	RCAMOUnaligned       ReturnCode = 0x12
	RCAMOFPNaN           ReturnCode = 0x13
	RCAMOFPUnderflow     ReturnCode = 0x14
	RCAMOFPOverflow      ReturnCode = 0x15
	RCAMOFPInexact       ReturnCode = 0x16
	RCPermViolation      ReturnCode = 0x17
	RCOpViolation        ReturnCode = 0x18
	RCBadIndex           ReturnCode = 0x19
	RCBadPID             ReturnCode = 0x1a
	RCBadJobID           ReturnCode = 0x1b
	RCBadMKey            ReturnCode = 0x1c
	RCBadAddr            ReturnCode = 0x1d
	RCCancelled          ReturnCode = 0x1e
	RCUndeliverable      ReturnCode = 0x1f
	RCUncor              ReturnCode = 0x20
	RCUncorTransient     ReturnCode = 0x21
	RCTooLong            ReturnCode = 0x22
	RCInitiatorError     ReturnCode = 0x23
	RCDropped            ReturnCode = 0x24
	RCExtended           ReturnCode = 0x3e
)

var returnCodeNames = [...]string{
	"RC_NULL", "RC_OK", "RC_BAD_GENERATION", "RC_DISABLED", "RC_DISABLED_GEN", "RC_NO_MATCH", "RC_UNSUPPORTED_OP",
	"RC_UNSUPPORTED_SIZE", "RC_AT_INVALID", "RC_AT_PERM", "RC_AT_ATS_ERROR", "RC_AT_NO_TRANS", "RC_AT_OUT_OF_RANGE",
	"RC_HOST_POISONED", "RC_HOST_UNSUCCESS_CMPL", "RC_AMO_UNSUPPORTED_OP", "RC_AMO_UNSUPPORTED_DT",
	"RC_AMO_UNSUPPORTED_SIZE", "RC_AMO_UNALIGNED", "RC_AMO_FP_NAN", "RC_AMO_FP_UNDERFLOW", "RC_AMO_FP_OVERFLOW",
	"RC_AMO_FP_INEXACT", "RC_PERM_VIOLATION", "RC_OP_VIOLATION", "RC_BAD_INDEX", "RC_BAD_PID", "RC_BAD_JOB_ID",
	"RC_BAD_MKEY", "RC_BAD_ADDR", "RC_CANCELLED", "RC_UNDELIVERABLE", "RC_UNCOR", "RC_UNCOR_TRNSNT", "RC_TOO_LONG",
	"RC_INITIATOR_ERROR", "RC_DROPPED", RCExtended: "RC_EXTENDED",
}

// String returns the specification's name, or the number.
func (c ReturnCode) String() string { return enum.Name(returnCodeNames[:], c) }

// IsReserved reports whether the specification keeps c for later: all above
// [RCDropped] but the vendors' 0x30 to 0x37 and [RCExtended].
func (c ReturnCode) IsReserved() bool {
	return c > RCDropped && (c < 0x30 || c > 0x37) && c != RCExtended
}
