// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/nscc"
)

func newManager(t testing.TB, c ManagerConfig) *Manager {
	t.Helper()
	m, err := NewManager(c)
	require.NoError(t, err)
	return m
}

// alone opens context i of m and binds PDC i to it, which has the same handle.
func alone(t testing.TB, m *Manager, i uint16, now int64) Handle {
	t.Helper()
	h := NewHandle(i, 1)
	require.NoError(t, m.Open(h, now, 0))
	require.NoError(t, m.Bind(h, h, now, false))
	return h
}

// chapterManager has one context and the three PDCs of figure 6-11 bound to it.
func chapterManager(t testing.TB, f Config) (m *Manager, ctx Handle, pdcs [3]Handle) {
	t.Helper()
	m = newManager(t, ManagerConfig{Params: testParams(t, f), Contexts: 4, PDCs: 0x4004, Admission: true})
	ctx = NewHandle(2, 1)
	require.NoError(t, m.Open(ctx, 0, 0))
	for i := range pdcs {
		pdcs[i] = NewHandle(uint16(0x4001+i), 1)
		require.NoError(t, m.Bind(pdcs[i], ctx, 0, false))
	}
	return m, ctx, pdcs
}

// UET congestion chapters, figure 6-11: the delta of each PDC adds up in the context.
func TestManagerTwoTierBacklog(t *testing.T) {
	const rank = 4096 << 10
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	for i, ranks := range []int64{2, 1, 2} {
		m.OnNewData(pdcs[i], 0, ranks*rank)
		require.EqualValues(t, ranks*rank, m.member(pdcs[i]).backlog())
	}
	require.EqualValues(t, 8192<<10, m.member(pdcs[0]).backlog())
	require.EqualValues(t, 20_971_520, m.Context(ctx).Backlog())
}

func TestManagerHierarchicalTeardown(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, 3*mtu)
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	m.OnInferredLoss(pdcs[0], us, Loss{Size: mtu})
	a := ack(0, 0)
	a.RTT = 4 * us
	m.OnACK(pdcs[1], us, &a)

	freed, _ := m.Unbind(pdcs[0], us)
	require.Zero(t, freed, "others are bound")
	c := m.Context(ctx)
	require.Equal(t, StateIdle, c.State())
	require.Zero(t, c.Backlog()+c.RtxBacklog()+c.Inflight())
	freed, _ = m.Unbind(pdcs[1], us)
	require.Zero(t, freed)
	freed, rtt := m.Unbind(pdcs[2], us)
	require.Equal(t, ctx, freed)
	require.EqualValues(t, 4*us, rtt)
	require.Nil(t, m.Context(ctx))

	again := NewHandle(ctx.Index(), ctx.Generation()+2)
	require.NoError(t, m.Open(again, 2*us, rtt))
	require.EqualValues(t, 4*us, m.Context(again).BaseRTT())
	require.EqualValues(t, 75_000, m.Context(again).Cwnd())
}

func TestManagerStaleHandlesChangeNothing(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	old := pdcs[0]
	m.OnNewData(old, 0, mtu)
	m.Unbind(old, 0)
	reborn := NewHandle(old.Index(), old.Generation()+2)
	require.NoError(t, m.Bind(reborn, ctx, 0, false))
	before := *m.Context(ctx)
	m.OnNewData(old, 0, mtu)
	m.OnSend(old, 0, Sent{Size: mtu})
	m.OnACK(old, 0, news())
	m.OnNACK(old, 0, Nack{Nack: nscc.Nack{Size: mtu}})
	m.OnInferredLoss(old, 0, Loss{Size: mtu})
	m.OnCreditUpdate(old, 0, 1000)
	m.OnWithdraw(old, 0, mtu)
	m.OnProbe(old, 0, us)
	require.Equal(t, before, *m.Context(ctx))
	require.EqualValues(t, 8, m.Stale())
	changes := m.Revision()
	m.SetMode(NewHandle(2, 3), 0, ModeOff)
	m.SetAlgorithm(NewHandle(2, 3), 0, NewPacer(0))
	require.Equal(t, before, *m.Context(ctx))
	require.Equal(t, changes, m.Revision())
	m.SetMode(ctx, 0, ModeOff)
	m.SetAlgorithm(ctx, 0, nil)
	require.Equal(t, changes+2, m.Revision())
	require.Zero(t, m.Send(old, 0, Sent{Size: mtu}))
	freed, _ := m.Unbind(old, 0)
	require.Zero(t, freed)
	require.Zero(t, m.contextOf(old))
	require.Equal(t, ctx, m.contextOf(reborn))
}

