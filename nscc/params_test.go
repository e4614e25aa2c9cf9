// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

const gbps = int64(1e9 / 8) // bytes a second

// fabric100 is 100 Gb/s, 12 us, trimming: the reference of the formulas.
func fabric100() nscc.Config {
	return nscc.Config{LinkRate: 100 * gbps, BaseRTT: 12_000, MTU: 4096, Trimming: true}
}

// must builds Params from a configuration known to be good.
func must(t testing.TB, c nscc.Config) *nscc.Params {
	t.Helper()
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	return &p
}

func TestNewParamsDefaultSets(t *testing.T) {
	for _, tc := range []struct {
		name                string
		rate, base          int64
		trim                bool
		bdp, maxWnd         int64
		a                   float64
		target              int64
		alpha               float64
		fi, fiScale, eta    float64
		gate                int64
		adjustBytes, period int64
	}{
		{"100G 6us", 100, 6_000, true, 75_000, 112_500, 0.5, 4_500, 6.82667e8, 10_240, 0.125, 307.2, 14_062, 32_768, 6_000},
		{"100G 12us", 100, 12_000, true, 150_000, 225_000, 1, 9_000, 1.36533e9, 20_480, 0.25, 614.4, 28_125, 32_768, 12_000},
		{"100G 12us without trimming", 100, 12_000, false, 150_000, 225_000, 1, 12_000, 1.36533e9, 20_480, 0.25, 614.4, 28_125, 32_768, 12_000},
		{"400G 12us", 400, 12_000, true, 600_000, 900_000, 4, 9_000, 5.46133e9, 81_920, 1.0, 2_457.6, 112_500, 32_768, 12_000},
		{"800G 12us", 800, 12_000, true, 1_200_000, 1_800_000, 8, 9_000, 1.09227e10, 163_840, 2.0, 4_915.2, 225_000, 32_768, 12_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := must(t, nscc.Config{LinkRate: tc.rate * gbps, BaseRTT: tc.base, MTU: 4096, Trimming: tc.trim})
			k := p.Constants()
			require.Equal(t, []int64{tc.bdp, tc.maxWnd, tc.maxWnd, tc.target, tc.gate, tc.adjustBytes, tc.period, 1_000},
				[]int64{k.BDP, k.MaxWnd, k.InitialCwnd, k.TargetQdelay, k.QAGateBytes, k.AdjustBytes, k.AdjustPeriod, k.FastDelay})
			require.InDeltaSlice(t, []float64{tc.a, float64(tc.target) / 12_000, tc.fi, tc.fiScale, tc.eta, 0.8, 0.5},
				[]float64{k.ScalingA, k.ScalingB, k.FairIncrease, k.FastScale, k.Eta, k.Gamma, k.MaxMDJump}, 1e-9)
			require.InEpsilon(t, tc.alpha, k.Alpha, 1e-5)
			require.InEpsilon(t, tc.a*4*4096/12e-6, k.Alpha, 1e-12, "alpha does not depend on the target")
		})
	}
}

// A lone packet on a path of milliseconds that is acknowledged without delay has the window be
// what its ceiling allows, unless the increase is set to a tenth of what the path holds.
func TestAlphaOnALongPath(t *testing.T) {
	c := nscc.Config{LinkRate: gbps, BaseRTT: 10_000_000, MTU: 4096, InitialCwnd: 4096}
	for alpha, want := range map[float64]int64{0: 1_875_000, 4 * 4096 * float64(gbps) / 150_000: 145_722} {
		c.Tuning.Alpha = alpha
		p := must(t, c)
		var w nscc.Window
		w.Init(p, 0, 0)
		w.OnSend(4096)
		w.OnACK(p, c.BaseRTT+2_000, nscc.Ack{Bytes: 4096, RTT: c.BaseRTT + 2_000})
		require.Equal(t, want, w.Cwnd())
	}
}

func TestNewParamsQAThreshold(t *testing.T) {
	c := fabric100()
	require.Greater(t, must(t, c).Constants().QAThreshold, int64(math.MaxInt64/4), "with trimming no delay asks for a quick adapt")
	c.Trimming = false
	require.EqualValues(t, 48_000, must(t, c).Constants().QAThreshold)
	c.Profile, c.Trimming = nscc.ProfileHTSim, true
	require.EqualValues(t, 36_000, must(t, c).Constants().QAThreshold)
	k := must(t, c).Constants()
	require.Equal(t, k.MaxWnd>>3, k.QAGateBytes)
	c.Tuning.QAGate = 5
	require.Equal(t, k.MaxWnd>>5, must(t, c).Constants().QAGateBytes)
}

