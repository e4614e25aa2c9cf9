// SPDX-License-Identifier: Apache-2.0

package ccc

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
