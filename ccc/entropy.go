// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"unsafe"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/internal/splitmix"
)

// Scheme is the way a context chooses the entropy value of a packet. The specification
// allows any choice (section 3.6.16); the five here are from the field's simulator.
type Scheme uint8

const (
	// SchemeOblivious uses every value once in each round of n packets and ignores
	// feedback. With a single value the path is fixed.
	SchemeOblivious Scheme = iota

	// SchemeBitmap is oblivious with a penalty for values marked, trimmed
	// or lost, so a round skips them (STrack, arXiv 2407.15266).
	SchemeBitmap

	// SchemeREPS recycles the values of unmarked acknowledgements and freezes on the
	// recycled values after a loss (REPS, arXiv 2407.21625).
	SchemeREPS

	// SchemeREPSLegacy is the first version of REPS: a queue of good values, here of
	// bounded length.
	SchemeREPSLegacy

	// SchemeMixed takes a recycled value if any, and otherwise acts as
	// SchemeBitmap.
	SchemeMixed

	schemes = iota
)

var schemeNames = [schemes]string{"oblivious", "bitmap", "reps", "reps_legacy", "mixed"}

// String returns the scheme's name in lower case.
func (s Scheme) String() string { return enum.Name(schemeNames[:], s) }

// feedback is the news of an acknowledgement, a NACK or a time-out about the path of an
// entropy value.
type feedback uint8

// The feedback codes; numbered as in the recorded traces.
const (
	feedbackGood    feedback = iota // acknowledged without a mark
	feedbackECN                     // acknowledged or trimmed at the last hop, with a mark
	feedbackNACK                    // trimmed inside the fabric
	feedbackTimeout                 // inferred lost

	feedbacks = iota
)

// report is feedback about an entropy value.
type report struct {
	value uint16
	kind  feedback
}

// Progress is a context's progress when asking for a value. Only SchemeREPSLegacy uses
// Progress, to walk through all values in the first window.
type Progress struct {
	Seq           uint64 // number of the next new packet, from 0
	WindowPackets int64  // congestion window in packets
}

// EntropyConfig configures a scheme. The zero value is SchemeOblivious over 256
// values.
type EntropyConfig struct {
	Scheme Scheme

	// Values is how many entropy values a context spreads over, 1 to 65,536; 0 means
	// 256. A power of two, but for the two REPS schemes.
	Values int

	// Ports is the number of NIC ports, or network planes, of the values, a power of two up to 64 that
	// divides Values; 0 means 1. The low bits of a value are its port: see [EntropyParams.Port] and
	// [Manager.SetPorts].
	Ports int

	// Queue bounds the recycled values kept by SchemeREPSLegacy and SchemeMixed, a power of
	// two up to 32,768; 0 means 64. In a full queue the oldest goes.
	Queue int

	// Freeze is the time SchemeREPS keeps to the present values after a loss, ns; 0
	// means 10 ms.
	Freeze int64

	// Rand replaces the generator of each context, to replay recorded draws. All
	// contexts of the parameters share Rand, so Rand must be safe for as many goroutines as
	// own contexts.
	Rand rand.Source
}

// EntropyParams is a validated EntropyConfig, immutable and shared.
type EntropyParams struct {
	scheme  Scheme
	values  uint32
	mask    uint16 // values - 1; of use where values is a power of two
	ports   uint16 // mask of the ports
	queue   uint16 // mask of the queue's positions
	penalty int32  // words of penalties, first in the side memory
	words   int32  // words of side memory; the queue's last says where the queue begins
	freeze  int64
	rand    rand.Source
}

