// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// len is how many events are pending.
func (q *eventQueue) len() int { return len(q.cur) - q.curNext + q.late.Len() + q.held + q.far.Len() }

// An event as handed out.
type event struct {
	at   int64 // picoseconds
	what uint32
	kind eventKind
}

// pop takes the next event, false if there is none.
func (q *eventQueue) pop() (event, bool) {
	if q.drained() {
		group, ok := q.next()
		if !ok {
			return event{}, false
		}
		q.advance(group)
	}
	e, ok := q.take()
	if !ok {
		e = q.takeLate()
	}
	return event{at: q.time(e), what: e.what(), kind: e.kind()}, true
}

// The queue against a slice that is sorted by {time, order of insertion}, with
// delays from nothing to far beyond the wheel and many equal times.
func TestEventQueueOrder(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		q := newEventQueue(1 << 20)
		type entry struct {
			at int64
			id uint32
		}
		var slow []entry
		now, id := int64(0), uint32(0)
		push := func() {
			d := [...]int64{0, rnd.Int64N(100), rnd.Int64N(1 << 20), 1 << 14, rnd.Int64N(1 << 24), 1 << 40}[rnd.IntN(6)]
			id++
			q.push(now+d, evTimer, id)
			slow = append(slow, entry{now + d, id})
		}
		for range 3_000 {
			for range rnd.IntN(5) {
				push()
			}
			sort.SliceStable(slow, func(i, j int) bool { return slow[i].at < slow[j].at })
			for range rnd.IntN(5) {
				require.Equal(t, len(slow), q.len())
				e, ok := q.pop()
				require.Equal(t, len(slow) > 0, ok)
				if !ok {
					break
				}
				require.Equal(t, slow[0], entry{e.at, e.what})
				require.Equal(t, evTimer, e.kind)
				now, slow = e.at, slow[1:]
			}
		}
	}
}

func TestEventQueueEmpty(t *testing.T) {
	q := newEventQueue(0)
	_, ok := q.pop()
	require.False(t, ok)
	q.push(1<<60, evStart, 1)
	e, ok := q.pop()
	require.True(t, ok)
	require.EqualValues(t, int64(1)<<60, e.at)
	require.Equal(t, evStart, e.kind)
	q.push(e.at, evStart, 3)
	e, _ = q.pop()
	require.EqualValues(t, 3, e.what, "an event at the present time is next")
	_, ok = q.pop()
	require.False(t, ok)
}

// One bucket with many events in falling order takes the other sort.
func TestEventQueueCrowdedBucket(t *testing.T) {
	q := newEventQueue(1 << 30)
	for i := range int64(500) {
		q.push(1<<20+(500-i)/2, evTimer, uint32(i))
	}
	var before event
	for range 500 {
		e, _ := q.pop()
		require.True(t, e.at > before.at || e.at == before.at && e.what > before.what)
		before = e
	}
}

func TestEventQueueAllocs(t *testing.T) {
	q := newEventQueue(2_000_000)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range uint32(2_000) {
		q.push(rnd.Int64N(2_000_000), evArrive, i)
	}
	hold := func() {
		for range 100 {
			e, ok := q.pop()
			if !ok {
				panic("empty")
			}
			q.push(e.at+332_000+rnd.Int64N(1_000_000), evArrive, e.what)
		}
	}
	for range 1_000 {
		hold()
	}
	alloctest.Zero(t, "pop and push", hold)
}

func BenchmarkEventQueueHold(b *testing.B) {
	for _, n := range []uint32{1 << 10, 1 << 14} {
		b.Run(map[uint32]string{1 << 10: "n=1024", 1 << 14: "n=16384"}[n], func(b *testing.B) {
			b.ReportAllocs()
			q := newEventQueue(1_400_000)
			rnd := rand.New(rand.NewPCG(1, 1))
			for i := range n {
				q.push(rnd.Int64N(1_400_000), evArrive, i)
			}
			for b.Loop() {
				e, _ := q.pop()
				q.push(e.at+[...]int64{332_000, 1_332_000, 1_005_120}[e.what%3], evArrive, e.what)
			}
		})
	}
}

// Events that are pushed for the group at hand, far before its end, against a slice that is
// sorted by {time, order of insertion}.
func TestEventQueueLateEvents(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := newEventQueue(1 << 30)
	type entry struct {
		at int64
		id uint32
	}
	var slow []entry
	push := func(at int64) {
		id := uint32(len(slow))
		q.push(at, evTimer, id)
		slow = append(slow, entry{at, id})
	}
	group := int64(1) << q.groupShift
	for range 2_000 {
		push(group + rnd.Int64N(200)*(group/200))
	}
	heap := 0
	var got []entry
	for e, ok := q.pop(); ok; e, ok = q.pop() {
		got = append(got, entry{e.at, e.what})
		if len(slow) < 6_000 && rnd.IntN(3) > 0 {
			for range 4 {
				push(e.at + rnd.Int64N(3)*(group/200))
			}
		}
		heap = max(heap, q.late.Len())
	}
	sort.SliceStable(slow, func(i, j int) bool { return slow[i].at < slow[j].at })
	require.Equal(t, slow, got)
	require.Greater(t, heap, 0, "some waited beside the group")
}
