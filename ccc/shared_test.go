// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func TestGateZeroAdmitsNothing(t *testing.T) {
	var g Gate
	require.False(t, g.TryReserve(1))
	require.False(t, g.TryReserve(0))
	require.False(t, g.TryReserve(-1))
	require.Zero(t, g.Room())
	require.Zero(t, unsafe.Sizeof(g)%cacheLine)

	m, _, _ := chapterManager(t, chapterFabric())
	require.Nil(t, m.Gate(NewHandle(4, 1)), "beyond the contexts")
	m = newManager(t, ManagerConfig{Params: m.p, Contexts: 1, PDCs: 1})
	require.Nil(t, m.Gate(NewHandle(0, 1)), "without admission")
}

func TestGateFollowsWindow(t *testing.T) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = 4 * mtu
	m, ctx, pdcs := chapterManager(t, f)
	g := m.Gate(ctx)
	m.OnNewData(pdcs[0], 0, 100*mtu)
	for range 4 {
		require.True(t, g.TryReserve(mtu))
	}
	require.False(t, g.TryReserve(1))
	g.GiveBack(mtu)
	require.True(t, g.TryReserve(mtu), "given back")
	for range 4 {
		m.OnSend(pdcs[0], 0, Sent{Size: mtu, Reserved: true})
		require.Zero(t, g.Room(), "what was reserved stays used")
	}
	m.OnACK(pdcs[0], us, news())
	require.EqualValues(t, m.Context(ctx).Cwnd()-m.Context(ctx).Inflight(), g.Room())
	m.OnInferredLoss(pdcs[0], us, Loss{Size: mtu})
	m.OnInferredLoss(pdcs[0], us, Loss{Size: mtu})
	require.LessOrEqual(t, g.Room(), m.Context(ctx).Cwnd()-m.Context(ctx).Inflight())
	m.SetMode(ctx, us, ModeObserve)
	require.True(t, g.TryReserve(1<<40), "observing refuses nothing")
	g.GiveBack(1 << 40)
	m.SetMode(ctx, us, ModeEnforce)
	for _, b := range pdcs {
		m.Unbind(b, us)
	}
	require.False(t, g.TryReserve(1), "no life, no room")
}

// Where credit takes part senders that do not know of each other share it to the byte.
func TestGateFollowsCredit(t *testing.T) {
	f := chapterFabric()
	f.Control, f.RCCC.InitialCredit = ControlBoth, 3*mtu
	m, ctx, pdcs := chapterManager(t, f)
	m.OnNewData(pdcs[0], 0, 100*mtu)
	require.EqualValues(t, 3*mtu, m.Gate(ctx).Room())
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	require.EqualValues(t, 2*mtu, m.Gate(ctx).Room())

	f.Control, f.NSCC.InitialCwnd = ControlRCCC, mtu
	m, ctx, pdcs = chapterManager(t, f)
	m.OnNewData(pdcs[0], 0, 100*mtu)
	require.EqualValues(t, 3*mtu, m.Gate(ctx).Room(), "the window has no say")
	m.SetAlgorithm(ctx, 0, &notYet{})
	require.Zero(t, m.Gate(ctx).Room())
	require.False(t, m.Gate(ctx).TryReserve(1))
}

// notYet is an algorithm that lets everything go, later.
type notYet struct{ pacer }

func (*notYet) Allow(int64, Standing) (bytes, notBefore int64) { return 1 << 30, us }

// A window that shrinks below what is reserved lets reservations stand and admits
// nothing until it is covered again.
func TestGateShrinksBelowReserved(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	g := m.Gate(ctx)
	m.OnNewData(pdcs[0], 0, 100*mtu)
	for g.TryReserve(mtu) {
	}
	m.SetAlgorithm(ctx, 0, &fixedWindow{bytes: 2 * mtu})
	require.Negative(t, g.Room())
	require.False(t, g.TryReserve(1))
	g.GiveBack(26 * mtu)
	require.EqualValues(t, mtu, g.Room())
}

