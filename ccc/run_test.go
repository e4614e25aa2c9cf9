// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// A twin is two managers that are told the same: one by Exchange wherever that serves, the
// other, which knows no runs, by the general functions.
type twin struct {
	t              *testing.T
	r              *rand.Rand
	plain, general *Manager
	now            int64
	pdcs           [4]Handle // the even ones on context 0, the odd ones on context 1
	contexts       [2]Handle
	did            struct{ sends, runs, acks, exchanged, together, custom, observed int }
}

func newTwin(t *testing.T, seed uint64, c Config, admission bool) *twin {
	t.Helper()
	w := &twin{t: t, r: rand.New(rand.NewPCG(seed, 1))}
	mc := ManagerConfig{Params: testParams(t, c), Contexts: 2, PDCs: 4, Admission: admission, Inbox: 2, Seed: 1 + seed}
	var err error
	w.plain, err = NewManager(mc)
	require.NoError(t, err)
	w.general, err = NewManager(mc)
	require.NoError(t, err)
	w.general.runs = false
	for i := range w.contexts {
		w.contexts[i] = NewHandle(uint16(i), 1)
		w.both(func(m *Manager) { require.NoError(t, m.Open(w.contexts[i], 0, 0)) })
	}
	for i := range w.pdcs {
		w.bind(i, NewHandle(uint16(i), 1))
	}
	return w
}

// same compares all that events change but the wheel, and whether contexts are plain. The
// algorithms are pacers, which have the same state where they were asked the same. A run may arm no
// deadline that an event in the middle would arm and a later one cancel.
func (w *twin) same(where string) {
	w.t.Helper()
	a, b := w.plain, w.general
	for i := range b.seats {
		b.seats[i].context.how = a.seats[i].context.how
		defer func() { b.seats[i].context.how |= howAny }()
		if !b.seats[i].context.how.has(howArmed) && b.extra.due != nil {
			a.extra.at[i] = b.extra.at[i]
		}
	}
	same := slices.Equal(a.seats, b.seats) && slices.Equal(a.ledgers, b.ledgers) && slices.Equal(a.pdcs, b.pdcs) &&
		slices.Equal(a.side, b.side) && slices.Equal(a.extra.waited, b.extra.waited) && a.busy == b.busy && a.stale == b.stale
	if !same {
		require.Equal(w.t, b, a, where)
	}
}

func (w *twin) both(do func(m *Manager)) {
	do(w.plain)
	do(w.general)
}

func (w *twin) bind(i int, h Handle) {
	w.pdcs[i] = h
	w.both(func(m *Manager) { require.NoError(w.t, m.Bind(h, w.contexts[i%2], w.now, i == 3)) })
}

// left is what a PDC has, nothing if its life is over.
func (w *twin) left(h Handle) (l Left) {
	if b := w.general.member(h); b != nil {
		l = b.left()
	}
	return l
}

// step is one random event at both.
func (w *twin) step() {
	r := w.r
	i := r.IntN(len(w.pdcs))
	h, l := w.pdcs[i], w.left(w.pdcs[i])
	w.now += r.Int64N(3 * us)
	switch op := r.IntN(40); {
	case op < 6:
		w.both(func(m *Manager) { m.OnNewData(h, w.now, mtu*int64(1+op*op)) })
	case op < 7 && l.InflightPackets > 0:
		w.exchange(h, l)
	case op < 9:
		w.sendRun(h, min(l.Backlog, 1+r.Int64N(mtu)), 1+r.IntN(8))
	case op < 20:
		w.send(h, min(l.Backlog, 1+r.Int64N(mtu)))
	case op < 24 && l.InflightPackets > 0:
		w.exchange(h, l)
	case op < 32 && l.InflightPackets > 0:
		packets := 1 + r.Int32N(min(l.InflightPackets, 3))
		w.acknowledge(h, min(l.Inflight, int64(packets)*mtu)+r.Int64N(300)-150, packets)
	case op == 32 && l.Inflight > mtu && l.InflightPackets > 1:
		n := Nack{Nack: nscc.Nack{Size: 1 + r.Int64N(mtu), RTT: r.Int64N(20 * us), Reason: nscc.NackReason(r.IntN(3))}}
		w.both(func(m *Manager) { m.OnNACK(h, w.now, n) })
	case op == 33 && l.Inflight > mtu && l.InflightPackets > 1:
		loss := Loss{Size: 1 + r.Int64N(mtu), Entropy: uint16(op)}
		w.both(func(m *Manager) { m.OnInferredLoss(h, w.now, loss) })
	case op < 36 && l.WaitingRtx > 0:
		w.resend(h, l)
	case op == 36:
		w.both(func(m *Manager) { m.Tick(w.now) })
	case op == 37:
		w.life(i)
	case op == 38 && w.general.p.credit && w.general.contextOf(h) != 0:
		total := w.general.Context(w.general.contextOf(h)).CreditTotal() + r.Int64N(32*mtu)
		w.both(func(m *Manager) { m.OnCreditUpdate(h, w.now, total) })
	case op == 39 && l.Backlog > 2*mtu: // two packets are all that is left
		w.both(func(m *Manager) { m.OnWithdraw(h, w.now, l.Backlog-2*mtu) })
		w.sendRun(h, mtu, 2)
	}
}

