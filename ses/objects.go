// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"errors"
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

// String returns a short name.
func (k IndexKind) String() string { return enum.Name([]string{"memory", "queue", "both"}, k) }

// An IndexState says whether a resource index takes requests.
type IndexState uint8

const (
	IndexInvalid     IndexState = iota // not there: RC_BAD_INDEX
	IndexEnabled                       // takes requests
	IndexDisabled                      // RC_DISABLED: for good, as far as the initiator is told
	IndexGenDisabled                   // RC_DISABLED_GEN: for a while; the initiator tries again
)

// String returns a short name.
func (s IndexState) String() string {
	return enum.Name([]string{"invalid", "enabled", "disabled", "generation-disabled"}, s)
}

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

// A Receive is a buffer to be posted to a receive queue. A buffer serves one message. Only a message some of whose
// packets are longer than this side takes gives the buffer back without a word, RC_OP_VIOLATION apart: the buffer
// has its place in the queue again, under a new handle that nobody is told, and what comes for its Cookie next is
// the begin of a message.
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

// ErrConfig is wrapped by every error about a configuration; the message names field and
// limits.
var ErrConfig = errors.New("ses: invalid configuration")

// A TargetConfig gives the bounds of the receiving side of an endpoint. All memory is taken at
// construction. A peer gets one more of Messages or of Pending only while more are free than
// the peer has, so a single peer may have half.
type TargetConfig struct {
	MTU       uint32 // payload bytes of a full packet: 1024, 2048, 4096 or 8192
	Processes int    // processes, at most 65536
	Indices   int    // resource indices of each process, at most 4096
	Regions   int    // registered regions, at most 65536
	Receives  int    // posted receive buffers, at most 65536; with up to 8 values of Ignore a tag is found by hash
	Messages  int    // messages of several packets in progress, at most 65536
	// Pending are the rendezvous and deferrable sends awaiting the target's return, at most
	// 65536. Without room a deferrable send is refused like any other.
	Pending int
	// Profile is the offer; the zero value is all operations.
	Profile Profile
	// AtomicOps and AtomicTypes are the atomic opcodes and datatypes served, bit n
	// for value n. 0 means none, even with a region's rights: RC_AMO_UNSUPPORTED_OP, since
	// only the caller knows the host's abilities.
	AtomicOps, AtomicTypes uint32
	// Hold is the longest life of a packet in the network, nanoseconds, at most 2^56. A
	// resource index does not come back to a generation within Hold. 0 means 2 s.
	Hold int64
	// Seed keeps peers from choosing keys that collide in the tables. 0 draws a seed from
	// crypto/rand; with any other equal inputs give equal results.
	Seed uint64
}

// A Profile is a target's offer to peers. Operations outside the profile are refused with
// UNSUPPORTED_OP. The zero value offers all operations of package ses.
//
// Source: UE Specification 1.0.x section 3.4, as far as the lists are public: all of AI Base;
// of AI Full and HPC the distinguishing features, so no target of either profile lacks a
// feature known to be mandatory.
type Profile uint8

const (
	ProfileAll    Profile = iota
	ProfileAIBase         // sends without matching, writes, atomics that fetch nothing, datagrams
	ProfileAIFull         // AI Base, reads, exact tags, deferrable sends
	ProfileHPC            // AI Base, reads, tags with wildcards, rendezvous, atomics that fetch
)

// String returns the specification's name.
func (p Profile) String() string { return enum.Name([]string{"all", "AI Base", "AI Full", "HPC"}, p) }

// A Mode is the delivery service a message asks of the PDS. The zero value
// is RUD, good for every operation but datagrams.
type Mode uint8

const (
	ModeRUD  Mode = iota // reliable, unordered: each packet once, in any order
	ModeROD              // reliable, ordered, on one path; packets ahead of a gap are sent again, or kept (PDS.BufferROD)
	ModeRUDI             // reliable, unordered, for operations that may be repeated
	ModeUUD              // unreliable datagram: no answer, no record
)

// String returns the specification's abbreviation.
func (m Mode) String() string { return enum.Name([]string{"RUD", "ROD", "RUDI", "UUD"}, m) }
