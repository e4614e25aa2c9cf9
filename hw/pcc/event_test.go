// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRateBits(t *testing.T) {
	require.EqualValues(t, int64(400_000_000_000), LineRate.Bits(400_000_000_000))
	require.EqualValues(t, 381_469, Rate(1).Bits(400_000_000_000))
	require.EqualValues(t, 24_414_062, Rate(64).Bits(400_000_000_000))
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		line, rate := r.Int64()>>r.IntN(63), 1+Rate(r.Uint32N(uint32(LineRate)))
		hi, lo := bits.Mul64(uint64(line), uint64(rate))
		require.EqualValues(t, hi<<44|lo>>20, rate.Bits(line), "%d of %d", rate, line)
	}
}

func TestEventTypeString(t *testing.T) {
	require.Equal(t, "rtt", EventRTT.String())
	require.Equal(t, "EventType(77)", EventType(77).String())
	for ev := range EventRTT {
		require.NotContains(t, ev.String(), "EventType")
	}
}

// The numbers of the events, of which other tests use the names.
func TestEventNumbers(t *testing.T) {
	for i, e := range []EventType{eventNull, eventFW, EventCNP, EventTX, EventACK, EventNACK, EventRTT} {
		require.EqualValues(t, i, e, "%v", e)
	}
	require.EqualValues(t, 31, EventTXForAckNack)
}