// NewEntropyParams validates c. Errors wrap [ErrConfig] and name the field.
func NewEntropyParams(c EntropyConfig) (EntropyParams, error) {
	c.Values = cmp.Or(c.Values, 256)
	c.Ports = cmp.Or(c.Ports, 1)
	c.Queue = cmp.Or(c.Queue, 64)
	c.Freeze = cmp.Or(c.Freeze, 10_000_000)
	recycles := c.Scheme == SchemeREPS || c.Scheme == SchemeREPSLegacy
	err := cmp.Or(
		check.Range(ErrConfig, "EntropyConfig.Scheme", c.Scheme, 0, schemes-1),
		check.Range(ErrConfig, "EntropyConfig.Values", c.Values, 1, 1<<16),
		check.Range(ErrConfig, "EntropyConfig.Ports", c.Ports, 1, min(64, c.Values)),
		check.Range(ErrConfig, "EntropyConfig.Queue", c.Queue, 1, 1<<15),
		check.AtLeast(ErrConfig, "EntropyConfig.Freeze", c.Freeze, 0),
	)
	switch {
	case err != nil:
		return EntropyParams{}, err
	case !recycles && !powerOfTwo(c.Values):
		return EntropyParams{}, fmt.Errorf("%w: EntropyConfig.Values is %d, want a power of two", ErrConfig, c.Values)
	case !powerOfTwo(c.Ports):
		return EntropyParams{}, fmt.Errorf("%w: EntropyConfig.Ports is %d, want a power of two", ErrConfig, c.Ports)
	case c.Values%c.Ports != 0: // else a port would stand for a value that there is not
		return EntropyParams{}, fmt.Errorf("%w: EntropyConfig.Values is %d, want a multiple of %d, of Ports", ErrConfig, c.Values, c.Ports)
	case !powerOfTwo(c.Queue):
		return EntropyParams{}, fmt.Errorf("%w: EntropyConfig.Queue is %d, want a power of two", ErrConfig, c.Queue)
	}
	p := EntropyParams{
		scheme: c.Scheme,
		values: uint32(c.Values),
		mask:   uint16(c.Values - 1),
		ports:  uint16(c.Ports - 1),
		queue:  uint16(c.Queue - 1),
		freeze: c.Freeze,
		rand:   c.Rand,
	}
	if c.Scheme == SchemeBitmap || c.Scheme == SchemeMixed {
		p.penalty = int32((c.Values + penaltiesPerWord - 1) / penaltiesPerWord)
	}
	switch p.words = p.penalty; c.Scheme {
	case SchemeREPS:
		p.words = int32(unsafe.Sizeof(repsRing{}) / 8)
	case SchemeREPSLegacy, SchemeMixed:
		p.words += int32((c.Queue+valuesPerWord-1)/valuesPerWord) + 1
	}
	return p, nil
}

// Words is the scheme's side memory for each context, in words of
// 8 bytes: none for SchemeOblivious.
func (p *EntropyParams) Words() int { return int(p.words) }

// Entropy is the path choice of one context: the entropy value (the UDP source port, or the
// entropy header of native IP) of the next packet. An Entropy holds no pointer. A scheme's
// state for each value lies in side memory, passed by the caller to every call:
// [EntropyParams.Words] words for the context alone, zero at first.
//
// A value is any 16-bit number, including 0, as a UDP source port meaning none. A transport
// limited to some ports maps each value to a usable port, always the same.
//
// Single writer.
type Entropy struct {
	base   uint16 // the value of PDCs outside path choice; the high bits are common to all values
	index  uint16 // position in the round
	order  uint16 // low bits: the mask that shuffles the round, high bits: base's
	queued uint16 // waiting recycled values, see push

	rng uint64
}

// Init starts e. Contexts with different seeds spread over values in different
// orders. Side memory must be zero.
func (e *Entropy) Init(p *EntropyParams, seed uint64) {
	*e = Entropy{rng: seed}
	if p.scheme == SchemeREPS || p.scheme == SchemeREPSLegacy {
		e.base = p.value(splitmix.Mix(seed)) // not a draw: recorded draws are for packets alone
		return
	}
	e.base = uint16(e.draw(p))
	e.reorder(p)
}

// Next returns the value for the next packet, new or sent again.
//
//uetcc:hot
func (e *Entropy) Next(p *EntropyParams, side []uint64, at Progress) uint16 {
	switch p.scheme {
	case SchemeBitmap:
		return e.nextUnpenalised(p, side)
	case SchemeREPS:
		return e.nextREPS(p, ringOf(side))
	case SchemeREPSLegacy:
		return e.nextLegacy(p, side, at)
	case SchemeMixed:
		if e.queued > 0 {
			return e.pop(p, side)
		}
		return e.nextUnpenalised(p, side)
	default:
		return e.inTurn(p)
	}
}

// nextRun is Next for each of the packets of a run, of a scheme without use for a Progress.
func (e *Entropy) nextRun(p *EntropyParams, side []uint64, paths []uint16) {
	switch p.scheme {
	case SchemeBitmap:
		for i := range paths {
			paths[i] = e.nextUnpenalised(p, side)
		}
	case SchemeREPS:
		for i, g := 0, ringOf(side); i < len(paths); i++ {
			paths[i] = e.nextREPS(p, g)
		}
	default:
		for i := range paths {
			paths[i] = e.Next(p, side, Progress{})
		}
	}
}

// inTurn is SchemeOblivious.
func (e *Entropy) inTurn(p *EntropyParams) uint16 {
	v := e.candidate()
	e.advance(p)
	return v
}

