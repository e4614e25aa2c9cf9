// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// nsccAt is a window of cwnd bytes at time 0 on a fabric of c, its periods just
// begun.
func nsccAt(t testing.TB, c nscc.Config, cwnd int64) (*nscc.Params, *nscc.Window) {
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	var w nscc.Window
	w.Init(&p, 0, 0)
	s := w.Snapshot()
	s.Cwnd, s.QAEnd = cwnd, math.MaxInt64
	w.Resume(&p, s)
	return &p, &w
}

// What the constants mean: a window acknowledged in one round trip grows by fi, by
// 4 x scaling_a x (Qt - Q) / 12 us MTU, or by the factor 1 + fi_scale.
func TestNSCCIncreasePerRoundTrip(t *testing.T) {
	for _, rate := range []int64{100, 400, 800} {
		c := nscc.Config{LinkRate: rate * 125_000_000, BaseRTT: 12_000, MTU: 4096, Trimming: true}
		c.Tuning.Eta = 1e-9 // alone below
		c.Tuning.AdjustBytes, c.Tuning.MaxWnd = 1, 1<<30
		a := float64(rate) / 100
		start := int64(100_000 * a)
		for _, tc := range []struct {
			name   string
			qdelay int64
			fast   bool
			want   float64 // bytes
		}{
			{"fair", 9_000, false, 5 * a * 4096},
			{"proportional, no delay", 0, false, 3 * a * 4096},
			{"proportional, 6 us", 6_000, false, a * 4096},
			{"proportional, at target less a tick", 8_999, false, a * 4096 / 3000},
			{"fast", 0, true, 0.25 * a * float64(start)},
		} {
			t.Run(fmt.Sprintf("%dG %s", rate, tc.name), func(t *testing.T) {
				p, w := nsccAt(t, c, start)
				if tc.fast {
					s := w.Snapshot()
					s.Fast = true
					w.Resume(p, s)
				}
				w.OnACK(p, 0, nscc.Ack{Bytes: start, RTT: 12_000 + tc.qdelay})
				require.InDelta(t, tc.want, float64(w.Cwnd()-start), 1)
			})
		}
		t.Run(fmt.Sprintf("%dG eta", rate), func(t *testing.T) {
			c.Tuning.Eta = 0
			p, w := nsccAt(t, c, start)
			w.OnACK(p, 12_000, nscc.Ack{RTT: 15_000, ECN: true})
			require.InDelta(t, 0.15*a*4096, float64(w.Cwnd()-start), 1)
		})
	}
}

// Weeks without loss: windows at the largest value there is, one below it, and
// at the floor, ten million acknowledgements each, no overflow, no shrinking.
func TestNSCCNoLossForever(t *testing.T) {
	huge := nscc.Config{LinkRate: 1 << 42, BaseRTT: 60_000, MTU: 4096, Trimming: true}
	huge.Tuning.MaxWnd = nscc.MaxWindow
	for _, tc := range []struct {
		name string
		cwnd int64
		rtt  int64
	}{
		{"largest window, no delay", nscc.MaxWindow, 60_000},
		{"one below, delay at target", nscc.MaxWindow - 1, 105_000},
		{"smallest window, long delay", 4096, 1_000_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, w := nsccAt(t, huge, tc.cwnd)
			last, now := w.Cwnd(), int64(0)
			for i := range 10_000_000 {
				now += 100
				w.OnSend(4096)
				w.OnACK(p, now, nscc.Ack{Bytes: 4096, RTT: tc.rtt})
				if cwnd := w.Cwnd(); cwnd < last || cwnd > nscc.MaxWindow {
					require.Failf(t, "window", "acknowledgement %d: %d after %d", i, cwnd, last)
				} else {
					last = cwnd
				}
			}
			require.Equal(t, nscc.MaxWindow, last)
			require.Zero(t, w.Inflight())
		})
	}
}