// Senders reserve, some give back, the owner acknowledges and cuts. At no
// moment is more reserved and in flight than the window at that moment.
func TestGateParallelNeverAboveWindow(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	const senders, rounds = 4, 3000
	m.OnNewData(pdcs[0], 0, senders*rounds*mtu)
	g := m.Gate(ctx)
	sent := make(chan int64, senders*rounds)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(s)))
			for range rounds {
				n := 1 + rnd.Int64N(mtu)
				if !g.TryReserve(n) {
					continue
				}
				if rnd.IntN(4) == 0 {
					g.GiveBack(n)
					continue
				}
				sent <- n
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(sent); close(done) }()
	now := int64(0)
	c := m.Context(ctx)
	for n := range sent {
		now += 100
		m.OnSend(pdcs[0], now, Sent{Size: n, Reserved: true})
		require.LessOrEqual(t, c.Inflight(), c.Cwnd(), "window only grows or loses packets here")
		m.OnACK(pdcs[0], now, &Ack{Ack: nscc.Ack{Bytes: n, RTT: 6 * us}, Packets: 1})
	}
	<-done
	require.Zero(t, c.Inflight())
	require.Equal(t, c.Cwnd(), g.Room(), "all reservations are accounted for")
}

// Reservations alone, against an edge that moves up and down: the sum of what
// is held never passes the highest edge of the time, and nothing leaks.
func TestGateParallelConserves(t *testing.T) {
	var g Gate
	var e edge
	const top = 100_000
	e.publish(&g, top)
	var held atomic.Int64
	var wg sync.WaitGroup
	for s := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(s)))
			for range 5000 {
				n := 1 + rnd.Int64N(30_000)
				if g.TryReserve(n) {
					if held.Add(n) > top {
						t.Error("more held than was ever allowed")
					}
					held.Add(-n)
					g.GiveBack(n)
				}
			}
		})
	}
	for i := range int64(5000) {
		e.publish(&g, top-i%7*10_000)
	}
	wg.Wait()
	e.publish(&g, top)
	require.EqualValues(t, top, g.Room())
}

func TestPostRunsEveryKind(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlBoth
	m, ctx, pdcs := chapterManager(t, f)
	post := func(e Event) {
		e.PDC = pdcs[0]
		require.True(t, m.Post(e))
	}
	c := m.Context(ctx)
	post(Event{Kind: EventNewData, Size: 5 * mtu})
	require.EqualValues(t, 5*mtu, c.Backlog())
	for range 3 {
		post(Event{Kind: EventSend, Sent: Sent{Size: mtu}})
	}
	require.EqualValues(t, 3*mtu, c.Inflight())
	post(Event{Kind: EventACK, Ack: ack(1, mtu)})
	post(Event{Kind: EventNACK, Nack: Nack{Nack: nscc.Nack{Size: mtu}}})
	post(Event{Kind: EventLoss, Loss: Loss{Size: mtu}})
	require.Zero(t, c.Inflight())
	require.Equal(t, 2, c.WaitingRtx())
	post(Event{Kind: EventCredit, Size: 50_000})
	require.EqualValues(t, 50_000, c.Credit())
	require.Equal(t, "loss", EventLoss.String())
}

// What was posted happened when it says, but not before what the owner has taken in already.
func TestPostKeepsItsTime(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	for _, step := range [][2]int64{{5 * us, 5 * us}, {3 * us, 5 * us}, {6 * us, 6 * us}} {
		require.True(t, m.Post(Event{Kind: EventNewData, PDC: pdcs[0], Now: step[0], Size: 1}))
		require.Equal(t, step[1], m.clock)
		var v View
		require.True(t, m.Refresh(ctx, &v))
		require.Equal(t, step[1], v.Snapshot().Time)
	}
}

func TestPostWaitsForOwner(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	require.True(t, m.TryOwn())
	require.False(t, m.TryOwn())
	require.True(t, m.Post(Event{Kind: EventNewData, PDC: pdcs[0], Size: mtu}))
	require.Zero(t, m.Context(ctx).Backlog(), "somebody else owns it")
	m.Disown()
	require.EqualValues(t, mtu, m.Context(ctx).Backlog())
	require.True(t, m.TryOwn())
}

// The moment between an owner's last look and its letting go.
func TestPostWhileOwnerLetsGo(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	require.True(t, m.TryOwn())
	m.Drain()
	require.True(t, m.Post(Event{Kind: EventNewData, PDC: pdcs[0], Size: mtu}))
	m.letGo()
	require.EqualValues(t, mtu, m.Context(ctx).Backlog())
	require.True(t, m.TryOwn())
}