// UET congestion chapters, figures 6-7 and 6-8, Calculating Initial CWND.
func TestNewParamsChapterBDP(t *testing.T) {
	c := nscc.Config{LinkRate: 100 * gbps, BaseRTT: 6_000, MTU: 4096}
	k := must(t, c).Constants()
	require.EqualValues(t, 600_000, 8*k.BDP)
	require.EqualValues(t, 75_000, k.BDP)
	require.EqualValues(t, 100e9, 8*k.BDP*1e9/c.BaseRTT, "one BDP a round trip is the full rate")
	require.EqualValues(t, 112_500, k.MaxWnd)

	c.ReceiverRate = 400 * gbps
	require.EqualValues(t, 75_000, must(t, c).Constants().BDP, "the slower end decides")
	c.LinkRate = 400 * gbps
	require.EqualValues(t, 300_000, must(t, c).Constants().BDP)
	c.ReceiverRate = 100 * gbps
	require.EqualValues(t, 75_000, must(t, c).Constants().BDP)
}

func TestNewParamsInitialCwnd(t *testing.T) {
	for _, size := range []int64{10_000, 32_000, 4 * 4096} {
		c := fabric100()
		c.InitialCwnd = size
		p := must(t, c)
		var w nscc.Window
		w.Init(p, 0, 0)
		require.Equal(t, size, w.Cwnd())
		require.EqualValues(t, 225_000, w.Snapshot().MaxWnd)
	}
}

func TestNewParamsRejects(t *testing.T) {
	for field, breakIt := range map[string]func(*nscc.Config){
		"LinkRate is 0":              func(c *nscc.Config) { c.LinkRate = 0 },
		"LinkRate is -1":             func(c *nscc.Config) { c.LinkRate = -1 },
		"LinkRate is 92":             func(c *nscc.Config) { c.LinkRate = math.MaxInt64 },
		"ReceiverRate":               func(c *nscc.Config) { c.ReceiverRate = -1 },
		"BaseRTT is 0":               func(c *nscc.Config) { c.BaseRTT = 0 },
		"BaseRTT is 60000000001":     func(c *nscc.Config) { c.BaseRTT = 60e9 + 1 },
		"MTU is 0":                   func(c *nscc.Config) { c.MTU = 0 },
		"MTU is 65537":               func(c *nscc.Config) { c.MTU = 1<<16 + 1 },
		"HostDelay is -1":            func(c *nscc.Config) { c.HostDelay = -1 },
		"InitialCwnd is 4095":        func(c *nscc.Config) { c.InitialCwnd = 4095 },
		"InitialCwnd is 225001":      func(c *nscc.Config) { c.InitialCwnd = 225_001 },
		"GrowOnlyFull":               func(c *nscc.Config) { c.GrowOnlyFull, c.Profile = true, nscc.ProfileHTSim },
		"AckTrigger":                 func(c *nscc.Config) { c.AckTrigger = -1 },
		"MaxWnd is 1875":             func(c *nscc.Config) { c.BaseRTT = 100 },
		"LinkRate x BaseRTT":         func(c *nscc.Config) { c.BaseRTT = 60e9 },
		"Profile":                    func(c *nscc.Config) { c.Profile = nscc.ProfileAdaptive + 1 },
		"ForgettingFilter":           func(c *nscc.Config) { c.ForgettingFilter, c.Profile = true, nscc.ProfileHTSim },
		"Tuning.MaxWnd":              func(c *nscc.Config) { c.Tuning.MaxWnd = 1 << 32 },
		"Tuning.TargetQdelay":        func(c *nscc.Config) { c.Tuning.TargetQdelay = -1 },
		"Tuning.Alpha is -2":         func(c *nscc.Config) { c.Tuning.Alpha = -2 },
		"Tuning.FairIncrease is NaN": func(c *nscc.Config) { c.Tuning.FairIncrease = math.NaN() },
		"Tuning.FastScale is +Inf":   func(c *nscc.Config) { c.Tuning.FastScale = math.Inf(1) },
		"Tuning.Eta is -2":           func(c *nscc.Config) { c.Tuning.Eta = -2 },
		"Tuning.Gamma is 1.1":        func(c *nscc.Config) { c.Tuning.Gamma = 1.1 },
		"Tuning.MaxMDJump is 2":      func(c *nscc.Config) { c.Tuning.MaxMDJump = 2 },
		"Tuning.AdjustBytes":         func(c *nscc.Config) { c.Tuning.AdjustBytes = -2 },
		"Tuning.AdjustPeriod":        func(c *nscc.Config) { c.Tuning.AdjustPeriod = -2 },
		"Tuning.FastDelay":           func(c *nscc.Config) { c.Tuning.FastDelay = -2 },
		"Tuning.QAGate":              func(c *nscc.Config) { c.Tuning.QAGate = 63 },
		"Tuning.QAThreshold":         func(c *nscc.Config) { c.Tuning.QAThreshold = -2 },
	} {
		t.Run(field, func(t *testing.T) {
			c := fabric100()
			breakIt(&c)
			_, err := nscc.NewParams(c)
			require.ErrorIs(t, err, nscc.ErrConfig)
			require.ErrorContains(t, err, field)
		})
	}
}

