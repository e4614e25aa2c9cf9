// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/ses"
)

// Opcodes each kind of resource index can serve.
const (
	kindMemoryOps = 1<<ses.OpcodeWrite | 1<<ses.OpcodeRead | 1<<ses.OpcodeAtomic | 1<<ses.OpcodeFetchingAtomic
	kindQueueOps  = 1<<ses.OpcodeSend | 1<<ses.OpcodeDatagramSend | 1<<ses.OpcodeRendezvousSend | 1<<ses.OpcodeDeferrableSend | opsTagged
)

var kindOps = [...]uint64{ses.IndexMemory: kindMemoryOps, ses.IndexQueue: kindQueueOps, ses.IndexBoth: kindMemoryOps | kindQueueOps}

// OpenIndex opens a resource index, enabled, and returns the generation required of requests.
func (t *Target) OpenIndex(now int64, process ses.Handle, ri ses.ResourceIndex, x ses.Index) (ses.Generation, error) {
	e, _, err := t.entryOf(process, ri)
	if err != nil {
		return 0, err
	}
	if e.state != ses.IndexInvalid {
		return 0, ses.ErrExists
	}
	if int(x.Kind) >= len(kindOps) || x.Job > ses.AnyJob {
		return 0, ses.ErrRange
	}
	if e.heldBack(now, t.hold) {
		return 0, ses.ErrHeldBack
	}
	e.kind, e.job, e.state = x.Kind, x.Job, ses.IndexEnabled
	return e.gen, nil
}

// CloseIndex withdraws a resource index with regions and receive buffers.
func (t *Target) CloseIndex(now int64, process ses.Handle, ri ses.ResourceIndex) error {
	e, n, err := t.validEntry(process, ri)
	if err != nil {
		return err
	}
	for i := range t.regions {
		if h := t.regionSlots.handle(uint32(i)); h>>16&1 == 1 && t.regions[i].entry == n {
			_ = t.Withdraw(h)
		}
	}
	for e.queue.Head != 0 {
		t.consume(e.queue.Head - 1)
	}
	t.dropPending(n)
	e.state = ses.IndexInvalid
	e.renewed(now, t.hold)
	t.changed()
	return nil
}

// SetIndexState enables or disables an open resource index.
func (t *Target) SetIndexState(process ses.Handle, ri ses.ResourceIndex, s ses.IndexState) error {
	e, _, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return err
	case s < ses.IndexEnabled || s > ses.IndexGenDisabled:
		return ses.ErrRange
	}
	e.state = s
	t.changed()
	return nil
}

// Renew moves an open resource index to its next generation, and returns that.
func (t *Target) Renew(now int64, process ses.Handle, ri ses.ResourceIndex) (ses.Generation, error) {
	e, _, err := t.validEntry(process, ri)
	if err != nil {
		return 0, err
	}
	if e.heldBack(now, t.hold) {
		return 0, ses.ErrHeldBack
	}
	e.renewed(now, t.hold)
	t.changed()
	return e.gen, nil
}

// An entry is a row of the resource-index table.
type entry struct {
	renewAt  int64             // when the next change of generation would be on time
	queue    list.List[uint32] // receive buffers, by slot + 1
	deferred list.List[uint32] // sends without a buffer, by slot + 1, the oldest first
	job      ses.JobID
	kind     ses.IndexKind
	state    ses.IndexState
	gen      ses.Generation
}

// admits reports whether a queue is open to a job.
func (e *entry) admits(job ses.JobID) bool { return e.job == ses.AnyJob || e.job == job }

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
func (t *Target) entryOf(process ses.Handle, ri ses.ResourceIndex) (*entry, uint32, error) {
	i, ok := t.processSlots.at(process)
	if !ok {
		return nil, 0, ses.ErrNotFound
	}
	if int(ri) >= t.perProcess {
		return nil, 0, ses.ErrRange
	}
	n := i*uint32(t.perProcess) + uint32(ri)
	return &t.entries[n], n, nil
}

// validEntry is entryOf for an open index.
func (t *Target) validEntry(process ses.Handle, ri ses.ResourceIndex) (*entry, uint32, error) {
	e, n, err := t.entryOf(process, ri)
	if err == nil && e.state == ses.IndexInvalid {
		err = ses.ErrNotFound
	}
	return e, n, err
}

// Register opens memory under a key of a resource index.
func (t *Target) Register(process ses.Handle, ri ses.ResourceIndex, r ses.Region) (ses.Handle, error) {
	e, n, err := t.validEntry(process, ri)
	switch {
	case err != nil:
		return 0, err
	case e.kind == ses.IndexQueue || r.Job > ses.AnyJob || r.Base != 0 && r.Length > -r.Base:
		return 0, ses.ErrRange
	}
	if _, ok := t.keys.find(pair{uint64(n), r.Key}); ok {
		return 0, ses.ErrExists
	}
	i, ok := t.regionSlots.take()
	if !ok {
		return 0, ses.ErrFull
	}
	t.regions[i] = region{Region: r, entry: n}
	t.keys.insert(pair{uint64(n), r.Key}, i)
	return t.regionSlots.handle(i), nil
}

// Withdraw closes a region.
func (t *Target) Withdraw(h ses.Handle) error {
	i, ok := t.regionSlots.at(h)
	if !ok {
		return ses.ErrNotFound
	}
	t.keys.remove(pair{uint64(t.regions[i].entry), t.regions[i].Key})
	t.regionSlots.release(i)
	t.changed()
	return nil
}

type region struct {
	ses.Region
	entry uint32
}

func pairOf(p ses.Process) pair {
	if p.Absolute {
		return pair{1 << 63, uint64(p.PID)}
	}
	return pair{uint64(p.Job), uint64(p.PID)}
}

// AddProcess makes a process addressable.
func (t *Target) AddProcess(p ses.Process) (ses.Handle, error) {
	if p.Job>>24 != 0 || p.PID>>12 != 0 {
		return 0, ses.ErrRange
	}
	if _, ok := t.processes.find(pairOf(p)); ok {
		return 0, ses.ErrExists
	}
	i, ok := t.processSlots.take()
	if !ok {
		return 0, ses.ErrFull
	}
	t.processOf[i] = p
	t.processes.insert(pairOf(p), i)
	t.useJob(p)
	return t.processSlots.handle(i), nil
}

// useJob counts a process of a job; there are as many job slots as processes.
func (t *Target) useJob(p ses.Process) {
	key := pair{a: uint64(p.Job)}
	j, ok := t.jobs.find(key)
	if !ok {
		j, _ = t.jobSlots.take()
		t.jobs.insert(key, j)
	}
	t.jobUse[j]++
}

// RemoveProcess closes all resource indices of a process and forgets the process.
func (t *Target) RemoveProcess(now int64, process ses.Handle) error {
	i, ok := t.processSlots.at(process)
	if !ok {
		return ses.ErrNotFound
	}
	for ri := range t.perProcess {
		if t.entries[int(i)*t.perProcess+ri].state != ses.IndexInvalid {
			_ = t.CloseIndex(now, process, ses.ResourceIndex(ri))
		}
	}
	p := t.processOf[i]
	t.processes.remove(pairOf(p))
	key := pair{a: uint64(p.Job)}
	j, _ := t.jobs.find(key)
	if t.jobUse[j]--; t.jobUse[j] == 0 {
		t.jobs.remove(key)
		t.jobSlots.release(j)
	}
	t.processSlots.release(i)
	return nil
}