// resend ends the wait of all marked packets but one, which is sent again, or
// turns out to have arrived.
func (w *twin) resend(h Handle, l Left) {
	size := l.RtxBacklog
	if l.WaitingRtx > 1 {
		size = 1
	}
	if w.r.IntN(2) == 0 {
		w.both(func(m *Manager) { m.Send(h, w.now, Sent{Size: size, Rtx: true}) })
		return
	}
	w.both(func(m *Manager) {
		m.OnACK(h, w.now, &Ack{Ack: nscc.Ack{Bytes: size, Pend: 3}, Packets: 1, RtxPackets: 1, RtxBytes: size})
	})
}

// life is what changes whether a context is plain.
func (w *twin) life(i int) {
	k, r := i%2, w.r
	switch r.IntN(14) {
	case 0:
		mode := Mode(r.IntN(modes))
		w.both(func(m *Manager) { m.SetMode(w.contexts[k], w.now, mode) })
	case 1:
		w.both(func(m *Manager) { m.SetAlgorithm(w.contexts[k], w.now, NewPacer(0)) })
	case 10, 11:
		w.both(func(m *Manager) { m.SetAlgorithm(w.contexts[k], w.now, &fixedWindow{bytes: 4*mtu + 100}) })
	case 2, 3, 4, 5:
		w.both(func(m *Manager) {
			m.SetAlgorithm(w.contexts[k], w.now, nil)
			m.SetMode(w.contexts[k], w.now, ModeEnforce)
		})
	case 6: // a PDC ends, or both of a context and with them the context
		old, ends := w.pdcs, []int{i, i ^ 2}[:1+r.IntN(2)]
		var freed Handle
		for _, e := range ends {
			w.both(func(m *Manager) { freed, _ = m.Unbind(old[e], w.now) })
		}
		require.Equal(w.t, len(ends) == 2, freed != 0)
		if freed != 0 {
			w.contexts[k] = NewHandle(freed.Index(), freed.Generation()+2)
			w.both(func(m *Manager) { require.NoError(w.t, m.Open(w.contexts[k], w.now, 0)) })
		}
		for _, e := range ends {
			w.bind(e, NewHandle(uint16(e), old[e].Generation()+2))
		}
		w.send(old[i], 1)
		w.acknowledge(old[i], 1, 1)
	case 7:
		total := r.Int64N(1 << 30)
		w.both(func(m *Manager) { m.OnCreditUpdate(w.pdcs[i], w.now, total) })
	case 8:
		rtt := 5*us + r.Int64N(us)
		w.both(func(m *Manager) { m.OnProbe(w.pdcs[i], w.now, rtt) })
	case 9: // counters about to start over
		w.both(func(m *Manager) {
			m.seats[k].context.rec.tally = tallyFull - 1<<tallyAcks
		})
	}
}

// tried counts what Exchange did for a context.
func (w *twin) tried(at Handle, n *int, by int) {
	*n += by
	c := w.plain.Context(at)
	if c.how.has(howCustom) {
		w.did.custom++
	}
	if c.mode != ModeEnforce {
		w.did.observed++
	}
}

