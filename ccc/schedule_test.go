package ccc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func TestScheduleContextsTakeTurns(t *testing.T) {
	p := testParams(t, chapterFabric())
	m := newManager(t, ManagerConfig{Params: p, Contexts: 3, PDCs: 3})
	for i := range uint16(3) {
		m.OnNewData(alone(t, m, i, 0), 0, 3*mtu)
	}
	var order []uint16
	for {
		g, ok := m.Next(0)
		if !ok {
			break
		}
		require.Equal(t, m.Context(g.Context).Backlog(), g.Bytes)
		m.OnSend(g.PDC, 0, Sent{Size: mtu})
		order = append(order, g.Context.Index())
	}
	require.Equal(t, []uint16{0, 1, 2, 0, 1, 2, 0, 1, 2}, order)
}

// A context that is full when its turn comes is passed over, and listed again
// when it is not; one that was full only in between keeps its turn.
func TestScheduleFullContextLeavesTheList(t *testing.T) {
	p := testParams(t, chapterFabric())
	m := newManager(t, ManagerConfig{Params: p, Contexts: 2, PDCs: 2})
	h := [2]Handle{alone(t, m, 0, 0), alone(t, m, 1, 0)}
	for i := range h {
		m.OnNewData(h[i], 0, 100*mtu)
	}
	fill := func(i int) {
		for m.Context(h[i]).State() == StateReady {
			m.OnSend(h[i], 0, Sent{Size: mtu})
		}
	}
	next := func() Handle {
		g, ok := m.Next(0)
		require.True(t, ok)
		return g.PDC
	}
	fill(0)
	require.Equal(t, h[1], next())
	require.Equal(t, h[1], next())
	m.OnACK(h[0], us, news())
	require.Equal(t, h[1], next())
	fill(0)
	m.OnACK(h[0], us, news())
	require.Equal(t, h[0], next())
	fill(0)
	fill(1)
	_, ok := m.Next(0)
	require.False(t, ok)
	m.Unbind(h[0], us)
	m.Unbind(h[1], us)
	_, ok = m.Next(0)
	require.False(t, ok)
}

func TestSchedulePDCsShareBytesNotPackets(t *testing.T) {
	f := chapterFabric()
	f.Mode = ModeOff
	m, _, pdcs := chapterManager(t, f)
	size := map[Handle]int64{pdcs[0]: mtu, pdcs[1]: 512, pdcs[2]: 1500}
	for _, b := range pdcs {
		m.OnNewData(b, 0, 1<<30)
	}
	sent := map[Handle]int64{}
	for range 3000 {
		g, ok := m.Next(0)
		require.True(t, ok)
		m.OnSend(g.PDC, 0, Sent{Size: size[g.PDC]})
		sent[g.PDC] += size[g.PDC]
	}
	for _, b := range pdcs[1:] {
		require.InDelta(t, sent[pdcs[0]], sent[b], float64(2*mtu))
	}
}

// At a window of one MTU the small packets of one PDC leave room for the large
// ones of another.
func TestScheduleSmallPacketsDoNotStarveLarge(t *testing.T) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = mtu
	m, ctx, pdcs := chapterManager(t, f)
	m.OnNewData(pdcs[0], 0, 1<<20)
	m.OnNewData(pdcs[1], 0, 1<<20)
	size := map[Handle]int64{pdcs[0]: 64, pdcs[1]: mtu}
	sent := map[Handle]int64{}
	for range 1000 {
		g, ok := m.Next(0)
		require.True(t, ok)
		require.EqualValues(t, 0, m.Context(ctx).Inflight())
		m.OnSend(g.PDC, 0, Sent{Size: size[g.PDC]})
		sent[g.PDC] += size[g.PDC]
		a := Ack{Ack: nscc.Ack{Bytes: size[g.PDC]}, Packets: 1}
		m.OnACK(g.PDC, 0, &a)
	}
	require.InDelta(t, sent[pdcs[0]], sent[pdcs[1]], float64(2*mtu))
}

func TestScheduleUnusedGrantDelaysNobody(t *testing.T) {
	m, _, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, mtu)
	for range 5 {
		g, ok := m.Next(0)
		require.True(t, ok)
		require.Equal(t, pdcs[0], g.PDC)
	}
	m.Unbind(pdcs[0], 0)
	_, ok := m.Next(0)
	require.False(t, ok)
}

