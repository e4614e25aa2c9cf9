// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/internal/check"
)

// An Application is the computation and communication of the hosts of a run, in place of a
// [Matrix]. With K NICs to a rank, NIC k of rank r is host r*K + k; a message arrives at the
// receiver's NIC with the number of the sender's. Each message is a separate transfer, in the
// order of ranks and operations, with at least one byte.
type Application struct {
	Schedule *goal.Schedule

	// With Arrival a message is received when the last byte is there. Otherwise when the source
	// knows of the delivery, as in htsim, where the acknowledgement starts the successors.
	Arrival bool

	// Eager is the largest message, bytes, whose send ends before the receive has begun; -1:
	// none.
	Eager int64
}

// ApplicationResult is the outcome of an [Application]. Times are microseconds of the run.
type ApplicationResult struct {
	Ranks      int       `json:"ranks"`
	Sends      int       `json:"sends"`
	Receives   int       `json:"receives"`
	Calcs      int       `json:"calcs"`
	Makespan   float64   `json:"makespan_us"`          // end of the last operation
	RankEnds   []float64 `json:"rank_end_us"`          // of the last operation of each rank; 0: it has none
	Unfinished int       `json:"unfinished,omitempty"` // operations that did not end
	Waiting    []string  `json:"waiting,omitempty"`    // the first of them, with the reason
}

// maxWaiting is how many operations ApplicationResult.Waiting lists.
const maxWaiting = 20

// maxOps is the most operations of an application: events know operations by number.
const maxOps = 1 << whatBits

// fillApplication makes the matrix of an application.
func (c *Config) fillApplication() error {
	a := c.Application
	switch {
	case a == nil:
		return nil
	case c.Matrix != nil:
		return fmt.Errorf("%w: Matrix and Application exclude each other", ErrConfig)
	case a.Schedule == nil:
		return fmt.Errorf("%w: Application without a Schedule", ErrConfig)
	}
	if err := a.Schedule.Check(); err != nil {
		return fmt.Errorf("%w: Application: %w", ErrConfig, err)
	}
	nics := a.Schedule.NICs()
	m := &Matrix{Nodes: len(a.Schedule.Ranks) * nics}
	hosts := maxNodes
	if c.Topology != nil {
		hosts = c.Topology.Nodes
	}
	if err := check.Range(ErrConfig, "Application: ranks times NICs", m.Nodes, 1, hosts); err != nil {
		return err
	}
	ops := 0
	for r := range a.Schedule.Ranks {
		ops += len(a.Schedule.Ranks[r].Ops)
		for i := range a.Schedule.Ranks[r].Ops {
			o := &a.Schedule.Ranks[r].Ops[i]
			if leaves(r, o) {
				nic := int(o.NIC)
				f := Flow{Src: r*nics + nic, Dst: int(o.Peer)*nics + nic, Size: max(o.Size, 1), Line: int(o.Line)}
				m.Flows = append(m.Flows, f)
			}
		}
	}
	c.Matrix = m
	return check.Range(ErrConfig, "Application: operations", ops, 1, maxOps)
}

// leaves reports whether an operation of rank r is a message to another rank.
func leaves(r int, o *goal.Op) bool { return o.Kind == goal.KindSend && int(o.Peer) != r }

// An app is an Application at work: the [goal.Host] of its machine.
type app struct {
	*goal.Machine
	s         *sim
	cfg       *Application
	ops       []uint32 // by transfer: the send
	transfer  []uint32 // by operation that is such a send
	sent      int      // transfers that were begun
	computing int      // calculations that have not ended
	contexts  map[[2]int]*contexts

	foresight // of a divided run
}

// contexts are the numbers by which an endpoint tells messages between two hosts under way at
// the same time apart.
type contexts struct {
	free []uint16
	used uint16
}

func newApp(s *sim) *app {
	c := s.cfg.Application
	a := &app{s: s, cfg: c, contexts: map[[2]int]*contexts{}}
	a.foresight.init(len(s.cfg.Matrix.Flows), s.foretold && c.Arrival)
	a.Machine = goal.NewMachine(c.Schedule, c.Eager, a)
	op := uint32(0)
	for r := range c.Schedule.Ranks {
		for i := range c.Schedule.Ranks[r].Ops {
			a.transfer = append(a.transfer, uint32(len(a.ops)))
			if leaves(r, &c.Schedule.Ranks[r].Ops[i]) {
				a.ops = append(a.ops, op)
			}
			op++
		}
	}
	a.Start(0)
	return a
}

// Compute is for the machine.
func (a *app) Compute(op uint32, ns int64) {
	a.computing++
	at := min(a.now()+ns*1000, int64(a.s.cfg.End)+1)
	if a.s.foretold {
		a.due.Push(at, news{at, op, newsComputed})
		return
	}
	a.s.events.push(at, evCalc, op)
}

// Send is for the machine.
func (a *app) Send(op uint32) {
	a.sent++
	i := a.transfer[op]
	p := a.s.partAt(uint32(a.s.cfg.Matrix.Flows[i].Src))
	p.events.push(a.now(), evStart, i)
	p.due = min(p.due, a.now()>>p.events.groupShift<<p.events.groupShift)
}

// now is the time of the application.
func (a *app) now() int64 {
	if a.s.foretold {
		return a.at
	}
	return a.s.now
}

// computed ends a calculation.
func (a *app) computed(op uint32) {
	a.computing--
	a.Computed(a.now(), op)
}

// idle reports whether nothing is being computed or sent, so nothing will be.
func (a *app) idle() bool { return a.computing == 0 && a.s.done == a.sent }

// arrived takes in a transfer's arrival at the destination.
func (a *app) arrived(i uint32) {
	if a.cfg.Arrival {
		a.Delivered(a.now(), a.ops[i])
	}
}

// finished takes in that the source knows of the arrival.
func (a *app) finished(i uint32) {
	if !a.cfg.Arrival {
		a.Delivered(a.now(), a.ops[i])
	}
	a.Acknowledged(a.now(), a.ops[i])
}

// takeContext returns the number for a new message, unused by other messages at the time.
func (a *app) takeContext(f *Flow) uint16 {
	pair := [2]int{f.Src, f.Dst}
	c := a.contexts[pair]
	if c == nil {
		c = &contexts{}
		a.contexts[pair] = c
	}
	if n := len(c.free); n > 0 {
		context := c.free[n-1]
		c.free = c.free[:n-1]
		return context
	}
	c.used++
	return c.used - 1
}

// giveContext is for an ended message.
func (a *app) giveContext(f *Flow, context uint16) {
	c := a.contexts[[2]int{f.Src, f.Dst}]
	c.free = append(c.free, context)
}

func (a *app) result() *ApplicationResult {
	sched := a.cfg.Schedule
	r := &ApplicationResult{
		Ranks: len(sched.Ranks), Sends: sched.Count(goal.KindSend), Receives: sched.Count(goal.KindRecv), Calcs: sched.Count(goal.KindCalc),
	}
	for rank := range sched.Ranks {
		end := us(a.End(rank))
		r.RankEnds = append(r.RankEnds, end)
		r.Makespan = max(r.Makespan, end)
	}
	r.Unfinished = r.Sends + r.Receives + r.Calcs - a.Ended()
	a.Left(func(rank int, op uint32, why string) bool {
		r.Waiting = append(r.Waiting, sched.Name(rank, op)+" "+why)
		return len(r.Waiting) < maxWaiting
	})
	return r
}
