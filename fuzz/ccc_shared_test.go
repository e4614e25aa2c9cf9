package fuzz

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
)

// Several senders reserve at one gate and post what they do, each in calls that leave
// nothing waiting, to an inbox that is often full; all own the manager now and then; and
// readers look. What readers see lies between calls and only grows; no reservation goes
// beyond the window; and in the end every event has counted once.
func TestManagerSharedByAll(t *testing.T) {
	for _, inbox := range []int{4, 8, 64} {
		sharedManager(t, inbox)
	}
}

func sharedManager(t *testing.T, inbox int) {
	const senders, readers, rounds = 3, 2, 6000
	p, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6000, MTU: 4096, Trimming: true}})
	require.NoError(t, err)
	m, err := ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: 2, PDCs: senders, Admission: true, Inbox: inbox})
	require.NoError(t, err)
	ctx := ccc.NewHandle(1, 7)
	require.NoError(t, m.Open(ctx, 0, 0))
	for s := range uint16(senders) {
		require.NoError(t, m.Bind(ccc.NewHandle(s, 3), ctx, 0, false))
	}
	gate, c := m.Gate(ctx), m.Context(ctx)
	var clock, full atomic.Int64
	var sending, wg sync.WaitGroup
	var stop atomic.Bool
	for s := range uint16(senders) {
		sending.Add(1)
		wg.Go(func() {
			defer sending.Done()
			r := rand.New(rand.NewPCG(13, uint64(s)))
			h := ccc.NewHandle(s, 3)
			post := func(events ...ccc.Event) {
				for !m.Post(events...) {
					full.Add(1)
					runtime.Gosched()
				}
			}
			for n := 0; n < rounds; {
				now, size := clock.Add(1), 1+r.Int64N(4096)
				if !gate.TryReserve(size) {
					runtime.Gosched()
					continue
				}
				if r.IntN(4) == 0 {
					part := r.Int64N(size)
					gate.GiveBack(part)
					size -= part
				}
				n++
				sent := ccc.Event{Kind: ccc.EventSend, PDC: h, Now: now, Sent: ccc.Sent{Size: size, Reserved: true}}
				post(ccc.Event{Kind: ccc.EventNewData, PDC: h, Now: now, Size: size}, sent)
				ack := ccc.Ack{Packets: 1}
				ack.Bytes, ack.RTT = size, 6000
				post(ccc.Event{Kind: ccc.EventACK, PDC: h, Now: clock.Add(1), Ack: ack})
				if r.IntN(16) == 0 && m.TryOwn() {
					if c.Backlog() != 0 || c.Inflight() > c.Cwnd() || gate.Room() > c.Cwnd()-c.Inflight() {
						t.Errorf("backlog %d, in flight %d, room %d of %d", c.Backlog(), c.Inflight(), gate.Room(), c.Cwnd())
					}
					m.Disown()
				}
			}
		})
	}
	for range readers {
		wg.Go(func() {
			var v ccc.View
			var last ccc.Snapshot
			for !stop.Load() {
				m.Refresh(ctx, &v)
				s := v.Snapshot()
				if s.Context != 0 && (s.Context != ctx || s.Waiting != 0 || s.Inflight < 0 || s.Inflight > s.Cwnd ||
					s.Acks > s.Sent || (s.Inflight == 0) != (s.Acks == s.Sent) || s.Inflight > 4096*(s.Sent-s.Acks)) {
					t.Errorf("torn: %+v", s)
					return
				}
				if s.Time < last.Time || s.Sent < last.Sent || s.Acks < last.Acks || s.Marked < last.Marked {
					t.Errorf("%+v after %+v", s, last)
					return
				}
				last = s
				runtime.Gosched()
			}
		})
	}
	sending.Wait()
	stop.Store(true)
	wg.Wait()
	require.True(t, m.TryOwn())
	m.Disown()
	require.Zero(t, m.Stale())
	require.Zero(t, c.Inflight())
	require.Zero(t, c.Backlog())
	require.Equal(t, c.Cwnd(), gate.Room())
	var v ccc.View
	require.True(t, m.Refresh(ctx, &v))
	s := v.Snapshot()
	require.EqualValues(t, senders*rounds, s.Sent)
	require.EqualValues(t, senders*rounds, s.Acks)
	t.Log("refused for want of room", full.Load(), "window", s.Cwnd)
}
