// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"slices"

	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/agenda"
)

// MatrixOf is a schedule as a matrix, where a message that others wait for pulls a trigger
// when acknowledged whole. A matrix has no receives, so dependencies of receives are left
// out; nor computations, so calculations can only precede messages that begin at a given
// time. For a schedule with more the error wraps [goal.ErrSchedule].
func MatrixOf(s *goal.Schedule) (*Matrix, error) {
	c := Config{Application: &Application{Schedule: s, Eager: -1}}
	if err := c.fillApplication(); err != nil {
		return nil, err
	}
	d := &dryRun{s: s, m: c.Matrix, first: make([]uint32, len(s.Ranks)), flow: map[uint32]int{}, begun: map[uint32]bool{}}
	n, flows := uint32(0), 0
	for r := range s.Ranks {
		d.first[r] = n
		for i := range s.Ranks[r].Ops {
			if leaves(r, &s.Ranks[r].Ops[i]) {
				d.flow[n] = flows
				flows++
			}
			n++
		}
	}
	d.run()
	if err := d.triggers(); err != nil {
		return nil, err
	}
	return d.m, nil
}

// A dryRun executes a schedule up to the first messages, none of which arrives.
type dryRun struct {
	*goal.Machine
	s     *goal.Schedule
	m     *Matrix
	first []uint32        // operation of each rank
	flow  map[uint32]int  // by operation
	begun map[uint32]bool // sends
	due   agenda.Agenda[uint32]
	now   int64 // ns
}

// Compute is for the machine.
func (d *dryRun) Compute(op uint32, ns int64) { d.due.Push(d.now+ns, op) }

// Send is for the machine.
func (d *dryRun) Send(op uint32) {
	d.begun[op] = true
	d.m.Flows[d.flow[op]].Start = link.Ps(d.now) * link.Nanosecond
}

func (d *dryRun) run() {
	d.Machine = goal.NewMachine(d.s, -1, d)
	d.Start(0)
	for d.due.Len() > 0 {
		at, op := d.due.Pop()
		d.now = at
		d.Computed(at, op)
	}
}

// triggers makes a trigger for each set of messages waited for.
func (d *dryRun) triggers() error {
	sends := d.received()
	sets := map[string]int64{} // triggers, by what pulls them
	for r := range d.s.Ranks {
		rank := &d.s.Ranks[r]
		waits := make([][]int, len(rank.Ops))
		for _, dep := range rank.Deps {
			if !leaves(r, &rank.Ops[dep.Op]) || d.begun[d.first[r]+dep.Op] {
				continue
			}
			on, ok := d.flow[d.first[r]+dep.On]
			if rank.Ops[dep.On].Kind == goal.KindRecv {
				on, ok = sends[d.first[r]+dep.On], true
			}
			if !ok || on < 0 || dep.Started {
				return fmt.Errorf("%w: %s waits for what no matrix can say: %s", goal.ErrSchedule, d.s.Name(r, dep.Op), d.s.Name(r, dep.On))
			}
			waits[dep.Op] = append(waits[dep.Op], on)
		}
		for i, on := range waits {
			op := uint32(i)
			switch {
			case len(on) > 0:
				slices.Sort(on)
				if !d.trigger(sets, d.flow[d.first[r]+op], slices.Compact(on)) {
					return fmt.Errorf("%w: %s is one of several that wait for a message beside others: no matrix can say that", goal.ErrSchedule, d.s.Name(r, op))
				}
			case leaves(r, &rank.Ops[i]) && !d.begun[d.first[r]+op]:
				return fmt.Errorf("%w: %s does not begin", goal.ErrSchedule, d.s.Name(r, op))
			}
		}
	}
	return nil
}

// trigger has flow i start when all of on are over. False if any of them pulls a different
// trigger already.
func (d *dryRun) trigger(sets map[string]int64, i int, on []int) bool {
	key := fmt.Sprint(on)
	id, ok := sets[key]
	if !ok {
		id = int64(len(d.m.Triggers)) + 1
		t := Trigger{ID: id}
		if len(on) > 1 {
			t.Kind, t.Count = TriggerBarrier, int64(len(on))
		}
		sets[key] = id
		d.m.Triggers = append(d.m.Triggers, t)
		for _, f := range on {
			if d.m.Flows[f].SendDone != 0 {
				return false
			}
			d.m.Flows[f].SendDone = id
		}
	}
	d.m.Flows[i].Trigger = id
	return true
}

// received finds the flow of each receive; -1 is none, or a flow unknown in advance.
func (d *dryRun) received() map[uint32]int {
	type ends struct{ src, dst, tag uint32 }
	sent := map[ends][]int{}
	for r := range d.s.Ranks {
		for i, o := range d.s.Ranks[r].Ops {
			if leaves(r, &o) {
				k := ends{uint32(r), o.Peer, o.Tag}
				sent[k] = append(sent[k], d.flow[d.first[r]+uint32(i)])
			}
		}
	}
	got := map[uint32]int{}
	for r := range d.s.Ranks {
		for i, o := range d.s.Ranks[r].Ops {
			if o.Kind != goal.KindRecv {
				continue
			}
			k, flow := ends{o.Peer, uint32(r), o.Tag}, -1
			if from := sent[k]; len(from) > 0 {
				flow, sent[k] = from[0], from[1:]
			}
			got[d.first[r]+uint32(i)] = flow
		}
	}
	return got
}