// Without a mark, a loss, a penalty or a shorter path the window never shrinks,
// whatever the delays, the sizes and the clock do.
func TestNSCCNoSignalNeverShrinks(t *testing.T) {
	for i, c := range nsccFabrics() {
		if c.Profile != nscc.ProfileSpec || !c.Trimming { // without trimming delay is a signal of loss
			continue
		}
		t.Run(fmt.Sprint("fabric ", i), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			p, err := nscc.NewParams(c)
			require.NoError(t, err)
			for range 20 {
				var w nscc.Window
				w.Init(&p, 0, 0)
				s := w.Snapshot()
				s.Cwnd = p.MTU() + rng.Int64N(p.MaxWnd()-p.MTU()+1)
				w.Resume(&p, s)
				now := int64(0)
				for range 3_000 {
					now += rng.Int64N(c.BaseRTT/2+1) - c.BaseRTT/20
					before := w.Cwnd()
					w.OnACK(&p, now, nscc.Ack{Bytes: rng.Int64N(4 * p.MTU()), RTT: c.BaseRTT + rng.Int64N(8*c.BaseRTT)*rng.Int64N(2)})
					require.GreaterOrEqual(t, w.Cwnd(), before)
				}
			}
		})
	}
}

// A sender that has less to send than the network takes: with GrowOnlyFull the
// window stays where it is, however good the news; by default it reaches the
// ceiling. A sender that fills its window grows in both.
func TestNSCCUnusedWindow(t *testing.T) {
	for _, only := range []bool{false, true} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprintf("GrowOnlyFull=%v busy=%v", only, busy), func(t *testing.T) {
				c := nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4096, Trimming: true, GrowOnlyFull: only}
				p, w := nsccAt(t, c, 60_000)
				for now := int64(0); now < 2_000_000; now += 400 {
					for w.CanSend(p, 4096) && (busy || w.Inflight() == 0) {
						w.OnSend(4096)
					}
					w.OnACK(p, now, nscc.Ack{Bytes: 4096, RTT: 13_000})
				}
				if only && !busy {
					require.InDelta(t, 60_000, w.Cwnd(), 614.4*2_000/12+1, "eta alone, which is unconditional")
				} else {
					require.EqualValues(t, 225_000, w.Cwnd())
				}
			})
		}
	}
}

// After any history of trims, losses, marks, penalties and odd clocks the window
// is back at 90 % of its ceiling within 50 round trips of quiet, and fast increase
// does not flap on the way.
func TestNSCCHeals(t *testing.T) {
	for i, c := range nsccFabrics()[:5] { // the realistic ones
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			r := newNSCCRun(t, c)
			for range 300 {
				e := randomNSCCEvent(rng, c, &r.w)
				if e.rtt < c.BaseRTT {
					e.rtt = c.BaseRTT // the path stays the same
				}
				if rng.IntN(4) == 0 {
					e.kind, e.reason, e.pend = uint8(4+rng.IntN(2)), 1, uint8(rng.IntN(128))
				}
				r.apply(t, e)
			}
			if rng.IntN(2) == 0 {
				r.now -= c.BaseRTT // the clock stumbles
			}
			rounds, flips := nsccQuietRounds(r, c)
			require.LessOrEqual(t, rounds, 50, "fabric %d seed %d: %+v", i, seed, r.w.Snapshot())
			require.LessOrEqual(t, flips, 2, "fabric %d seed %d", i, seed)
		}
	}
}

// nsccQuietRounds acknowledges window after window without a mark at about no
// delay. It returns the round trips until 90 % of the ceiling, and how often fast
// increase was switched.
func nsccQuietRounds(r *nsccRun, c nscc.Config) (rounds, flips int) {
	for ; rounds <= 50 && r.w.Cwnd() < r.w.Snapshot().MaxWnd*9/10; rounds++ {
		packets := max(r.w.Cwnd()/r.p.MTU(), 1)
		for range packets {
			fast := r.w.Snapshot().Fast
			r.now += c.BaseRTT / packets
			r.w.OnACK(&r.p, r.now, nscc.Ack{Bytes: r.p.MTU(), RTT: c.BaseRTT + 100})
			if fast != r.w.Snapshot().Fast {
				flips++
			}
		}
	}
	return rounds, flips
}

