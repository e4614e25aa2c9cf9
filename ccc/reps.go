// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/internal/deadline"

// REPS constants of the field's simulator.
const (
	repsSlots   = 8
	repsExplore = 16 // random values after a freeze, to find paths again
)

// repsRing holds the values last acknowledged without a mark: 22 bytes.
type repsRing struct {
	value   [repsSlots]uint16
	valid   uint8 // a bit for each slot: not used again yet
	head    uint8 // next slot to write
	filled  uint8 // slots ever written, up to all
	fresh   uint8 // valid slots, counted as the scheme does
	reuse   uint8 // next slot to repeat while frozen
	explore uint8 // random values still to hand out
	frozen  bool
}

func (r *repsRing) put(v uint16) {
	bit := uint8(1) << r.head
	if r.valid&bit == 0 {
		r.fresh++
	}
	r.value[r.head], r.valid = v, r.valid|bit
	r.head = (r.head + 1) % repsSlots
	r.filled = min(r.filled+1, repsSlots)
}

// take returns the value of a slot, used up from now on.
func (r *repsRing) take(slot uint8) uint16 {
	bit := uint8(1) << slot
	if r.valid&bit != 0 {
		r.valid &^= bit
		r.fresh--
	}
	return r.value[slot]
}

//uetcc:hot
func (e *Entropy) feedREPS(p *EntropyParams, now int64, r report) {
	g := &e.ring
	if r.kind == feedbackTimeout && !g.frozen && g.explore == 0 {
		g.frozen, e.freezeEnd = true, deadline.After(now, p.freeze)
	}
	if g.frozen && now > e.freezeEnd {
		*g = repsRing{explore: repsExplore}
	}
	if r.kind == feedbackGood {
		g.put(r.value)
	}
}

//uetcc:hot
func (e *Entropy) nextREPS(p *EntropyParams) uint16 {
	g := &e.ring
	switch {
	case g.explore > 0:
		g.explore--
		return e.anyValue(p)
	case g.filled == 0 || !g.frozen && g.fresh == 0:
		return e.anyValue(p)
	case g.frozen:
		v := g.take(g.reuse)
		g.reuse = (g.reuse + 1) % g.filled
		return v
	default:
		return g.take((g.head - g.fresh) % repsSlots)
	}
}

// REPSState is the visible state of the scheme's ring, for monitoring.
type REPSState struct {
	Frozen  bool // keeps to the present values
	Explore int  // random values still to hand out after a freeze
	Fresh   int  // recycled values not used again yet
	Filled  int  // slots ever written, up to 8
}

// REPSState describes the ring of SchemeREPS; zero for all other schemes.
func (e *Entropy) REPSState() REPSState {
	g := &e.ring
	return REPSState{Frozen: g.frozen, Explore: int(g.explore), Fresh: int(g.fresh), Filled: int(g.filled)}
}
