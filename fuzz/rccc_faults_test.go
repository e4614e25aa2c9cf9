// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc"
)

// finish runs w and fails t if a flow did not end or an invariant broke.
func finish(t *testing.T, w *creditWorld) {
	t.Helper()
	w.run(1e12)
	require.True(t, w.done(), "a flow never ended")
	require.Empty(t, w.broken)
}

func equalSizes(n int, size int64) []int64 {
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

// Every credit message of the first millisecond is lost.
func TestRCCCCreditBlackout(t *testing.T) {
	for seed := range uint64(5) {
		w := newCreditWorld(t, seed, equalSizes(6, 1<<20), creditFaults{creditLoss: 100})
		w.at(1_000_000, func() { w.faults.creditLoss = 0 })
		finish(t, w)
	}
}

// The destination loses its memory, again and again, with credits on their way:
// re-created entries begin below what the sources know, so nobody stalls, and
// credit from before the restart buys nothing twice.
func TestRCCCReceiverRestart(t *testing.T) {
	for seed := range uint64(10) {
		w := newCreditWorld(t, seed, equalSizes(6, 1<<20), creditFaults{creditLoss: 20, jitter: creditRTT, repeat: 10})
		for i := range int64(10) {
			w.at(40_000*(i+1), w.restart)
		}
		finish(t, w)
	}
}

// A sender vanishes in the middle of its transfer. The others share what it
// leaves, its entry takes at most two windows more, and then it is forgotten.
func TestRCCCSenderVanishes(t *testing.T) {
	w := newCreditWorld(t, 1, equalSizes(4, 1<<20), creditFaults{})
	victim := w.flows[0]
	w.at(60_000, func() { victim.gone = true })
	w.run(60_000)
	had := w.r.Target(victim.h)
	finish(t, w)
	require.LessOrEqual(t, had-w.r.Senders().Demand(victim.h.Slot()), had+creditW+rccc.DefaultGrant)
	require.Equal(t, 1, w.r.Senders().Count())
	h, ok := w.r.Expire(w.now + 1_000_001)
	require.True(t, ok)
	require.Equal(t, victim.h, h)
	require.Zero(t, w.r.Senders().Count())
	for _, f := range w.flows[1:] {
		require.Less(t, f.finish, int64(4<<20)*1e9/linkRate*11/10, "slower than with the sender alive")
	}
}

// A sender that claims an enormous backlog gets its turn and no more: the honest
// ones end as if it were one of them, and credit stays paced.
func TestRCCCSenderLiesAboutItsBacklog(t *testing.T) {
	ends := func(liar bool) (last int64) {
		w := newCreditWorld(t, 1, equalSizes(5, 1<<20), creditFaults{})
		w.flows[0].liar = liar
		finish(t, w)
		for _, f := range w.flows[1:] {
			last = max(last, f.finish)
		}
		return last
	}
	require.Less(t, ends(true), ends(false)*11/10)
}

// Incast without self-granted credit: the queue at the last hop holds at most one
// packet of each sender, which overdraws its balance by less than that, and the
// one grant that the pacer may be ahead.
func TestRCCCIncastQueueIsBounded(t *testing.T) {
	for _, n := range []int{1, 4, 16, 64} {
		w := newCreditWorldFrom(t, 1, equalSizes(n, 1<<18), creditFaults{}, creditMTU)
		finish(t, w)
		require.LessOrEqual(t, w.peak, int64(n*creditMTU+rccc.DefaultGrant), "%d senders", n)
		first, last := int64(1<<62), int64(0)
		for _, f := range w.flows {
			first, last = min(first, f.finish), max(last, f.finish)
		}
		ideal := int64(n) << 18 * 1e9 / linkRate
		require.Less(t, last, ideal*104/100+3*creditRTT, "%d senders", n)
	}
}

// No data credit is needed to ask for some: a source in debt still sends its
// request.
func TestRCCCZeroCreditDoesNotBlockControl(t *testing.T) {
	p, err := rccc.NewParams(rccc.Config{MaxCredit: creditW, MTU: creditMTU, RTT: creditRTT})
	require.NoError(t, err)
	var s rccc.Source
	s.Init(&p)
	s.OnACK()
	s.OnSend(creditMTU)
	s.Settle(&p, 0, creditMTU)
	require.False(t, s.CanSend())
	require.True(t, s.RequestDue(&p, creditRTT))
	require.Positive(t, s.Target(&p, rccc.Demand{Backlog: creditMTU}))
}
