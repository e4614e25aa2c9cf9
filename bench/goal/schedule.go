// Package goal reads, writes, makes and executes GOAL schedules: what each rank of a parallel
// program sends, receives and computes, and which of these operations wait for which.
//
// [Read] takes a file in either form of the format, the text that people write and the binary
// that simulators of the LogGOPS family load. [AppendText] and [AppendBinary] write them. A
// [Pattern] makes schedules of collective operations and other traffic. A [Machine] says what is to be
// sent and computed as time goes on; it has neither clock nor network, so that any simulator
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

// Kind is what an operation does.
type Kind uint8

// The kinds, as the binary form numbers them.
const (
	KindSend Kind = iota + 1
	KindRecv
	KindCalc
)

var kindNames = [...]string{KindSend: "send", KindRecv: "recv", KindCalc: "calc"}

// String is the keyword of the text form.
func (k Kind) String() string { return enum.Name(kindNames[:], k) }

// A Schedule is what each rank does; the ranks are numbered from 0.
type Schedule struct {
	Ranks []Rank
}

// A Rank is one process. All dependencies are between its own operations.
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

// A Dep says that Op waits for On, both indices of [Rank.Ops]: until it has ended, or, if
// Started, until it has begun.
type Dep struct {
	Op, On  uint32
	Started bool
}

// Send adds an operation that sends, and returns its index.
func (r *Rank) Send(to int, bytes int64, tag uint32) uint32 {
	return r.add(Op{Kind: KindSend, Peer: uint32(to), Size: bytes, Tag: tag})
}

// Recv adds an operation that receives, and returns its index.
func (r *Rank) Recv(from int, bytes int64, tag uint32) uint32 {
	return r.add(Op{Kind: KindRecv, Peer: uint32(from), Size: bytes, Tag: tag})
}

// Calc adds a calculation of some ns on a CPU, and returns its index.
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

// CPUs is the number of the highest CPU that is used, and 1.
func (s *Schedule) CPUs() int { return s.most(func(o *Op) uint8 { return o.CPU }) }

// NICs is the number of the highest NIC that is used, and 1.
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

// Name says which operation i of rank r is, for messages to people.
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