func TestPostFullInboxKeepsNothing(t *testing.T) {
	p := testParams(t, chapterFabric())
	m := newManager(t, ManagerConfig{Params: p, Contexts: 1, PDCs: 1, Inbox: 2})
	h := alone(t, m, 0, 0)
	require.True(t, m.TryOwn())
	e := Event{Kind: EventNewData, PDC: h, Size: 1}
	require.True(t, m.Post())
	require.False(t, m.Post(e, e, e, e, e, e, e, e), "more than it holds")
	require.True(t, m.Post(e, e, e))
	require.False(t, m.Post(e, e, e, e), "not even the first")
	later := e
	later.Now++
	require.False(t, m.Post(e, e, later), "another time takes room")
	require.False(t, m.Post(e, Event{Kind: EventACK, PDC: h}), "an acknowledgement takes three times as much")
	require.True(t, m.Post(e))
	require.False(t, m.Post(e, e))
	require.True(t, m.Post(later))
	require.False(t, m.Post(e))
	require.True(t, m.Post())
	m.Disown()
	require.EqualValues(t, 5, m.Context(h).Backlog())
}

// An event of a kind that nobody may post has no effect.
func TestPostUnknownKind(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	for k := eventShow; k != 0; k++ {
		require.True(t, m.Post(Event{Kind: k, PDC: ctx, Size: 1}, Event{Kind: EventNewData, PDC: pdcs[0], Size: 1}))
	}
	require.EqualValues(t, 256-int64(eventShow), m.Context(ctx).Backlog())
}

// Many cores post, some of them own in between: every event arrives once, and
// those of one core in its order.
func TestPostParallelLosesNothing(t *testing.T) {
	p := testParams(t, chapterFabric())
	const posters, events = 4, 5000
	m := newManager(t, ManagerConfig{Params: p, Contexts: posters, PDCs: posters, Inbox: 64})
	var wg sync.WaitGroup
	var pdcs [posters]Handle
	for s := range pdcs {
		pdcs[s] = alone(t, m, uint16(s), 0)
	}
	for s, h := range pdcs {
		wg.Go(func() {
			var batch []Event
			rnd := rand.New(rand.NewPCG(3, uint64(s)))
			for i := range int64(events) {
				// Out of order the second would take more than there is, and panic.
				batch = append(batch,
					Event{Kind: EventNewData, PDC: h, Now: i, Size: i + 1},
					Event{Kind: EventSend, PDC: h, Now: i, Sent: Sent{Size: i + 1}})
				if i%3 == 0 {
					batch = append(batch, Event{Kind: EventACK, PDC: h, Now: i, Ack: ack(1, i+1)})
				}
				for len(batch) > 0 && (rnd.IntN(4) > 0 || i == events-1) {
					n := min(1+rnd.IntN(9), len(batch))
					for !m.Post(batch[:n]...) {
					}
					batch = batch[n:]
				}
				if i%64 == 0 && m.TryOwn() {
					m.Disown()
				}
			}
		})
	}
	wg.Wait()
	require.True(t, m.TryOwn(), "everybody has let go")
	require.False(t, m.inbox.waiting(), "and nothing is left")
	acked := int64(0)
	for i := int64(0); i < events; i += 3 {
		acked += i + 1
	}
	for _, h := range pdcs {
		c := m.Context(h)
		require.Zero(t, c.Backlog())
		require.Equal(t, events-(events+2)/3, c.InflightPackets())
		require.EqualValues(t, events*(events+1)/2-acked, c.Inflight())
	}
}

