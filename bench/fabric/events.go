package fabric

import (
	"cmp"
	"math/bits"
	"slices"
)

// eventKind says what an event is about; a and b of [event] depend on it.
type eventKind uint8

const (
	evArrive  eventKind = iota // packet b is at node a
	evPort                     // port a has sent its packet
	evStart                    // transfer a begins
	evTimer                    // connection a looks at its oldest packet
	evPause                    // port a gets the flow control frame b
	evCredit                   // the pacer of host a runs
	evRequest                  // connection a may ask for credit
	evFabric                   // host a adapts its credit to the fabric
	evMemory                   // the memory behind a host has written something
)

// An event as it is handed out.
type event struct {
	at   int64 // picoseconds
	a, b uint32
	kind eventKind
}

// A slot is an event in a bucket: 12 bytes without pointers.
type slot struct {
	off  uint32 // picoseconds from the start of the bucket
	what uint32 // kind and a
	b    uint32
}

// A chunk is a cache line of slots, so that emptying a bucket waits for memory
// once in five events.
type chunk struct {
	slots [chunkSlots]slot
	next  uint32 // chunk of the same bucket; of the last: the first
}

const (
	chunkSlots   = 5
	whatBits     = 28 // of a: ports, connections and transfers are fewer
	wheelBits    = 12
	wheelBuckets = 1 << wheelBits
	maxShift     = 31 // off is 32 bits
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
	tail   [wheelBuckets]uint32 // last chunk << 3 | slots used in it; 0: empty
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
func (q *eventQueue) push(at int64, kind eventKind, a, b uint32) {
	tick := at >> q.shift
	s := slot{off: uint32(at - tick<<q.shift), what: uint32(kind)<<whatBits | a, b: b}
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
	for ; i > q.curNext && q.cur[i-1].off > s.off; i-- {
		q.cur[i] = q.cur[i-1]
	}
	q.cur[i] = s
}

func (q *eventQueue) put(tick int64, s slot) {
	b := tick & (wheelBuckets - 1)
	q.held++
	t := q.tail[b]
	if n := t & 7; t != 0 && n < chunkSlots {
		q.chunks[t>>3].slots[n] = s
		q.tail[b]++
		return
	}
	c := q.newChunk()
	if t != 0 {
		q.chunks[c].next = q.chunks[t>>3].next
		q.chunks[t>>3].next = c
	} else {
		q.chunks[c].next = c
		q.used[b>>6] |= 1 << (b & 63)
	}
	q.chunks[c].slots[0] = s
	q.tail[b] = c<<3 | 1
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
	e := q.cur[q.curNext].event()
	e.at = q.tick<<q.shift + int64(q.cur[q.curNext].off)
	q.curNext++
	return e
}

// event unpacks all but the time, which depends on the bucket.
func (s *slot) event() event {
	return event{a: s.what & (1<<whatBits - 1), b: s.b, kind: eventKind(s.what >> whatBits)}
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
	last := q.tail[b] >> 3
	first := q.chunks[last].next
	for c := first; c != last; c = q.chunks[c].next {
		q.cur = append(q.cur, q.chunks[c].slots[:]...)
	}
	q.cur = append(q.cur, q.chunks[last].slots[:q.tail[b]&7]...)
	q.chunks[last].next = q.free
	q.free = first
	q.held -= len(q.cur)
	q.tail[b] = 0
	q.used[b>>6] &^= 1 << (b & 63)
	q.sort()
}

// sort orders cur by time and keeps the order of insertion otherwise. Most
// buckets hold a handful.
func (q *eventQueue) sort() {
	if len(q.cur) > 64 {
		slices.SortStableFunc(q.cur, func(x, y slot) int { return cmp.Compare(x.off, y.off) })
		return
	}
	for i := 1; i < len(q.cur); i++ {
		s, j := q.cur[i], i
		for ; j > 0 && q.cur[j-1].off > s.off; j-- {
			q.cur[j] = q.cur[j-1]
		}
		q.cur[j] = s
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
