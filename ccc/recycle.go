// SPDX-License-Identifier: Apache-2.0

package ccc

// A word of side memory holds four queued values.
const valuesPerWord = 4

// push queues a value returned without a mark. A full queue forgets the oldest
// value: the newest knowledge of the fabric is worth most.
func (e *Entropy) push(p *EntropyParams, side []uint64, r report) {
	if r.kind != feedbackGood {
		return
	}
	w, shift := e.queueAt(p, side, e.queueHead+e.queued)
	*w = *w&^(0xffff<<shift) | uint64(r.value)<<shift
	if e.queued > p.queue {
		e.queueHead++
	} else {
		e.queued++
	}
}

// pop returns the oldest value of a queue that is not empty.
func (e *Entropy) pop(p *EntropyParams, side []uint64) uint16 {
	w, shift := e.queueAt(p, side, e.queueHead)
	e.queueHead++
	e.queued--
	return uint16(*w >> shift)
}

func (e *Entropy) queueAt(p *EntropyParams, side []uint64, pos uint16) (w *uint64, shift uint) {
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
		e.index = e.anyValue(p)
	}
	return e.index
}
