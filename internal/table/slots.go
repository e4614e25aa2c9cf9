// SPDX-License-Identifier: Apache-2.0

package table

import "sync/atomic"

// Slots are the data of look-ups by id: for each id a word with generation and 48
// bits of the user's, and room for the identity of the peer.
//
// The parts lie in separate arrays. Most look-ups need the word alone, and 65,536
// words are 512 KiB, good for a second-level cache; slots of 32 bytes with all
// parts side by side took 2 MiB and 1.8 times as long. A reader of the identity
// needs two lines, but waits for both at once, as neither address depends on
// loaded content.
//
// The holder of a claimed id writes Data, then [Pool.Publish] stores the word. A
// reader loads the word, then Data, then the word again, and trusts Data only if
// both words are equal.
type Slots struct {
	words []atomic.Uint64 // the user's 48 bits, generation 16
	data  [][2]atomic.Uint64
	until []atomic.Int64 // end of the quarantine, written before the id enters it
}

// NewSlots makes slots for the ids below n.
func NewSlots(n int) Slots {
	return Slots{make([]atomic.Uint64, n), make([][2]atomic.Uint64, n), make([]atomic.Int64, n)}
}

// Len is the number of slots, one more than the highest id.
func (s *Slots) Len() int { return len(s.words) }

// Load returns the word of an id below Len.
//
//uetcc:hot inlines
func (s *Slots) Load(id uint16) SlotWord { return SlotWord(s.words[id].Load()) }

// Update replaces the user's 48 bits of w's life; false if the word has changed
// since.
func (s *Slots) Update(id uint16, w SlotWord, user uint64) bool {
	return s.words[id].CompareAndSwap(uint64(w), user<<16|uint64(w)&0xffff)
}

// Data is the identity beside the word.
func (s *Slots) Data(id uint16) *[2]atomic.Uint64 { return &s.data[id] }

// Until is when the last quarantine of an id ends or ended, 0 before the first.
func (s *Slots) Until(id uint16) int64 { return s.until[id].Load() }

// A SlotWord is a slot's word at one instant.
type SlotWord uint64

// Generation of the id; odd while live.
func (w SlotWord) Generation() uint16 { return uint16(w) }

// Live reports whether the id was live.
func (w SlotWord) Live() bool { return w&1 != 0 }

// User is the 48 bits given to Publish or Update.
func (w SlotWord) User() uint64 { return uint64(w) >> 16 }

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
