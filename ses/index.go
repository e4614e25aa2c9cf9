// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

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

// Opcodes each kind of resource index can serve.
const (
	kindMemoryOps = 1<<OpcodeWrite | 1<<OpcodeRead | 1<<OpcodeAtomic | 1<<OpcodeFetchingAtomic
	kindQueueOps  = 1<<OpcodeSend | 1<<OpcodeDatagramSend | 1<<OpcodeRendezvousSend | 1<<OpcodeDeferrableSend | opsTagged
)

var kindOps = [...]uint64{IndexMemory: kindMemoryOps, IndexQueue: kindQueueOps, IndexBoth: kindMemoryOps | kindQueueOps}

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

// OpenIndex opens a resource index, enabled, and returns the generation required of
// requests: the former life's plus 1. now is in nanoseconds.
//
// Errors: [ErrNotFound] for the process, [ErrRange], [ErrExists], [ErrHeldBack]
// (closed and opened too often in too short a time).
func (t *Target) OpenIndex(now int64, process Handle, ri ResourceIndex, x Index) (Generation, error) {
	e, _, err := t.entryOf(process, ri)
	if err != nil {
		return 0, err
	}
	if e.state != IndexInvalid {
		return 0, ErrExists
	}
	if int(x.Kind) >= len(kindOps) || x.Job > AnyJob {
		return 0, ErrRange
	}
	if e.heldBack(now, t.hold) {
		return 0, ErrHeldBack
	}
	e.kind, e.job, e.state = x.Kind, x.Job, IndexEnabled
	return e.gen, nil
}

// CloseIndex withdraws a resource index with regions and receive buffers. A late packet is
// refused even after the index has been opened again, data still being read for a
// rendezvous send is not placed, and a deferred send is asked for and then refused. The
// cost grows with the number of regions.
//
// Errors: [ErrNotFound], [ErrRange].
func (t *Target) CloseIndex(now int64, process Handle, ri ResourceIndex) error {
	e, n, err := t.validEntry(process, ri)
	if err != nil {
		return err
	}
	for i := range t.regions {
		if h := t.regionSlots.handle(uint32(i)); h>>16&1 == 1 && t.regions[i].entry == n {
			_ = t.Withdraw(h)
		}
	}
	for e.head != 0 {
		t.consume(e.head - 1)
	}
	t.dropPending(n)
	e.state = IndexInvalid
	e.renewed(now, t.hold)
	t.changed()
	return nil
}

// SetIndexState enables or disables an open resource index. A queue a ROD
// send found empty is generation-disabled until SetIndexState enables the queue again.
//
// Errors: [ErrNotFound], [ErrRange].
func (t *Target) SetIndexState(process Handle, ri ResourceIndex, s IndexState) error {
	e, _, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return err
	case s < IndexEnabled || s > IndexGenDisabled:
		return ErrRange
	}
	e.state = s
	t.changed()
	return nil
}

// IndexState tells the state of a resource index: [IndexInvalid] if not open,
// [IndexGenDisabled] also when a ROD send has found the queue empty.
//
// Errors: [ErrNotFound] for the process, [ErrRange].
func (t *Target) IndexState(process Handle, ri ResourceIndex) (IndexState, error) {
	e, _, err := t.entryOf(process, ri)
	if err != nil {
		return IndexInvalid, err
	}
	return e.state, nil
}

// Renew moves an open resource index to its next generation, so packets of the old
// generation are refused from here on, and returns the new generation. now is in
// nanoseconds.
//
// Errors: [ErrNotFound], [ErrRange], [ErrHeldBack] (renewed more than 120 times
// in a Hold, after a burst of 128).
func (t *Target) Renew(now int64, process Handle, ri ResourceIndex) (Generation, error) {
	e, _, err := t.validEntry(process, ri)
	if err != nil {
		return 0, err
	}
	if e.heldBack(now, t.hold) {
		return 0, ErrHeldBack
	}
	e.renewed(now, t.hold)
	t.changed()
	return e.gen, nil
}

// An entry is a row of the resource-index table.
type entry struct {
	renewAt    int64  // when the next change of generation would be on time
	head, tail uint32 // receive queue: slot + 1
	job        JobID
	kind       IndexKind
	state      IndexState
	gen        Generation
}

// admits reports whether a queue is open to a job.
func (e *entry) admits(job JobID) bool { return e.job == AnyJob || e.job == job }

// Generations have 8 bits. A value must not come back while a packet of the former life can
// be under way, so any [TargetConfig.Hold] sees fewer than 256 changes: a burst of
// renewBurst, then renewRate evenly, and one more when the index is closed.
const (
	renewBurst = 128
	renewRate  = 120
)

// renewed moves e to its next generation.
func (e *entry) renewed(now, hold int64) {
	e.renewAt = now + max(e.renewAt-now, 0) + hold/renewRate + 1
	e.gen++
}

func (e *entry) heldBack(now, hold int64) bool {
	return e.renewAt-now > (renewBurst-1)*(hold/renewRate+1)
}

// entryOf returns the row of a resource index and the row number.
func (t *Target) entryOf(process Handle, ri ResourceIndex) (*entry, uint32, error) {
	i, ok := t.processSlots.at(process)
	if !ok {
		return nil, 0, ErrNotFound
	}
	if int(ri) >= t.perProcess {
		return nil, 0, ErrRange
	}
	n := i*uint32(t.perProcess) + uint32(ri)
	return &t.entries[n], n, nil
}

// validEntry is entryOf for an open index.
func (t *Target) validEntry(process Handle, ri ResourceIndex) (*entry, uint32, error) {
	e, n, err := t.entryOf(process, ri)
	if err == nil && e.state == IndexInvalid {
		err = ErrNotFound
	}
	return e, n, err
}
