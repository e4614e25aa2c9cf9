// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"cmp"
	"math/bits"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/slab"
)

// A TargetConfig gives the bounds of a [Target]. All memory is taken at
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

const (
	defaultHold = 2e9
	maxHold     = int64(1) << 56
	maxIndices  = 1 << 12 // resource_index has 12 bits
)

func (c *TargetConfig) validate() error {
	return cmp.Or(
		checkMTU("TargetConfig.MTU", c.MTU),
		check.Range(ErrConfig, "TargetConfig.Processes", c.Processes, 0, maxSlots),
		check.Range(ErrConfig, "TargetConfig.Indices", c.Indices, 0, maxIndices),
		check.Range(ErrConfig, "TargetConfig.Regions", c.Regions, 0, maxSlots),
		check.Range(ErrConfig, "TargetConfig.Receives", c.Receives, 0, maxSlots),
		check.Range(ErrConfig, "TargetConfig.Messages", c.Messages, 0, maxSlots),
		check.Range(ErrConfig, "TargetConfig.Pending", c.Pending, 0, maxSlots),
		check.Range(ErrConfig, "TargetConfig.Hold", c.Hold, 0, maxHold),
		check.Range(ErrConfig, "TargetConfig.Profile", c.Profile, ProfileAll, ProfileHPC),
	)
}

// A Target is the receiving side of a FEP: the processes to address, the open memory, and the
// messages in progress. Single writer.
type Target struct {
	mtu         uint32
	ops         uint64 // opcodes that are offered, a bit each
	defers      bool   // deferrable sends are remembered
	atomicOps   uint32
	atomicTypes uint32
	perProcess  int
	hold        int64

	jobs         finder // JobID -> slot of jobUse
	jobSlots     slots
	jobUse       []uint32 // processes of the job
	processes    finder   // Process -> slot
	processSlots slots
	processOf    []Process
	entries      []entry // resource-index table, perProcess for each process

	keys        finder // {entry, key} -> slot of regions
	regionSlots slots
	regions     []region
	recvSlots   slots
	receives    []receive
	posted      uint32 // buffers so far
	tags        tagIndex

	messages    finder // {peer, message_id} -> slot of records
	recordSlots slots
	records     []Record
	recent      []uint16 // by the low bits of a peer: slot of its latest message
	listed      peerLists
	epoch       uint32  // see changed
	grants      []grant // by a hash of address and key

	pendSlots     slots
	pendings      []pending
	pends         peerLists
	deferred, due pendingList
}

// NewTarget returns a target without processes. Errors wrap [ErrConfig].
func NewTarget(c TargetConfig) (*Target, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c.Hold, c.Seed = cmp.Or(c.Hold, defaultHold), random.Seed(c.Seed)
	return &Target{
		mtu: c.MTU, ops: profileOps[c.Profile] & opsTarget, defers: c.Profile.defers(), atomicOps: c.AtomicOps, atomicTypes: c.AtomicTypes, perProcess: c.Indices, hold: c.Hold,
		jobs: newFinder(c.Processes, c.Seed), jobSlots: newSlots(c.Processes), jobUse: make([]uint32, c.Processes),
		processes: newFinder(c.Processes, c.Seed), processSlots: newSlots(c.Processes),
		processOf: make([]Process, c.Processes),
		entries:   slab.Make[entry](c.Processes * c.Indices),
		keys:      newFinder(c.Regions, c.Seed), regionSlots: newSlots(c.Regions), regions: slab.Make[region](c.Regions),
		recvSlots: newSlots(c.Receives), receives: slab.Make[receive](c.Receives),
		tags:     tagIndex{chains: newFinder(c.Receives, c.Seed)},
		messages: newFinder(c.Messages, c.Seed), recordSlots: newSlots(c.Messages),
		records: slab.Make[Record](max(c.Messages, 1)), recent: make([]uint16, buckets(c.Messages)),
		listed: newPeerLists(c.Messages), epoch: 1, grants: slab.Make[grant](min(buckets(c.Regions), maxGrants)),
		pendSlots: newSlots(c.Pending), pendings: make([]pending, c.Pending), pends: newPeerLists(c.Pending),
	}, nil
}

// buckets is how many buckets a table of n things has, by a hash or by the low bits of a
// peer: a power of two.
func buckets(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// Messages returns the number of messages of several packets in progress, including failed
// messages not yet over.
func (t *Target) Messages() int { return t.recordSlots.live }