// send tries the run also where that must refuse.
func (w *twin) send(h Handle, size int64) {
	if paths := w.sendRun(h, size, 1); paths != 0 || w.general.contextOf(h) == 0 || size <= 0 {
		return
	}
	s := w.plain.Send(h, w.now, Sent{Size: size})
	require.Equal(w.t, w.general.Send(h, w.now, Sent{Size: size}), s)
}

// sendRun sends up to most packets at once, as far as that goes.
func (w *twin) sendRun(h Handle, size int64, most int) int {
	paths := make([]uint16, most)
	at := w.general.contextOf(h)
	s, ok := exchange(w.plain, h, w.now, nil, size, paths)
	if !ok {
		w.same("refused, but something has changed")
		return 0
	}
	w.sent(h, size, s, paths)
	w.tried(at, &w.did.sends, 1)
	w.did.runs += s.Sent - 1
	return s.Sent
}

// exchange takes in acknowledgements and sends what they let go, in one step.
func (w *twin) exchange(h Handle, l Left) {
	r := w.r
	var acks []PlainAck
	var each []Ack
	at := w.general.contextOf(h)
	most := 3
	if c := w.general.Context(at); c.how.has(howCustom) || c.mode != ModeEnforce {
		most = 1 // or an algorithm is asked less often, and a time that was named is another
	}
	for range 1 + r.IntN(most) {
		if l.InflightPackets > 0 {
			packets := 1 + r.Int32N(min(l.InflightPackets, 4))
			a := nscc.Ack{Bytes: max(min(l.Inflight, int64(packets)*mtu)+r.Int64N(300)-150, 0), RTT: 6*us + r.Int64N(2*us), ECN: r.IntN(4) == 0}
			x := PlainAck{PlainAck: nscc.MakePlainAck(a.Bytes, a.RTT, a.ECN), Packets: packets, Entropy: uint16(r.Uint32())}
			if w.general.p.credit && r.IntN(4) != 0 {
				x.Credited, x.Credit = true, rccc.QuantaOf(w.general.Context(at).CreditTotal()+r.Int64N(6*mtu)-mtu)
			}
			acks = append(acks, x)
			each = append(each, Ack{Ack: a, Packets: int(packets), Entropy: x.Entropy})
			l.InflightPackets -= packets
			l.Inflight -= a.Bytes
		}
	}
	size := 1 + r.Int64N(mtu)
	w.both(func(m *Manager) { *m.Waiters(at) = Waiters{h.Index(), h.Index()} })
	if r.IntN(8) == 0 {
		w.both(func(m *Manager) { *m.Waiters(at) = Waiters{h.Index(), h.Index() ^ 2} })
	}
	paths := make([]uint16, 1+r.IntN(5))
	s, ok := exchange(w.plain, h, w.now, acks, size, paths)
	if !ok {
		w.same("refused, but something has changed")
		return
	}
	for i := range each {
		if acks[i].Credited {
			w.general.OnCreditUpdate(h, w.now, acks[i].Credit.Extend(w.general.Context(at).CreditTotal()))
		}
		w.general.OnACK(h, w.now, &each[i])
	}
	w.sent(h, size, s, paths)
	c := w.general.Context(at)
	if how := w.plain.Context(at).how; how&howAny == 0 {
		filled := how&howObserves != 0 && s.Sent != 0 && c.window.Full(&w.general.p.nscc)
		require.True(w.t, s.Sent == len(paths) || !c.Admits() || w.left(h).Backlog < size || filled, "it sends all that may go")
	}
	w.tried(at, &w.did.exchanged, 1)
	w.did.together += max(s.Sent-1, 0)
}

