package ses

import (
	"errors"

	"github.com/uetcc/uetcc/internal/enum"
)

// Errors of a [Target]'s tables, for its owner and never by a peer's doing.
var (
	ErrFull     = errors.New("ses: table full")
	ErrExists   = errors.New("ses: exists already")
	ErrNotFound = errors.New("ses: no such object")
	ErrRange    = errors.New("ses: value out of range")
	ErrHeldBack = errors.New("ses: generation changed too often, old packets may live")
)

// AnyJob admits every job, as that of a [Region] or an [Index]. It is wider than a
// JobID, so no packet can carry it.
const AnyJob JobID = 1 << 24

// Rights say what a remote initiator may do to a [Region].
type Rights uint8

const (
	RightRead   Rights = 1 << iota // remote read
	RightWrite                     // remote write
	RightAtomic                    // atomics, fetching or not
)

// A Region is memory that a key opens for remote access. The addresses are the
// caller's own numbers: nothing is ever read or written here.
type Region struct {
	Base   uint64 // first address
	Length uint64 // bytes; Base+Length must not pass 2^64
	// Key is what requests name the region by. Small requests carry none and
	// find the region whose key is 0.
	Key    uint64
	Cookie uint64 // returned with each [Decision] about the region
	Job    JobID  // the only job admitted, or [AnyJob]
	Rights Rights
	// Idempotent allows RUDI, which may apply a request more than once.
	Idempotent bool
}

// A Receive is a buffer posted to a receive queue. It serves one message.
type Receive struct {
	Base   uint64 // first address
	Length uint32 // bytes; a longer message is cut to them
	Match  uint64 // tag of the messages it is for
	Ignore uint64 // bits of the tag that need not match; all ones take any message
	Cookie uint64 // returned with each [Decision] about the message
}

// An IndexKind says what a resource index leads to.
type IndexKind uint8

const (
	IndexMemory IndexKind = iota // regions, by key
	IndexQueue                   // a queue of receive buffers
)

var indexKindNames = [...]string{"memory", "queue"}

// String returns a short name.
func (k IndexKind) String() string { return enum.Name(indexKindNames[:], k) }

// Opcodes that each kind of resource index can serve.
const (
	kindMemoryOps = 1<<OpcodeWrite | 1<<OpcodeRead | 1<<OpcodeAtomic | 1<<OpcodeFetchingAtomic
	kindQueueOps  = 1<<OpcodeSend | 1<<OpcodeDatagramSend | 1<<OpcodeRendezvousSend | 1<<OpcodeDeferrableSend | opsTagged
)

var kindOps = [...]uint16{IndexMemory: kindMemoryOps, IndexQueue: kindQueueOps}

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
	// Ops are the opcodes admitted, bit n for opcode n. 0 admits all that the
	// kind can serve.
	Ops uint16
	// Job is the only job admitted to a queue, or [AnyJob]. Regions have their
	// own.
	Job JobID
}

// An Endpoint is a process that requests address.
type Endpoint struct {
	Job JobID
	PID PIDonFEP
	// Absolute makes PID a number of the whole FEP, found without the job.
	Absolute bool
}

func (e Endpoint) pair() pair {
	if e.Absolute {
		return pair{1 << 63, uint64(e.PID)}
	}
	return pair{uint64(e.Job), uint64(e.PID)}
}
