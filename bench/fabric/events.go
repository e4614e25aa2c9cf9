package fabric

import (
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

// An event is flat and without pointers, so that the collector never looks at
// the hundreds of thousands that pass by.
type event struct {
	at   int64 // picoseconds
	a, b uint32
	next uint32 // slot of the next one in the same bucket
	kind eventKind
}

const (
	wheelBits    = 14
	wheelBuckets = 1 << wheelBits
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

	cur     []event // the bucket that is being handed out, sorted
	curNext int

	slots  []event // of the buckets; slot 0 is not used
	free   uint32  // list of free slots
	tail   [wheelBuckets]uint32
	used   [wheelBuckets / 64]uint64
	usedUp [wheelBuckets / 64 / 64]uint64
	held   int // events in buckets

	far farHeap
	seq uint64 // of insertions into far
}

// newEventQueue makes a queue that is fast for delays up to horizon picoseconds
// and right for all.
func newEventQueue(horizon int64) *eventQueue {
	q := &eventQueue{slots: make([]event, 1, 1024)}
	for int64(wheelBuckets)<<q.shift <= horizon+horizon/4 {
		q.shift++
	}
	return q
}

// len is how many events are pending.
func (q *eventQueue) len() int { return len(q.cur) - q.curNext + q.held + len(q.far) }

// push adds an event at time at, not before the event that was popped last.
func (q *eventQueue) push(at int64, kind eventKind, a, b uint32) {
	switch tick := at >> q.shift; {
	case tick-q.tick >= wheelBuckets:
		q.seq++
		q.far.push(farEvent{event{at: at, a: a, b: b, kind: kind}, q.seq})
	case tick > q.tick:
		q.put(tick, event{at: at, a: a, b: b, kind: kind})
	default:
		q.insert(event{at: at, a: a, b: b, kind: kind})
	}
}

// insert sorts e into the bucket that is being handed out.
func (q *eventQueue) insert(e event) {
	q.cur = append(q.cur, e)
	i := len(q.cur) - 1
	for ; i > q.curNext && q.cur[i-1].at > e.at; i-- {
		q.cur[i] = q.cur[i-1]
	}
	q.cur[i] = e
}

func (q *eventQueue) put(tick int64, e event) {
	s := q.free
	if s != 0 {
		q.free = q.slots[s].next
	} else {
		s = uint32(len(q.slots))
		q.slots = append(q.slots, event{})
	}
	b := tick & (wheelBuckets - 1)
	if t := q.tail[b]; t != 0 { // a ring: the newest points at the oldest
		e.next = q.slots[t].next
		q.slots[t].next = s
	} else {
		e.next = s
		q.used[b>>6] |= 1 << (b & 63)
		q.usedUp[b>>12] |= 1 << (b >> 6 & 63)
	}
	q.slots[s] = e
	q.tail[b] = s
	q.held++
}

// pop takes the next event, false if there is none.
func (q *eventQueue) pop() (event, bool) {
	if q.curNext == len(q.cur) && !q.advance() {
		return event{}, false
	}
	e := q.cur[q.curNext]
	q.curNext++
	return e, true
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
		q.put(e.at>>q.shift, e)
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
	word := from >> 6
	for i := int64(1); ; i++ { // at most all 256 words, in steps of up to 64
		w := (word + i) & (wheelBuckets/64 - 1)
		if up := q.usedUp[w>>6] >> (w & 63); up == 0 {
			i += 63 - w&63
			continue
		} else if skip := int64(bits.TrailingZeros64(up)); skip > 0 {
			i += skip
			w = (word + i) & (wheelBuckets/64 - 1)
		}
		b := w<<6 + int64(bits.TrailingZeros64(q.used[w]))
		return q.tick + 1 + (b-from)&(wheelBuckets-1)
	}
}

// load empties bucket b into cur and sorts it.
func (q *eventQueue) load(b int64) {
	last := q.tail[b]
	s := q.slots[last].next
	first := s
	sorted, before := true, int64(0)
	for {
		e := q.slots[s]
		sorted = sorted && e.at >= before
		before = e.at
		q.cur = append(q.cur, e)
		if s == last {
			break
		}
		s = e.next
	}
	q.slots[last].next = q.free
	q.free = first
	q.held -= len(q.cur)
	q.tail[b] = 0
	if q.used[b>>6] &^= 1 << (b & 63); q.used[b>>6] == 0 {
		q.usedUp[b>>12] &^= 1 << (b >> 6 & 63)
	}
	if !sorted {
		q.sort()
	}
}

// sort orders cur by time and keeps the order of insertion otherwise. Most
// buckets hold a handful.
func (q *eventQueue) sort() {
	if len(q.cur) > 48 {
		slices.SortStableFunc(q.cur, func(x, y event) int {
			switch {
			case x.at < y.at:
				return -1
			case x.at > y.at:
				return 1
			}
			return 0
		})
		return
	}
	for i := 1; i < len(q.cur); i++ {
		e, j := q.cur[i], i
		for ; j > 0 && q.cur[j-1].at > e.at; j-- {
			q.cur[j] = q.cur[j-1]
		}
		q.cur[j] = e
	}
}

// farEvent is an event beyond the wheel, with its order of insertion.
type farEvent struct {
	event
	seq uint64
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

func (h *farHeap) pop() event {
	s := *h
	e := s[0].event
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
