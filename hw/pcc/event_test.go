package pcc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRateBits(t *testing.T) {
	require.EqualValues(t, int64(400_000_000_000), LineRate.Bits(400_000_000_000))
	require.InDelta(t, 381_469, float64(Rate(1).Bits(400_000_000_000)), 1)
	require.InDelta(t, 24_414_062, float64(Rate(64).Bits(400_000_000_000)), 1)
}

func TestEventTypeString(t *testing.T) {
	require.Equal(t, "rtt", EventRTT.String())
	require.Equal(t, "EventType(77)", EventType(77).String())
	for ev := range EventRTT {
		require.NotContains(t, ev.String(), "EventType")
	}
}