// Senders come and go on a context that they share: what they reserve is given back to the
// byte, since nobody unbinds a PDC before a Refresh shows that its events were handled.
func TestGateParallelChurn(t *testing.T) {
	m, ctx, _ := chapterManager(t, chapterFabric())
	g := m.Gate(ctx)
	full := g.Room()
	own := func(f func()) {
		for !m.TryOwn() {
			runtime.Gosched()
		}
		f()
		m.Disown()
	}
	var wg sync.WaitGroup
	for s := range uint16(4) {
		wg.Go(func() {
			for life := range uint16(300) {
				h := NewHandle(4+s, 2*life+1)
				own(func() {
					if err := m.Bind(h, ctx, 0, false); err != nil {
						t.Error(err)
					}
				})
				events := []Event{{Kind: EventNewData, PDC: h, Size: 4 * mtu}}
				for range 4 {
					if g.TryReserve(mtu) {
						events = append(events, Event{Kind: EventSend, PDC: h, Sent: Sent{Size: mtu, Reserved: true}})
					}
				}
				for !m.Post(events...) {
					runtime.Gosched()
				}
				var handled View
				for !m.Refresh(ctx, &handled) {
					runtime.Gosched()
				}
				for handled.Snapshot().Context == 0 {
					runtime.Gosched()
				}
				own(func() { m.Unbind(h, 0) })
			}
		})
	}
	wg.Wait()
	require.Zero(t, m.Stale())
	require.Equal(t, full, g.Room())
}

// One posts while another lets go: whoever looks last sees the event, and when both
// are done it has been handled.
func TestPostRacesOwnerLettingGo(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	e := Event{Kind: EventNewData, PDC: pdcs[0], Size: 1}
	var turn, done atomic.Int64
	const rounds = 20_000
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range int64(rounds) {
			for turn.Load() <= i {
				runtime.Gosched()
			}
			for range i % 32 { // at any point of the other's way out
				turn.Load()
			}
			m.Post(e)
			done.Store(i + 1)
		}
	})
	for i := range int64(rounds) {
		if !m.TryOwn() {
			t.Fatal("somebody kept the manager")
		}
		turn.Store(i + 1)
		for range i / 32 % 512 {
			turn.Load()
		}
		m.Disown()
		for done.Load() <= i {
			runtime.Gosched()
		}
		if got := m.Context(ctx).Backlog(); got != i+1 {
			t.Fatalf("%d events of %d were handled", got, i+1)
		}
	}
	wg.Wait()
}

// Readers see snapshots that belong to one moment, beside an owner that stays.
func TestSnapshotParallelIsConsistent(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	require.True(t, m.TryOwn())
	var stop atomic.Bool
	var wg sync.WaitGroup
	var v View
	require.Zero(t, v.Snapshot())
	for range 2 {
		wg.Go(func() {
			last := int64(0)
			for !stop.Load() {
				m.Refresh(ctx, &v)
				s := v.Snapshot()
				if s.Context != 0 && s.Inflight+s.Waiting != 1000*mtu {
					t.Errorf("torn: %+v", s)
					return
				}
				if s.Time < last {
					t.Error("time runs backwards")
				}
				last = s.Time
			}
		})
	}
	m.SetMode(ctx, 0, ModeObserve)
	m.OnNewData(pdcs[0], 0, 1000*mtu)
	for i := range int64(1000) {
		m.Drain()
		m.OnSend(pdcs[0], i, Sent{Size: mtu})
	}
	stop.Store(true)
	wg.Wait()
	m.Disown()
	require.True(t, m.Refresh(ctx, &v), "at once: nobody owns it")
	s := v.Snapshot()
	require.Equal(t, ctx, s.Context)
	require.Equal(t, StatePending, s.State)
	require.Equal(t, ModeObserve, s.Mode)
	require.EqualValues(t, 1000, s.Sent)
	require.EqualValues(t, 999, s.Time)

	var none View
	require.True(t, m.Refresh(NewHandle(60_000, 1), &none))
	require.Zero(t, none.Snapshot())
}

