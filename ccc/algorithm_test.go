// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

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
		m.SetAlgorithm(paced, start, &pacer{gain: defaultGain, next: start + us})
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
	m.SetAlgorithm(ctx, 0, NewPacer(100))
	m.OnNewData(pdcs[0], 0, 1<<20)
	now, sent := int64(0), int64(0)
	for {
		if d := m.Context(ctx).Decide(m.p, now); d.Bytes > 0 {
			require.LessOrEqual(t, d.Bytes, mtu, "never two packets at a time")
			m.OnSend(pdcs[0], now, Sent{Size: 2500})
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

// The last byte has to wait for its turn like a full packet.
func TestPacerHoldsTheLastByte(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.SetAlgorithm(ctx, 0, NewPacer(100))
	m.OnNewData(pdcs[0], 0, mtu+1)
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	d := m.Context(ctx).Decide(m.p, 0)
	require.Positive(t, d.NotBefore)
	require.Equal(t, Decision{NotBefore: d.NotBefore, Reason: ReasonPacing}, d)
	require.Equal(t, Decision{Bytes: 1, Reason: ReasonBacklog}, m.Context(ctx).Decide(m.p, d.NotBefore))
}

// What a division leaves over is carried on: no drift over many packets.
func TestPacerKeepsExactRate(t *testing.T) {
	p := pacer{gain: defaultGain}
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
		p := pacer{gain: defaultGain}
		for _, size := range []int64{0, 1, mtu, 1 << 40, 1 << 62} {
			_, at := p.Allow(0, s)
			require.GreaterOrEqual(t, at, int64(0))
			p.OnSend(1<<40, size, false)
		}
	}
	p := NewPacer(1<<57 + 1) // times 128 no more than 128
	p.Allow(0, Standing{Cwnd: 128, BaseRTT: 6000, MTU: mtu})
	p.OnSend(0, mtu, false)
	_, at := p.Allow(0, Standing{Cwnd: 128, BaseRTT: 6000, MTU: mtu})
	require.Zero(t, at)
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
		require.Positive(t, m.Context(ctx).Decide(m.p, 0).Bytes)
		m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	}
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
	pacer
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
	require.Equal(t, Decision{Bytes: mtu}, m.Context(ctx).Decide(m.p, us))
}

// An algorithm is asked once for an acknowledgement and what it lets go, however many packets
// that is, and not where the window holds all. What it names a time for is one packet.
func TestAlgorithmIsAskedOnceARun(t *testing.T) {
	m, ctx, pdcs := plainManager(t)
	w := &counted{fixedWindow: fixedWindow{bytes: 1 << 30}}
	m.SetAlgorithm(ctx, 0, w)
	require.Zero(t, w.asked, "there is nothing to send")
	m.OnNewData(pdcs[0], 0, 1<<30)
	require.Equal(t, 1, w.asked)
	paths := make([]uint16, 32)
	sent := 0
	for s, ok := exchange(m, pdcs[0], 0, nil, mtu, paths); ok; s, ok = exchange(m, pdcs[0], 0, nil, mtu, paths) {
		sent += s.Sent
	}
	require.Greater(t, sent, 20)
	require.Equal(t, 1, w.asked, "the window is what holds the rest")
	require.Equal(t, sent, w.sent)
	acks := make([]PlainAck, 8)
	for i := range acks {
		acks[i] = PlainAck{PlainAck: nscc.MakePlainAck(mtu, 6*us, false), Packets: 1}
	}
	*m.Waiters(ctx) = Waiters{pdcs[0].Index(), pdcs[0].Index()}
	s, ok := exchange(m, pdcs[0], us, acks, mtu, paths)
	require.True(t, ok)
	require.Equal(t, 2, w.asked)
	require.Equal(t, 8, w.acks)
	require.GreaterOrEqual(t, s.Sent, 8)

	w.at = 1
	m.OnACK(pdcs[0], 2*us, news())
	require.Equal(t, 3, w.asked)
	s, _ = exchange(m, pdcs[0], 2*us, nil, mtu, paths)
	require.Equal(t, 1, s.Sent)
}

// counted is a fixedWindow that counts how often it is asked.
type counted struct {
	fixedWindow
	asked int
	at    int64
}

func (w *counted) Allow(now int64, s Standing) (int64, int64) {
	w.asked++
	bytes, _ := w.fixedWindow.Allow(now, s)
	return bytes, w.at
}
