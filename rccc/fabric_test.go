// SPDX-License-Identifier: Apache-2.0

package rccc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func testFabric(t *testing.T) *FabricRate {
	f, err := NewFabricRate(FabricConfig{Oversubscription: 4, RTT: 9348})
	require.NoError(t, err)
	return &f
}

func TestNewFabricRate(t *testing.T) {
	for _, c := range []FabricConfig{{}, {Oversubscription: 4}, {Oversubscription: 0.5, RTT: 1}, {Oversubscription: 4, RTT: 1, Gain: 2}} {
		_, err := NewFabricRate(c)
		require.ErrorIs(t, err, ErrConfig)
	}
}

// The first interval of the recorded 4:1 run.
func TestFabricRateFallsToItsFloor(t *testing.T) {
	f := testFabric(t)
	require.Equal(t, 1.0, f.Step())
	for i := range 12 {
		if i < 3 {
			f.OnArrival(true)
		} else {
			f.OnTrim(false)
		}
	}
	require.Equal(t, 0.225, f.Step())
	marked, rises := f.Trend()
	require.Equal(t, 0.5, marked)
	require.Zero(t, rises)
	require.InDelta(t, 0.235, f.Step(), 1e-12, "each interval counts for itself")
	f.OnTrim(false)
	require.Equal(t, 0.225, f.Step(), "0.9 / 4 is the floor")
}

func TestFabricRateIgnoresTheLastHop(t *testing.T) {
	f := testFabric(t)
	for range 10 {
		f.OnTrim(true)
	}
	require.Equal(t, 1.0, f.Step())
}

// A packet can be marked in the fabric and trimmed at a later hop.
func TestFabricRateCountsMarksOfWholePacketsOnly(t *testing.T) {
	f := testFabric(t)
	for i := range 10 {
		f.OnArrival(i == 0)
		f.OnTrim(true)
	}
	require.Equal(t, 1.0, f.Step())
	marked, _ := f.Trend()
	require.Equal(t, 0.05, marked, "half of one in ten")
}

func TestFabricRateRecoversAndKeepsItsExponentBounded(t *testing.T) {
	f := testFabric(t)
	f.rate = 0.25
	for _, want := range []float64{0.26, 0.28, 0.32, 0.40, 0.56, 0.88, 1, 1} {
		require.InDelta(t, want, f.Step(), 1e-12)
	}
	for range 200 {
		require.Equal(t, 1.0, f.Step())
	}
	f.OnArrival(true)
	for range 9 {
		f.OnArrival(false)
	}
	f.rate = 0.5
	require.InDelta(t, 0.51, f.Step(), 1e-12, "marks below the target: one plain step")
}

// A small step doubles until the rate is full, however long that takes.
func TestFabricRateDoublesSmallSteps(t *testing.T) {
	f, err := NewFabricRate(FabricConfig{Oversubscription: 90, RTT: 9348, Increase: 1e-6})
	require.NoError(t, err)
	f.rate = 0.01
	want := f.rate
	for rises := range 20 {
		want = min(want+1e-6*float64(int64(1)<<rises), 1)
		require.InDelta(t, want, f.Step(), 1e-9, "after %d steps", rises)
	}
	require.Equal(t, 1.0, want)
}

func TestFabricRateRisesForEver(t *testing.T) {
	f := testFabric(t)
	f.rises = math.MaxInt - 1
	for range 3 {
		require.Equal(t, 1.0, f.Step())
	}
	_, rises := f.Trend()
	require.Equal(t, math.MaxInt, rises)
}

func TestFabricRateInterval(t *testing.T) {
	f := testFabric(t)
	require.Equal(t, int64(10_516), f.Interval(0))
	require.Less(t, f.Interval(1<<32-1), int64(17_528))
	require.Greater(t, f.Interval(1<<32-1), int64(17_526))
}

// An interval is never nothing, and no longer than it has to be: at the shortest round trip a
// nanosecond.
func TestFabricRateShortestInterval(t *testing.T) {
	f, err := NewFabricRate(FabricConfig{Oversubscription: 4, RTT: 1})
	require.NoError(t, err)
	require.Equal(t, int64(1), f.Interval(0))
	require.Equal(t, int64(1), f.Interval(1<<32-1))
}
