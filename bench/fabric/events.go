package fabric

import (
	"cmp"
	"math/bits"
	"slices"
)

// eventKind says what happens, and to what.
type eventKind uint8

const (
	evArrive  eventKind = iota // a packet is at the node that it was sent to
	evPort                     // a port has sent its packet
	evStart                    // a transfer begins
	evTimer                    // a connection looks at its oldest packet
	evPause                    // a port is told to pause
	evResume                   // a port is told to go on
	evCredit                   // the pacer of a host runs
	evRequest                  // a connection may ask for credit
	evFabric                   // a host adapts its credit to the fabric
	evMemory                   // the memory behind a host has written something
)

// An event as it is handed out.
type event struct {
	at   int64  // picoseconds
	what uint32 // number of the packet, port, transfer, connection or host
	kind eventKind
}

// A slot is an event in a bucket, one word: 32 bits of picoseconds from the start of the
// bucket, 4 of kind, 28 of number.
type slot uint64

func newSlot(off int64, kind eventKind, what uint32) slot {
	return slot(off<<32) | slot(kind)<<whatBits | slot(what)
}

// last is the greatest slot of the same time.
func (s slot) last() slot { return s | (1<<32 - 1) }

func (s slot) off() uint32     { return uint32(s >> 32) }
func (s slot) kind() eventKind { return eventKind(s >> whatBits & 0xf) }
func (s slot) what() uint32    { return uint32(s) & (1<<whatBits - 1) }

// A chunk is two cache lines of slots, so that emptying a bucket waits for memory once in
// fifteen events.
type chunk struct {
	slots [chunkSlots]slot
	next  uint32 // chunk of the same bucket; of the last: the first
}

const (
	chunkSlots   = 15
	whatBits     = 28 // packets, ports, connections and transfers are fewer
	wheelBits    = 12
	wheelBuckets = 1 << wheelBits
	maxShift     = 31 // an offset is 32 bits
)

// An eventQueue hands out events in the order {time, order of insertion}.
//
// It is a timing wheel: buckets of 1<<shift picoseconds, each a list in order
// of insertion that is sorted (stably, so only by time) when its turn comes.
// What lies beyond the wheel waits in a heap and moves into the wheel as soon as
// its bucket does, before anything can be pushed there directly; that keeps the
// order of insertion.
type eventQueue struct {
	shift uint
	tick  int64 // number of the bucket in cur

	cur     []slot // the bucket that is being handed out, sorted
	curNext int

	chunks []chunk // of the buckets; chunk 0 is not used
	free   uint32  // list of free chunks
	used   [wheelBuckets / 64]uint64
	tail   [wheelBuckets]uint32 // last chunk << 4 | slots used in it; 0: empty
	held   int                  // events in buckets

	far farHeap
	seq uint64 // of insertions into far
}

// newEventQueue makes a queue that is fast for delays up to horizon picoseconds
// and right for all.
func newEventQueue(horizon int64) *eventQueue {
	q := &eventQueue{chunks: make([]chunk, 1, 512)}
	for q.shift < maxShift && int64(wheelBuckets)<<q.shift <= horizon+horizon/8 {
		q.shift++
	}
	return q
}

// len is how many events are pending.
func (q *eventQueue) len() int { return len(q.cur) - q.curNext + q.held + len(q.far) }

// push adds an event at time at, not before the event that was popped last.
func (q *eventQueue) push(at int64, kind eventKind, what uint32) {
	tick := at >> q.shift
	s := newSlot(at-tick<<q.shift, kind, what)
	switch {
	case tick-q.tick >= wheelBuckets:
		q.seq++
		q.far.push(farEvent{at: at, seq: q.seq, slot: s})
	case tick > q.tick:
		q.put(tick, s)
	default:
		q.insert(s)
	}
}

// insert sorts s into the bucket that is being handed out.
func (q *eventQueue) insert(s slot) {
	q.cur = append(q.cur, s)
	i := len(q.cur) - 1
	for ; i > q.curNext && q.cur[i-1] > s.last(); i-- {
		q.cur[i] = q.cur[i-1]
	}
	q.cur[i] = s
}