// sent has the general one send what the other one has.
func (w *twin) sent(h Handle, size int64, s RunParams, paths []uint16) {
	targets := make([]int64, s.Sent)
	if require.Equal(w.t, w.plain.p.credit && s.Sent != 0, s.Targets); s.Targets {
		w.plain.CreditTargets(h, size, targets)
	}
	for i := range s.Sent {
		c := w.general.Context(w.general.contextOf(h))
		require.True(w.t, c.Admits() || c.bounded && c.Decide(w.general.p, w.now).Bytes >= min(size, mtu))
		got := w.general.Send(h, w.now, Sent{Size: size})
		last := i+1 == s.Sent
		require.Equal(w.t, SendParams{CreditTarget: targets[i], Entropy: paths[i], AckRequest: s.AckEach || s.AckLast && last, Held: got.Held}, got)
		if last {
			require.Equal(w.t, s.Held, got.Held)
		} else {
			require.Equal(w.t, ReasonBacklog, got.Held)
		}
	}
}

func (w *twin) acknowledge(h Handle, bytes int64, packets int32) {
	a := Ack{
		Ack:     nscc.Ack{Bytes: bytes, RTT: w.r.Int64N(30*us) - us, ECN: w.r.IntN(3) == 0},
		Packets: int(packets), Entropy: uint16(w.r.Uint32()),
	}
	if w.r.IntN(4) > 0 {
		a.RTT = 6*us + w.r.Int64N(2*us)
	}
	at := w.general.contextOf(h)
	_, ok := exchange(w.plain, h, w.now, []PlainAck{{PlainAck: nscc.MakePlainAck(a.Bytes, a.RTT, a.ECN), Packets: packets, Entropy: a.Entropy}}, 0, nil)
	if !ok {
		w.same("refused, but something has changed")
		b := a
		w.plain.OnACK(h, w.now, &b)
	}
	w.general.OnACK(h, w.now, &a)
	if ok {
		w.tried(at, &w.did.acks, 1)
	}
}

// Runs leave behind what the general functions do, in every configuration, with algorithms and
// modes as they come, and refuse where they would not.
func TestRunsEqualGeneralEvents(t *testing.T) {
	for control := range Control(controls) {
		for scheme := range Scheme(schemes) {
			t.Run(fmt.Sprintf("control=%s/scheme=%s", control, scheme), func(t *testing.T) {
				var did [7]int
				for seed := range uint64(6) {
					f := chapterFabric()
					f.Control, f.Entropy.Scheme, f.Entropy.Values = control, scheme, 16
					f.NSCC.InitialCwnd = 6 * mtu
					switch seed {
					case 1:
						f.NSCC.GrowOnlyFull = true
					case 2:
						f.NSCC.Profile = nscc.ProfileHTSim
					case 3:
						f.NSCC.ForgettingFilter, f.NSCC.AckTrigger = true, 24*mtu
					case 5:
						f.NSCC.Profile = nscc.ProfileAdaptive
					}
					w := newTwin(t, seed, f, seed == 4)
					for range 5000 {
						w.step()
						w.same("after a step")
					}
					w.plain.runs = false
					for i := range w.contexts {
						w.plain.seats[i].context.how |= howAny
					}
					next, armed := w.general.NextDeadline()
					at, some := w.plain.NextDeadline()
					require.Equal(t, []any{next, armed}, []any{at, some})
					w.plain.extra.due = w.general.extra.due
					require.Equal(t, w.general, w.plain)
					runs := scheme != SchemeREPSLegacy && (seed != 2 || !control.nscc()) && seed != 4
					d := w.did
					for k, n := range []int{d.sends, d.runs, d.acks, d.exchanged, d.together, d.custom, d.observed} {
						did[k] += n
						require.True(t, runs || n == 0, "%d", k)
					}
				}
				for k, n := range did {
					least := []int{1000, 200, 1000, 200, 50, 200, 200}[k]
					runs := scheme != SchemeREPSLegacy
					require.Equal(t, runs, n > least, "%d", did)
				}
			})
		}
	}
}

