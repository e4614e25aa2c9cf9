// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// The simulator computes the bandwidth-delay product of a configured round trip
// as seconds x bytes, and that of a measured one as microseconds x bits: the two
// can differ by a byte.
func TestHTSimBDPOrder(t *testing.T) {
	for _, c := range []struct{ rtt, gbits, started, sampled int64 }{
		{14_022_720, 100, 175_284, 175_284},
		{41_300_000, 800, 4_130_000, 4_129_999},
		{20_999_000, 400, 1_049_950, 1_049_949},
		{34_994_000, 800, 3_499_399, 3_499_400},
	} {
		p, err := nscc.NewParams(nscc.Config{
			LinkRate: c.gbits * gbps, BaseRTT: 2 * c.rtt, MTU: 4_150, Profile: nscc.ProfileHTSim, Picoseconds: true,
		})
		require.NoError(t, err)
		ceiling := func(bdp int64) int64 { return int64(1.5 * float64(bdp)) }
		var cached, sampled nscc.Window
		cached.Init(&p, 0, c.rtt)
		require.Equal(t, ceiling(c.started), cached.Snapshot().MaxWnd, "remembered %d", c.rtt)
		sampled.Init(&p, 0, 0)
		sampled.SampleBase(&p, c.rtt)
		require.Equal(t, ceiling(c.sampled), sampled.Snapshot().MaxWnd, "measured %d", c.rtt)
	}
}

// The simulator starts with the window that it is told to and comes down to its
// ceiling at the first acknowledgement; the specification's profile refuses such a
// window.
func TestHTSimInitialAboveCeiling(t *testing.T) {
	c := nscc.Config{
		LinkRate: 100 * gbps, BaseRTT: 14_022_720, MTU: 4_150, InitialCwnd: 100 * 4_150,
		Profile: nscc.ProfileHTSim, Picoseconds: true,
	}
	p, err := nscc.NewParams(c)
	require.NoError(t, err)
	var w nscc.Window
	w.Init(&p, 0, 6_022_720)
	require.EqualValues(t, 415_000, w.Cwnd())
	var again nscc.Window
	again.Resume(&p, w.Snapshot())
	require.Equal(t, w.Snapshot(), again.Snapshot())
	w.OnSend(4_150)
	w.OnInferredLoss(&p, 4_150)
	require.EqualValues(t, 415_000-4_150, w.Cwnd(), "a loss does not bring it down")
	w.OnACK(&p, 1, nscc.Ack{Bytes: 4_150, RTT: 6_022_720})
	require.EqualValues(t, 112_926, w.Cwnd())

	c.Profile = nscc.ProfileSpec
	_, err = nscc.NewParams(c)
	require.ErrorIs(t, err, nscc.ErrConfig)
}

// The simulator adds up in 64 bits before it keeps the lower 32: a sum between 2^62 and
// 2^63 still counts, as on a path of 30 ms whose acknowledgements come late and at once.
func TestHTSimIncreaseWrapsWhole(t *testing.T) {
	p, err := nscc.NewParams(nscc.Config{
		LinkRate: 100 * gbps, BaseRTT: 30_000_000_000, MTU: 1_564, InitialCwnd: 254_932,
		Profile: nscc.ProfileHTSim, Picoseconds: true,
		Tuning: nscc.Tuning{TargetQdelay: 30_000_000_000, QAThreshold: 120_000_000_000},
	})
	require.NoError(t, err)
	var w nscc.Window
	w.Init(&p, 0, 0)
	w.OnACK(&p, 1, nscc.Ack{Bytes: 190_743_971, RTT: 36_991_948_688})
	require.Equal(t, nscc.ActionProportional, w.Snapshot().Action)
	const sum = 5_485_808_840_278_299_648 // 1.25 x 190,743,971 x 23,008,051,312
	require.EqualValues(t, 254_932+sum%(1<<32)/254_932, w.Cwnd())
}

// A delay of just FastDelay is not about zero: the simulator asks for one below it.
func TestHTSimFastIncreaseEndsAtFastDelay(t *testing.T) {
	const base, fast = 14_022_720, 1_000_000 // ps
	p, err := nscc.NewParams(nscc.Config{
		LinkRate: 100 * gbps, BaseRTT: base, MTU: 4_150, InitialCwnd: 50_000, Profile: nscc.ProfileHTSim, Picoseconds: true,
		Tuning: nscc.Tuning{FastDelay: fast},
	})
	require.NoError(t, err)
	for delay, want := range map[int64]bool{fast - 1: true, fast: false, fast + 1: false} {
		var w nscc.Window
		w.Init(&p, 0, base)
		increased := false
		for i := range int64(100) {
			w.OnSend(4_150)
			w.OnACK(&p, i, nscc.Ack{Bytes: 4_150, RTT: base + delay})
			increased = increased || w.Snapshot().Action == nscc.ActionFast
		}
		require.Equal(t, want, increased, "%d ps", delay)
	}
}
