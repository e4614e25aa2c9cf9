// SPDX-License-Identifier: Apache-2.0

package link

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The simulator htsim stores and forwards; these are the unloaded round trips that it
// prints for its three topologies.
func TestPathBaseRTTStoreForward(t *testing.T) {
	for _, tc := range []struct {
		name     string
		gbps     int64
		switches int64
		hop      Ps
		want     Ps
	}{
		{"three tiers at 100 Gb/s is 14.02 us", 100, 5, Microsecond, 14_022_720},
		{"three tiers at 400 Gb/s is 12.51 us", 400, 5, Microsecond, 12_505_680},
		{"leaf and spine at 100 Gb/s is 9.35 us", 100, 3, Microsecond, 9_348_480},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := Path{
				FrameBytes: 4150, HeaderBytes: 64, BitsPerSecond: tc.gbps * 1e9,
				Switches: tc.switches, FiberMetres: 200 * (tc.switches + 1), StoreForward: true,
			}
			require.NoError(t, p.Validate())
			require.Equal(t, tc.hop, Propagation(200))
			require.Equal(t, tc.want, p.BaseRTT())
		})
	}
}

func TestPathSwitchDelayRange(t *testing.T) {
	p := Path{FrameBytes: 9216, BitsPerSecond: 100e9, Switches: 3}
	none := p.OneWay()
	p.SwitchDelay = 350 * Nanosecond
	require.Equal(t, none+1050*Nanosecond, p.OneWay())
	p.SwitchDelay = 500 * Nanosecond
	require.Equal(t, none+1500*Nanosecond, p.OneWay())
}

func TestPathBDP(t *testing.T) {
	p := Path{FrameBytes: 4150, HeaderBytes: 64, BitsPerSecond: 100e9, Switches: 5, FiberMetres: 1200, StoreForward: true}
	require.EqualValues(t, 175_284, BDP(100e9, 100e9, p.BaseRTT()))
	require.EqualValues(t, 75_000, BDP(400e9, 100e9, 6*Microsecond), "of the slower end")
	require.EqualValues(t, 75_000, BDP(100e9, 400e9, 6*Microsecond))
}

// No path is so long that it comes out short.
func TestPathSaturates(t *testing.T) {
	const most = math.MaxInt64
	for _, p := range []Path{
		{FrameBytes: most, BitsPerSecond: 1},
		{FrameBytes: 1, BitsPerSecond: 100e9, FiberMetres: most},
		{FrameBytes: 1, BitsPerSecond: 100e9, Switches: most, SwitchDelay: most},
		{FrameBytes: 1, BitsPerSecond: 100e9, Switches: most, FECDelay: 2},
		{FrameBytes: most / 1_000_000_000_000, HeaderBytes: 1, BitsPerSecond: 9, Switches: 3, StoreForward: true},
	} {
		require.NoError(t, p.Validate())
		require.Equal(t, Ps(most), p.OneWay(), "%+v", p)
		require.Equal(t, Ps(most), p.BaseRTT(), "%+v", p)
		require.Equal(t, Ps(most), p.BaseRTT().RoundUp(Microsecond))
		require.EqualValues(t, int64(most/1000), p.BaseRTT().Nanoseconds())
	}
	require.EqualValues(t, int64(most), MaxWindow(most-1))
	require.Zero(t, Propagation(-1))
}

func TestPathValidate(t *testing.T) {
	good := Path{FrameBytes: 4150, BitsPerSecond: 100e9}
	require.NoError(t, good.Validate())
	for name, spoil := range map[string]func(*Path){
		"no frame":                 func(p *Path) { p.FrameBytes = 0 },
		"header above frame":       func(p *Path) { p.HeaderBytes = 4151 },
		"negative header":          func(p *Path) { p.HeaderBytes = -1 },
		"no rate":                  func(p *Path) { p.BitsPerSecond = 0 },
		"negative fibre":           func(p *Path) { p.FiberMetres = -1 },
		"negative switches":        func(p *Path) { p.Switches = -1 },
		"negative switching delay": func(p *Path) { p.SwitchDelay = -1 },
		"negative FEC delay":       func(p *Path) { p.FECDelay = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			spoil(&p)
			require.ErrorIs(t, p.Validate(), ErrConfig)
		})
	}
}
