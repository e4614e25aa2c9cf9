// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math/bits"
	"unsafe"

	"github.com/uetcc/uetcc/internal/deadline"
)

// REPS constants of the field's simulator.
const (
	repsSlots   = 8
	repsExplore = 16 // random values after a freeze, to find paths again
)

// repsRing holds the values last acknowledged without a mark, in four words of side memory.
type repsRing struct {
	thaw    int64 // the end of the freeze, ns
	value   [repsSlots]uint16
	valid   uint8 // a bit for each slot: not used again yet
	head    uint8 // next slot to write
	filled  uint8 // slots ever written, up to all
	reuse   uint8 // next slot to repeat while frozen
	explore uint8 // random values still to hand out
	frozen  bool
}

// ringOf is the ring of SchemeREPS in side memory.
//
//uetcc:hot inlines
func ringOf(side []uint64) *repsRing {
	_ = side[unsafe.Sizeof(repsRing{})/8-1]
	return (*repsRing)(unsafe.Pointer(&side[0]))
}

// put keeps a value in place of the oldest.
//
//uetcc:hot inlines nobounds
func (r *repsRing) put(v uint16) {
	i := r.head % repsSlots
	r.value[i] = v
	r.valid |= 1 << i
	r.head = (i + 1) % repsSlots
	r.filled = min(r.filled+1, repsSlots)
}

// fresh returns how many values have not been used again yet.
func (r *repsRing) fresh() uint8 { return uint8(bits.OnesCount8(r.valid)) }

// take returns the value of a slot, used up from now on.
//
//uetcc:hot inlines nobounds
func (r *repsRing) take(slot uint8) uint16 {
	slot %= repsSlots
	r.valid &^= 1 << slot
	return r.value[slot]
}

// feed takes in a report.
//
//uetcc:hot
func (g *repsRing) feed(p *EntropyParams, now int64, r report) {
	if r.kind == feedbackTimeout && !g.frozen && g.explore == 0 {
		g.frozen, g.thaw = true, deadline.After(now, p.freeze)
	}
	if g.frozen && now > g.thaw {
		*g = repsRing{explore: repsExplore}
	}
	if r.kind == feedbackGood {
		g.put(r.value)
	}
}

//uetcc:hot
func (e *Entropy) nextREPS(p *EntropyParams, g *repsRing) uint16 {
	switch {
	case g.explore > 0:
		g.explore--
	case g.frozen && g.filled != 0:
		v := g.take(g.reuse)
		g.reuse = (g.reuse + 1) % g.filled
		return v
	case !g.frozen && g.valid != 0:
		return g.take(g.head - g.fresh())
	}
	return p.value(e.draw(p))
}

// REPSState is the visible state of the scheme's ring, for monitoring.
type REPSState struct {
	Frozen  bool // keeps to the present values
	Explore int  // random values still to hand out after a freeze
	Fresh   int  // recycled values not used again yet
	Filled  int  // slots ever written, up to 8
}

// REPSState describes the ring of SchemeREPS in a context's side memory; zero for all other schemes.
func (p *EntropyParams) REPSState(side []uint64) REPSState {
	if p.scheme != SchemeREPS {
		return REPSState{}
	}
	g := ringOf(side)
	return REPSState{Frozen: g.frozen, Explore: int(g.explore), Fresh: int(g.fresh()), Filled: int(g.filled)}
}

// A penalty is four bits; a word of side memory holds the penalties of 16 values.
const (
	penaltyBits      = 4
	penaltyMax       = 1<<penaltyBits - 1
	penaltiesPerWord = 64 / penaltyBits
)

// The price of each feedback. Good news forgives nothing: penalties only wear off
// by being skipped.
var penaltyOf = [feedbacks]uint64{feedbackGood: 0, feedbackECN: 1, feedbackNACK: 4, feedbackTimeout: penaltyMax}

// penalise adds the price of the feedback to the penalty of the reported value,
// saturating.
func (e *Entropy) penalise(p *EntropyParams, side []uint64, r report) {
	if r.kind == feedbackGood || r.kind >= feedbacks {
		return
	}
	w, shift := penaltyAt(side, r.value&p.mask)
	old := *w >> shift & penaltyMax
	*w += (min(old+penaltyOf[r.kind], penaltyMax) - old) << shift
}

// nextUnpenalised skips penalised values. Each call takes one point off the first
// penalised value met; after a whole round of skipping a penalised value is taken. A
// word without any unpenalised value is skipped at once, with all 16 values, so a
// call looks at some tens of places at most.
//
//uetcc:hot
func (e *Entropy) nextUnpenalised(p *EntropyParams, side []uint64) uint16 {
	v := e.candidate()
	for skipped := uint32(0); skipped < p.values; v = e.candidate() {
		w, shift := penaltyAt(side, v&p.mask)
		if *w>>shift&penaltyMax == 0 {
			break
		}
		if skipped == 0 {
			*w -= 1 << shift
		}
		n := uint32(1)
		if e.index%penaltiesPerWord == 0 && p.values-skipped >= penaltiesPerWord && !anyUnpenalised(*w) {
			n = penaltiesPerWord
		}
		skipped += n
		e.index += uint16(n - 1)
		e.advance(p)
	}
	e.advance(p)
	return v
}

// anyUnpenalised reports whether any of the word's 16 penalties is 0.
func anyUnpenalised(w uint64) bool {
	const ones = 0x1111_1111_1111_1111
	return (w-ones)&^w&(ones<<(penaltyBits-1)) != 0
}

// penaltyAt is the place of a value's penalty: word w, from bit shift on.
func penaltyAt(side []uint64, v uint16) (w *uint64, shift uint) {
	return &side[v/penaltiesPerWord], uint(v%penaltiesPerWord) * penaltyBits
}

// A word of side memory holds four queued values.
const valuesPerWord = 4

// push queues a value returned without a mark. A full queue forgets the oldest
// value: the newest knowledge of the fabric is worth most.
func (e *Entropy) push(p *EntropyParams, side []uint64, r report) {
	if r.kind != feedbackGood {
		return
	}
	first := p.first(side)
	w, shift := p.queueAt(side, uint16(*first)+e.queued)
	*w = *w&^(0xffff<<shift) | uint64(r.value)<<shift
	if e.queued > p.queue {
		*first++
	} else {
		e.queued++
	}
}

// pop returns the oldest value of a queue that is not empty.
func (e *Entropy) pop(p *EntropyParams, side []uint64) uint16 {
	first := p.first(side)
	w, shift := p.queueAt(side, uint16(*first))
	*first++
	e.queued--
	return uint16(*w >> shift)
}

// first is the position of the oldest queued value, modulo 2^16.
func (p *EntropyParams) first(side []uint64) *uint64 { return &side[p.words-1] }

func (p *EntropyParams) queueAt(side []uint64, pos uint16) (w *uint64, shift uint) {
	slot := pos & p.queue
	return &side[p.penalty+int32(slot/valuesPerWord)], uint(slot%valuesPerWord) * 16
}

// nextLegacy walks through the values in the first window, so each path is
// tried before any is recycled. Where the window grows again before the first
// window has been sent, the walk goes on from the last value, recycled or drawn.
func (e *Entropy) nextLegacy(p *EntropyParams, side []uint64, at Progress) uint16 {
	switch {
	case int64(at.Seq) < min(at.WindowPackets, int64(p.values)):
		e.index = uint16((uint32(e.index) + 1) % p.values)
	case e.queued > 0:
		e.index = e.pop(p, side)
	default:
		e.index = p.value(e.draw(p))
	}
	return e.index
}
