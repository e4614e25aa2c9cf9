package table

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// ErrFull is returned by [Map.Insert] when no word is free in the buckets that
// the key may lie in. With a random seed and handles below the map's capacity
// that takes a hash collision attack; the answer is to refuse the newcomer.
var ErrFull = errors.New("table: no room in the buckets of this key")

// cacheLine is the size of a bucket and the distance kept between words with
// different writers. 64 is the line of amd64 and of the arm64 servers Go runs
// on; 128 (adjacent-line prefetch) was measured and gained nothing, and an array
// can't take its element size from the CPU at run time. A test compares it with
// the line that the CPU reports.
const cacheLine = 64

const (
	// MaxCapacity is the most entries a map can hold: one for each 16-bit index.
	MaxCapacity = 1 << 16

	// maxProbe bounds the buckets, and so the cache lines, that any operation
	// looks at. At capacity a bucket holds 4 of 7 on average and 98 % of the keys are
	// in their first bucket; each further one is four times rarer. Of 3.9 million
	// random keys in full maps of 65,536 none was displaced by more than 9.
	maxProbe = 16
)

// A Map finds the handle of a 40-byte key. It is open addressing in buckets of
// one cache line, with the keys in an array beside it that is addressed by the
// handle's index. All methods are safe for concurrent use by any goroutine.
//
//   - [Map.Lookup] and [Map.LookupBatch] are wait-free: at most maxProbe lines.
//   - [Map.Delete] is lock-free: one CAS decides which of several callers removed it.
//   - [Map.Insert] is lock-free and linearizable as insert-if-absent.
//
// The handle's owner lends the map the key storage of its index: from Insert
// until Delete no other handle with the same index may be inserted.
// A [Pool] guarantees that.
//
// # Why a reader needs no lock
//
// A reader loads a slot word, compares the key, and loads the word again. An
// unchanged word means that the same life of the same id sat there all the time,
// because the word carries the id's generation and a sequence number of the slot
// that moves on whenever the slot is emptied; to be fooled, a reader would have
// to sleep through exactly 2^15 lives of the id and 2^13 of the slot at once.
// Entries never move, so a key that was there throughout is found. If the word
// changed, that entry was deleted while the reader ran: an instant without it
// lay inside the call, and "absent" is a right answer even if the key is back.
type Map struct {
	mask    uint64 // number of buckets - 1
	probe   uint64 // buckets a key may lie in, at most maxProbe
	hasher  Hasher
	buckets []bucket
	entries []entry
}

// A bucket is one cache line: seven slot words and, last, the number of entries
// that found it full and went on. A look-up stops at a bucket nobody passed,
// so deletion leaves no tombstone behind and probe lengths stay flat.
type bucket [8]atomic.Uint64

// over is the position of the count in a bucket. Its state bits stay zero, so a
// look-up may compare it like a slot word; it never matches.
const over = 7

// An entry is the key of one index, alone in its cache line.
type entry struct {
	key [5]atomic.Uint64
	_   [cacheLine - 40]byte
}

// A slot word is {tag 16, sequence 13, state 3, generation 16, index 16}.
const (
	tagMask   = 0xffff << 48
	seqUnit   = 1 << 35
	seqMask   = (1<<13 - 1) * seqUnit
	stateMask = 7 << 32

	// The states of a slot. Only the inserting goroutine leaves collided, anybody
	// may move inserting to collided or live (see settle), Delete ends live.
	empty     = 0 << 32
	inserting = 1 << 32
	collided  = 2 << 32
	live      = 3 << 32
)

// NewMap makes a map for handles with an index below capacity, which is clamped
// to [1, MaxCapacity]. It takes 64 bytes for each index and 16 to 32 for its
// share of the buckets. Seed 0 draws a random seed.
func NewMap(capacity int, seed uint64) *Map {
	capacity = min(max(capacity, 1), MaxCapacity)
	n := 1 << bits.Len(uint(max(capacity, 8)-1)/4)
	return newMap(n, capacity, NewHasher(seed))
}

func newMap(buckets, capacity int, h Hasher) *Map {
	return &Map{
		mask:    uint64(buckets - 1),
		probe:   uint64(min(buckets, maxProbe)),
		hasher:  h,
		buckets: make([]bucket, buckets),
		entries: make([]entry, capacity),
	}
}

// Capacity is the number of indices that the map has key storage for.
func (m *Map) Capacity() int { return len(m.entries) }

// Bytes is the memory that the map holds.
func (m *Map) Bytes() int64 {
	return int64(unsafe.Sizeof(*m)) + int64(len(m.buckets))*int64(unsafe.Sizeof(bucket{})) +
		int64(len(m.entries))*int64(unsafe.Sizeof(entry{}))
}

// Lookup returns the handle that k was inserted with, or [None].
func (m *Map) Lookup(k *Key) Handle { return m.find(k, m.hasher.Sum(k)) }

func (m *Map) find(k *Key, hash uint64) Handle {
	want, start := hash&tagMask|live, startOf(hash)
	for n := uint64(0); n < m.probe; n++ {
		b := &m.buckets[(hash+n)&m.mask]
		for i := range uint64(len(b)) {
			s := &b[(start+i)%8]
			w := s.Load()
			if (w^want)&(tagMask|stateMask) != 0 {
				continue
			}
			if m.entries[uint16(w)].equal(k) && s.Load() == w {
				return Handle(w)
			}
		}
		if b[over].Load() == 0 {
			return None
		}
	}
	return None
}

// equal compares word by word, the last one first: keys of one FEP differ there or
// in their sources, and mostly a tag match is a key match anyway. In this form the
// compiler inlines it.
func (e *entry) equal(k *Key) bool {
	return e.key[4].Load() == k[4] && e.key[1].Load() == k[1] && e.key[0].Load() == k[0] &&
		e.key[3].Load() == k[3] && e.key[2].Load() == k[2]
}

// startOf is where in a bucket the scan for a key begins. Beginning anywhere but
// at 0 makes the first word the right one for most keys, which the branch
// predictor rewards; the bits are those that neither bucket nor tag use.
func startOf(hash uint64) uint64 { return hash >> 32 % 8 }

// A place is a slot in the probe order of one hash: bucket distance x 8 + steps
// from the start. Equal keys have equal hashes, so goroutines that insert one key
// agree on the order of places.
type place uint64

func (m *Map) slot(hash uint64, p place) *atomic.Uint64 {
	return &m.buckets[(hash+uint64(p)/8)&m.mask][(startOf(hash)+uint64(p))%8]
}

// isOver tells whether place p is the bucket's count instead of a slot.
func isOver(hash uint64, p place) bool { return (startOf(hash)+uint64(p))%8 == over }

// passed reports whether the bucket that p ends was passed by an entry.
func (m *Map) passed(hash uint64, p place) bool {
	step()
	return m.buckets[(hash+uint64(p)/8)&m.mask][over].Load() != 0
}

// limit is the first place beyond the probe range.
func (m *Map) limit() place { return place(m.probe * 8) }