// A PDC whose marked packets are all that it has to send has no new one to exchange.
func TestExchangeWithoutNewData(t *testing.T) {
	m, ctx, pdcs := plainManager(t)
	pdc, c := pdcs[0], m.Context(ctx)
	m.OnNewData(pdc, 0, 1<<20)
	n := int32(0)
	for c.State() == StateReady {
		m.OnSend(pdc, 0, Sent{Size: mtu})
		n++
	}
	m.OnWithdraw(pdc, 0, c.Backlog())
	m.OnInferredLoss(pdc, us, Loss{Size: mtu})
	require.Equal(t, StateActive, c.State())
	*m.Waiters(ctx) = Waiters{pdc.Index(), pdc.Index()}
	before := *c
	for _, size := range []int64{1, 2, mtu} {
		_, ok := exchange(m, pdc, us, nil, size, make([]uint16, 4))
		require.False(t, ok, "size %d", size)
	}
	require.Equal(t, before, *c)
	acks := []PlainAck{{PlainAck: nscc.MakePlainAck(int64(n-1)*mtu, 6*us, false), Packets: n - 1}}
	s, ok := exchange(m, pdc, us, acks, 1, make([]uint16, 4))
	require.True(t, ok)
	require.Zero(t, s.Sent)
}

func TestExchangeRefuses(t *testing.T) {
	m, ctx, pdcs := plainManager(t)
	refuses := func(name string, h Handle, size int64) {
		t.Helper()
		_, ok := exchange(m, h, 0, nil, size, make([]uint16, 1))
		require.False(t, ok, name)
	}
	refuses("nothing to send", pdcs[0], 1)
	m.OnNewData(pdcs[0], 0, 2*mtu)
	refuses("no size", pdcs[0], 0)
	refuses("negative size", pdcs[0], -1)
	refuses("more than it has", pdcs[0], 2*mtu+1)
	refuses("nobody", 0, 1)
	refuses("out of range", NewHandle(9, 1), 1)
	refuses("stale", NewHandle(pdcs[0].Index(), 3), 1)
	require.Zero(t, m.Stale(), "the general way counts them")
	_, ok := exchange(m, pdcs[0], 0, nil, 1, nil)
	require.False(t, ok, "no room for paths")
	m.SetAlgorithm(ctx, 0, &fixedWindow{})
	refuses("an algorithm allows nothing", pdcs[0], 1)
	m.SetAlgorithm(ctx, 0, nil)
	s, ok := exchange(m, pdcs[0], 0, nil, 2*mtu, make([]uint16, 3))
	require.True(t, ok)
	require.Equal(t, RunParams{Sent: 1}, s)
	_, ok = exchange(m, pdcs[0], us, plainAck(2*mtu), 0, nil)
	require.True(t, ok)
	require.Equal(t, StateIdle, m.Context(ctx).State())
	_, ok = exchange(m, NewHandle(0, 3), us, plainAck(1), 0, nil)
	require.False(t, ok)
}

// exchange offers acknowledgements and as many packets as paths has room for.
func exchange(m *Manager, pdc Handle, now int64, acks []PlainAck, size int64, paths []uint16) (RunParams, bool) {
	x := Run{Acks: len(acks), Most: len(paths), Size: size}
	copy(x.News[:], acks)
	if !m.Exchange(pdc, now, &x) {
		return RunParams{}, false
	}
	copy(paths, x.Paths[:])
	return x.RunParams, true
}

// plainAck acknowledges one packet of so many bytes.
func plainAck(bytes int64) []PlainAck {
	return []PlainAck{{PlainAck: nscc.MakePlainAck(bytes, 6*us, false), Packets: 1}}
}

// plainManager has one plain context with three PDCs.
func plainManager(t testing.TB) (*Manager, Handle, []Handle) {
	m, err := NewManager(ManagerConfig{Params: testParams(t, chapterFabric()), Contexts: 1, PDCs: 3, Seed: 1})
	require.NoError(t, err)
	ctx := NewHandle(0, 1)
	require.NoError(t, m.Open(ctx, 0, 0))
	pdcs := make([]Handle, 3)
	for i := range pdcs {
		pdcs[i] = NewHandle(uint16(i), 1)
		require.NoError(t, m.Bind(pdcs[i], ctx, 0, false))
	}
	return m, ctx, pdcs
}

