// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/uetcc/uetcc/internal/agenda"
)

// eventKind is the kind of an event, and of its number.
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
	evAllow                    // an algorithm of the user's wants to be asked
	evTick                     // a node's deadline has come
	evCall                     // a function of the user's is due
	evCalc                     // a calculation of the application is over
	evProbe                    // a connection may ask what has arrived
	evFault                    // a fault begins, ends, or becomes known to switches
)

// A slot is an event, one word: 32 bits of picoseconds from the start of the event's group, 4 of
// kind, 28 of the number of the packet, port, transfer, connection or host.
type slot uint64

func newSlot(off int64, kind eventKind, what uint32) slot {
	return slot(off<<32) | slot(kind)<<whatBits | slot(what)
}

// last is the greatest slot of the same time.
func (s slot) last() slot { return s | (1<<32 - 1) }

func (s slot) off() uint32     { return uint32(s >> 32) }
func (s slot) kind() eventKind { return eventKind(s >> whatBits & 0xf) }
func (s slot) what() uint32    { return uint32(s) & (1<<whatBits - 1) }

const (
	whatBits     = 28 // packets, ports, connections and transfers are fewer
	chunkSlots   = 16
	wheelBits    = 12
	wheelBuckets = 1 << wheelBits
	groupBits    = 3
	wheelGroups  = wheelBuckets >> groupBits
	maxShift     = 32 - groupBits // an offset is 32 bits
)

// An eventQueue hands out events in the order {time, order of insertion}.
//
// The queue is a timing wheel: buckets of 1<<shift picoseconds, each a list in order of
// insertion that is sorted (stably, so only by time) when its turn comes. Their turn comes
// in groups of eight, so that many of the next events are known at a time. An event that is
// pushed for the group at hand is sorted in over a few places, and otherwise waits in a
// heap beside the group, since at 400 Gb/s a group may be tens of thousands of events long.
// Events beyond the wheel wait in a separate heap and move into the wheel as soon as the
// group does, before anything can be pushed there directly, to keep the order of insertion.
type eventQueue struct {
	shift, groupShift uint8
	group             int64 // number of the group in cur
	start             int64 // of that group, ps
	length            int64 // of a group, ps: a power of two

	cur     []slot // the group that is being handed out, sorted
	curNext int
	late    agenda.Agenda[slot] // events of that group which were pushed during it, beyond lateMoves places from its end
	before  slot                // the last slot in cur handed out before the first of late; none waits: the greatest

	// The contents of the buckets: chunks of two cache lines, linked from the last of a
	// bucket to the first and on. Chunk 0 is not used.
	slots []slot
	chain []uint32
	free  uint32 // list of free chunks

	used [wheelBuckets / 64]uint64
	tail [wheelBuckets]uint32 // where the last chunk goes on, which is full at a multiple of chunkSlots; 0: empty
	held int                  // events in buckets

	far agenda.Agenda[slot] // few events are that far away: timers and starts
}

// newEventQueue makes a queue fast for delays up to horizon picoseconds and right for all.
func newEventQueue(horizon int64) *eventQueue {
	q := &eventQueue{slots: make([]slot, chunkSlots, 256*chunkSlots), chain: make([]uint32, 1, 256)}
	for q.shift < maxShift && int64(wheelBuckets)<<q.shift <= horizon+horizon/8 {
		q.shift++
	}
	q.groupShift = q.shift + groupBits
	q.length = 1 << q.groupShift
	q.before = noLate
	return q
}

// groupOf is the number of the group of a time.
func (q *eventQueue) groupOf(at int64) int64 { return at >> (q.groupShift & 63) }

// push adds an event at time at, not before the event popped last.
func (q *eventQueue) push(at int64, kind eventKind, what uint32) {
	s := newSlot(at&(q.length-1), kind, what)
	if ahead := q.groupOf(at) - q.group; uint64(ahead-1) >= wheelGroups-1 {
		q.pushOutside(at, ahead, s)
		return
	}
	b := at >> (q.shift & 63) & (wheelBuckets - 1) // as in put, which is not inlined
	if t := q.tail[b]; t%chunkSlots != 0 {
		q.slots[t] = s
		q.tail[b] = t + 1
		q.held++
		return
	}
	q.put(at, s)
}

// pushOutside adds an event outside the buckets.
func (q *eventQueue) pushOutside(at, ahead int64, s slot) {
	if ahead <= 0 {
		q.insert(s)
		return
	}
	q.far.Push(at, s)
}

// lateMoves is the most events of the group at hand passed in sorting a late event in.
const lateMoves = 16

// noLate is eventQueue.before while no late event waits.
const noLate = ^slot(0)

// insert adds s to the group being handed out. While late events wait in the heap all new
// events go there, so events of the same time keep the order of pushing: of equals the
// events in cur were pushed first.
func (q *eventQueue) insert(s slot) {
	n := len(q.cur)
	if q.late.Len() > 0 || n-q.curNext > lateMoves && q.cur[n-lateMoves-1] > s.last() {
		q.late.Push(int64(s.off()), s)
		q.before = min(q.before, s.last())
		return
	}
	q.cur = append(q.cur, s)
	i := n
	for ; i > q.curNext && q.cur[i-1] > s.last(); i-- {
		q.cur[i] = q.cur[i-1]
	}
	q.cur[i] = s
}