// A PDC that leaves its grants alone, as it may have nothing that its peer takes now,
// does not stand in front of the others of its context; when it comes back its turn is
// worth no more than theirs.
func TestScheduleUnusedGrantDelaysNoPDCOfTheContext(t *testing.T) {
	m, _, pdcs := chapterManager(t, chapterFabric())
	for _, b := range pdcs {
		m.OnNewData(b, 0, 100*mtu)
	}
	granted, sent := map[Handle]int{}, map[Handle]int{}
	serve := func(turns int, uses func(Handle) bool) {
		clear(granted)
		clear(sent)
		for range turns {
			g, ok := m.Next(0)
			require.True(t, ok)
			if granted[g.PDC]++; uses(g.PDC) {
				m.OnSend(g.PDC, 0, Sent{Size: mtu})
				sent[g.PDC]++
				m.OnACK(g.PDC, 0, news())
			}
		}
	}
	serve(9, func(Handle) bool { return false })
	require.Equal(t, map[Handle]int{pdcs[0]: 3, pdcs[1]: 3, pdcs[2]: 3}, granted)
	serve(90, func(h Handle) bool { return h != pdcs[0] })
	require.Equal(t, map[Handle]int{pdcs[0]: 30, pdcs[1]: 30, pdcs[2]: 30}, granted)
	serve(90, func(Handle) bool { return true })
	require.Equal(t, map[Handle]int{pdcs[0]: 30, pdcs[1]: 30, pdcs[2]: 30}, sent)
}

// The clock of one who takes the manager over may be behind that of the last event.
func TestScheduleNextBeforeTheLastEvent(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.SetAlgorithm(ctx, 0, &Pacer{})
	m.OnNewData(pdcs[0], 0, 4*mtu)
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	_, ok := m.Next(1)
	require.False(t, ok, "paced")
	m.OnNewData(pdcs[0], 10*us, 1)
	g, ok := m.Next(1)
	require.True(t, ok)
	require.Equal(t, mtu, g.Bytes, "a grant of nothing would be had again and again")
}

// Ticks end where the clock has gone back by more than a deadline is away, or is below
// zero, where the wheel has one time for all.
func TestTickEndsWhenTheClockGoesBack(t *testing.T) {
	for _, start := range []int64{100 * us, -100 * us} {
		f := chapterFabric()
		f.Control = ControlBoth
		f.RCCC.InitialCredit, f.RCCC.CountInitial = mtu, true
		m := newManager(t, ManagerConfig{Params: testParams(t, f), Contexts: 2, PDCs: 2, Now: start})
		later := start + 50*us
		m.Tick(later)
		paced, asks := alone(t, m, 0, start), alone(t, m, 1, start)
		m.OnNewData(paced, start, 4*mtu)
		m.OnNewData(asks, start, 4*mtu)
		m.SetAlgorithm(paced, start, &Pacer{next: start + us})
		m.OnSend(asks, start, Sent{Size: mtu})
		require.Equal(t, ReasonPacing, m.Context(paced).Reason())
		require.Equal(t, ReasonCredit, m.Context(asks).Reason())
		waited := map[Handle]Reason{}
		for h, why := m.Tick(start); h != 0; h, why = m.Tick(start) {
			waited[h] = why
		}
		require.Equal(t, map[Handle]Reason{paced: ReasonPacing, asks: ReasonCredit}, waited)
		require.Equal(t, StateReady, m.Context(paced).State())
	}
}

func TestScheduleMarkedPacketsMakeReady(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, mtu)
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	_, ok := m.Next(0)
	require.False(t, ok)
	m.OnNACK(pdcs[0], us, Nack{Nack: nscc.Nack{Size: mtu, Reason: nscc.ReasonTrimmed}})
	g, ok := m.Next(us)
	require.True(t, ok)
	require.Equal(t, Grant{PDC: pdcs[0], Context: ctx, Decision: Decision{Bytes: mtu}}, g)
	m.OnSend(g.PDC, us, Sent{Size: mtu, Rtx: true})
	m.OnACK(g.PDC, us, news())
	require.Equal(t, StateIdle, m.Context(ctx).State())
}