func TestPlainAllocs(t *testing.T) {
	m, _, pdcs := plainManager(t)
	now, seq := int64(0), 0
	path, acks := make([]uint16, 1), make([]PlainAck, 1)
	alloctest.Zero(t, "a packet", func() {
		now += 10 * us
		seq++
		h := pdcs[seq%3]
		m.OnNewData(h, now, mtu)
		_, ok := exchange(m, h, now, nil, mtu, path)
		acks[0] = PlainAck{PlainAck: nscc.MakePlainAck(mtu, 6*us, seq%5 == 0), Packets: 1, Entropy: path[0]}
		_, acked := exchange(m, h, now+6*us, acks, 0, nil)
		if !ok || !acked {
			panic("the path under test did not run")
		}
	})
}

// A peer cannot have more acknowledged than was sent, nor less than nothing.
func TestPlainACKBelievesOnlyWhatWasSent(t *testing.T) {
	m, ctx, pdcs := plainManager(t)
	m.OnNewData(pdcs[0], 0, 4*mtu)
	for range 3 {
		_, ok := exchange(m, pdcs[0], 0, nil, mtu, make([]uint16, 1))
		require.True(t, ok)
	}
	for _, c := range []struct {
		claimed, inflight int64
	}{
		{-1, 3 * mtu}, {math.MinInt64, 3 * mtu}, {mtu, 2 * mtu}, {math.MaxInt64, 1 - rcvdUnit}, {1, 1 - rcvdUnit},
	} {
		claim := nscc.MakePlainAck(c.claimed, 0, false)
		_, ok := exchange(m, pdcs[0], 0, []PlainAck{{PlainAck: claim}}, 0, nil)
		require.True(t, ok)
		require.Equal(t, c.inflight, m.Context(ctx).Inflight(), "claimed %d", c.claimed)
		a := Ack{Ack: nscc.Ack{Bytes: -c.claimed & math.MinInt64}}
		m.OnACK(pdcs[0], 0, &a)
		require.Equal(t, c.inflight, m.Context(ctx).Inflight(), "claimed less than nothing")
	}
}

// What is prefetched is what an event needs.
func TestLinesAreThoseOfTheEvent(t *testing.T) {
	m, _, pdcs := plainManager(t)
	for i, h := range pdcs {
		b := m.member(h)
		at := reflect.ValueOf(m.seatOf(b)).Pointer() + cacheLine
		lines := func() [4]uintptr { a, b, c, d := m.ContextLines(h.Index()); return [4]uintptr{a, b, c, d} }
		m.side, m.shares = nil, false
		require.Equal(t, [4]uintptr{at, at + 64, at + 128, at + 128}, lines(), i)
		m.shares = true
		require.Equal(t, [4]uintptr{at, at + 64, at + 128, reflect.ValueOf(&m.pdcs[h.Index()]).Pointer()}, lines(), i)
		m.side, m.p.entropy.words = make([]uint64, 4*len(m.seats)), 4
		require.Equal(t, [4]uintptr{at, at + 64, at + 128, reflect.ValueOf(&m.sideOf(&m.seatOf(b).context)[0]).Pointer()}, lines(), i)
	}
	m.ContextLines(0) // nobody's
}

// Packets that one word refuses count as if each had been refused by itself.
func TestManagerOnNACKOfSeveral(t *testing.T) {
	for _, control := range []Control{ControlNSCC, ControlRCCC, ControlBoth} {
		f := chapterFabric()
		f.Control = control
		var want Context
		for _, together := range []int32{1, 3} {
			m, ctx, pdcs := chapterManager(t, f)
			m.OnNewData(pdcs[0], 0, 10*mtu)
			for range 4 {
				m.OnSend(pdcs[0], 0, Sent{Size: mtu})
			}
			for range 3 / together {
				m.OnNACK(pdcs[0], us, Nack{Nack: nscc.Nack{Size: mtu * int64(together)}, Packets: together})
			}
			c := m.Context(ctx)
			require.EqualValues(t, []int64{mtu, 1, 3 * mtu, 3}, []int64{c.Inflight(), int64(c.InflightPackets()), c.RtxBacklog(), int64(c.WaitingRtx())})
			require.EqualValues(t, 3, m.ledgerOf(c).nacks)
			if together == 1 {
				want = *c
			}
			require.Equal(t, want, *c, control)
		}
	}
}
