// SPDX-License-Identifier: Apache-2.0

// Package step names the steps in the validation of a request.
package step

import "github.com/uetcc/uetcc/internal/enum"

// A Check is what package ses calls so.
type Check uint8

const (
	None        Check = iota // the request passed
	Version                  // version is 0
	Opcode                   // opcode known and allowed in form, mode and resource index
	FEP                      // the address has any process
	Job                      // JobID known there
	PID                      // PIDonFEP exists in the job
	Index                    // resource index in range and valid
	Enabled                  // resource index enabled
	GenEnabled               // not disabled until the generation changes
	Generation               // ri_generation is current
	Lengths                  // SOM rule, payload and message lengths agree
	Initiator                // the initiator met no error
	Key                      // memory key known, or a receive buffer matched
	JobAllowed               // region or queue open to the job
	Rights                   // region open to the operation
	MessageSize              // whole message inside the region
	PacketEnd                // the packet inside the buffer
	SameBuffer               // same operation on the same buffer as the message's earlier packets
	Idempotent               // RUDI: region safe for repeats
	Atomic                   // operation, datatype, size, alignment
	Record                   // room for the message's record
	Host                     // the host took the data
	Sticky                   // no earlier packet of the message failed
)

var names = [...]string{
	"none", "version", "opcode", "fep", "job", "pid", "index", "enabled", "generation-enabled", "generation", "lengths",
	"initiator", "key", "job-allowed", "rights", "message-size", "packet-end", "same-buffer", "idempotent", "atomic",
	"record", "host", "sticky",
}

// String returns a short name.
func (c Check) String() string { return enum.Name(names[:], c) }
