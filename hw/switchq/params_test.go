// SPDX-License-Identifier: Apache-2.0

package switchq

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The thresholds of UE Specification 1.0.3 section 3.6.17 for the chapters' fabric
// (100 Gb/s, 6 us, BDP 75,000).
func TestNewParamsDefaults(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  Config
		low  int64
	}{
		{"between switches", Config{Trim: true}, 75_000},
		{"last hop", Config{Trim: true, LastHop: true}, 112_500},
		{"tail drop", Config{}, 375_000},
		{"tail drop on the last hop", Config{LastHop: true}, 375_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.cfg.PlaneBDP = 75_000
			got := mustParams(t, tc.cfg).Config()
			require.EqualValues(t, 15_000, got.ECNMin)
			require.EqualValues(t, 60_000, got.ECNMax)
			require.Equal(t, tc.low, got.LowLimit)
			require.EqualValues(t, 75_000, got.MedLimit)
			require.EqualValues(t, 75_000, got.HighLimit)
			require.EqualValues(t, 64, got.HeaderBytes)
			require.EqualValues(t, 50, got.MedPercent)
		})
	}
}

// Parts of a byte are left out, but for the last one.
func TestNewParamsDefaultsAreWhole(t *testing.T) {
	for bdp, want := range map[int64][3]int64{1: {1, 1, 1}, 2: {1, 1, 3}, 9: {1, 7, 13}, 10: {2, 8, 15}, 1 << 60: {1 << 60 / 5, 1 << 62 / 5, 3 << 59}} {
		got := mustParams(t, Config{PlaneBDP: bdp, Trim: true, LastHop: true}).Config()
		require.Equal(t, want, [3]int64{got.ECNMin, got.ECNMax, got.LowLimit}, bdp)
	}
}

func TestNewParamsKeepsWhatIsSet(t *testing.T) {
	in := Config{PlaneBDP: 78_850, Trim: true, ECNMin: 16_600, ECNMax: 66_400, LowLimit: 78_850, MedLimit: 157_700,
		HighLimit: 157_700, HeaderBytes: 64, MedPercent: 100, Coin: true}
	require.Equal(t, in, mustParams(t, in).Config())
	require.Equal(t, 24, minTrimSize)
	in.HeaderBytes, in.MedPercent = minTrimSize, 1
	require.Equal(t, in, mustParams(t, in).Config())
}

func TestNewParamsRejects(t *testing.T) {
	for field, c := range map[string]Config{
		"PlaneBDP":    {},
		"PlaneBDP is": {PlaneBDP: 1<<60 + 1}, // five times that is no longer a number
		"ECNMin":      {PlaneBDP: 1000, ECNMin: 900, ECNMax: 800},
		"ECNMin is":   {PlaneBDP: 1000, ECNMin: -1},
		"LowLimit":    {PlaneBDP: 1000, LowLimit: -1},
		"MedLimit":    {PlaneBDP: 1000, MedLimit: -1},
		"HighLimit":   {PlaneBDP: 1000, HighLimit: -1},
		"HeaderBytes": {PlaneBDP: 1000, HeaderBytes: minTrimSize - 1},
		"MedPercent":  {PlaneBDP: 1000, MedPercent: 101},
	} {
		_, err := NewParams(c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, field)
	}
}

func TestClassSet(t *testing.T) {
	all := ClassSet(0).with(ClassLow).with(ClassMed).with(ClassHigh)
	for c := range numClasses {
		for o := range numClasses {
			require.Equal(t, o == c, ClassSet(0).with(c).Has(o))
			require.Equal(t, o != c, all.without(c).Has(o))
		}
	}
}

func TestNamesAreTheSpecifications(t *testing.T) {
	require.Equal(t, "TC_low TC_med TC_high", ClassLow.String()+" "+ClassMed.String()+" "+ClassHigh.String())
	require.Equal(t, "DSCP_TRIMMED_LASTHOP", DSCPTrimmedLastHop.String())
	require.Equal(t, "DSCP(200)", DSCP(200).String())
	require.Equal(t, ClassLow, DSCP(200).Class())
	require.Equal(t, ClassHigh, DSCPControl.Class())
	require.Equal(t, "trimmed", Trimmed.String())
}
