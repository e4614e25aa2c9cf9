// SPDX-License-Identifier: Apache-2.0

package msg

import "github.com/uetcc/uetcc/ses"

func pairOf(p ses.Process) pair {
	if p.Absolute {
		return pair{1 << 63, uint64(p.PID)}
	}
	return pair{uint64(p.Job), uint64(p.PID)}
}

// AddProcess makes a process addressable.
//
// Errors: [ErrRange], [ErrExists], [ErrFull].
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

// RemoveProcess closes all resource indices of a process and forgets the
// process. Each index costs a look at every region.
//
// Errors: [ErrNotFound].
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
