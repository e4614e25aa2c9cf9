// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"math"

	"github.com/uetcc/uetcc/internal/enum"
)

// An IndexKind is the kind of object behind a resource index.
type IndexKind uint8

const (
	IndexMemory IndexKind = iota // regions, by key
	IndexQueue                   // a queue of receive buffers
	IndexBoth                    // regions and a queue, for peers that send everything to one index
)

var indexKindNames = [...]string{"memory", "queue", "both"}

// String returns a short name.
func (k IndexKind) String() string { return enum.Name(indexKindNames[:], k) }

// An IndexState says whether a resource index takes requests.
type IndexState uint8

const (
	IndexInvalid     IndexState = iota // not there: RC_BAD_INDEX
	IndexEnabled                       // takes requests
	IndexDisabled                      // RC_DISABLED: for good, as far as the initiator is told
	IndexGenDisabled                   // RC_DISABLED_GEN: for a while; the initiator tries again
)

var indexStateNames = [...]string{"invalid", "enabled", "disabled", "generation-disabled"}

// String returns a short name.
func (s IndexState) String() string { return enum.Name(indexStateNames[:], s) }

// An Index configures one entry of the resource-index table.
type Index struct {
	Kind IndexKind
	// Job is the only job admitted to a queue, or [AnyJob]. Regions have their
	// own.
	Job JobID
}

// MaxMessage is the largest message, bytes: the reference provider's limit.
const MaxMessage = math.MaxUint32 - 1

// A Process is the address of requests: a job and a number within the job, or
// on the FEP.
type Process struct {
	Job JobID
	PID PIDonFEP
	// Absolute makes PID a number of the whole FEP, found without the job.
	Absolute bool
}

// A Receive is a buffer to be posted to a receive queue. A buffer serves one message.
type Receive struct {
	Base   uint64 // first address
	Length uint32 // bytes; a longer message is cut
	Match  uint64 // tag of matching messages
	Ignore uint64 // bits of the tag that need not match; all ones take any message
	Cookie uint64 // returned with each action on the message
}

// AnyJob admits every job, as the Job of a [Region] or an [Index]. AnyJob is wider
// than a JobID, so never carried by a packet.
const AnyJob JobID = 1 << 24

// Rights are a remote initiator's rights on a [Region].
type Rights uint8

const (
	RightRead   Rights = 1 << iota // remote read
	RightWrite                     // remote write
	RightAtomic                    // atomics, fetching or not
)

// A Region is memory a key opens for remote access. The addresses are the
// caller's own numbers: nothing is ever read or written here.
type Region struct {
	Base   uint64 // first address
	Length uint64 // bytes; Base+Length must not pass 2^64
	// Key is the region's name in requests. Small requests carry no key and find
	// the region of key 0.
	Key    uint64
	Cookie uint64 // returned with each action on the region
	Job    JobID  // the only job admitted, or [AnyJob]
	Rights Rights
	// Idempotent allows RUDI, where a request may be applied more than once.
	Idempotent bool
}

// A Handle names an object of the semantic sublayer, as a message, a process or a region: 16 bits of generation
// above 16 bits of index. The handle of a past object is refused until the slot
// has been used 32,768 more times. No live object has handle 0.
type Handle uint32
