// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc"
)

// creditRuns are the networks that the invariants of the whole loop are checked
// in.
var creditRuns = map[string]creditFaults{
	"clean":           {},
	"credits lost":    {creditLoss: 40},
	"credits scarce":  {creditLoss: 92},
	"data lost":       {dataLoss: 20, ackLoss: 10},
	"repeated":        {repeat: 50},
	"reordered":       {jitter: 4 * creditRTT},
	"everything awry": {dataLoss: 10, creditLoss: 50, ackLoss: 10, repeat: 30, jitter: 2 * creditRTT},
}

// creditSizes mixes flows that end in the startup with long ones.
func creditSizes(rnd *rand.Rand, n int) []int64 {
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = 1 + rnd.Int64N(1<<(8+rnd.IntN(13)))
	}
	return sizes
}

func TestRCCCInvariants(t *testing.T) {
	broken, checks := map[string]string{}, map[string]int{}
	for name, faults := range creditRuns {
		for seed := range uint64(6) {
			rnd := rand.New(rand.NewPCG(seed, 9))
			w := newCreditWorld(t, seed, creditSizes(rnd, 1+rnd.IntN(12)), faults)
			for _, f := range w.flows {
				if rnd.IntN(3) == 0 {
					f.cwnd = 2*creditMTU + rnd.Int64N(creditW)
				}
			}
			w.run(1e12)
			require.True(t, w.done(), "%s, seed %d: a flow never ended", name, seed)
			for inv, what := range w.broken {
				broken[inv] = fmt.Sprintf("%s, seed %d, %s", name, seed, what)
			}
			for inv, n := range w.checks {
				checks[inv] += n
			}
		}
	}
	for _, inv := range []struct{ id, name string }{
		{"R1", "the balance stays within W and one packet of debt"},
		{"R2", "nothing leaves without credit"},
		{"R3", "bytes sent are covered by startup and cumulative credit"},
		{"R4", "the cumulative credit moves forward over emitted values"},
		{"R6", "grants respect the target and the idle limit"},
		{"R7", "a sender is in exactly one list"},
		{"R8", "credit is paced"},
		{"R10", "demand means active, active means awake"},
		{"R12", "a starved source has a timer"},
		{"R13", "a window caps the demand"},
		{"R15", "closed contexts leave nothing behind"},
	} {
		t.Run(inv.id+" "+inv.name, func(t *testing.T) {
			require.Empty(t, broken[inv.id])
			require.Greater(t, checks[inv.id], 50, "hardly ever checked")
		})
	}
	t.Run("R5 only the newest credit counts", testCreditLossPatterns)
	t.Run("R9 equal senders get equal credit", testCreditFairness)
	t.Run("R11 no offset changes a decision", testCreditOffsets)
	t.Run("R14 a slice grants its capacity and no more", testSliceCapacity)
	t.Run("R16 the rate factor stays in range and works forward", testRateFactor)
}

// R5: any pattern of loss, repetition and order, then one newest message.
func testCreditLossPatterns(t *testing.T) {
	p, err := rccc.NewParams(rccc.Config{MaxCredit: creditW, MTU: creditMTU, RTT: creditRTT})
	require.NoError(t, err)
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var clean, lossy rccc.Source
		clean.Init(&p)
		lossy.Init(&p)
		clean.OnACK()
		lossy.OnACK()
		var messages []rccc.Quanta
		cum := int64(0)
		for range 10 {
			cum += 256 * (1 + rnd.Int64N(64))
			q := rccc.QuantaOf(cum)
			messages = append(messages, q)
			clean.OnCreditUpdate(&p, q.Extend(clean.Cum()))
			size := rnd.Int64N(creditMTU)
			clean.OnSend(size)
			lossy.OnSend(size)
			if rnd.IntN(2) == 0 {
				old := messages[rnd.IntN(len(messages))]
				lossy.OnCreditUpdate(&p, old.Extend(lossy.Cum()))
			}
		}
		lossy.OnCreditUpdate(&p, rccc.QuantaOf(cum).Extend(lossy.Cum()))
		require.Equal(t, clean, lossy, "seed %d", seed)
	}
}

// newCreditReceiver makes a receiver for tests without a network.
func newCreditReceiver(t testing.TB, senders int, policy rccc.GrantPolicy) *rccc.Receiver {
	r, err := rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: senders, Rate: linkRate, Utilisation: 1, MaxCredit: creditW, MaxDemand: 1 << 28, Policy: policy,
	})
	require.NoError(t, err)
	return r
}

func newPull(t testing.TB) rccc.GrantPolicy {
	p, err := rccc.NewPullPolicy(rccc.PullConfig{MaxCredit: creditW})
	require.NoError(t, err)
	return p
}

