// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/nscc"
)

// started is a window of c at time 0.
func started(t testing.TB, c nscc.Config) (*nscc.Params, *nscc.Window) {
	t.Helper()
	p := must(t, c)
	var w nscc.Window
	w.Init(p, 0, 0)
	return p, &w
}

// set is w after change has been applied to its state.
func set(p *nscc.Params, w *nscc.Window, change func(*nscc.Snapshot)) {
	s := w.Snapshot()
	change(&s)
	w.Resume(p, s)
}

func TestWindowLayout(t *testing.T) {
	require.EqualValues(t, 128, unsafe.Sizeof(nscc.Window{}), "two cache lines; the goal is 176 bytes")
	typ := reflect.TypeFor[nscc.Window]()
	for _, f := range reflect.VisibleFields(typ) {
		k := f.Type.Kind()
		require.True(t, f.Anonymous || k >= reflect.Bool && k <= reflect.Float64 && k != reflect.Uintptr, "%s is a %s", f.Name, k)
	}
}

// A run is as many packets as CanSend and OnSend let go one by one.
func TestWindowOnSendRun(t *testing.T) {
	p, fresh := started(t, fabric100())
	for _, inflight := range []int64{-255, 0, 4_096, 225_000 - 3*4_096 - 1, 225_000 - 4_096, 225_000 - 4_095, 225_000, 300_000} {
		for _, size := range []int64{1, 100, 4_095, 4_096} {
			for _, most := range []int{0, 1, 2, 3, 4, 64, math.MaxInt} {
				single, run := *fresh, *fresh
				single.OnSend(inflight)
				run.OnSend(inflight)
				n := 0
				for ; n < most && single.CanSend(p, size); n++ {
					single.OnSend(size)
				}
				require.Equal(t, n, run.OnSendRun(p, size, most), "%d of %d bytes, %d in flight", most, size, inflight)
				require.Equal(t, single, run)
			}
		}
	}
}

func TestWindowInit(t *testing.T) {
	p := must(t, fabric100())
	var w nscc.Window
	w.Init(p, 77, 0)
	s := w.Snapshot()
	require.Equal(t, nscc.Snapshot{Cwnd: 225_000, MaxWnd: 225_000, BaseRTT: 12_000,
		LastAdjust: 77, LastDecrease: 77, LastSample: 77}, s)
}

func TestWindowInitMeasured(t *testing.T) {
	for _, tc := range []struct {
		name               string
		cached             int64
		base, ceiling, wnd int64
	}{
		{"smaller than configured", 6_000, 6_000, 112_500, 112_500},
		{"larger means configured", 13_000, 12_000, 225_000, 225_000},
		{"zero means configured", 0, 12_000, 225_000, 225_000},
		{"negative means configured", -5, 12_000, 225_000, 225_000},
		{"a window is never below one MTU", 1, 1, 4_096, 4_096},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := must(t, fabric100())
			var w nscc.Window
			w.Init(p, 0, tc.cached)
			s := w.Snapshot()
			require.Equal(t, []int64{tc.base, tc.ceiling, tc.wnd}, []int64{s.BaseRTT, s.MaxWnd, s.Cwnd})
			require.Equal(t, tc.base, w.BaseRTT())
		})
	}
}

// inflight + MTU <= cwnd, whatever the size of the next packet.
func TestWindowCanSend(t *testing.T) {
	p, w := started(t, fabric100())
	set(p, w, func(s *nscc.Snapshot) { s.Cwnd, s.Inflight = 100_000, 100_000-4_096 })
	require.True(t, w.CanSend(p, 4_096), "exactly one MTU of room")
	w.OnSend(1)
	require.False(t, w.CanSend(p, 64), "a small packet must not overtake a large one")
	set(p, w, func(s *nscc.Snapshot) { s.Inflight = 120_000 })
	require.False(t, w.CanSend(p, 1), "in flight exceeds a window that was cut")
	set(p, w, func(s *nscc.Snapshot) { s.Cwnd, s.Inflight = 4_096, -212 })
	require.True(t, w.CanSend(p, 4_096), "slightly negative in flight")

	c := fabric100()
	c.Profile = nscc.ProfileHTSim
	p, w = started(t, c)
	w.OnSend(225_000 - 64)
	require.True(t, w.CanSend(p, 64))
	require.False(t, w.CanSend(p, 65))
}

func TestWindowAckRequest(t *testing.T) {
	p, w := started(t, fabric100())
	w.OnSend(225_000 - 4_096)
	require.False(t, w.AckRequest(p), "one more MTU fits")
	w.OnSend(1)
	require.True(t, w.AckRequest(p))

	set(p, w, func(s *nscc.Snapshot) { s.Cwnd, s.Inflight = 16_383, 0 })
	require.True(t, w.AckRequest(p), "the destination would wait for more than the window")
	set(p, w, func(s *nscc.Snapshot) { s.Cwnd = 16_384 })
	require.False(t, w.AckRequest(p))

	c := fabric100()
	c.AckTrigger = 32 << 10
	p = must(t, c)
	require.True(t, w.AckRequest(p), "a larger trigger was configured")
}