func TestManagerRefusesBadHandles(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	require.ErrorIs(t, m.Open(ctx, 0, 0), errInUse)
	require.ErrorIs(t, m.Open(NewHandle(4, 1), 0, 0), errHandle, "one too many")
	require.Nil(t, m.Context(0), "a seat that nobody has is not the zero handle's")
	require.ErrorIs(t, m.Open(NewHandle(1, 2), 0, 0), errHandle, "even: no life")
	require.ErrorIs(t, m.Bind(pdcs[0], ctx, 0, false), errInUse)
	require.ErrorIs(t, m.Bind(NewHandle(9, 1), NewHandle(2, 3), 0, false), errHandle)
	require.ErrorIs(t, m.Bind(NewHandle(0xffff, 1), ctx, 0, false), errHandle)
	for _, c := range []ManagerConfig{
		{Contexts: 1, PDCs: 1},
		{Params: m.p, PDCs: 1},
		{Params: m.p, Contexts: 1<<16 + 1, PDCs: 1},
		{Params: m.p, Contexts: 1, PDCs: 1<<16 + 1},
		{Params: m.p, Contexts: 1, PDCs: 1, Inbox: 3},
		{Params: m.p, Contexts: 1, PDCs: 1, Inbox: 1 << (bits.UintSize - 2)},
	} {
		_, err := NewManager(c)
		require.ErrorIs(t, err, ErrConfig)
	}
}

// What is acknowledged without a mark is used again where the scheme recycles, and only there.
func TestManagerSendsByItsScheme(t *testing.T) {
	for scheme := range Scheme(schemes) {
		f := chapterFabric()
		f.Entropy.Scheme, f.Entropy.Values = scheme, 1<<16
		m, _, pdcs := chapterManager(t, f)
		m.OnNewData(pdcs[0], 0, 10*mtu)
		seq := uint64(1000)
		m.OnSend(pdcs[0], 0, Sent{Size: mtu, Seq: seq})
		a := news()
		a.Entropy = 12345
		m.OnACK(pdcs[0], us, a)
		got := m.Send(pdcs[0], us, Sent{Size: mtu, Seq: seq + 1}).Entropy
		recycles := scheme == SchemeREPS || scheme == SchemeREPSLegacy || scheme == SchemeMixed
		require.Equal(t, recycles, got == 12345, scheme.String())
	}
}

// Cells are those of one path, so a PDC keeps its path whatever its owner asks for.
func TestManagerKeepsThePathUnderTFC(t *testing.T) {
	for _, cell := range []int64{0, 256} {
		f := chapterFabric()
		f.TFC.CellSize, f.TFC.Limit = cell, 1024
		m, _, pdcs := chapterManager(t, f)
		ways := map[uint16]bool{}
		m.OnNewData(pdcs[0], 0, 8*mtu)
		for range 8 {
			ways[m.Send(pdcs[0], 0, Sent{Size: mtu}).Entropy] = true
		}
		require.Equal(t, cell != 0, len(ways) == 1)
	}
}