func TestTickAsksForLostCredit(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlRCCC
	f.RCCC.InitialCredit, f.RCCC.CountInitial = mtu, true
	m, ctx, pdcs := chapterManager(t, f)
	m.OnNewData(pdcs[0], 0, 4*mtu)
	_, ok := m.NextDeadline()
	require.False(t, ok)
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	at, ok := m.NextDeadline()
	require.True(t, ok)
	require.LessOrEqual(t, at, 6*us)
	h, _ := m.Tick(6*us - 1)
	require.Zero(t, h)
	h, waited := m.Tick(6 * us)
	require.Equal(t, ctx, h)
	require.Equal(t, ReasonCredit, waited)
	h, _ = m.Tick(6 * us)
	require.Zero(t, h)
	h, _ = m.Tick(18 * us)
	require.Equal(t, ctx, h, "again after twice the time")
	m.OnCreditUpdate(pdcs[0], 19*us, 5*mtu)
	_, ok = m.NextDeadline()
	require.False(t, ok)
	require.Equal(t, StateReady, m.Context(ctx).State())
}

func TestPacerSpreadsWindowOverRoundTrip(t *testing.T) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = 75_000
	m, ctx, pdcs := chapterManager(t, f)
	m.SetAlgorithm(ctx, 0, &Pacer{Gain: 100})
	m.OnNewData(pdcs[0], 0, 1<<20)
	now, sent := int64(0), int64(0)
	for {
		g, ok := m.Next(now)
		if ok {
			require.LessOrEqual(t, g.Bytes, mtu, "never two packets at a time")
			m.OnSend(g.PDC, now, Sent{Size: 2500})
			sent += 2500
			continue
		}
		at, pending := m.NextDeadline()
		if !pending {
			break
		}
		require.Equal(t, ReasonPacing, m.Context(ctx).Reason())
		now = at
		if h, waited := m.Tick(now); h != 0 { // the deadline may have been early
			require.Equal(t, ctx, h)
			require.Equal(t, ReasonPacing, waited)
			require.Equal(t, StateReady, m.Context(ctx).State())
		}
	}
	require.Equal(t, ReasonWindow, m.Context(ctx).Reason())
	require.EqualValues(t, 72_500, sent) // the last whole MTU within 75,000
	require.EqualValues(t, 28*200, now, "the 29th packet, at 12.5 bytes a ns")
}

// What a division leaves over is carried on: no drift over many packets.
func TestPacerKeepsExactRate(t *testing.T) {
	var p Pacer
	now := int64(0)
	for range 7000 {
		bytes, at := p.Allow(now, Standing{Cwnd: 99_991, BaseRTT: 6007, MTU: mtu})
		require.Equal(t, mtu, bytes)
		now = max(now, at)
		p.OnSend(now, 4160, false)
	}
	require.EqualValues(t, 7000*4160*6007*100/(99_991*125), p.next)
}

func TestPacerExtremes(t *testing.T) {
	for _, s := range []Standing{{}, {Cwnd: 1 << 32, BaseRTT: 60e9, MTU: mtu}, {Cwnd: mtu, BaseRTT: 1, MTU: mtu}} {
		var p Pacer
		for _, size := range []int64{0, 1, mtu, 1 << 40, 1 << 62} {
			_, at := p.Allow(0, s)
			require.GreaterOrEqual(t, at, int64(0))
			p.OnSend(1<<40, size, false)
		}
	}
}

// A grant is no more than what its PDC has to send.
func TestScheduleGrantsWhatAPDCHas(t *testing.T) {
	m, _, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, 100)
	m.OnNewData(pdcs[1], 0, 100*mtu)
	g, ok := m.Next(0)
	require.True(t, ok)
	require.Equal(t, Grant{PDC: pdcs[0], Context: m.ContextOf(pdcs[0]), Decision: Decision{Bytes: 100, Reason: ReasonBacklog}}, g)
}

// fixedWindow is a user's algorithm: so many bytes in flight and no more.
type fixedWindow struct {
	bytes                     int64
	sent, acks, nacks, losses int
	again                     int // of those sent
}

func (w *fixedWindow) OnSend(_, _ int64, rtx bool) {
	w.sent++
	if rtx {
		w.again++
	}
}

func (w *fixedWindow) OnACK(int64, Ack)                         { w.acks++ }
func (w *fixedWindow) OnNACK(int64, Nack)                       { w.nacks++ }
func (w *fixedWindow) OnInferredLoss(int64, Loss)               { w.losses++ }
func (w *fixedWindow) Allow(_ int64, s Standing) (int64, int64) { return w.bytes - s.Inflight, 0 }

