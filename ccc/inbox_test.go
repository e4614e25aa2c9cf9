// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func TestInboxOrderAndBound(t *testing.T) {
	q := newInbox(2)
	for round := range int64(3) {
		for i := range int64(4) {
			require.True(t, q.push([]Event{{Size: round*4 + i}}))
		}
		require.False(t, q.push([]Event{{}}), "full")
		for i := range int64(4) {
			require.True(t, q.ready())
			require.Equal(t, eventTime, q.take().kind())
			require.Equal(t, round*4+i, q.take().word)
			require.Equal(t, q.end, q.next)
		}
		require.False(t, q.ready())
		q.release()
		require.False(t, q.waiting())
	}
}

// A batch is prefetched in part, with another one behind it or none: where it wraps
// around, where it is longer than what is prefetched, and where it fills the inbox.
func TestInboxLongBatches(t *testing.T) {
	q := newInbox(64)
	sent, got := int64(0), int64(0)
	push := func(n int) {
		events := make([]Event, n)
		for i := range events {
			events[i].Size = sent
			sent++
		}
		require.True(t, q.push(events))
	}
	read := func() {
		require.True(t, q.ready())
		for q.next != q.end {
			if c := q.take(); c.kind() != eventTime {
				require.Equal(t, got, c.word)
				got++
			}
		}
	}
	for n := 1; n < 4*64; n += 2 {
		push(n)
		if n < 2*64 {
			push(n)
			read()
		}
		read()
		require.Equal(t, sent, got)
		require.False(t, q.ready())
		q.release()
	}
}

// What several cores store lies in lines of its own.
func TestInboxLayout(t *testing.T) {
	var q inbox
	cells, tail := unsafe.Offsetof(q.views), unsafe.Offsetof(q.tail)
	head, end := unsafe.Offsetof(q.head), unsafe.Sizeof(q)
	require.GreaterOrEqual(t, unsafe.Offsetof(q.cells), uintptr(cacheLine))
	require.GreaterOrEqual(t, tail-cells, uintptr(cacheLine))
	require.GreaterOrEqual(t, head-tail, uintptr(cacheLine))
	require.GreaterOrEqual(t, end-head, uintptr(cacheLine))
}

// received takes the next event of the batch, with what its kind keeps of it. The time
// is that of the cells before, which now holds.
func received(q *inbox, now *int64) Event {
	c := q.take()
	for c.kind() == eventTime {
		*now = c.word
		c = q.take()
	}
	e := Event{Kind: c.kind(), PDC: c.pdc(), Now: *now}
	switch e.Kind {
	case EventNewData, EventCredit:
		e.Size = c.word
	case EventSend:
		e.Sent = c.sent(q.take())
	case EventACK:
		e.Ack = c.ack(q.take(), q.take())
	case EventNACK:
		e.Nack = c.nack(q.take())
	case EventLoss:
		e.Loss = c.loss()
	case eventShow:
		e.view = q.view()
	}
	return e
}

// arbitrary is an event whose fields, those that count, can be anything.
func arbitrary(r *rand.Rand) Event {
	word := func() int64 {
		return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(r.Uint64())}[r.IntN(6)]
	}
	bit := func() bool { return r.IntN(2) == 0 }
	e := Event{Kind: EventKind(r.IntN(eventKinds + 1)), PDC: Handle(r.Uint32()), Now: word()}
	switch e.Kind {
	case EventNewData, EventCredit:
		e.Size = word()
	case EventSend:
		e.Sent = Sent{word(), bit(), bit(), r.Uint64()}
	case EventACK:
		a := nscc.Ack{
			Bytes: word(), RTT: word(), ECN: bit(), Restore: bit(), Pend: uint8(r.Uint32()), Kind: nscc.SampleKind(r.IntN(4)),
		}
		e.Ack = Ack{a, int(word()), int(word()), word(), uint16(r.Uint32())}
	case EventNACK:
		e.Nack = Nack{nscc.Nack{Size: word(), RTT: word(), Reason: nscc.NackReason(r.Uint32())}, uint16(r.Uint32()), bit(), bit(), int32(r.Uint32())}
	case EventLoss:
		e.Loss = Loss{word(), uint16(r.Uint32()), bit()}
	case eventShow:
		e.view = new(View)
	}
	return e
}

