// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"math/bits"
	"sync/atomic"
)

// ErrFull is returned by [Map.Insert] when no slot is free in the key's groups.
// With a random seed and handles below the map's capacity ErrFull takes a hash
// collision attack; the answer is to refuse the newcomer.
var ErrFull = errors.New("table: no room in the groups of this key")

// cacheLine is the size of a slot and the distance kept between words with
// different writers. 64 is the line of amd64 and of the arm64 servers Go runs
// on; 128 (adjacent-line prefetch) gained nothing when measured, and an array can't
// take the element size from the CPU at run time. A test compares cacheLine with
// the CPU's report.
const cacheLine = 64

const (
	// MaxCapacity is the most entries a map can hold: an entry for each 16-bit
	// index.
	MaxCapacity = 1 << 16

	// groupSize is the number of slots in a group: one for each byte of a word but
	// the last, a counter.
	groupSize = 7

	// A map has 7 groups for each 40 entries at capacity, and spareGroups, which are for the luck
	// of small maps. Of the keys of a full large map 90 % are in their home group.
	spareGroups = 16

	// maxProbe bounds the groups visited by any operation. In each of six sizes of full
	// maps, 370 to 65,536, of 13 million random keys none was displaced by more than 20
	// groups, and each further group is less than half as likely.
	maxProbe = 32
)

// A Map finds the handle of a 40-byte key. The map is open addressing in groups of
// seven slots. A slot is a cache line with a word and a key; a group has one more
// word, in an array beside the slots, with a byte of each key's hash. All methods
// are safe for concurrent use by any goroutine.
//
//   - [Map.Lookup] is wait-free: at most maxProbe groups.
//   - [Map.Delete] is lock-free: a CAS decides between several callers.
//   - [Map.Insert] is lock-free and linearizable as insert-if-absent.
//
// A look-up reads the group's bytes, 90 KiB in total for 64k keys, so kept in a
// core's second-level cache, and then the key's line; one key in 10 of a full map
// needs more lines. No branch depends on where in the group the key is: a wrong
// guess of the processor costs as much as the miss.
//
// From Insert until Delete of a handle no second handle with the same index may be
// inserted. A [Pool] gives the guarantee.
//
// # Why a reader needs no lock
//
// A reader loads a slot's word, compares the key, and loads the word again. An
// unchanged word means the same life of the same id all the time, because the word
// carries the id's generation and a sequence number advanced whenever the slot is
// emptied; to be fooled, a reader would have to sleep through exactly 2^15 lives of
// the id and 2^13 of the slot at once. Entries never move, and the byte of an entry
// is there from before the publication until after the deletion, so a key present
// throughout is found. If the word changed, the entry was deleted while the reader
// ran: an instant without the entry lay inside the call, and "absent" is a right
// answer even if the key is back.
type Map struct {
	groups uint64
	probe  uint64 // groups a key may lie in, at most maxProbe
	hasher Hasher
	bytes  []atomic.Uint64 // by group, see group
	slots  []slot          // groupSize of each group
	places []atomic.Uint32 // by index: the slot of the handle inserted last
}

// The word of a group has a byte for each slot and, on top, the number of entries
// that passed the group when full. A look-up stops at a group never passed, so
// deletion leaves no tombstone behind and probe lengths stay flat.
//
// The byte of a slot in use is odd and part of the hash, the byte of an empty slot
// is 0. Only the slot's owner changes the byte: the inserting goroutine before
// anybody may see the entry, the deleting goroutine before the slot is empty again.
const (
	ones      = 0x00_01_01_01_01_01_01_01
	passUnit  = 1 << 56
	maxPassed = 255
)

// A slot is one cache line.
type slot struct {
	word atomic.Uint64
	key  [5]atomic.Uint64
	_    [cacheLine - 48]byte
}

// A slot word is {tag 16, state 3, sequence 13, generation 16, index 16}. Tag and
// state lie above the rest, so a single comparison checks tag and state.
const (
	tagShift  = 48
	stateMask = 7 << 45
	seqUnit   = 1 << 32
	seqMask   = (1<<13 - 1) * seqUnit
	restMask  = 1<<45 - 1 // all but tag and state

	// The states of a slot. Only the owner leaves held and collided; anybody may
	// move inserting to collided or live (see settle); Delete moves live to held.
	empty     = 0 << 45
	inserting = 1 << 45
	collided  = 2 << 45
	live      = 3 << 45
	held      = 4 << 45
)

