// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"errors"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/step"
)

// A ReturnCode is the verdict of a response, 6 bits. Source: table 3-19.
type ReturnCode uint8

// The return codes, as given by a target and taken by an initiator. The RCAT and
// RCHost codes and the codes of floating point are the host's to give, see
// Fail of the root package's Endpoint.
const (
	RCNull               ReturnCode = 0x00 // success, from the PDS alone
	RCOK                 ReturnCode = 0x01 // success
	RCBadGeneration      ReturnCode = 0x02 // not the current ri_generation; tried again with the response's
	RCDisabled           ReturnCode = 0x03 // the resource index is disabled, for good
	RCDisabledGen        ReturnCode = 0x04 // the resource index is disabled for a while; tried again later
	RCNoMatch            ReturnCode = 0x05 // no matching receive buffer; tried again later, or deferred
	RCUnsupportedOp      ReturnCode = 0x06 // the target, resource index, mode or form does not serve the opcode
	RCUnsupportedSize    ReturnCode = 0x07 // the message is longer than the region
	RCATInvalid          ReturnCode = 0x08 // address translation: not a valid address
	RCATPerm             ReturnCode = 0x09 // address translation: no permission
	RCATATSError         ReturnCode = 0x0a // address translation: the service failed
	RCATNoTrans          ReturnCode = 0x0b // address translation: none
	RCATOutOfRange       ReturnCode = 0x0c // address translation: outside the mapping
	RCHostPoisoned       ReturnCode = 0x0d // the memory is damaged
	RCHostUnsuccessCmpl  ReturnCode = 0x0e // the bus did not complete the access
	RCAMOUnsupportedOp   ReturnCode = 0x0f // atomic operation not served by the target
	RCAMOUnsupportedDT   ReturnCode = 0x10 // atomic datatype not served by the target, or not with the operation
	RCAMOUnsupportedSize ReturnCode = 0x11 // atomic whose length is not a whole number of operands
	RCAMOUnaligned       ReturnCode = 0x12 // atomic whose address is no multiple of the operand's size
	RCAMOFPNaN           ReturnCode = 0x13 // floating point: the result is not a number
	RCAMOFPUnderflow     ReturnCode = 0x14 // floating point: the result is too small
	RCAMOFPOverflow      ReturnCode = 0x15 // floating point: the result is too large
	RCAMOFPInexact       ReturnCode = 0x16 // floating point: the result was rounded
	RCPermViolation      ReturnCode = 0x17 // against the region's rights, or not the buffer of the message's other packets
	RCOpViolation        ReturnCode = 0x18 // the header contradicts itself, or RUDI on a region not open to repeats
	RCBadIndex           ReturnCode = 0x19 // no such resource index
	RCBadPID             ReturnCode = 0x1a // no such process
	RCBadJobID           ReturnCode = 0x1b // no such job, or a resource closed to the job
	RCBadMKey            ReturnCode = 0x1c // no region has the key
	RCBadAddr            ReturnCode = 0x1d // the packet ends behind the buffer
	RCCancelled          ReturnCode = 0x1e // given up by the initiator
	RCUndeliverable      ReturnCode = 0x1f // the target has no process at all
	RCUncor              ReturnCode = 0x20 // not cured by repeating: an unknown version, an impossible response
	RCUncorTransient     ReturnCode = 0x21 // an error perhaps cured by repeating
	RCTooLong            ReturnCode = 0x22 // the receive buffer has no byte left
	RCInitiatorError     ReturnCode = 0x23 // the initiator has met an error (FlagIE)
	RCDropped            ReturnCode = 0x24 // dropped by the target
	RCExtended           ReturnCode = 0x3e // the code is given elsewhere
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

// An Action is work in the memory of the caller, asked for by a packet.
type Action uint8

const (
	ActionNone   Action = iota // touch nothing
	ActionPlace                // write Length payload bytes at Address
	ActionRead                 // read Length bytes at Address, to be sent as data
	ActionAtomic               // apply the request's atomic operation at Address
	ActionAbort                // forget the message, given up by the initiator

	ActionRestart // a peer is ready for a send deferred before
)

// String returns a short name.
func (a Action) String() string {
	return enum.Name([]string{"none", "place", "read", "atomic", "abort", "restart"}, a)
}

// A Status is how a message ended.
type Status uint8

const (
	StatusNone      Status = iota // not ended
	StatusOK                      // all bytes delivered
	StatusTruncated               // the receive buffer was shorter: Outcome.Length bytes
	StatusFailed                  // refused: Outcome.Code
	StatusPDS                     // not delivered by the PDS: Outcome.Cause
)

// String returns a short name.
func (s Status) String() string {
	return enum.Name([]string{"none", "ok", "truncated", "failed", "pds-error"}, s)
}

// An Outcome is the end of a message.
type Outcome struct {
	Status  Status
	Code    ReturnCode // StatusFailed: the first fatal code
	Cause   uint8      // StatusPDS: from the PDS
	Retries uint8      // attempts after the first
	Length  uint32     // bytes delivered, or read; of a failed read, the bytes received
}

// Errors of a message that cannot be started.
var (
	ErrOperation = errors.New("ses: operation cannot be started, or not in this mode or form")
	ErrTooLong   = errors.New("ses: message too long for its operation or form")
)

// Check is a step in the validation of a request: the first failed step, 0 for none, by name in
// String. The order follows the write path of the reference provider and of the provider's in-kernel
// variant.
type Check = step.Check
