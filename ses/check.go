// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Check is a step in the validation of a request: the first failed step. The order
// follows the write path of the reference provider and of the provider's in-kernel variant.
type Check uint8

const (
	CheckNone        Check = iota // the request passed
	CheckVersion                  // version is 0
	CheckOpcode                   // opcode known and allowed in form, mode and resource index
	CheckFEP                      // the address has any process
	CheckJob                      // JobID known there
	CheckPID                      // PIDonFEP exists in the job
	CheckIndex                    // resource index in range and valid
	CheckEnabled                  // resource index enabled
	CheckGenEnabled               // not disabled until the generation changes
	CheckGeneration               // ri_generation is current
	CheckLengths                  // SOM rule, payload and message lengths agree
	CheckInitiator                // the initiator met no error
	CheckKey                      // memory key known, or a receive buffer matched
	CheckJobAllowed               // region or queue open to the job
	CheckRights                   // region open to the operation
	CheckMessageSize              // whole message inside the region
	CheckPacketEnd                // the packet inside the buffer
	CheckSameBuffer               // same operation on the same buffer as the message's earlier packets
	CheckIdempotent               // RUDI: region safe for repeats
	CheckAtomic                   // operation, datatype, size, alignment
	CheckRecord                   // room for the message's record
	CheckHost                     // the host took the data
	CheckSticky                   // no earlier packet of the message failed
)

var checkNames = [...]string{
	"none", "version", "opcode", "fep", "job", "pid", "index", "enabled", "generation-enabled", "generation", "lengths",
	"initiator", "key", "job-allowed", "rights", "message-size", "packet-end", "same-buffer", "idempotent", "atomic",
	"record", "host", "sticky",
}

// String returns a short name.
func (c Check) String() string { return enum.Name(checkNames[:], c) }