// NewMap makes a map for handles with an index below capacity, which is clamped
// to [1, MaxCapacity]. The map takes 84 bytes for each. Seed 0 draws a random seed.
func NewMap(capacity int, seed uint64) *Map {
	capacity = min(max(capacity, 1), MaxCapacity)
	return newMap(capacity*7/40+spareGroups, capacity, NewHasher(seed))
}

func newMap(groups, capacity int, h Hasher) *Map {
	return &Map{
		groups: uint64(groups),
		probe:  uint64(min(groups, maxProbe)),
		hasher: h,
		bytes:  make([]atomic.Uint64, groups),
		slots:  make([]slot, groups*groupSize),
		places: make([]atomic.Uint32, capacity),
	}
}

// Lookup returns the handle inserted with k, or [None].
//
//uetcc:hot
func (m *Map) Lookup(k *Key) Handle {
	hash := m.hasher.Sum(k)
	want, g := hash<<tagShift|live, m.home(hash)
	bytes := m.bytes[g].Load()
	if hits := matches(bytes, hash); hits != 0 {
		for s := m.first(g, hits); ; s = m.first(g, hits) {
			w := s.word.Load()
			if w^want <= restMask && s.holds(k) && s.word.Load() == w {
				return Handle(w)
			}
			if hits &= hits - 1; hits == 0 {
				break
			}
		}
	}
	if bytes < passUnit {
		return None
	}
	return m.beyond(k, hash)
}

// beyond looks for k in the groups after the home group.
//
//uetcc:hot
func (m *Map) beyond(k *Key, hash uint64) Handle {
	want := hash<<tagShift | live
	for p := place(8); p < m.limit(); p += 8 {
		g := m.group(hash, p)
		bytes := m.bytes[g].Load()
		for hits := matches(bytes, hash); hits != 0; hits &= hits - 1 {
			s := m.first(g, hits)
			w := s.word.Load()
			if w^want <= restMask && s.holds(k) && s.word.Load() == w {
				return Handle(w)
			}
		}
		if bytes < passUnit {
			return None
		}
	}
	return None
}

// home is the first group of a hash.
func (m *Map) home(hash uint64) uint64 {
	g, _ := bits.Mul64(hash, m.groups)
	return g
}

// byteOf is a slot's byte for a hash.
func byteOf(hash uint64) uint64 { return hash&0xff | 1 }

// matches has the highest bit set of each byte of a group's word equal to the
// hash's, perhaps of some bytes above, too.
//
//uetcc:hot inlines nobounds
func matches(bytes, hash uint64) uint64 { return zeros(bytes ^ byteOf(hash)*ones) }

// zeros has the highest bit set of each of the seven lower bytes equal to zero,
// perhaps of some 1 above a zero, too. (Mycroft's trick.)
func zeros(x uint64) uint64 { return (x - ones) &^ x & (ones << 7) }

// first is the slot in group g of the lowest bit of hits.
func (m *Map) first(g, hits uint64) *slot {
	return &m.slots[g*groupSize+uint64(bits.TrailingZeros64(hits))/8]
}

// holds compares word by word, the last first: keys of a FEP differ there or in the
// sources, and mostly a tag match is a key match anyway.
//
//uetcc:hot inlines nobounds
func (s *slot) holds(k *Key) bool {
	return s.key[4].Load() == k[4] && s.key[1].Load() == k[1] && s.key[0].Load() == k[0] &&
		s.key[3].Load() == k[3] && s.key[2].Load() == k[2]
}

// stride is the distance between the groups of a hash, so short that the last is less than a
// round of the map away from the home group. Keys with the same full groups in their way
// mostly have different strides, and so make no long chains.
func (m *Map) stride(hash uint64) uint64 {
	s, _ := bits.Mul64(hash<<20, m.groups/maxProbe)
	return 1 + s
}

// A place is a position in the probe order of a hash: 8 x strides from the home
// group + slot in the group. Equal keys have equal hashes, so goroutines inserting
// the same key agree on the order of places.
type place uint64

func (m *Map) group(hash uint64, p place) uint64 {
	g := m.home(hash) + uint64(p)/8*m.stride(hash)
	if g >= m.groups {
		g -= m.groups
	}
	return g
}

func (m *Map) slot(hash uint64, p place) *slot {
	return &m.slots[m.group(hash, p)*groupSize+uint64(p)%8]
}

// limit is the first place beyond the probe range.
func (m *Map) limit() place { return place(m.probe * 8) }
