// SPDX-License-Identifier: Apache-2.0

package table

// A Handle names one life of one id: the index in the low 16 bits and the
// generation in the high 16. The generation of a live id is odd, so the zero
// Handle names nothing and a handle kept beyond the id's life does not match
// before 2^15 further lives have passed.
type Handle uint32

// None is the handle without an id.
const None Handle = 0

// NewHandle builds a handle from index and generation.
func NewHandle(index, generation uint16) Handle {
	return Handle(generation)<<16 | Handle(index)
}

// Index is the id, the position in every array addressed by id.
func (h Handle) Index() uint16 { return uint16(h) }

// Generation tells the lives of an id apart; odd means live.
func (h Handle) Generation() uint16 { return uint16(h >> 16) }