// A full window opens and closes with each acknowledgement, and only the time while
// it is full counts.
func TestSnapshotWaitsAddUp(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, 100*mtu)
	held := func() int64 {
		var v View
		m.Refresh(ctx, &v)
		return v.Snapshot().Held[ReasonWindow]
	}
	send := func(now int64) {
		require.Equal(t, StateReady, m.Context(ctx).State())
		m.OnSend(pdcs[0], now, Sent{Size: mtu})
		require.Equal(t, StateActive, m.Context(ctx).State())
	}
	acked := func(now int64) {
		m.OnACK(pdcs[0], now, news())
		require.Equal(t, StateReady, m.Context(ctx).State())
	}
	for m.Context(ctx).State() == StateReady {
		m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	}
	acked(2 * us)
	require.EqualValues(t, 2*us, held())
	send(2 * us)
	acked(5 * us)
	require.EqualValues(t, 5*us, held())
	m.OnNewData(pdcs[1], 5*us, 0) // an event that neither ends nor begins a wait
	require.EqualValues(t, 5*us, held())
	send(6 * us) // open for a microsecond
	require.EqualValues(t, 5*us, held())
	acked(7 * us)
	require.EqualValues(t, 6*us, held())
	m.OnNewData(pdcs[1], 9*us, 0)
	require.EqualValues(t, 6*us, held())
	m.SetAlgorithm(ctx, 9*us, &fixedWindow{})
	require.EqualValues(t, 6*us, held())
	m.SetAlgorithm(ctx, 10*us, nil)
	require.EqualValues(t, 6*us, held())
	send(10 * us)
	acked(11 * us)
	require.EqualValues(t, 7*us, held())
	send(11 * us)
	acked(11*us + 7e9) // longer than the context's own line can tell
	require.EqualValues(t, 7*us+7e9, held())
}

// The context's line has room for a part of each counter.
func TestSnapshotCountsPastHalves(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	r := &m.Context(ctx).rec
	r.tally = 1<<(tallyAcks-1) - 1 | (1<<(tallyMarked-tallyAcks-1)-1)<<tallyAcks | (1<<(31-tallyMarked)-1)<<tallyMarked
	m.OnNewData(pdcs[0], 0, 2*mtu)
	for range 2 {
		m.OnSend(pdcs[0], 0, Sent{Size: mtu})
		m.OnACK(pdcs[0], us, &Ack{Ack: nscc.Ack{Bytes: mtu, ECN: true}, Packets: 1})
	}
	var v View
	m.Refresh(ctx, &v)
	s := v.Snapshot()
	require.Equal(t, [3]int64{1<<10 + 1, 1<<10 + 1, 1<<9 + 1}, [3]int64{s.Sent, s.Acks, s.Marked})
	for range 100 {
		m.count(m.Context(ctx), tallyOf(tallyMost, tallyMost-1, tallyMost-2))
	}
	n := m.counts(m.Context(ctx))
	require.Equal(t, [3]int64{1<<10 + 1 + 100*255, 1<<10 + 1 + 100*254, 1<<9 + 1 + 100*253}, [3]int64{n.sent, n.acks, n.marked})
}

func TestSnapshotTellsWhatHeldDataBack(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, 28*mtu)
	for range 27 {
		m.OnSend(pdcs[0], us, Sent{Size: mtu})
	}
	require.Equal(t, StateActive, m.Context(ctx).State())
	var v View
	m.Refresh(ctx, &v)
	s := v.Snapshot()
	require.Equal(t, []any{ctx, us, StateActive, ReasonWindow, ModeEnforce}, []any{s.Context, s.Time, s.State, s.Reason, s.Mode})
	a := ack(2, mtu)
	a.ECN = true
	m.OnACK(pdcs[0], 8*us, &a)
	m.OnInferredLoss(pdcs[0], 8*us, Loss{Size: mtu})
	m.OnNACK(pdcs[0], 8*us, Nack{Nack: nscc.Nack{Size: mtu}})
	m.Refresh(ctx, &v)
	s = v.Snapshot()
	require.EqualValues(t, 7*us, s.Held[ReasonWindow])
	require.EqualValues(t, 6*us, s.BaseRTT)
	require.Equal(t, []int64{27, 1, 1, 1, 1}, []int64{s.Sent, s.Acks, s.Marked, s.Nacks, s.Losses})
	require.Equal(t, m.Context(ctx).Cwnd(), s.Cwnd)
	require.EqualValues(t, 23*mtu, s.Inflight)
	require.EqualValues(t, 3*mtu, s.Waiting)
	m.OnWithdraw(pdcs[0], 8*us, mtu)
	m.OnACK(pdcs[0], 8*us, &Ack{Packets: 2, RtxPackets: 2, RtxBytes: 2 * mtu})
	m.Refresh(ctx, &v)
	s = v.Snapshot()
	require.Equal(t, []any{StatePending, ReasonBacklog}, []any{s.State, s.Reason}, "nothing waits")
}