// Batches of any kinds come out as they went in, over many laps, or not at all.
func TestInboxKeepsEveryField(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	q := newInbox(8)
	var waiting []Event
	held := uint64(0)
	refused := 0
	for range 5000 {
		batch := make([]Event, 1+r.IntN(8))
		for i := range batch {
			if batch[i] = arbitrary(r); i > 0 && r.IntN(2) == 0 {
				batch[i].Now = batch[i-1].Now
			}
		}
		fits := held+cellsOf(batch) <= 32
		require.Equal(t, fits, q.push(batch))
		if fits {
			waiting = append(waiting, batch...)
			held += cellsOf(batch)
		} else {
			refused++
		}
		if r.IntN(2) == 0 {
			continue
		}
		for q.ready() {
			for now := int64(0); q.next != q.end; {
				require.Equal(t, waiting[0], received(&q, &now))
				waiting = waiting[1:]
			}
		}
		q.release()
		require.Empty(t, waiting)
		held = 0
		for _, v := range q.views {
			require.Nil(t, v, "kept for the garbage collector")
		}
	}
	require.Positive(t, refused)
}

// Two fill a cache line with their time; those that happened at once share it.
func TestInboxCells(t *testing.T) {
	at := func(now int64, k EventKind) Event { return Event{Kind: k, Now: now} }
	for _, c := range []struct {
		cells  uint64
		events []Event
	}{
		{2, []Event{at(5, EventNewData)}},
		{2, []Event{at(5, EventLoss)}},
		{2, []Event{at(5, EventCredit)}},
		{2, []Event{at(5, 255)}},
		{3, []Event{at(5, EventSend)}},
		{3, []Event{at(5, EventNACK)}},
		{3, []Event{at(5, eventShow)}},
		{maxCells, []Event{at(5, EventACK)}},
		{3, []Event{at(5, EventLoss), at(5, EventLoss)}},
		{6, []Event{at(5, EventLoss), at(6, EventLoss), at(5, EventLoss)}},
		{13, []Event{at(0, EventACK), at(0, EventACK), at(0, EventSend), at(0, EventNACK), at(1, EventLoss)}},
	} {
		require.Equal(t, c.cells, cellsOf(c.events))
		q := newInbox(4)
		require.True(t, q.push(c.events))
		require.Equal(t, c.cells, q.tail.Load())
	}
	require.EqualValues(t, 16, unsafe.Sizeof(cell{}))
}

// A kind that there is not does not become another, and has no effect. The time of such
// an event counts as any other's.
func TestInboxUnknownKind(t *testing.T) {
	q := newInbox(4)
	for k := eventShow + 1; k != 0; k++ {
		require.True(t, q.push([]Event{{Kind: k, Now: 7, PDC: 1, Size: 9}}))
		require.True(t, q.ready())
		var now int64
		require.Equal(t, Event{Kind: eventNone, Now: 7}, received(&q, &now))
		q.release()
	}
}

// A kind of sample that there is not is a normal one.
func TestInboxUnknownSample(t *testing.T) {
	q := newInbox(4)
	require.True(t, q.push([]Event{{Kind: EventACK, Ack: Ack{Ack: nscc.Ack{Kind: 0x92, ECN: true}}}}))
	require.True(t, q.ready())
	var now int64
	require.Equal(t, Event{Kind: EventACK, Ack: Ack{Ack: nscc.Ack{Kind: sampleMask, ECN: true}}}, received(&q, &now))
}

// Several write batches, into an inbox that is too small for them: each event comes out
// once, those of a writer in its order, and a batch without others in between.
func TestInboxParallelKeepsBatches(t *testing.T) {
	const writers, events, most = 3, 6000, 7
	q := newInbox(16)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(w)))
			var batch [most]Event
			for sent := int64(0); sent < events; {
				n := min(1+r.Int64N(most), events-sent)
				for i := range n {
					// How many of the batch are to come is in RtxBytes or Seq.
					e := Event{Kind: EventSend, PDC: Handle(w), Now: sent + i, Sent: Sent{Size: sent + i, Seq: uint64(n - i)}}
					if r.IntN(2) == 0 {
						e = Event{Kind: EventACK, PDC: Handle(w), Now: sent + i, Ack: Ack{Ack: nscc.Ack{Bytes: sent + i}, RtxBytes: n - i}}
					}
					batch[i] = e
				}
				for !q.push(batch[:n]) {
					runtime.Gosched()
				}
				sent += n
			}
		})
	}
	var next [writers]int64
	inBatch, of, now := int64(0), Handle(0), int64(0)
	for got := 0; got < writers*events; {
		if !q.ready() {
			q.release()
			runtime.Gosched()
			continue
		}
		for ; q.next != q.end; got++ {
			e := received(&q, &now)
			left, size := int64(e.Sent.Seq)+e.Ack.RtxBytes, e.Sent.Size+e.Ack.Bytes
			if e.Now != next[e.PDC] || size != e.Now || inBatch > 0 && (of != e.PDC || left != inBatch) {
				t.Fatalf("%+v after %d of it, with %d to come of a batch of %d", e, next[e.PDC], inBatch, of)
			}
			next[e.PDC]++
			inBatch, of = left-1, e.PDC
		}
	}
	wg.Wait()
	require.False(t, q.ready())
}