func TestAlgorithmOfUsersRunsBesideNSCC(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	w := &fixedWindow{bytes: 3 * mtu}
	m.SetAlgorithm(ctx, 0, w)
	m.OnNewData(pdcs[0], 0, 100*mtu)
	require.Equal(t, StateReady, m.Context(ctx).State())
	require.False(t, m.Context(ctx).Admits(), "the algorithm has a say")
	for range 3 {
		g, ok := m.Next(0)
		require.True(t, ok)
		m.OnSend(g.PDC, 0, Sent{Size: mtu})
	}
	_, ok := m.Next(0)
	require.False(t, ok)
	require.Equal(t, Decision{Reason: ReasonAlgorithm}, m.Context(ctx).Decide(m.p, 0))
	require.False(t, m.Gate(ctx).TryReserve(1))
	m.OnACK(pdcs[0], us, news())
	m.OnNACK(pdcs[0], us, Nack{Nack: nscc.Nack{Size: mtu}})
	m.OnInferredLoss(pdcs[0], us, Loss{Size: mtu})
	require.Equal(t, fixedWindow{3 * mtu, 3, 1, 1, 1, 0}, *w)
	require.EqualValues(t, 3*mtu, m.Context(ctx).Decide(m.p, us).Bytes)
	m.OnSend(pdcs[0], us, Sent{Size: mtu, Rtx: true})
	require.Equal(t, 1, w.again)
	w.bytes = 0
	m.SetAlgorithm(ctx, us, w)
	require.Equal(t, Decision{Reason: ReasonAlgorithm}, m.Context(ctx).Decide(m.p, us), "it owes what is in flight")
	m.SetAlgorithm(ctx, us, nil)
	require.Equal(t, ReasonWindow, m.Context(ctx).Decide(m.p, us).Reason)
}

// nothingYet allows nothing before a time, and says no more than that.
type nothingYet struct {
	Pacer
	until int64
}

func (a *nothingYet) Allow(now int64, s Standing) (bytes, notBefore int64) {
	if now < a.until {
		return 0, a.until
	}
	return s.MTU, 0
}

// An algorithm that allows nothing is asked again at the time that it names, like one that
// allows something then: nothing else may happen that it could be asked at.
func TestAlgorithmThatAllowsNothingYetIsAskedAgain(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlNone
	m, ctx, pdcs := chapterManager(t, f)
	m.SetAlgorithm(ctx, 0, &nothingYet{until: us})
	m.OnNewData(pdcs[0], 0, mtu)
	require.Equal(t, Decision{Reason: ReasonPacing, NotBefore: us}, m.Context(ctx).Decide(m.p, 0))
	at, ok := m.NextDeadline()
	require.True(t, ok && at <= us)
	m.Tick(us)
	g, ok := m.Next(us)
	require.True(t, ok)
	require.Equal(t, pdcs[0], g.PDC)
}

func TestLinksRingKeepsOrder(t *testing.T) {
	l := newLinks(5)
	anchor := uint32(4)
	for i := range uint32(4) {
		require.Equal(t, i, l[i].next, "in no ring")
		l.append(anchor, i)
	}
	l.remove(1)
	l.rotate(anchor)
	var order []uint32
	for i := l[anchor].next; i != anchor; i = l[i].next {
		order = append(order, i)
	}
	require.Equal(t, []uint32{2, 3, 0}, order)
	for range order {
		i, ok := l.first(anchor)
		require.True(t, ok)
		l.remove(i)
	}
	_, ok := l.first(anchor)
	require.False(t, ok)
	l.rotate(anchor)
}

// A context that waits for credit asks once at any time, also at the end of int64, where
// the next time to ask would overflow into the past.
func TestTickEndsAtTheEndOfTime(t *testing.T) {
	for _, now := range []int64{math.MinInt64, -1 << 62, -1, 1<<62 - 1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
		f := chapterFabric()
		f.Control = ControlBoth
		f.RCCC.InitialCredit, f.RCCC.CountInitial = mtu, true
		for _, start := range []int64{0, now} {
			m := newManager(t, ManagerConfig{Params: testParams(t, f), Contexts: 1, PDCs: 1, Now: start})
			h := alone(t, m, 0, start)
			m.OnNewData(h, start, 4*mtu)
			m.OnSend(h, start, Sent{Size: mtu})
			require.Equal(t, ReasonCredit, m.Context(h).Reason())
			asked := 0
			for ; asked < 10; asked++ {
				if h, _ := m.Tick(now); h == 0 {
					break
				}
				m.OnNewData(h, now, mtu)
			}
			require.LessOrEqual(t, asked, 1, "%d from %d", now, start)
		}
	}
}
