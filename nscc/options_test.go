// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// outcome drives a window through a round of everything and returns its windows.
func outcome(t *testing.T, c nscc.Config) []int64 {
	p, w := started(t, c)
	var got []int64
	now := int64(1)
	step := func(n int64, a nscc.Ack) {
		for range n {
			now += 700
			w.OnSend(4_096)
			a.Bytes = 4_096
			w.OnACK(p, now, a)
		}
		got = append(got, w.Cwnd(), w.Snapshot().AvgDelay)
	}
	for range 30 {
		w.OnSend(4_096)
	}
	step(40, nscc.Ack{RTT: 60_000, ECN: true})
	step(3, nscc.Ack{RTT: 17_000, Pend: 9})
	step(30, nscc.Ack{RTT: 17_000})
	step(30, nscc.Ack{RTT: 22_500})
	w.OnNACK(p, now, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmedLastHop})
	step(20, nscc.Ack{RTT: 90_000, ECN: true})
	step(60, nscc.Ack{RTT: 12_500})
	for _, rtt := range []int64{17_000, 17_000, 63_000} { // too late for what got through to count
		now += 100_000
		step(1, nscc.Ack{RTT: rtt})
	}
	w.OnUnmark(-w.Inflight())
	if w.AckRequest(p) {
		got = append(got, -1)
	}
	return got
}

// Every field of Config and Tuning changes what a window does: an option that is
// not wired up is a bug that no other test sees.
func TestConfigEveryFieldHasEffect(t *testing.T) {
	base := outcome(t, fabric100())
	for name, change := range map[string]func(*nscc.Config){
		"LinkRate":            func(c *nscc.Config) { c.LinkRate = 200 * gbps },
		"ReceiverRate":        func(c *nscc.Config) { c.ReceiverRate = 50 * gbps },
		"BaseRTT":             func(c *nscc.Config) { c.BaseRTT = 13_000 },
		"MTU":                 func(c *nscc.Config) { c.MTU = 9_000 },
		"Trimming":            func(c *nscc.Config) { c.Trimming = false },
		"RCCC":                func(c *nscc.Config) { c.RCCC = true },
		"InitialCwnd":         func(c *nscc.Config) { c.InitialCwnd = 32_000 },
		"AckTrigger":          func(c *nscc.Config) { c.AckTrigger = 1 << 20 },
		"Profile htsim":       func(c *nscc.Config) { c.Profile = nscc.ProfileHTSim },
		"Profile htsim-wide":  func(c *nscc.Config) { c.Profile = nscc.ProfileHTSimWide },
		"Picoseconds":         func(c *nscc.Config) { c.Picoseconds, c.BaseRTT = true, 12_000_000 },
		"ForgettingFilter":    func(c *nscc.Config) { c.ForgettingFilter = true },
		"GrowOnlyFull":        func(c *nscc.Config) { c.GrowOnlyFull = true },
		"PenaltyShareOnly":    func(c *nscc.Config) { c.PenaltyShareOnly = true },
		"Tuning.MaxWnd":       func(c *nscc.Config) { c.Tuning.MaxWnd = 180_000 },
		"Tuning.TargetQdelay": func(c *nscc.Config) { c.Tuning.TargetQdelay = 8_000 },
		"Tuning.FairIncrease": func(c *nscc.Config) { c.Tuning.FairIncrease = 10_000 },
		"Tuning.FastScale":    func(c *nscc.Config) { c.Tuning.FastScale = 0.125 },
		"Tuning.Eta":          func(c *nscc.Config) { c.Tuning.Eta = nscc.AdditiveStep(10) },
		"Tuning.Gamma":        func(c *nscc.Config) { c.Tuning.Gamma = 0.4 },
		"Tuning.MaxMDJump":    func(c *nscc.Config) { c.Tuning.MaxMDJump = 0.9 },
		"Tuning.AdjustBytes":  func(c *nscc.Config) { c.Tuning.AdjustBytes = 8_192 },
		"Tuning.AdjustPeriod": func(c *nscc.Config) { c.Tuning.AdjustPeriod = 50_000 },
		"Tuning.FastDelay":    func(c *nscc.Config) { c.Tuning.FastDelay = 100 },
		"Tuning.QAGate":       func(c *nscc.Config) { c.Tuning.QAGate = -1 },
		"Tuning.QAThreshold":  func(c *nscc.Config) { c.Tuning.QAThreshold = 50_000 },
		"Tuning.NoQuickAdapt": func(c *nscc.Config) {
			c.Tuning.NoQuickAdapt = true
			c.Tuning.QAGate = -1
			c.Tuning.QAThreshold = 50_000
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := fabric100()
			change(&c)
			with := base
			if c.Tuning.NoQuickAdapt {
				c.Tuning.NoQuickAdapt = false
				with = outcome(t, c)
				c.Tuning.NoQuickAdapt = true
			}
			require.NotEqual(t, with, outcome(t, c))
		})
	}
}

// The two htsim profiles differ where the accumulator passes 2^32.
func TestProfileHTSimWraps(t *testing.T) {
	wnd := map[nscc.Profile]int64{}
	for _, profile := range []nscc.Profile{nscc.ProfileHTSim, nscc.ProfileHTSimWide} {
		c := fabric100()
		c.LinkRate, c.Profile, c.InitialCwnd = 800*gbps, profile, 900_000
		p, w := started(t, c)
		for range 8 {
			w.OnACK(p, 1, nscc.Ack{Bytes: 4_096, RTT: 30_000})
		}
		wnd[profile] = int64(w.Snapshot().IncBytes)
	}
	fi := int64(5 * (4_096 - 64) * 8 * 4_096)
	require.Equal(t, map[nscc.Profile]int64{nscc.ProfileHTSim: 8 * fi % (1 << 32), nscc.ProfileHTSimWide: 8 * fi}, wnd)
	require.Greater(t, 8*fi, int64(1<<32))
}

// The same fabric in nanoseconds and in picoseconds gives the same windows.
func TestTimeUnit(t *testing.T) {
	var wnd [2]int64
	for i, scale := range []int64{1, 1_000} {
		c := fabric100()
		c.Picoseconds, c.BaseRTT = scale > 1, c.BaseRTT*scale
		p, w := started(t, c)
		for j := range int64(400) {
			w.OnACK(p, j*500*scale, nscc.Ack{Bytes: 4_096, RTT: (32_000 + j*37%5_000) * scale, ECN: j%3 != 0})
		}
		wnd[i] = w.Cwnd()
	}
	require.Equal(t, wnd[0], wnd[1])
	require.Less(t, wnd[0], int64(225_000))
}

func TestEnumNames(t *testing.T) {
	for got, want := range map[string]string{
		nscc.ProfileSpec.String(): "spec", nscc.ProfileHTSim.String(): "htsim", nscc.ProfileHTSimWide.String(): "htsim-wide",
		nscc.Profile(9).String(): "Profile(9)", nscc.ReasonOther.String(): "other",
		nscc.ReasonTrimmed.String(): "trimmed", nscc.SampleProbe.String(): "probe", nscc.ReasonTrimmedLastHop.String(): "trimmed-lasthop",
		nscc.NackReason(9).String(): "NackReason(9)",
	} {
		require.Equal(t, want, got)
	}
}
