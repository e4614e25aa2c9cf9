// SPDX-License-Identifier: Apache-2.0

// Package goal reads, writes, makes and executes GOAL schedules: the sends, receives and
// computations of each rank of a parallel program, with dependencies.
//
// [Read] takes a file in either form of the format, the text written by people and the binary
// loaded by simulators of the LogGOPS family. [AppendText] and [AppendBinary] write both. A
// [Pattern] makes schedules of collective operations and other traffic. A [Machine] names the
// next messages and computations as time goes on, without clock or network, so any simulator
// can drive it, as package fabric does.
package goal

import (
	"fmt"
	"math"

	"github.com/uetcc/uetcc/internal/enum"
)

// Any stands for any source or any tag in a receive.
const Any = math.MaxUint32

// MaxMessage is the largest message, bytes: a count of MPI has 31 bits.
const MaxMessage = math.MaxInt32

// MaxCalc is the longest calculation, ns: 52 days.
const MaxCalc = 1 << 52

// Kind is the kind of an operation.
type Kind uint8

// The kinds, numbered as in the binary form.
const (
	KindSend Kind = iota + 1
	KindRecv
	KindCalc
)

var kindNames = [...]string{KindSend: "send", KindRecv: "recv", KindCalc: "calc"}

// String is the keyword of the text form.
func (k Kind) String() string { return enum.Name(kindNames[:], k) }

// A Schedule is the work of all ranks; the ranks are numbered from 0.
type Schedule struct {
	Ranks []Rank
}

// A Rank is one process. All dependencies are between operations of the same rank.
type Rank struct {
	Ops  []Op
	Deps []Dep
}

// An Op is one operation.
type Op struct {
	Size int64  // bytes of a message, ns of a calculation
	Peer uint32 // rank that a message goes to or comes from; [Any] of a receive: from whomever
	Tag  uint32 // a receive takes messages with its own tag; [Any]: with each
	Line int32  // of the text; 0: none
	Kind Kind
	CPU  uint8 // what computes, or handles the message: one operation at a time
	NIC  uint8 // by which a message leaves
}

// A Dep makes Op wait for On, both indices of [Rank.Ops]: until On has ended, or, if Started,
// until On has begun.
type Dep struct {
	Op, On  uint32
	Started bool
}

// Send adds a sending operation, and returns the index.
func (r *Rank) Send(to int, bytes int64, tag uint32) uint32 {
	return r.add(Op{Kind: KindSend, Peer: uint32(to), Size: bytes, Tag: tag})
}

// Recv adds a receiving operation, and returns the index.
func (r *Rank) Recv(from int, bytes int64, tag uint32) uint32 {
	return r.add(Op{Kind: KindRecv, Peer: uint32(from), Size: bytes, Tag: tag})
}

// Calc adds a calculation of some ns on a CPU, and returns the index.
func (r *Rank) Calc(ns int64, cpu uint8) uint32 {
	return r.add(Op{Kind: KindCalc, Size: ns, CPU: cpu})
}

func (r *Rank) add(o Op) uint32 {
	r.Ops = append(r.Ops, o)
	return uint32(len(r.Ops) - 1)
}

// Require has op wait until each of on has ended.
func (r *Rank) Require(op uint32, on ...uint32) {
	for _, o := range on {
		r.Deps = append(r.Deps, Dep{Op: op, On: o})
	}
}

// CPUs is the number of the highest CPU used, and 1.
func (s *Schedule) CPUs() int { return s.most(func(o *Op) uint8 { return o.CPU }) }

// NICs is the number of the highest NIC used, and 1.
func (s *Schedule) NICs() int { return s.most(func(o *Op) uint8 { return o.NIC }) }

func (s *Schedule) most(of func(*Op) uint8) (n int) {
	for i := range s.Ranks {
		for j := range s.Ranks[i].Ops {
			n = max(n, int(of(&s.Ranks[i].Ops[j])))
		}
	}
	return n + 1
}

// Count is how many operations of a kind there are.
func (s *Schedule) Count(k Kind) (n int) {
	for i := range s.Ranks {
		for _, o := range s.Ranks[i].Ops {
			if o.Kind == k {
				n++
			}
		}
	}
	return n
}

// Name is the name of operation i of rank r in messages to people.
func (s *Schedule) Name(r int, i uint32) string {
	o := &s.Ranks[r].Ops[i]
	at := fmt.Sprintf("operation %d", i)
	if o.Line > 0 {
		at = fmt.Sprintf("line %d", o.Line)
	}
	peer := func(p uint32) string {
		if p == Any {
			return "any"
		}
		return fmt.Sprint(p)
	}
	switch o.Kind {
	case KindSend:
		return fmt.Sprintf("rank %d: send of %d bytes to %d tag %s (%s)", r, o.Size, o.Peer, peer(o.Tag), at)
	case KindRecv:
		return fmt.Sprintf("rank %d: recv of %d bytes from %s tag %s (%s)", r, o.Size, peer(o.Peer), peer(o.Tag), at)
	default:
		return fmt.Sprintf("rank %d: calc of %d ns (%s)", r, o.Size, at)
	}
}