// A life that begins has nothing of the last one in the same seat: no penalties of paths, no time
// waited.
func TestManagerOpenBeginsAnew(t *testing.T) {
	f := chapterFabric()
	f.Entropy.Scheme, f.Entropy.Values = SchemeBitmap, 64
	f.Control, f.RCCC.InitialCredit = ControlBoth, mtu
	m := newManager(t, ManagerConfig{Params: testParams(t, f), Contexts: 1, PDCs: 1, Admission: true})
	for life := uint16(1); life < 5; life += 2 {
		h, now := NewHandle(0, life), int64(life)*100*us
		require.NoError(t, m.Open(h, now, 0))
		require.NoError(t, m.Bind(h, h, now, false))
		c := m.Context(h)
		require.Equal(t, make([]uint64, len(m.sideOf(c))), m.sideOf(c))
		require.Zero(t, m.extra.waited[0])
		m.OnNewData(h, now, 64*mtu)
		v := m.Send(h, now, Sent{Size: mtu}).Entropy
		m.OnACK(h, now, &Ack{Ack: nscc.Ack{Bytes: mtu, RTT: 6 * us, ECN: true}, Packets: 1, Entropy: v})
		require.Equal(t, ReasonCredit, c.Decide(m.p, now).Reason)
		now += 20 * us
		m.OnCreditUpdate(h, now, 10*mtu)
		m.SetAlgorithm(h, now, NewPacer(100))
		m.Send(h, now, Sent{Size: mtu})
		require.Equal(t, ReasonPacing, c.Decide(m.p, now).Reason)
		now += 20 * us
		m.Tick(now)
		require.NotEqual(t, make([]uint64, len(m.sideOf(c))), m.sideOf(c))
		require.EqualValues(t, 20*us, m.extra.waited[0][ReasonCredit])
		m.Unbind(h, now)
	}
}

// Under TFC a context sends no more than the buffer of the destination has room for.
func TestManagerOpenUnderTFC(t *testing.T) {
	f := chapterFabric()
	f.TFC.CellSize, f.TFC.Limit = 256, 32 // a packet fills 16
	m, ctx, pdcs := chapterManager(t, f)
	m.OnNewData(pdcs[0], 0, 64*mtu)
	for range 2 {
		require.Positive(t, m.Context(ctx).Decide(m.p, 0).Bytes)
		m.Send(pdcs[0], 0, Sent{Size: mtu})
	}
	require.Equal(t, Decision{Reason: ReasonAlgorithm}, m.Context(ctx).Decide(m.p, 0))
	m.OnNACK(pdcs[0], 0, Nack{Nack: nscc.Nack{Size: 1}})
	require.Positive(t, m.Context(ctx).Decide(m.p, 0).Bytes, "what is sent again has its cells")
	for _, a := range []Algorithm{NewPacer(0), nil} {
		require.ErrorIs(t, m.SetAlgorithm(ctx, 0, a), ErrConfig, "the cells have the place")
	}
	m.Send(pdcs[0], 0, Sent{Size: 1, Rtx: true})
	require.Equal(t, ReasonAlgorithm, m.Context(ctx).Decide(m.p, 0).Reason)
}

// Contexts that have something to send share the port, and ask for a share of credit each.
func TestManagerCountsWhoCompetes(t *testing.T) {
	f := chapterFabric()
	f.Control, f.RCCC.InitialCredit, f.RCCC.CountInitial = ControlRCCC, mtu, true
	m, ctx, pdcs := chapterManager(t, f)
	other, pdc := NewHandle(1, 1), NewHandle(5, 1)
	require.NoError(t, m.Open(other, 0, 0))
	require.NoError(t, m.Bind(pdc, other, 0, false))
	for _, step := range []struct {
		more     int64 // data of the other context
		contexts int64
	}{{0, 1}, {mtu, 2}, {-mtu, 1}} {
		if step.more > 0 {
			m.OnNewData(pdc, 0, step.more)
		} else {
			m.OnWithdraw(pdc, 0, -step.more)
		}
		m.OnNewData(pdcs[0], 0, 100*mtu)
		got := m.Send(pdcs[0], 0, Sent{Size: mtu}).CreditTarget
		require.Equal(t, m.Context(ctx).CreditTarget(m.p, step.contexts), got)
		require.NotEqual(t, m.Context(ctx).CreditTarget(m.p, 3-step.contexts), got)
	}
}