// A packet was taken for lost, arrives after all, and is acknowledged before it
// was sent again: in flight must end where it began.
func TestWindowUnmarkKeepsInflight(t *testing.T) {
	for _, lost := range []string{"inferred", "trimmed"} {
		t.Run(lost, func(t *testing.T) {
			p, w := started(t, fabric100())
			w.OnSend(4_096)
			w.OnSend(4_096)
			if lost == "inferred" {
				w.OnInferredLoss(p, 4_096)
			} else {
				w.OnNACK(p, 1, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
			}
			w.OnUnmark(4_096)
			w.OnACK(p, 2, nscc.Ack{Bytes: 8_192})
			require.Zero(t, w.Inflight())
		})
	}
}

func TestWindowProbeLowersBase(t *testing.T) {
	p, w := started(t, fabric100())
	for _, useless := range []int64{0, -1, math.MinInt64, 12_000, math.MaxInt64} {
		w.SampleBase(p, useless)
		require.EqualValues(t, 12_000, w.BaseRTT())
	}
	w.SampleBase(p, 10_000)
	s := w.Snapshot()
	require.EqualValues(t, 10_000, s.BaseRTT)
	require.EqualValues(t, 187_500, s.MaxWnd)
	require.EqualValues(t, 225_000, s.Cwnd, "clamped when the increase is applied next")
	w.OnACK(p, 12_000, nscc.Ack{Bytes: 4_096, RTT: 12_000})
	require.EqualValues(t, 187_500, w.Cwnd())
}

// The ceiling follows the sender's link, but a shorter path must not lift it above
// what the slower receiver allows.
func TestWindowBaseNeverRaisesCeiling(t *testing.T) {
	c := fabric100()
	c.LinkRate, c.ReceiverRate = 400*gbps, 100*gbps
	p, w := started(t, c)
	w.SampleBase(p, 11_999)
	require.EqualValues(t, 225_000, w.Snapshot().MaxWnd)
	w.SampleBase(p, 1_000)
	require.EqualValues(t, 75_000, w.Snapshot().MaxWnd)
}

func TestWindowSnapshotResume(t *testing.T) {
	p, w := started(t, fabric100())
	now := int64(0)
	for i := range int64(500) {
		now += 300
		w.OnSend(4_096)
		w.OnACK(p, now, nscc.Ack{Bytes: 4_096, RTT: 12_000 + i*70%20_000, ECN: i%3 == 0, Pend: uint8(i % 5)})
		if i%50 == 0 {
			w.OnNACK(p, now, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
		}
	}
	var again nscc.Window
	again.Resume(p, w.Snapshot())
	require.Equal(t, w.Snapshot(), again.Snapshot())
}

// A window goes on elsewhere as where it was, but for the fraction of a tick in its average. With ProfileAdaptive a
// loss without delay was forgotten, and the next acknowledgement of a window of two packets added the worth of dozens;
// and 4 GiB acknowledged without delay were taken for a search for the base round trip.
func TestWindowGoesOnElsewhere(t *testing.T) {
	for profile := range nscc.ProfileAdaptive + 1 {
		c := fabric100()
		c.Profile = profile
		p, w := started(t, c)
		r, now, differ := rand.New(rand.NewPCG(4, uint64(profile))), int64(0), 0
		for i := range 60_000 {
			now += r.Int64N(3_000)
			act := func(w *nscc.Window, n int64, rtt int64, kind int) {
				switch {
				case kind == 0:
					w.OnInferredLoss(p, n)
				case kind == 1:
					w.OnNACK(p, now, nscc.Nack{Size: n, RTT: rtt, Reason: nscc.ReasonTrimmed})
				default:
					w.OnACK(p, now, nscc.Ack{Bytes: n, RTT: rtt, ECN: kind == 2})
				}
			}
			n, rtt, kind := int64(4_096), 12_000+r.Int64N(20_000), r.IntN(100)
			switch i / 10_000 % 4 {
			case 1: // losses, and no delay
				rtt, kind = 12_000, r.IntN(4)*100
			case 3: // nothing but good news
				n, rtt, kind = 1<<20, 12_000, 100
			}
			w.OnSend(n)
			was := w.Snapshot()
			var again nscc.Window
			again.Resume(p, was)
			act(w, n, rtt, kind)
			act(&again, n, rtt, kind)
			want, got := w.Snapshot(), again.Snapshot()
			require.Equal(t, want.Fast, got.Fast, "%v %d", profile, i)
			if max(want.Cwnd-got.Cwnd, got.Cwnd-want.Cwnd) > 8 {
				differ++
			}
		}
		require.Less(t, differ, 5, "%v: where the fraction decides about a cut", profile)
	}
}

func TestWindowResumeBringsIntoRange(t *testing.T) {
	p, w := started(t, fabric100())
	w.Resume(p, nscc.Snapshot{})
	s := w.Snapshot()
	require.Equal(t, []int64{4_096, 4_096, 1}, []int64{s.Cwnd, s.MaxWnd, s.BaseRTT})
	big := int64(math.MaxInt64)
	w.Resume(p, nscc.Snapshot{Cwnd: big, MaxWnd: big, BaseRTT: big, Inflight: big, SavedCwnd: big, QDelay: big, AvgDelay: big,
		AchievedBytes: big, ReceivedBytes: big, IncBytes: math.NaN(), FastCount: big, BytesToIgnore: big, BytesIgnored: big})
	s = w.Snapshot()
	require.Equal(t, []int64{225_000, 225_000, 12_000}, []int64{s.Cwnd, s.MaxWnd, s.BaseRTT})
	require.Zero(t, s.IncBytes)
	w.OnACK(p, 100_000, nscc.Ack{Bytes: 4_096, RTT: 30_000, Restore: true})
	require.LessOrEqual(t, w.Cwnd(), int64(225_000))
	w.Resume(p, nscc.Snapshot{SavedCwnd: 1})
	w.OnACK(p, 100_000, nscc.Ack{Restore: true})
	require.Equal(t, int64(4_096), w.Cwnd(), "what a penalty saved under a smaller MTU")
}

func TestWindowAllocs(t *testing.T) {
	for _, c := range []nscc.Config{
		fabric100(),
		{LinkRate: 100 * gbps, BaseRTT: 12_000, MTU: 4_096, Profile: nscc.ProfileHTSim},
		{LinkRate: 100 * gbps, BaseRTT: 12_000, MTU: 4_096, ForgettingFilter: true},
	} {
		p, w := started(t, c)
		now := int64(0)
		ack := func(a nscc.Ack) func() {
			return func() { now += 100; w.OnACK(p, now, a) }
		}
		for name, fn := range map[string]func(){
			"OnACK/proportional": ack(nscc.Ack{Bytes: 4_096, RTT: 15_000}),
			"OnACK/fast":         ack(nscc.Ack{Bytes: 4_096, RTT: 12_000}),
			"OnACK/fair":         ack(nscc.Ack{Bytes: 4_096, RTT: 40_000}),
			"OnACK/decrease":     ack(nscc.Ack{Bytes: 4_096, RTT: 90_000, ECN: true}),
			"OnACK/penalty":      ack(nscc.Ack{Bytes: 4_096, RTT: 15_000, Pend: 64}),
			"OnACK/restore":      ack(nscc.Ack{Bytes: 4_096, Restore: true}),
			"OnPlainACK":         func() { now += 100; w.OnPlainACK(p, now, nscc.MakePlainAck(4_096, 15_000, false)) },
			"OnNACK":             func() { w.OnNACK(p, now, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed}) },
			"OnInferredLoss":     func() { w.OnInferredLoss(p, 4_096) },
			"OnSend":             func() { w.OnSend(4_096); w.AckRequest(p); w.CanSend(p, 4_096); w.OnUnmark(-4_096) },
			"Snapshot":           func() { w.Resume(p, w.Snapshot()) },
			"Init":               func() { w.Init(p, now, 0) },
		} {
			alloctest.Zero(t, c.Profile.String()+" "+name, fn)
		}
		require.NotZero(t, w.Cwnd())
	}
}

// ProfileAdaptive takes a longer base round trip than the configured one too, and does not take
// the first sample in its place, even where the configuration is a guess.
func TestWindowInitMeasuredAdaptive(t *testing.T) {
	c := fabric100()
	c.Profile, c.Unmeasured = nscc.ProfileAdaptive, true
	p := must(t, c)
	for _, cached := range []int64{5_000, 40_000} {
		var w nscc.Window
		w.Init(p, 0, cached)
		w.OnSend(4096)
		w.OnACK(p, 100_000, nscc.Ack{Bytes: 4096, RTT: 60_000})
		require.Equal(t, cached, w.BaseRTT())
		require.Equal(t, 100*gbps*cached*3/2/1e9, w.Snapshot().MaxWnd)
	}
	var w nscc.Window
	w.Init(p, 0, 0)
	w.OnSend(4096)
	w.OnACK(p, 100_000, nscc.Ack{Bytes: 4096, RTT: 60_000})
	require.EqualValues(t, 60_000, w.BaseRTT(), "what was not measured before is now")
}