// Half a byte of bandwidth-delay product counts: the specification computes with
// real numbers, and only the ceiling is cut to whole bytes.
func TestFractionalBDP(t *testing.T) {
	c := fabric100()
	c.BaseRTT = 11_959
	k := must(t, c).Constants()
	require.EqualValues(t, 149_487, k.BDP)
	require.EqualValues(t, 224_231, k.MaxWnd, "1.5 x 149,487.5 = 224,231.25")
	require.InDelta(t, 149_487.5/150_000, k.ScalingA, 1e-15)

	p := must(t, fabric100())
	var w nscc.Window
	w.Init(p, 0, 0)
	w.SampleBase(p, 11_959)
	require.EqualValues(t, 224_231, w.Snapshot().MaxWnd)
}

// Three quarters of a round trip need not be whole: the target is the first tick that is
// as long, but the simulator's, which cuts.
func TestFractionalTarget(t *testing.T) {
	c := nscc.Config{LinkRate: 25 * gbps, BaseRTT: 5575, MTU: 1500, Trimming: true}
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	require.EqualValues(t, 4182, p.Constants().TargetQdelay)
	c.Profile = nscc.ProfileHTSim
	p, err = nscc.NewParams(c)
	require.NoError(t, err)
	require.EqualValues(t, 4181, p.Constants().TargetQdelay)
	c.BaseRTT, c.Tuning.MaxWnd = 1, 1500 // a tick, the least there is
	p, err = nscc.NewParams(c)
	require.NoError(t, err)
	require.EqualValues(t, 1, p.Constants().TargetQdelay)
}

// TestWholeBytesOnce: an acknowledgement that enters fast increase and applies what had
// accumulated drops less than one byte, not one for each; nor does one that cuts.
func TestWholeBytesOnce(t *testing.T) {
	c := nscc.Config{LinkRate: 200 * gbps, BaseRTT: 13_312, MTU: 1024, Trimming: true}
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	var w nscc.Window
	w.Resume(&p, nscc.Snapshot{
		Cwnd: 1024, BaseRTT: 10_985, MaxWnd: 411_937, FastCount: 1024, ReceivedBytes: 8191,
		IncBytes: 138_457_451, QAEnd: 1, LastAdjust: 1,
	})
	w.OnACK(&p, 2, nscc.Ack{Bytes: 1024, RTT: 11_984})
	cwnd := 1024 + 0.25*332_800/150_000*1024 // 1591.98
	require.EqualValues(t, int64(cwnd+138_457_451/cwnd), w.Cwnd())
}

// Constants that may be zero are, where the field says -1; the others keep their defaults.
func TestTuningSetsConstantsToZero(t *testing.T) {
	c := fabric100()
	kept, err := nscc.NewParams(c)
	require.NoError(t, err)
	c.Tuning = nscc.Tuning{
		FairIncrease: -1, FastScale: -1, Eta: -1, Gamma: -1, MaxMDJump: -1, AdjustBytes: -1,
		AdjustPeriod: -1, Alpha: -1, FastDelay: -1, QAThreshold: -1,
	}
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	want, got := kept.Constants(), p.Constants()
	require.Zero(t, got.Alpha)
	require.Equal(t, [3]int64{want.TargetQdelay, want.MaxWnd, want.QAGateBytes}, [3]int64{got.TargetQdelay, got.MaxWnd, got.QAGateBytes})
	require.Zero(t, got.FairIncrease+got.FastScale+got.Eta+got.Gamma+got.MaxMDJump)
	require.Zero(t, got.AdjustBytes+got.AdjustPeriod+got.FastDelay+got.QAThreshold)

	// Without any increase or decrease a window stays, whatever comes.
	c.Tuning = nscc.Tuning{FairIncrease: -1, FastScale: -1, Eta: -1, Gamma: -1, Alpha: -1, NoQuickAdapt: true}
	c.InitialCwnd = 100_000
	q, w := started(t, c)
	for i := range int64(500) {
		w.OnACK(q, i*1000, nscc.Ack{Bytes: 4_096, RTT: c.BaseRTT + i%50*1000, ECN: i%3 == 0})
		require.EqualValues(t, 100_000, w.Cwnd(), "acknowledgement %d", i)
	}
}