// A peer that acknowledges what was never sent gains nothing.
func TestManagerBelievesNoMoreThanWasSent(t *testing.T) {
	m, ctx, pdcs := chapterManager(t, chapterFabric())
	m.OnNewData(pdcs[0], 0, 10*mtu)
	m.OnSend(pdcs[0], 0, Sent{Size: mtu})
	for range 10 {
		a := ack(0, 0)
		a.Bytes = 1 << 30
		m.OnACK(pdcs[0], us, &a)
	}
	require.EqualValues(t, -255, m.Context(ctx).Inflight())
}

func TestManagerSend(t *testing.T) {
	f := chapterFabric()
	f.Entropy.Values = 16
	m, ctx, pdcs := chapterManager(t, f)
	fixed := NewHandle(7, 1)
	require.NoError(t, m.Bind(fixed, ctx, 0, true))
	seen := map[uint16]bool{}
	send := func(b Handle, seq uint64) uint16 {
		m.OnNewData(b, 0, 100)
		return m.Send(b, 0, Sent{Size: 100, Seq: seq}).Entropy
	}
	for seq := range uint64(16) {
		seen[send(pdcs[seq%3], seq)] = true
	}
	require.Len(t, seen, 16, "the PDCs of a context share one round")
	one := send(fixed, 0)
	for seq := range uint64(16) {
		require.Equal(t, one, send(fixed, seq))
	}
}

// The window of a context hears how much there is to send before the first packet, whoever has a say beside
// the window, in each life of the context anew, and once.
func TestManagerBeginsWithWhatThereIsToSend(t *testing.T) {
	c := chapterFabric()
	c.NSCC.Trimming, c.NSCC.Profile = false, nscc.ProfileAdaptive
	for _, control := range []Control{ControlNSCC, ControlBoth} {
		for _, packets := range []int64{3, 20, 200} {
			c.Control = control
			m := newManager(t, ManagerConfig{Params: testParams(t, c), Contexts: 4, PDCs: 4})
			for range 2 {
				h := alone(t, m, 1, 0)
				first := int64(3)
				if packets == 20 {
					first = 2
				}
				for _, more := range []int64{packets, 20} {
					m.OnNewData(h, 0, more*mtu)
					require.Equal(t, first*mtu, m.Context(h).Cwnd(), "%v, %d packets", control, packets)
				}
				m.OnWithdraw(h, 0, (packets+20)*mtu)
				freed, _ := m.Unbind(h, 0)
				require.Equal(t, h, freed)
			}
		}
	}
}

// Clocks that stand still, jump, or run backwards change decisions at most.
func TestManagerOddClocks(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlBoth
	m, ctx, pdcs := chapterManager(t, f)
	m.SetAlgorithm(ctx, 0, NewPacer(0))
	times := []int64{0, 0, us, 1 << 62, -1 << 62, math.MaxInt64, math.MinInt64, 5 * us, 5*us - 1}
	for i := range 300 {
		now := times[i*7%len(times)]
		b := pdcs[i%3]
		m.OnNewData(b, now, mtu)
		m.Send(b, now, Sent{Size: mtu, Seq: uint64(i)})
		if i%5 == 0 {
			m.OnInferredLoss(b, now, Loss{Size: mtu})
			m.OnSend(b, now, Sent{Size: mtu, Rtx: true})
		}
		m.OnACK(b, now, &Ack{Ack: nscc.Ack{Bytes: mtu, RTT: times[i%len(times)], ECN: i%3 == 0}, Packets: 1})
		m.OnCreditUpdate(b, now, int64(i)*mtu)
		m.Tick(now)
		c := m.Context(ctx)
		require.GreaterOrEqual(t, c.Cwnd(), mtu)
		require.LessOrEqual(t, c.Cwnd(), m.p.nscc.MaxWnd())
	}
	require.Zero(t, m.Context(ctx).Inflight())
	require.Zero(t, m.Context(ctx).Backlog())
}

