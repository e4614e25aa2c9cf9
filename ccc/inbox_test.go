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
			require.Equal(t, round*4+i, q.take().size)
			require.Equal(t, q.end, q.next)
		}
		require.False(t, q.ready())
		q.release()
		require.False(t, q.waiting())
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

// received is what an event's kind keeps of it.
func received(q *inbox, c *cell) Event {
	e := Event{Kind: EventKind(c.kind & kindMask), PDC: c.pdc, Now: c.now}
	switch e.Kind {
	case EventNewData, EventCredit:
		e.Size = c.size
	case EventSend:
		e.Sent = c.sent()
	case EventACK:
		e.Ack = c.ack(q.take())
	case EventNACK:
		e.Nack = c.nack()
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
			Bytes: word(), RTT: word(), ECN: bit(), Restore: bit(), Pend: uint8(r.Uint32()), Kind: nscc.SampleKind(r.Uint32()),
		}
		e.Ack = Ack{a, int(word()), int(word()), word(), uint16(r.Uint32())}
	case EventNACK:
		e.Nack = Nack{nscc.Nack{Size: word(), RTT: word(), Reason: nscc.NackReason(r.Uint32())}, uint16(r.Uint32()), bit(), bit()}
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
	refused := 0
	for range 5000 {
		batch := make([]Event, 1+r.IntN(6))
		cells := 0
		for i := range batch {
			batch[i] = arbitrary(r)
			if cells++; batch[i].Kind == EventACK {
				cells++
			}
		}
		for i := range waiting {
			if cells++; waiting[i].Kind == EventACK {
				cells++
			}
		}
		fits := cells <= 16
		require.Equal(t, fits, q.push(batch))
		if fits {
			waiting = append(waiting, batch...)
		} else {
			refused++
		}
		if r.IntN(2) == 0 {
			continue
		}
		for q.ready() {
			for q.next != q.end {
				require.Equal(t, waiting[0], received(&q, q.take()))
				waiting = waiting[1:]
			}
		}
		q.release()
		require.Empty(t, waiting)
		for _, v := range q.views {
			require.Nil(t, v, "kept for the garbage collector")
		}
	}
	require.Positive(t, refused)
}

// A kind that there is not does not become another, and has no effect.
func TestInboxUnknownKind(t *testing.T) {
	q := newInbox(4)
	for k := eventShow + 1; k != 0; k++ {
		require.True(t, q.push([]Event{{Kind: k}}))
		require.True(t, q.ready())
		require.Greater(t, EventKind(q.take().kind&kindMask), eventShow)
		q.release()
	}
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
	inBatch, of := int64(0), Handle(0)
	for got := 0; got < writers*events; {
		if !q.ready() {
			q.release()
			runtime.Gosched()
			continue
		}
		for ; q.next != q.end; got++ {
			e := received(&q, q.take())
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
