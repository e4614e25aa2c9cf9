// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// The short way of an ordinary acknowledgement must lead where the long one leads.
func TestWindowOnACKShortWayIsTheLongWay(t *testing.T) {
	c := fabric100()
	edges := []int64{0, 1, 4_096, 12_000, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 40, math.MaxInt64, -1, math.MinInt64}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		p, short := started(t, c)
		long, now := *short, int64(0)
		for i := range 1_000 {
			bytes, rtt, marked := r.Int64N(8_192), 12_000+r.Int64N(10_000)+r.Int64N(30_000)*r.Int64N(2), r.IntN(3) == 0
			switch r.IntN(500) {
			case 0:
				bytes = edges[r.IntN(len(edges))]
			case 1:
				rtt = edges[r.IntN(len(edges))]
			case 2:
				n := nscc.Nack{Size: 4_096, Reason: nscc.ReasonTrimmed}
				short.OnNACK(p, now, n)
				long.OnNACK(p, now, n)
			case 3:
				size := edges[r.IntN(9)]
				short.OnSend(size)
				long.OnSend(size)
			}
			now += r.Int64N(1_000) + r.Int64N(40_000)*(r.Int64N(20)/19)
			short.OnSend(8_192)
			long.OnSend(8_192)
			a := nscc.MakePlainAck(bytes, rtt, marked)
			short.OnPlainACK(p, now, a)
			long.OnPlainACK(p.Unusual(), now, a)
			require.Equal(t, long, *short, "seed %d, acknowledgement %d", seed, i)
		}
	}
}

// Old marks that are ignored and a quick adapt leave the increase unapplied.
func TestWindowOnACKFulfilledIsOfTheLastEvent(t *testing.T) {
	fulfilled := func(s *nscc.Snapshot) { armed(s); s.Fulfilled = true }
	for _, tc := range []struct {
		action nscc.Action
		state  func(*nscc.Snapshot)
		ack    nscc.Ack
	}{
		{nscc.ActionNone, fulfilled, nscc.Ack{Bytes: 1}},
		{nscc.ActionIgnore, func(s *nscc.Snapshot) { fulfilled(s); s.BytesToIgnore = 100 }, nscc.Ack{Bytes: 1, RTT: 15_000, ECN: true}},
		{nscc.ActionQuickAdapt, func(s *nscc.Snapshot) { fulfilled(s); s.QAEnd, s.TriggerQA = midNow, true }, nscc.Ack{Bytes: 1, RTT: 15_000}},
		{nscc.ActionHold, fulfilled, nscc.Ack{Bytes: 1, RTT: 15_000, ECN: true}},
		{nscc.ActionFast, func(s *nscc.Snapshot) { fulfilled(s); s.Fast = true }, nscc.Ack{Bytes: 1, RTT: 12_000}},
	} {
		p, w := started(t, fabric100())
		set(p, w, tc.state)
		w.OnACK(p, midNow, tc.ack)
		require.Equal(t, tc.action, w.Snapshot().Action)
		require.False(t, w.Snapshot().Fulfilled, tc.action)
	}
}