func TestManagerAllocs(t *testing.T) {
	f := chapterFabric()
	f.Entropy.Scheme = SchemeMixed
	m, ctx, pdcs := chapterManager(t, f)
	m.SetAlgorithm(ctx, 0, NewPacer(0))
	now, seq := int64(0), uint64(0)
	var v View
	alloctest.Zero(t, "a packet", func() {
		now += 10 * us
		seq++
		h := pdcs[seq%3]
		m.OnNewData(h, now, mtu)
		if !m.Gate(ctx).TryReserve(mtu) {
			panic("the path under test did not run")
		}
		a := ack(1, mtu)
		a.Entropy = m.Send(h, now, Sent{Size: mtu, Reserved: true, Seq: seq}).Entropy
		if !m.Post(Event{Kind: EventACK, PDC: h, Now: now, Ack: a}) {
			panic("the path under test did not run")
		}
		m.Tick(now)
		m.Refresh(ctx, &v)
	})
}

// A context that was opened for nothing ends as others do.
func TestManagerContextThatWasNeverBound(t *testing.T) {
	m := newManager(t, ManagerConfig{Params: testParams(t, chapterFabric()), Contexts: 1, PDCs: 1})
	h := NewHandle(0, 1)
	require.NoError(t, m.Open(h, 0, 0))
	require.ErrorIs(t, m.Open(NewHandle(0, 3), 0, 0), errInUse)
	require.NoError(t, m.Bind(h, h, 0, false))
	freed, _ := m.Unbind(h, 0)
	require.Equal(t, h, freed)
	require.NoError(t, m.Open(NewHandle(0, 3), 0, 0))
}

// On a slow link most of a round trip is the packet's own time on it: 4,032 bytes more than a
// probe has are 32 us at 1 Gb/s, and without them the window would have room for one packet
// where two fit.
func TestProbeCountsAsAFullPacket(t *testing.T) {
	f := chapterFabric()
	f.NSCC.LinkRate, f.NSCC.BaseRTT, f.NSCC.MTU = 1e9/8, 60*us, 4096
	m, ctx, pdcs := chapterManager(t, f)
	m.OnProbe(pdcs[0], us, 0)
	require.EqualValues(t, 60*us, m.Context(ctx).BaseRTT(), "no sample")
	m.OnProbe(pdcs[0], us, 18*us)
	require.EqualValues(t, 18*us+32_256, m.Context(ctx).BaseRTT())
	require.EqualValues(t, 9_423, m.Context(ctx).window.Snapshot().MaxWnd, "1.5 x 50.256 us x 125 MB/s")
}

// A probe tells of the path in every mode, and leaves the window as it is.
func TestProbeCountsInEveryMode(t *testing.T) {
	for _, mode := range []Mode{ModeEnforce, ModeObserve, ModeOff} {
		f := chapterFabric()
		f.Mode = mode
		m, ctx, pdcs := chapterManager(t, f)
		cwnd := m.Context(ctx).Cwnd()
		m.OnProbe(pdcs[0], us, 4*us-m.Params().probeLacks)
		require.EqualValues(t, 4*us, m.Context(ctx).BaseRTT())
		require.Equal(t, cwnd, m.Context(ctx).Cwnd())
		m.OnNewData(pdcs[0], us, mtu)
		m.OnSend(pdcs[0], us, Sent{Size: mtu})
		a := ack(1, mtu)
		a.RTT = 3 * us
		m.OnACK(pdcs[0], 4*us, &a)
		require.Equal(t, mode == ModeOff, m.Context(ctx).BaseRTT() == 4*us, "an acknowledgement's counts where it steers")
	}
}

// contextOf returns the context of a PDC, 0 if not bound.
func (m *Manager) contextOf(pdc Handle) Handle {
	if b := m.member(pdc); b != nil {
		return m.seatOf(b).context.handle
	}
	return 0
}
