// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// A crossing is a packet on its way through a bottleneck and back.
type crossing struct {
	flow         int
	sent, backAt int64
}

// share has windows that are never idle write through one queue until end, ns, and returns how
// many packets each had acknowledged. The queue marks as section 3.6.17 recommends, and a packet
// that finds it empty is back after a base round trip.
func share(p *nscc.Params, flows []nscc.Window, end int64) []int {
	var queue, back []crossing
	rnd, acked := rand.New(rand.NewPCG(1, 2)), make([]int, len(flows))
	wire := p.MTU() * p.BaseRTT() / p.Constants().BDP
	for now, free := int64(0), int64(0); now < end; {
		for i := range flows {
			for w := &flows[i]; w.CanSend(p, p.MTU()); w.OnSend(p.MTU()) {
				queue = append(queue, crossing{flow: i, sent: now})
			}
		}
		for len(queue) > 0 && (len(back) == 0 || max(free, queue[0].sent) <= back[0].backAt) {
			x := queue[0]
			queue = queue[1:]
			free = max(free, x.sent) + wire
			x.backAt = free - wire + p.BaseRTT()
			back = append(back, x)
		}
		x := back[0]
		back = back[1:]
		now = x.backAt
		bdps := float64(now-x.sent-p.BaseRTT()) / float64(p.BaseRTT()) // that waited before it
		flows[x.flow].OnACK(p, now, nscc.Ack{Bytes: p.MTU(), RTT: now - x.sent, ECN: bdps > 0.2+0.6*rnd.Float64()})
		acked[x.flow]++
	}
	return acked
}

// Two flows share a bottleneck equally if they agree about its base round trip. Where one takes
// it for 2.5 % longer, that one gets more: half as much again with trimming, and without all
// that its ceiling allows, as everything is marked below the target and it never sees that.
func TestFlowsShareByTheirBase(t *testing.T) {
	for _, tc := range []struct {
		trimming  bool
		shorter   int64 // than the other's base round trip, ns
		low, high float64
	}{
		{true, 0, 0.9, 1.1},
		{false, 0, 0.9, 1.1},
		{true, 300, 1.1, 1.5},
		{false, 300, 2, 3.5},
	} {
		t.Run(fmt.Sprintf("trimming %v, %d ns", tc.trimming, tc.shorter), func(t *testing.T) {
			c := fabric100()
			c.Trimming = tc.trimming
			p, flows := must(t, c), make([]nscc.Window, 2)
			for i := range flows {
				flows[i].Init(p, 0, 0)
			}
			flows[0].SampleBase(p, p.BaseRTT()-tc.shorter)
			acked := share(p, flows, 20_000_000)
			ratio := float64(acked[1]) / float64(acked[0])
			require.True(t, tc.low < ratio && ratio < tc.high, "%v packets, ratio %.2f", acked, ratio)
			require.Equal(t, tc.high > 2, flows[1].Cwnd() == p.MaxWnd())
		})
	}
}
