// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/internal/check"
)

// A Job is the size of a [Pattern]'s schedule. A pattern looks only at the fields named by the
// pattern; Ranks and, except for poisson, Bytes are for all patterns.
type Job struct {
	Ranks  int
	Bytes  int64   // the vector of a rank; what of it a message has is the pattern's
	Reduce float64 // ns to add up a byte that was received, on CPU 0; messages are on CPU 1 then; 0: no time
	Pieces int     // that the vector is cut into, or micro-batches
	Seed   uint64

	Forward, Backward int64 // ns of a micro-batch at a stage

	Sizes    string  // name of a [SizeTable]
	Load     float64 // of the links of the hosts: 1 is all of their rate, payload only
	Rate     int64   // of these links, bits a second
	Duration int64   // ns in which flows begin
}

// A Pattern makes schedules of one kind.
type Pattern struct {
	Name  string
	About string
	Uses  []string // fields of [Job] beside Ranks and Bytes, in lower case
	make  func(Job) *Schedule
	check func(Job) error // beyond the ranges; nil: none
}

var patterns = []Pattern{
	{"ring", "all-reduce around a ring: 2(N-1) steps of a chunk of Bytes/N", []string{"reduce"}, ringAllReduce, nil},
	{"recursive-doubling", "all-reduce: log2 N steps of all Bytes, with one at 2^k; other N fold first, and unfold at the end", []string{"reduce"}, recursiveDoubling, nil},
	{"halving-doubling", "all-reduce: log2 N steps of Bytes/2, Bytes/4 ..., and back up; N a power of two", []string{"reduce"}, halvingDoubling, powerOfTwo},
	{"tree", "all-reduce up and down a binary tree, in pieces", []string{"reduce", "pieces"}, treeAllReduce, nil},
	{"all-gather", "around a ring: N-1 steps of a chunk of Bytes/N", nil, ringAllGather, nil},
	{"reduce-scatter", "around a ring: N-1 steps of a chunk of Bytes/N", []string{"reduce"}, ringReduceScatter, nil},
	{"all-to-all", "Bytes/N to each other rank, all at once", nil, allToAll, nil},
	{"all-to-allv", "to each other rank a size of its own, uniform up to 2 Bytes/N, all at once", []string{"seed"}, allToAllV, nil},
	{"broadcast", "binomial tree from rank 0, all Bytes to each", nil, broadcast, nil},
	{"barrier", "dissemination: messages of a byte over distances 2^k", nil, barrier, nil},
	{"pipeline", "stages of a model, Pieces micro-batches of Bytes forward, then all backward (GPipe)", []string{"pieces", "forward", "backward"}, pipeline, nil},
	{"incast", "all Bytes of each rank to rank 0", nil, incast, nil},
	{"permutation", "each rank sends Bytes to one and receives from one, at random", []string{"seed"}, permutation, nil},
	{"poisson", "flows at random times, of sizes of a published table, to random ranks", []string{"seed", "sizes", "load", "rate", "duration"}, poisson, sizesKnown},
}

// Patterns returns all patterns.
func Patterns() []Pattern { return slices.Clone(patterns) }

// FindPattern returns the pattern of a name, or an error with all names.
func FindPattern(name string) (*Pattern, error) {
	var names []string
	for i := range patterns {
		if patterns[i].Name == name {
			return &patterns[i], nil
		}
		names = append(names, patterns[i].Name)
	}
	return nil, fmt.Errorf("%w: no pattern %q, there are: %s", ErrSchedule, name, strings.Join(names, ", "))
}

// Make makes the schedule of a job, the same each time. Errors wrap [ErrSchedule].
func (p *Pattern) Make(j Job) (*Schedule, error) {
	err := cmp.Or(
		check.Range(ErrSchedule, "Ranks", j.Ranks, 2, 1<<20),
		check.Range(ErrSchedule, "Bytes", j.Bytes, 0, MaxMessage),
	)
	if err == nil {
		err = p.checkUsed(j)
	}
	if err == nil && p.check != nil {
		err = p.check(j)
	}
	if err != nil {
		return nil, err
	}
	s := p.make(j)
	if !slices.ContainsFunc(s.Ranks, func(r Rank) bool { return len(r.Ops) > 0 }) {
		return nil, fmt.Errorf("%w: no flow begins within Duration, %v us: want more, or more Load, Rate or Ranks", ErrSchedule, float64(j.Duration)/1e3)
	}
	return s, s.Check()
}

// checkUsed looks at the fields the pattern uses.
func (p *Pattern) checkUsed(j Job) error {
	wrong := map[string]error{
		"reduce":   check.Range(ErrSchedule, "Reduce", j.Reduce, 0, 1e6),
		"pieces":   check.Range(ErrSchedule, "Pieces", j.Pieces, 1, 1<<16),
		"forward":  check.Range(ErrSchedule, "Forward", j.Forward, 0, MaxCalc),
		"backward": check.Range(ErrSchedule, "Backward", j.Backward, 0, MaxCalc),
		"load":     check.Range(ErrSchedule, "Load", j.Load, 1e-6, 10),
		"rate":     check.Range(ErrSchedule, "Rate", j.Rate, 1e6, 1e14),
		"duration": check.Range(ErrSchedule, "Duration", j.Duration, 1, MaxCalc),
	}
	for _, field := range p.Uses {
		if err := wrong[field]; err != nil {
			return err
		}
	}
	return nil
}

func powerOfTwo(j Job) error {
	if j.Ranks&(j.Ranks-1) != 0 {
		return fmt.Errorf("%w: %d Ranks, want a power of two", ErrSchedule, j.Ranks)
	}
	return nil
}

// A rankBuilder makes the operations of a rank, step by step: a send waits for the data received
// before, and for the data to be added up.
type rankBuilder struct {
	*Rank
	job   *Job
	after []uint32 // what the next send waits for
}

// build makes a schedule rank by rank.
func build(j Job, each func(r int, b *rankBuilder)) *Schedule {
	s := &Schedule{Ranks: make([]Rank, j.Ranks)}
	for r := range s.Ranks {
		each(r, &rankBuilder{Rank: &s.Ranks[r], job: &j})
	}
	return s
}

// on puts an operation on the CPU of messages, if different from the CPU of calculations.
func (b *rankBuilder) on(op uint32) uint32 {
	if b.job.Reduce > 0 {
		b.Ops[op].CPU = 1
	}
	return op
}

func (b *rankBuilder) send(to int, bytes int64, step int) uint32 {
	op := b.on(b.Send(to, bytes, uint32(step)))
	b.Require(op, b.after...)
	return op
}

// recv receives, and returns the operation that followers have to wait for.
func (b *rankBuilder) recv(from int, bytes int64, step int, reduce bool) uint32 {
	op := b.on(b.Recv(from, bytes, uint32(step)))
	if reduce && b.job.Reduce > 0 {
		calc := b.Calc(int64(float64(bytes)*b.job.Reduce), 0)
		b.Require(calc, op)
		op = calc
	}
	return op
}

// sendRecv is a step whose successors need the data of all steps so far, not of the last step
// alone.
func (b *rankBuilder) sendRecv(to, from int, bytes int64, step int, reduce bool) {
	b.send(to, bytes, step)
	before, recv := b.after, uint32(len(b.Ops))
	b.after = []uint32{b.recv(from, bytes, step, reduce)}
	b.Require(recv, before...)
}

// exchange is a step of a rank sending and receiving.
func (b *rankBuilder) exchange(to, from int, out, in int64, step int, reduce bool) {
	b.send(to, out, step)
	b.after = []uint32{b.recv(from, in, step, reduce)}
}
