// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"errors"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/step"
)

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

var actionNames = [...]string{"none", "place", "read", "atomic", "abort", "restart"}

// String returns a short name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// A Status is how a message ended.
type Status uint8

const (
	StatusNone      Status = iota // not ended
	StatusOK                      // all bytes delivered
	StatusTruncated               // the receive buffer was shorter: Outcome.Length bytes
	StatusFailed                  // refused: Outcome.Code
	StatusPDS                     // not delivered by the PDS: Outcome.Cause
)

var statusNames = [...]string{"none", "ok", "truncated", "failed", "pds-error"}

// String returns a short name.
func (s Status) String() string { return enum.Name(statusNames[:], s) }

// An Outcome is the end of a message.
type Outcome struct {
	Status  Status
	Code    ReturnCode // StatusFailed: the first fatal code
	Cause   uint8      // StatusPDS: from the PDS
	Retries uint8      // attempts after the first
	Length  uint32     // bytes delivered, or read; of a failed read, the bytes received
}

// Errors of [Operation.Validate].
var (
	ErrOperation = errors.New("ses: operation cannot be started, or not in this mode or form")
	ErrTooLong   = errors.New("ses: message too long for its operation or form")
)

// Check is a step in the validation of a request: the first failed step. The order
// follows the write path of the reference provider and of the provider's in-kernel variant.
type Check = step.Check

// The steps that are no check of a field. The String of any step says what failed.
const (
	CheckNone   = step.None   // the request passed
	CheckRecord = step.Record // room for the message's record
	CheckHost   = step.Host   // the host took the data
	CheckSticky = step.Sticky // no earlier packet of the message failed
)