// put adds s to a bucket.
func (q *eventQueue) put(at int64, s slot) {
	b := at >> (q.shift & 63) & (wheelBuckets - 1)
	t := q.tail[b]
	if t%chunkSlots == 0 {
		t = q.extend(b, t)
	}
	q.slots[t] = s
	q.tail[b] = t + 1
	q.held++
}

// extend links a new chunk to bucket b, whose tail is t.
func (q *eventQueue) extend(b int64, t uint32) uint32 {
	c := q.newChunk()
	if t == 0 {
		q.chain[c] = c
		q.used[b>>6] |= 1 << (b & 63)
	} else {
		last := (t - 1) / chunkSlots
		q.chain[c], q.chain[last] = q.chain[last], c
	}
	return c * chunkSlots
}

func (q *eventQueue) newChunk() uint32 {
	c := q.free
	if c == 0 {
		q.slots = append(q.slots, make([]slot, chunkSlots)...)
		q.chain = append(q.chain, 0)
		return uint32(len(q.chain) - 1)
	}
	q.free = q.chain[c]
	return c
}

// drained reports whether the group at hand is used up: advance comes next.
func (q *eventQueue) drained() bool { return q.curNext == len(q.cur) && q.late.Len() == 0 }

// take hands out the next event of the group at hand; false: the first late event comes before it.
func (q *eventQueue) take() (s slot, ok bool) {
	if i := q.curNext; i < len(q.cur) && q.cur[i] <= q.before {
		q.curNext = i + 1
		return q.cur[i], true
	}
	return 0, false
}

// takeLate hands out the first late event.
func (q *eventQueue) takeLate() slot {
	_, s := q.late.Pop()
	q.before = noLate
	if at, ok := q.late.Next(); ok {
		q.before = newSlot(at, 0, 0).last()
	}
	return s
}

// time is when an event of the group at hand is due, ps.
func (q *eventQueue) time(s slot) int64 { return q.start + int64(s.off()) }

// next is the number of the next group with events, once the group at hand is used up;
// false if nothing is pending.
func (q *eventQueue) next() (group int64, ok bool) {
	if q.held > 0 {
		return q.nextUsed(), true
	}
	at, ok := q.far.Next()
	return q.groupOf(at), ok
}

// advance moves to the group returned by next.
func (q *eventQueue) advance(group int64) {
	q.cur, q.curNext, q.group, q.start = q.cur[:0], 0, group, group<<q.groupShift
	at, far := q.far.Next()
	for ; far && q.groupOf(at)-q.group < wheelGroups; at, far = q.far.Next() {
		q.put(q.far.Pop())
	}
	first := q.group << groupBits & (wheelBuckets - 1)
	for w := q.used[first>>6] >> (first & 63) & (1<<(1<<groupBits) - 1); w != 0; w &= w - 1 {
		q.load(first + int64(bits.TrailingZeros64(w)))
	}
	q.held -= len(q.cur)
}

// nextUsed is the number of the first group with events after the current group; some group
// must have events.
func (q *eventQueue) nextUsed() int64 {
	from := (q.group + 1) << groupBits & (wheelBuckets - 1)
	for i, w := from>>6, q.used[from>>6]>>(from&63)<<(from&63); ; w = q.used[i] { // at most all 64 words and one again
		if w != 0 {
			b := i<<6 + int64(bits.TrailingZeros64(w))
			return q.group + 1 + (b-from)&(wheelBuckets-1)>>groupBits
		}
		i = (i + 1) & (wheelBuckets/64 - 1)
	}
}

// load empties bucket b into cur and sorts it.
func (q *eventQueue) load(b int64) {
	from, t := len(q.cur), q.tail[b]
	last := (t - 1) / chunkSlots
	first := q.chain[last]
	for c := first; c != last; c = q.chain[c] {
		q.cur = append(q.cur, q.slots[c*chunkSlots:][:chunkSlots]...)
	}
	q.cur = append(q.cur, q.slots[last*chunkSlots:t]...)
	q.chain[last] = q.free
	q.free = first
	q.tail[b] = 0
	q.used[b>>6] &^= 1 << (b & 63)
	if len(q.cur) > from+1 {
		sortSlots(q.cur[from:])
	}
}

// sortSlots orders a bucket by time and keeps the order of insertion otherwise. Most hold a
// handful, and large ones are packets sent at the same time over links alike: nearly
// in order. A bucket that takes too many moves is left to the library.
func sortSlots(s []slot) {
	moves := 256 + 8*len(s)
	for i := 1; i < len(s); i++ {
		e, j := s[i], i
		if s[i-1] <= e.last() {
			continue
		}
		for ; j > 0 && s[j-1] > e.last(); j-- {
			s[j] = s[j-1]
		}
		s[j] = e
		if moves -= i - j; moves < 0 {
			slices.SortStableFunc(s, func(x, y slot) int { return cmp.Compare(x.off(), y.off()) })
			return
		}
	}
}