func (q *eventQueue) put(tick int64, s slot) {
	b := tick & (wheelBuckets - 1)
	q.held++
	t := q.tail[b]
	if n := t & 15; t != 0 && n < chunkSlots {
		q.chunks[t>>4].slots[n] = s
		q.tail[b]++
		return
	}
	c := q.newChunk()
	if t != 0 {
		q.chunks[c].next = q.chunks[t>>4].next
		q.chunks[t>>4].next = c
	} else {
		q.chunks[c].next = c
		q.used[b>>6] |= 1 << (b & 63)
	}
	q.chunks[c].slots[0] = s
	q.tail[b] = c<<4 | 1
}

func (q *eventQueue) newChunk() uint32 {
	c := q.free
	if c == 0 {
		q.chunks = append(q.chunks, chunk{})
		return uint32(len(q.chunks) - 1)
	}
	q.free = q.chunks[c].next
	return c
}

// drained reports whether the bucket at hand is used up: advance comes next.
func (q *eventQueue) drained() bool { return q.curNext == len(q.cur) }

// take hands out the next event of the bucket at hand.
func (q *eventQueue) take() event {
	s := q.cur[q.curNext]
	q.curNext++
	return event{at: q.tick<<q.shift + int64(s.off()), what: s.what(), kind: s.kind()}
}

// advance moves to the next bucket that holds something.
func (q *eventQueue) advance() bool {
	q.cur, q.curNext = q.cur[:0], 0
	switch {
	case q.held > 0:
		q.tick = q.nextUsed()
	case len(q.far) > 0:
		q.tick = q.far[0].at >> q.shift
	default:
		return false
	}
	for len(q.far) > 0 && q.far[0].at>>q.shift-q.tick < wheelBuckets {
		e := q.far.pop()
		q.put(e.at>>q.shift, e.slot)
	}
	q.load(q.tick & (wheelBuckets - 1))
	return true
}

// nextUsed is the number of the first bucket after the current one that is not
// empty; there must be one.
func (q *eventQueue) nextUsed() int64 {
	from := (q.tick + 1) & (wheelBuckets - 1)
	if w := q.used[from>>6] >> (from & 63); w != 0 {
		return q.tick + 1 + int64(bits.TrailingZeros64(w))
	}
	for i := from>>6 + 1; ; i++ { // at most all 64 words
		i &= wheelBuckets/64 - 1
		if w := q.used[i]; w != 0 {
			b := i<<6 + int64(bits.TrailingZeros64(w))
			return q.tick + 1 + (b-from)&(wheelBuckets-1)
		}
	}
}

// load empties bucket b into cur and sorts it.
func (q *eventQueue) load(b int64) {
	last := q.tail[b] >> 4
	first := q.chunks[last].next
	for c := first; c != last; c = q.chunks[c].next {
		q.cur = append(q.cur, q.chunks[c].slots[:]...)
	}
	q.cur = append(q.cur, q.chunks[last].slots[:q.tail[b]&15]...)
	q.chunks[last].next = q.free
	q.free = first
	q.held -= len(q.cur)
	q.tail[b] = 0
	q.used[b>>6] &^= 1 << (b & 63)
	q.sort()
}

// sort orders cur by time and keeps the order of insertion otherwise. Most buckets hold a
// handful, and large ones are packets that were sent at one time over links alike: nearly
// in order. What is not is left to the library after so many moves.
func (q *eventQueue) sort() {
	cur, moves := q.cur, 256+8*len(q.cur)
	for i := 1; i < len(cur); i++ {
		s, j := cur[i], i
		for ; j > 0 && cur[j-1] > s.last(); j-- {
			cur[j] = cur[j-1]
		}
		cur[j] = s
		if moves -= i - j; moves < 0 {
			slices.SortStableFunc(cur, func(x, y slot) int { return cmp.Compare(x.off(), y.off()) })
			return
		}
	}
}

// farEvent is an event beyond the wheel, with its order of insertion.
type farEvent struct {
	at  int64
	seq uint64
	slot
}

func (e *farEvent) before(o *farEvent) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// A farHeap is a binary heap; few events are that far away: timers and starts.
type farHeap []farEvent

func (h *farHeap) push(e farEvent) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !s[i].before(&s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

func (h *farHeap) pop() farEvent {
	s := *h
	e := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return e
		}
		if c+1 < last && s[c+1].before(&s[c]) {
			c++
		}
		if !s[c].before(&s[i]) {
			return e
		}
		s[i], s[c] = s[c], s[i]
		i = c
	}
}
