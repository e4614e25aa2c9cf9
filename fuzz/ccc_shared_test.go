// SPDX-License-Identifier: Apache-2.0

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
	p, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{
		LinkRate: 12_500_000_000, BaseRTT: 6000, MTU: 4096, Trimming: true, InitialCwnd: 8192, Tuning: nscc.Tuning{MaxWnd: 8192},
	}})
	require.NoError(t, err)
	m, err := ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: 2, PDCs: senders, Admission: true, Inbox: inbox})
	require.NoError(t, err)
	x := sharedContext{t: t, m: m, h: ccc.NewHandle(1, 7)}
	require.NoError(t, m.Open(x.h, 0, 0))
	x.gate, x.c = m.Gate(x.h), m.Context(x.h)
	var sending, reading sync.WaitGroup
	for s := range uint16(senders) {
		require.NoError(t, m.Bind(ccc.NewHandle(s, 3), x.h, 0, false))
	}
	for s := range uint16(senders) {
		sending.Go(func() { x.send(s, rounds) })
	}
	for range readers {
		reading.Go(x.read)
	}
	sending.Wait()
	x.stop.Store(true)
	reading.Wait()
	require.True(t, m.TryOwn())
	m.Disown()
	require.Zero(t, m.Stale())
	require.Zero(t, x.c.Inflight())
	require.Zero(t, x.c.Backlog())
	require.Equal(t, x.c.Cwnd(), x.gate.Room())
	var v ccc.View
	require.True(t, m.Refresh(x.h, &v))
	s := v.Snapshot()
	require.EqualValues(t, senders*rounds, s.Sent)
	require.EqualValues(t, senders*rounds, s.Acks)
	t.Log("refused by the inbox", x.full.Load(), "and by the window", x.noRoom.Load())
}

// A sharedContext is one context and what its senders and readers have in common.
type sharedContext struct {
	t      *testing.T
	m      *ccc.Manager
	h      ccc.Handle
	gate   *ccc.Gate
	c      *ccc.Context
	clock  atomic.Int64
	noRoom atomic.Int64 // in the window
	full   atomic.Int64 // the inbox
	stop   atomic.Bool
}

// send sends so many packets on PDC s, each acknowledged at once.
func (x *sharedContext) send(s uint16, packets int) {
	r := rand.New(rand.NewPCG(13, uint64(s)))
	pdc := ccc.NewHandle(s, 3)
	for n := 0; n < packets; {
		now, size := x.clock.Add(1), 1+r.Int64N(4096)
		if !x.gate.TryReserve(size) {
			x.noRoom.Add(1)
			runtime.Gosched()
			continue
		}
		if r.IntN(4) == 0 {
			part := r.Int64N(size)
			x.gate.GiveBack(part)
			size -= part
		}
		n++
		sent := ccc.Event{Kind: ccc.EventSend, PDC: pdc, Now: now, Sent: ccc.Sent{Size: size, Reserved: true}}
		x.post(ccc.Event{Kind: ccc.EventNewData, PDC: pdc, Now: now, Size: size}, sent)
		ack := ccc.Ack{Packets: 1}
		ack.Bytes, ack.RTT = size, 6000
		x.post(ccc.Event{Kind: ccc.EventACK, PDC: pdc, Now: x.clock.Add(1), Ack: ack})
		if r.IntN(16) == 0 && x.m.TryOwn() {
			if c := x.c; c.Backlog() != 0 || c.Inflight() > c.Cwnd() || x.gate.Room() > c.Cwnd()-c.Inflight() {
				x.t.Errorf("backlog %d, in flight %d, room %d of %d", c.Backlog(), c.Inflight(), x.gate.Room(), c.Cwnd())
			}
			x.m.Disown()
		}
	}
}

// post has the inbox take the events, once it has room for all of them.
func (x *sharedContext) post(events ...ccc.Event) {
	for !x.m.Post(events...) {
		x.full.Add(1)
		runtime.Gosched()
	}
}

// read looks at the context until nobody sends.
func (x *sharedContext) read() {
	var v ccc.View
	var last ccc.Snapshot
	for !x.stop.Load() {
		x.m.Refresh(x.h, &v)
		s := v.Snapshot()
		if s.Context != 0 && (s.Context != x.h || s.Waiting != 0 || s.Inflight < 0 || s.Inflight > s.Cwnd ||
			s.Acks > s.Sent || (s.Inflight == 0) != (s.Acks == s.Sent) || s.Inflight > 4096*(s.Sent-s.Acks)) {
			x.t.Errorf("torn: %+v", s)
			return
		}
		if s.Time < last.Time || s.Sent < last.Sent || s.Acks < last.Acks || s.Marked < last.Marked {
			x.t.Errorf("%+v after %+v", s, last)
			return
		}
		last = s
		runtime.Gosched()
	}
}