// OnACK, OnNACK and OnInferredLoss tell the scheme about a value returned by [Entropy.Next]: the
// specification's process_ev. Tell the scheme before [Context.OnACK] and so on. Of an
// acknowledgement the Entropy and ECN count, of a refusal the Entropy, Reason and CE.
func (e *Entropy) OnACK(p *EntropyParams, side []uint64, now int64, a *Ack) {
	e.feed(p, side, now, a.report())
}

// OnNACK takes in a refusal, see [Entropy.OnACK]. A trim at the last hop says nothing: every
// path ends there.
func (e *Entropy) OnNACK(p *EntropyParams, side []uint64, now int64, n *Nack) {
	e.feed(p, side, now, n.report())
}

// OnInferredLoss takes in a loss, see [Entropy.OnACK].
func (e *Entropy) OnInferredLoss(p *EntropyParams, side []uint64, now int64, l *Loss) {
	e.feed(p, side, now, l.report())
}

//uetcc:hot
func (e *Entropy) feed(p *EntropyParams, side []uint64, now int64, r report) {
	switch p.scheme {
	case SchemeBitmap:
		e.penalise(p, side, r)
	case SchemeREPS:
		ringOf(side).feed(p, now, r)
	case SchemeREPSLegacy:
		e.push(p, side, r)
	case SchemeMixed:
		e.penalise(p, side, r)
		e.push(p, side, r)
	}
}

// fixedFor is a value chosen by key. The choice is not a draw: recorded draws are for
// packets alone.
func (e *Entropy) fixedFor(p *EntropyParams, key uint64) uint16 {
	v := splitmix.Mix(key ^ uint64(e.base)<<16)
	if p.scheme == SchemeREPS || p.scheme == SchemeREPSLegacy {
		return p.value(v)
	}
	return e.base&^p.mask | uint16(v)&p.mask
}

// candidate is the value at the round's index. The exclusive or with the round's order
// makes the low bits walk through all values in a new order each round; the high bits stay.
func (e *Entropy) candidate() uint16 { return e.index ^ e.order }

// advance moves the index; a new round has a new order.
//
//uetcc:hot inlines nobounds
func (e *Entropy) advance(p *EntropyParams) {
	if e.index = (e.index + 1) & p.mask; e.index == 0 {
		e.reorder(p)
	}
}

// reorder begins a round. Rare, and out of line so advance inlines.
//
//go:noinline
func (e *Entropy) reorder(p *EntropyParams) {
	e.order = uint16(e.draw(p))&p.mask | e.base&^p.mask
}

// value maps any number to a value.
//
//uetcc:hot inlines nobounds
func (p *EntropyParams) value(v uint64) uint16 {
	if p.values&uint32(p.mask) == 0 { // a power of two, as nearly always: a division takes as long as all else here
		return uint16(v) & p.mask
	}
	return uint16(v % uint64(p.values))
}

// draw returns a random number, from the context's own state unless the parameters
// bring a source.
func (e *Entropy) draw(p *EntropyParams) uint64 {
	if p.rand != nil {
		return p.rand.Uint64()
	}
	return splitmix.Next(&e.rng)
}

func powerOfTwo(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }

// Port is the NIC port, or network plane, that a packet with an entropy value leaves through: 0 to
// EntropyConfig.Ports - 1. It is what GetSendParams chooses beside the value.
func (p *EntropyParams) Port(v uint16) int { return int(v & p.ports) }

// allPorts has a bit for each port.
func (p *EntropyParams) allPorts() uint64 { return uint64(1)<<(p.ports+1) - 1 } // 0 - 1 for 64

// SetPorts says which NIC ports are up, bit n for port n. Packets of all contexts, those sent again
// too, leave through the others until the next call. None at all counts as all. Only the owner calls it.
//
// Source: UE Specification 1.0.x sections 3.6.6 (free_port_list) and 3.6.16.
func (m *Manager) SetPorts(up uint64) {
	all := m.p.entropy.allPorts()
	if m.down = all &^ up; m.down == all {
		m.down = 0
	}
	m.listens = m.p.entropy.scheme != SchemeOblivious || m.down != 0
	for i := range m.seats {
		m.classify(&m.seats[i].context)
	}
}

// passable is v, or, where the port of v is down, the value beside it whose port is up. Values that
// differ in their other bits spread over those ports.
func (m *Manager) passable(v uint16) uint16 {
	if m.down == 0 || m.down>>m.p.entropy.Port(v)&1 == 0 {
		return v
	}
	mask := m.p.entropy.ports
	up := m.p.entropy.allPorts() &^ m.down
	for n := int(v>>bits.Len16(mask)) % bits.OnesCount64(up); n > 0; n-- {
		up &= up - 1
	}
	return v&^mask | uint16(bits.TrailingZeros64(up))
}
