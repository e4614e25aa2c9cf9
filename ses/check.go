// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// A Check is a step in the validation of a request: the first failed step. The order
// follows the write path of the reference provider and of the provider's in-kernel variant.
type Check uint8

const (
	CheckNone        Check = iota // the request passed
	checkVersion                  // version is 0
	checkOpcode                   // opcode known and allowed in form, mode and resource index
	checkFEP                      // the address has any process
	checkJob                      // JobID known there
	checkPID                      // PIDonFEP exists in the job
	checkIndex                    // resource index in range and valid
	checkEnabled                  // resource index enabled
	checkGenEnabled               // not disabled until the generation changes
	checkGeneration               // ri_generation is current
	checkLengths                  // SOM rule, payload and message lengths agree
	checkInitiator                // the initiator met no error
	checkKey                      // memory key known, or a receive buffer matched
	checkJobAllowed               // region or queue open to the job
	checkRights                   // region open to the operation
	checkMessageSize              // whole message inside the region
	checkPacketEnd                // the packet inside the buffer
	checkSameBuffer               // same operation on the same buffer as the message's earlier packets
	checkIdempotent               // RUDI: region safe for repeats
	checkAtomic                   // operation, datatype, size, alignment
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