// A closed loop in which the clock of the host ticks coarsely: one bottleneck of
// half the link's rate. The window must neither collapse nor stay at its ceiling.
func TestNSCCCoarseClock(t *testing.T) {
	for _, tick := range []int64{1, 128, 1_000, 512 << 3, 512 << 6} {
		t.Run(fmt.Sprint(tick, " ns"), func(t *testing.T) {
			c := nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4096, Trimming: true}
			p, w := nsccAt(t, c, 225_000)
			s := w.Snapshot()
			s.QAEnd = 0
			w.Resume(p, s)
			const perPacket = 4096 * 2 * 1_000_000_000 / 12_500_000_000 // ns at the bottleneck
			least, bytes := int64(math.MaxInt64), int64(0)
			for now := int64(0); now < 20_000_000; now += perPacket {
				queue := max(w.Cwnd()-75_000, 0) // what does not fit the path waits
				sample := (12_000 + queue*2/25*2) / tick * tick
				w.OnACK(p, now/tick*tick, nscc.Ack{Bytes: 4096, RTT: sample, ECN: queue > 75_000})
				if now > 1_000_000 {
					least = min(least, w.Cwnd())
				}
				bytes += 4096
			}
			require.Greater(t, least, int64(3*4096))
			if tick < 12_000 {
				require.Greater(t, least, int64(60_000), "the bottleneck would run dry")
				require.Less(t, w.Cwnd(), int64(225_000))
			}
		})
	}
}

// Every pair of cases and every event after each case, in and out of fast increase,
// inside and at the end of the quick-adapt period, against the model.
func TestNSCCStateCoverage(t *testing.T) {
	cases := map[string]nsccEvent{
		"proportional": {bytes: 4096, rtt: 15_000},
		"fast":         {bytes: 4096, rtt: 12_500},
		"fair":         {bytes: 4096, rtt: 40_000},
		"hold":         {bytes: 4096, rtt: 15_000, flags: 1},
		"decrease":     {bytes: 4096, rtt: 90_000, flags: 1},
		"penalty":      {bytes: 4096, rtt: 15_000, pend: 64},
		"penalty+mark": {bytes: 4096, rtt: 90_000, flags: 1, pend: 127},
		"restore":      {bytes: 4096, rtt: 15_000, flags: 2},
		"no sample":    {bytes: 4096, flags: 1},
		"shorter path": {bytes: 4096, rtt: 11_000},
		"nothing new":  {rtt: 15_000},
		"trim":         {kind: 4, bytes: 4096, rtt: 13_000, reason: 1},
		"last hop":     {kind: 4, bytes: 4096, rtt: 13_000, reason: 2},
		"refusal":      {kind: 4, bytes: 4096, reason: 0},
		"loss":         {kind: 5, bytes: 4096},
		"send":         {kind: 6, bytes: 4096},
		"unmark":       {kind: 7, bytes: 4096},
	}
	met := map[nscc.Action]bool{}
	for i, c := range nsccFabrics()[:5] {
		for state, first := range cases {
			for event, second := range cases {
				for _, warm := range []int{1, 120} { // acknowledgements at about no delay: out of and in fast increase
					for _, step := range []int64{10, 50_000} {
						r := newNSCCRun(t, c)
						r.apply(t, nsccEvent{kind: 6, bytes: 60_000})
						for range warm {
							r.apply(t, nsccEvent{kind: 6, bytes: c.MTU, step: 100})
							r.apply(t, nsccEvent{bytes: c.MTU, rtt: 12_100})
						}
						first.step, second.step = step, step
						for range 3 {
							r.apply(t, first)
							r.apply(t, second)
						}
						require.NotNil(t, r.model, "fabric %d: %s after %s", i, event, state)
						for a := range r.seen {
							met[a] = true
						}
					}
				}
			}
		}
	}
	for a := nscc.ActionNone; a <= nscc.ActionReduce; a++ {
		require.True(t, met[a], "action %s", a)
	}
}
