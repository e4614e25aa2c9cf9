// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func TestFilterFirstSamples(t *testing.T) {
	for _, tc := range []struct {
		filter bool
		ack    nscc.Ack
		avg    int64
	}{
		{false, nscc.Ack{RTT: 12_000 + 8_000}, 100},
		{false, nscc.Ack{RTT: 12_000 + 9_000}, 112},             // at target: itself
		{false, nscc.Ack{RTT: 12_000 + 9_001}, 37},              // above: 3,000
		{false, nscc.Ack{RTT: 12_000 + 40_000}, 37},             // the same
		{false, nscc.Ack{RTT: 12_000 + 40_000, ECN: true}, 500}, // marked: itself
		{true, nscc.Ack{RTT: 12_000 + 40_000}, 20_000},          // half a base round trip later
		{true, nscc.Ack{RTT: 10_000 + 40_000}, 19_000},          //
		{false, nscc.Ack{RTT: 10_000}, 0},                       // a new base: no delay
		{false, nscc.Ack{RTT: 10_000 - 1, ECN: true}, 0},        //
		{false, nscc.Ack{RTT: 0, ECN: true}, 0},                 // no sample
		{false, nscc.Ack{RTT: -40_000, ECN: true}, 0},           // no sample
		{true, nscc.Ack{RTT: -40_000, ECN: true}, 0},            // no sample
		{false, nscc.Ack{RTT: 12_000 + 80, ECN: true}, 1},       //
	} {
		c := fabric100()
		c.ForgettingFilter = tc.filter
		p, w := started(t, c)
		w.OnACK(p, 6_000, tc.ack)
		require.Equal(t, tc.avg, w.Snapshot().AvgDelay, "%s %+v", tc.filter, tc.ack)
	}
}

func TestFilterForgettingIsBounded(t *testing.T) {
	c := fabric100()
	c.ForgettingFilter = true
	p, w := started(t, c)
	w.OnACK(p, 1_000_000, nscc.Ack{RTT: 20_000})
	require.EqualValues(t, 8_000, w.Snapshot().AvgDelay, "long ago: the sample itself")
	w.OnACK(p, 1_000_000, nscc.Ack{RTT: 90_000})
	require.EqualValues(t, 8_000, w.Snapshot().AvgDelay, "no time has passed")
	w.OnACK(p, 0, nscc.Ack{RTT: 90_000})
	require.EqualValues(t, 8_000, w.Snapshot().AvgDelay, "the clock went backwards")
}

// A trim counts as a delay of one configured base round trip.
func TestFilterTrim(t *testing.T) {
	for filter, avg := range map[bool]int64{false: 150, true: 6_000} {
		c := fabric100()
		c.ForgettingFilter = filter
		p, w := started(t, c)
		w.OnNACK(p, 6_000, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
		require.Equal(t, avg, w.Snapshot().AvgDelay, filter)
	}
}