// R9, and its weighted form: over any interval the credit of two senders,
// divided by their weights, differs by at most one grant for each unit.
func testCreditFairness(t *testing.T) {
	for _, weights := range [][]uint16{{1, 1, 1, 1, 1}, {1, 2, 5}} {
		r := newCreditReceiver(t, len(weights), newPull(t))
		granted, index := make([]int64, len(weights)), map[rccc.Handle]int{}
		for i, weight := range weights {
			h, err := r.Add(0, weight, 0)
			require.NoError(t, err)
			index[h] = i
			r.OnArrival(h, 0, rccc.ArrivalData, 1<<28)
		}
		low, high := make([]int64, len(weights)), make([]int64, len(weights))
		for range 5000 {
			due, _ := r.Deadline()
			g, ok := r.Poll(due)
			require.True(t, ok)
			granted[index[g.Sender]] += g.Bytes
			for i, weight := range weights {
				ahead := granted[i]*int64(weights[0]) - granted[0]*int64(weight)
				low[i], high[i] = min(low[i], ahead), max(high[i], ahead)
				require.LessOrEqual(t, high[i]-low[i], rccc.DefaultGrant*int64(weight)*int64(weights[0]), "sender %d", i)
			}
		}
	}
}

// R11: the same script of arrivals and polls from different starting points.
func testCreditOffsets(t *testing.T) {
	run := func(offset int64, seed uint64) (log []int64) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		r := newCreditReceiver(t, 4, newPull(t))
		p, err := rccc.NewParams(rccc.Config{MaxCredit: creditW, MTU: creditMTU, RTT: creditRTT})
		require.NoError(t, err)
		sources, handles := make([]rccc.Source, 4), make([]rccc.Handle, 4)
		for i := range sources {
			sources[i].Init(&p)
			sources[i].OnACK()
			for step := int64(256 * 512); sources[i].Cum() < offset; {
				sources[i].OnCreditUpdate(&p, sources[i].Cum()+min(step, offset-sources[i].Cum()))
				sources[i].OnSend(sources[i].Credit())
			}
			handles[i], err = r.Add(0, 1, rccc.QuantaOf(offset).Extend(0))
			require.NoError(t, err)
		}
		now := int64(0)
		for range 2000 {
			now += rnd.Int64N(2000)
			i := rnd.IntN(4)
			s := &sources[i]
			log = append(log, s.Credit())
			if s.CanSend() {
				s.OnSend(creditMTU)
			}
			target := s.Target(&p, rccc.Demand{Backlog: rnd.Int64N(1 << 18), Rtx: rnd.Int64N(5000)})
			q := rccc.QuantaOf(target)
			r.OnArrival(handles[i], now, rccc.Arrival(rnd.IntN(3)), q.Extend(r.Target(handles[i])))
			if g, ok := r.Poll(now); ok && rnd.IntN(4) > 0 {
				to := &sources[g.Sender.Slot()]
				log = append(log, g.Bytes, g.Wait, int64(g.Sender), to.OnCreditUpdate(&p, rccc.QuantaOf(g.Cum).Extend(to.Cum())))
			}
		}
		return log
	}
	for seed := range uint64(3) {
		want := run(0, seed)
		for _, offset := range []int64{256 * (1<<23 - 100), 256 * (1<<24 - 100), 256 * (1<<24 + 5)} {
			require.Equal(t, want, run(offset, seed), "offset %d, seed %d", offset, seed)
		}
	}
}

// R14: equal shares of C, and with carry nothing is lost in the long run.
func testSliceCapacity(t *testing.T) {
	const capacity = 12_500
	for _, carry := range []bool{false, true} {
		for n := 1; n <= 17; n++ {
			policy, err := rccc.NewSlicePolicy(rccc.SliceConfig{Slice: 1000, Carry: carry})
			require.NoError(t, err)
			r := newCreditReceiver(t, n, policy)
			for range n {
				h, err := r.Add(0, 1, 0)
				require.NoError(t, err)
				r.OnArrival(h, 0, rccc.ArrivalData, 1<<28)
			}
			total := int64(0)
			for slice := int64(1); slice <= 200; slice++ {
				granted := int64(0)
				for g, ok := r.Poll(slice * 1000); ok; g, ok = r.Poll(slice * 1000) {
					granted += g.Bytes
				}
				total += granted
				if !carry {
					require.Equal(t, int64(capacity/n*n), granted)
				}
				require.LessOrEqual(t, total, slice*capacity)
				if carry {
					require.Greater(t, total, slice*capacity-int64(n))
				}
			}
		}
	}
}

// R16: the controller's rate stays in range, and a new factor leaves the time of
// the next grant alone.
func testRateFactor(t *testing.T) {
	f, err := rccc.NewFabricRate(rccc.FabricConfig{Oversubscription: 4, RTT: creditRTT})
	require.NoError(t, err)
	r := newCreditReceiver(t, 1, newPull(t))
	h, err := r.Add(0, 1, 0)
	require.NoError(t, err)
	r.OnArrival(h, 0, rccc.ArrivalData, 1<<28)
	rnd := rand.New(rand.NewPCG(1, 3))
	for range 5000 {
		for range rnd.IntN(20) {
			if rnd.IntN(3) == 0 {
				f.OnArrival(rnd.IntN(2) == 0)
			} else {
				f.OnTrim(rnd.IntN(2) == 0)
			}
		}
		rate := f.Step()
		require.GreaterOrEqual(t, rate, 0.225)
		require.LessOrEqual(t, rate, 1.0)
		before, _ := r.Deadline()
		r.SetFactor(rate)
		after, _ := r.Deadline()
		require.Equal(t, before, after)
		if g, ok := r.Poll(after); ok {
			pace := r.Pace()
			require.Equal(t, pace.TimeFor(g.Bytes), g.Wait)
		}
	}
}
