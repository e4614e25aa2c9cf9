// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

func TestFilterFirstSamples(t *testing.T) {
	for _, tc := range []struct {
		filter nscc.Filter
		ack    nscc.Ack
		avg    int64
	}{
		{nscc.FilterRecorded, nscc.Ack{RTT: 12_000 + 8_000}, 100},
		{nscc.FilterRecorded, nscc.Ack{RTT: 12_000 + 9_000}, 112},             // at target: itself
		{nscc.FilterRecorded, nscc.Ack{RTT: 12_000 + 9_001}, 37},              // above: 3,000
		{nscc.FilterRecorded, nscc.Ack{RTT: 12_000 + 40_000}, 37},             // the same
		{nscc.FilterRecorded, nscc.Ack{RTT: 12_000 + 40_000, ECN: true}, 500}, // marked: itself
		{nscc.FilterEWMA, nscc.Ack{RTT: 12_000 + 40_000}, 500},                // mark or not
		{nscc.FilterEWMA, nscc.Ack{RTT: 12_000 + 40_000, ECN: true}, 500},     //
		{nscc.FilterForgetting, nscc.Ack{RTT: 12_000 + 40_000}, 20_000},       // half a base round trip later
		{nscc.FilterForgetting, nscc.Ack{RTT: 10_000 + 40_000}, 19_000},       //
		{nscc.FilterRecorded, nscc.Ack{RTT: 10_000}, 0},                       // a new base: no delay
		{nscc.FilterRecorded, nscc.Ack{RTT: 10_000 - 1, ECN: true}, 0},        //
		{nscc.FilterRecorded, nscc.Ack{RTT: 0, ECN: true}, 0},                 // no sample
		{nscc.FilterRecorded, nscc.Ack{RTT: -40_000, ECN: true}, 0},           // no sample
		{nscc.FilterForgetting, nscc.Ack{RTT: -40_000, ECN: true}, 0},         // no sample
		{nscc.FilterRecorded, nscc.Ack{RTT: 12_000 + 80, ECN: true}, 1},       //
	} {
		c := fabric100()
		c.Filter = tc.filter
		p, w := started(t, c)
		w.OnACK(p, 6_000, tc.ack)
		require.Equal(t, tc.avg, w.Snapshot().AvgDelay, "%s %+v", tc.filter, tc.ack)
	}
}

func TestFilterForgettingIsBounded(t *testing.T) {
	c := fabric100()
	c.Filter = nscc.FilterForgetting
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
	for filter, avg := range map[nscc.Filter]int64{nscc.FilterRecorded: 150, nscc.FilterEWMA: 150, nscc.FilterForgetting: 6_000} {
		c := fabric100()
		c.Filter = filter
		p, w := started(t, c)
		w.OnNACK(p, 6_000, nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed})
		require.Equal(t, avg, w.Snapshot().AvgDelay, filter)
	}
}
