// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/random"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/ses"
)

const (
	defaultHold = 2e9
	maxHold     = int64(1) << 56
	maxIndices  = 1 << 12 // resource_index has 12 bits
)

// A Target is the receiving side of a FEP: the processes to address, the open memory, and the
// messages in progress. Single writer. The root package's Target says more of the
// methods that it has too, and names the errors.
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
	processOf    []ses.Process
	entries      []entry // resource-index table, perProcess for each process

	keys        finder // {entry, key} -> slot of regions
	regionSlots slots
	regions     []region
	recvSlots   slots
	receives    []receive
	queued      list.Links[uint32] // of entry.queue
	posted      uint32             // buffers so far
	tags        tagIndex

	messages    finder // {peer, message_id} -> slot of records
	recordSlots slots
	records     []Record
	recent      []uint16 // by the low bits of a peer: slot of its latest message
	listed      peerLists
	epoch       uint32  // see changed
	grants      []grant // by a hash of address and key

	pendSlots slots
	pendings  []pending
	pends     peerLists
	came      uint32              // deferred sends so far
	deferred  []list.List[uint32] // by a hash of pending.key: by slot + 1, the oldest first
	alike     list.Links[uint32]  // of deferred
	due       list.List[uint32]   // by slot + 1
	waits     list.Links[uint32]  // of due, and of entry.deferred
}

// NewTarget returns a target without processes. Errors wrap [ses.ErrConfig].
func NewTarget(c ses.TargetConfig) (*Target, error) {
	err := cmp.Or(
		checkMTU("TargetConfig.MTU", c.MTU),
		check.Range(ses.ErrConfig, "TargetConfig.Processes", c.Processes, 0, maxSlots),
		check.Range(ses.ErrConfig, "TargetConfig.Indices", c.Indices, 0, maxIndices),
		check.Range(ses.ErrConfig, "TargetConfig.Regions", c.Regions, 0, maxSlots),
		check.Range(ses.ErrConfig, "TargetConfig.Receives", c.Receives, 0, maxSlots),
		check.Range(ses.ErrConfig, "TargetConfig.Messages", c.Messages, 0, maxSlots),
		check.Range(ses.ErrConfig, "TargetConfig.Pending", c.Pending, 0, maxSlots),
		check.Range(ses.ErrConfig, "TargetConfig.Hold", c.Hold, 0, maxHold),
		check.Range(ses.ErrConfig, "TargetConfig.Profile", c.Profile, ses.ProfileAll, ses.ProfileHPC),
	)
	if err != nil {
		return nil, err
	}
	c.Hold, c.Seed = cmp.Or(c.Hold, defaultHold), random.Seed(c.Seed)
	return &Target{
		mtu: c.MTU, ops: profileOps[c.Profile] & opsTarget, defers: defers(c.Profile), atomicOps: c.AtomicOps, atomicTypes: c.AtomicTypes, perProcess: c.Indices, hold: c.Hold,
		jobs: newFinder(c.Processes, c.Seed), jobSlots: newSlots(c.Processes), jobUse: make([]uint32, c.Processes),
		processes: newFinder(c.Processes, c.Seed), processSlots: newSlots(c.Processes),
		processOf: make([]ses.Process, c.Processes),
		entries:   slab.Make[entry](c.Processes * c.Indices),
		keys:      newFinder(c.Regions, c.Seed), regionSlots: newSlots(c.Regions), regions: slab.Make[region](c.Regions),
		recvSlots: newSlots(c.Receives), receives: slab.Make[receive](c.Receives), queued: list.Make[uint32](c.Receives),
		tags: tagIndex{
			finder: newFinder(c.Receives, c.Seed), slots: newSlots(c.Receives),
			chains: make([]list.List[uint32], c.Receives), links: list.Make[uint32](c.Receives),
		},
		messages: newFinder(c.Messages, c.Seed), recordSlots: newSlots(c.Messages),
		records: slab.Make[Record](max(c.Messages, 1)), recent: make([]uint16, buckets(c.Messages)),
		listed: newPeerLists(c.Messages), epoch: 1, grants: slab.Make[grant](min(buckets(c.Regions), maxGrants)),
		pendSlots: newSlots(c.Pending), pendings: make([]pending, c.Pending), pends: newPeerLists(c.Pending),
		deferred: make([]list.List[uint32], buckets(c.Pending)), alike: list.Make[uint32](c.Pending), waits: list.Make[uint32](c.Pending),
	}, nil
}

// buckets is how many buckets a table of n things has, by a hash or by the low bits of a
// peer: a power of two.
func buckets(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// Messages returns the number of messages of several packets in progress, including failed
// messages not yet over.
func (t *Target) Messages() int { return t.recordSlots.live }

// isMTU reports whether n is a payload size of UE Specification 1.0.x.
func isMTU(n uint32) bool { return n == 1024 || n == 2048 || n == 4096 || n == 8192 }

func checkMTU(field string, mtu uint32) error {
	if !isMTU(mtu) {
		return fmt.Errorf("%w: %s is %d, want 1024, 2048, 4096 or 8192", ses.ErrConfig, field, mtu)
	}
	return nil
}