// Nothing keeps data back where there is none, however full the window is.
func TestSnapshotOfNothingToSend(t *testing.T) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = 2 * mtu
	m, ctx, pdcs := chapterManager(t, f)
	m.OnNewData(pdcs[0], 0, 2*mtu)
	for range 2 {
		m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	}
	var v View
	m.Refresh(ctx, &v)
	s := v.Snapshot()
	require.Equal(t, []any{StatePending, ReasonBacklog}, []any{s.State, s.Reason})
}

// heldManager is owned and has one context with one PDC, of the same handle, whose data is
// held by the window from time 0 on.
func heldManager(t *testing.T, admission bool) (*Manager, Handle) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = mtu
	m := newManager(t, ManagerConfig{Params: testParams(t, f), Contexts: 1, PDCs: 1, Admission: admission})
	h := alone(t, m, 0, 0)
	m.OnNewData(h, 0, 4*mtu)
	m.OnSend(h, 0, Sent{Size: mtu})
	require.True(t, m.TryOwn())
	return m, h
}

// What was posted a while ago does not take the time of the latest event back, also where nothing waits.
func TestSnapshotTimeNeverGoesBack(t *testing.T) {
	for _, admission := range []bool{false, true} { // the plain steps, and the general ones
		m := newManager(t, ManagerConfig{Params: testParams(t, chapterFabric()), Contexts: 1, PDCs: 1, Admission: admission})
		h := alone(t, m, 0, 0)
		m.OnNewData(h, 0, 4*mtu)
		require.True(t, m.TryOwn())
		require.True(t, m.Post(Event{Kind: EventNewData, PDC: h, Now: 5 * us, Size: 1}))
		m.OnNewData(h, 10*us, 1)
		m.Drain()
		require.Equal(t, !admission, m.Exchange(h, 7*us, &Run{Most: 1, Size: mtu}))
		var v View
		m.show(h, &v)
		require.EqualValues(t, 10*us, v.Snapshot().Time)
		m.Disown()
	}
}

// An owner handles what has just come in before what was posted a while ago. No time
// counts twice: what held data back did so no longer than there was time.
func TestSnapshotCountsNoTimeTwice(t *testing.T) {
	for _, admission := range []bool{false, true} { // the plain steps, and the general ones
		m, h := heldManager(t, admission)
		require.True(t, m.Post(Event{Kind: EventNewData, PDC: h, Now: 5 * us, Size: 1}))
		m.OnNewData(h, 10*us, 1)
		m.Drain()
		var v View
		m.show(h, &v)
		require.EqualValues(t, 10*us, v.Snapshot().Held[ReasonWindow])
		require.EqualValues(t, 10*us, v.Snapshot().Time)
		m.OnNewData(h, 15*us, 1)
		m.Disown()
		require.True(t, m.Refresh(h, &v))
		require.EqualValues(t, 15*us, v.Snapshot().Held[ReasonWindow])
	}
}

// Nor does it where nothing was held back when the older event came.
func TestSnapshotTimeDoesNotGoBack(t *testing.T) {
	m, h := heldManager(t, false)
	require.True(t, m.Post(Event{Kind: EventSend, PDC: h, Now: 5 * us, Sent: Sent{Size: mtu}}))
	a := news()
	m.OnACK(h, 10*us, a) // and free
	m.Disown()
	var v View
	require.True(t, m.Refresh(h, &v))
	require.EqualValues(t, 10*us, v.Snapshot().Time)
	require.Equal(t, StateActive, v.Snapshot().State)
	m.OnNewData(h, 15*us, 1)
	require.True(t, m.Refresh(h, &v))
	require.EqualValues(t, 15*us, v.Snapshot().Held[ReasonWindow], "no longer than there was time")
}

// leastAlgorithm owes more than any reservation.
type leastAlgorithm struct{ fixedWindow }

func (*leastAlgorithm) Allow(int64, Standing) (int64, int64) { return math.MinInt64, 0 }

func TestGateOfAnAlgorithmThatOwesAllThereIs(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, 100*mtu)
	g := m.Gate(ctx)
	require.True(t, g.TryReserve(mtu))
	m.SetAlgorithm(ctx, 0, &leastAlgorithm{})
	require.Negative(t, g.Room())
	require.False(t, g.TryReserve(1))
	m.SetAlgorithm(ctx, 0, nil)
	require.Equal(t, m.Context(ctx).Cwnd()-mtu, g.Room())
}
