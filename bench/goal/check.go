// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrSchedule is wrapped by the errors of schedules impossible to execute.
var ErrSchedule = errors.New("goal: invalid schedule")

// An Error is a mistake in a file, with the place.
type Error struct {
	File   string
	Line   int // from 1; 0 in the binary form
	Reason string
}

// Error is FILE:LINE: reason, as compilers write errors. Control characters are escaped.
func (e *Error) Error() string {
	file := strconv.Quote(e.File)
	file = file[1 : len(file)-1]
	switch {
	case file == "":
		return e.Reason
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", file, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", file, e.Line, e.Reason)
}

// Is reports every Error is an [ErrSchedule].
func (e *Error) Is(target error) bool { return target == ErrSchedule }

// Check returns an [*Error] without a file's name if no order of the operations obeys all
// dependencies, or if an operation names a rank absent from the schedule or a size out of
// range. A receive without a message shows only in the execution.
func (s *Schedule) Check() error {
	if len(s.Ranks) == 0 {
		return &Error{Reason: "no ranks"}
	}
	for r := range s.Ranks {
		for i := range s.Ranks[r].Ops {
			if why := s.wrong(&s.Ranks[r].Ops[i]); why != "" {
				return s.errorAt(r, uint32(i), why)
			}
		}
		if err := s.checkDeps(r); err != nil {
			return err
		}
	}
	return nil
}

// wrong names the mistake in an operation alone, "" for none.
func (s *Schedule) wrong(o *Op) string {
	switch {
	case o.Kind == KindCalc && (o.Size < 0 || o.Size > MaxCalc):
		return fmt.Sprintf("a calc of %d ns, want 0 to %d", o.Size, int64(MaxCalc))
	case o.Kind == KindCalc && (o.Peer != 0 || o.Tag != 0 || o.NIC != 0):
		return "a calc with a peer, a tag or a NIC"
	case o.Kind == KindCalc:
		return ""
	case o.Kind != KindSend && o.Kind != KindRecv:
		return fmt.Sprintf("%v is neither send, recv nor calc", o.Kind)
	case o.Size < 0 || o.Size > MaxMessage:
		return fmt.Sprintf("a message of %d bytes, want 0 to %d", uint64(o.Size), MaxMessage)
	case o.Kind == KindRecv && o.Peer == Any:
		return ""
	case int64(o.Peer) >= int64(len(s.Ranks)):
		return fmt.Sprintf("rank %d is not one of the %d", o.Peer, len(s.Ranks))
	}
	return ""
}

func (s *Schedule) errorAt(rank int, op uint32, why string) error {
	if line := s.Ranks[rank].Ops[op].Line; line > 0 {
		return &Error{Line: int(line), Reason: why}
	}
	return &Error{Reason: fmt.Sprintf("rank %d, operation %d: %s", rank, op, why)}
}

// checkDeps takes away operations with nothing left to wait for, until no operation is
// left.
func (s *Schedule) checkDeps(rank int) error {
	r := &s.Ranks[rank]
	n := uint32(len(r.Ops))
	for _, d := range r.Deps {
		if d.Op >= n || d.On >= n {
			return &Error{Reason: fmt.Sprintf("rank %d: operation %d waits for operation %d of %d", rank, d.Op, d.On, n)}
		}
	}
	waits, next := make([]uint32, n), dependents(r)
	for _, d := range r.Deps {
		waits[d.Op]++
	}
	var free []uint32
	for i, w := range waits {
		if w == 0 {
			free = append(free, uint32(i))
		}
	}
	left := n
	for ; len(free) > 0; left-- {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, d := range next.of(i) {
			if waits[d.Op]--; waits[d.Op] == 0 {
				free = append(free, d.Op)
			}
		}
	}
	for i, w := range waits {
		if left > 0 && w > 0 {
			return s.errorAt(rank, uint32(i), "waits for itself: a cycle of dependencies")
		}
	}
	return nil
}

// A follower is an operation that waits for a preceding operation.
type follower struct {
	Op      uint32
	Started bool
}

// followers are the followers of each operation of a rank: first the followers of the end,
// then of the start, each in the order of the dependencies, as in the binary form.
type followers struct {
	first []uint32 // by operation, and one more
	all   []follower
}

func dependents(r *Rank) followers {
	f := followers{make([]uint32, len(r.Ops)+1), make([]follower, len(r.Deps))}
	for _, d := range r.Deps {
		f.first[d.On]++
	}
	sum := uint32(0)
	for i, n := range f.first {
		f.first[i], sum = sum, sum+n
	}
	at := append([]uint32(nil), f.first...)
	for _, started := range [...]bool{false, true} {
		for _, d := range r.Deps {
			if d.Started == started {
				f.all[at[d.On]] = follower{d.Op, started}
				at[d.On]++
			}
		}
	}
	return f
}

func (f *followers) of(op uint32) []follower { return f.all[f.first[op]:f.first[op+1]] }
