// SPDX-License-Identifier: Apache-2.0

package nscc_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ccc/baseline"
	"github.com/uetcc/uetcc/internal/agenda"
	"github.com/uetcc/uetcc/nscc"
)

// A controller is the congestion control of a flow, as path sees it.
type controller interface {
	cwnd() int64
	sent(size int64)
	acked(now, size, rtt int64, marked bool)
	lost(now, size int64)
}

// window is a controller.
type window struct {
	p *nscc.Params
	nscc.Window
}

func (w *window) cwnd() int64     { return w.Window.Cwnd() }
func (w *window) sent(size int64) { w.OnSend(size) }
func (w *window) acked(now, size, rtt int64, marked bool) {
	w.OnACK(w.p, now, nscc.Ack{Bytes: size, RTT: rtt, ECN: marked})
}
func (w *window) lost(_, size int64) { w.OnInferredLoss(w.p, size) }

// A cubic is a controller, for comparison.
type cubic struct{ baseline.Cubic }

func newCubic(mtu int64) *cubic {
	c := &cubic{baseline.Cubic{InitialCwnd: 4 * mtu}}
	c.Allow(0, ccc.Standing{MTU: mtu})
	return c
}

func (c *cubic) cwnd() int64     { return c.Cwnd() }
func (c *cubic) sent(size int64) { c.OnSend(0, size, false) }
func (c *cubic) acked(now, size, rtt int64, marked bool) {
	c.OnACK(now, ccc.Ack{Ack: nscc.Ack{Bytes: size, RTT: rtt, ECN: marked}, Packets: 1})
}
func (c *cubic) lost(now, size int64) { c.OnInferredLoss(now, ccc.Loss{Size: size}) }

// A pathConfig is a bottleneck: times ns, rate bytes a second, sizes in bandwidth-delay products.
type pathConfig struct {
	rate, rtt int64
	marks     bool // RED between 0.2 and 0.8
	limit     float64
	flows     int
	stagger   int64 // between their starts
	rounds    int64 // round trips after the last start
	loss      float64
}

// pathResult is what a path came to. The queue is the mean over the second half.
type pathResult struct {
	drops, queue, jain, goodput float64
}

func (r pathResult) String() string {
	return fmt.Sprintf("drops %.4f queue %.2f BDP Jain %.3f goodput %.3f", r.drops, r.queue, r.jain, r.goodput)
}

// news is what a flow hears of a packet.
type news struct {
	sent   int64
	flow   int
	marked bool
	lost   bool
}

const pathMTU = 4240

// runPath has flows that are never idle share a bottleneck.
func runPath(c pathConfig, make func(i int) controller) (r pathResult) {
	bdp := float64(c.rate) * float64(c.rtt) / 1e9
	wire := pathMTU * int64(1e9) / c.rate
	rnd := rand.New(rand.NewPCG(7, 8))
	flows, inflight := []controller{}, []int64{}
	var q agenda.Agenda[news]
	for i := range c.flows {
		flows, inflight = append(flows, make(i)), append(inflight, 0)
		q.Push(int64(i)*c.stagger, news{flow: i, sent: -1})
	}
	end := int64(c.flows)*c.stagger + c.rounds*c.rtt
	half := end - c.rounds*c.rtt/2
	got := [64]float64{}
	sent, dropped, samples, queued := 0., 0., 0., 0.
	busy := int64(0) // until when the bottleneck is
	for q.Len() > 0 {
		now, x := q.Pop()
		f := flows[x.flow]
		if now > end {
			break
		}
		switch {
		case x.sent < 0:
		case x.lost:
			inflight[x.flow] -= pathMTU
			f.lost(now, pathMTU)
		default:
			inflight[x.flow] -= pathMTU
			f.acked(now, pathMTU, now-x.sent, x.marked)
			if now >= half {
				got[x.flow]++
			}
		}
		for inflight[x.flow]+pathMTU <= f.cwnd() {
			inflight[x.flow] += pathMTU
			f.sent(pathMTU)
			at, wait := now, max(busy-now, 0)
			in := float64(wait) / float64(c.rtt) // of the queue, before this packet
			sent++
			if at >= half {
				queued += in
				samples++
			}
			if in*bdp+pathMTU > c.limit*bdp || rnd.Float64() < c.loss {
				dropped++
				q.Push(at+wait+c.rtt+wire, news{sent: at, flow: x.flow, lost: true})
				continue
			}
			busy = at + wait + wire
			q.Push(busy+c.rtt, news{sent: at, flow: x.flow, marked: c.marks && in > 0.2+0.6*rnd.Float64()})
		}
	}
	sum, squares := 0., 0.
	for _, g := range got[:c.flows] {
		sum += g
		squares += g * g
	}
	return pathResult{dropped / sent, queued / max(samples, 1), sum * sum / (float64(c.flows) * squares),
		sum * pathMTU / (float64(c.rate) * float64(end-half) / 1e9)}
}

// adaptive makes windows of ProfileAdaptive on a path of which rate and round trip were told.
func adaptive(t testing.TB, rate, told int64, guess bool) func(int) controller {
	return windows(must(t, nscc.Config{LinkRate: rate, BaseRTT: told, MTU: pathMTU, Profile: nscc.ProfileAdaptive, Unmeasured: guess}))
}

// windows makes windows with the parameters p.
func windows(p *nscc.Params) func(int) controller {
	return func(int) controller {
		w := &window{p: p}
		w.Init(p, 0, 0)
		return w
	}
}

// Eight flows that come one after another, from microseconds to an ocean. With marks the
// specification's window drops 5 % at 120 us and 31 % from a millisecond on, and without any 5 to
// 10 % everywhere (CUBIC none, and 0.02 to 1.9 %); ProfileAdaptive drops nothing.
func TestPathsDropNothing(t *testing.T) {
	for _, path := range []struct{ rate, rtt int64 }{
		{100e9 / 8, 5_000}, {100e9 / 8, 12_000}, {100e9 / 8, 60_000}, {10e9 / 8, 120_000}, {10e9 / 8, 1_000_000},
		{1e9 / 8, 4_000_000}, {1e9 / 8, 20_000_000}, {1e9 / 8, 50_000_000},
	} {
		for _, marks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d us, marks %v", path.rtt/1000, marks), func(t *testing.T) {
				c := pathConfig{rate: path.rate, rtt: path.rtt, marks: marks, limit: 4, flows: 8, stagger: 10 * path.rtt, rounds: 300}
				r := runPath(c, adaptive(t, path.rate, path.rtt, false))
				require.LessOrEqual(t, r.drops, 0.001, r)
				require.LessOrEqual(t, r.queue, 1.1, r)
				require.Greater(t, r.jain, 0.95, r)
				require.Greater(t, r.goodput, 0.94, r)
				if cubic := runPath(c, func(int) controller { return newCubic(pathMTU) }); !marks {
					require.LessOrEqual(t, r.drops, 2*cubic.drops, cubic)
					require.LessOrEqual(t, r.queue, 2*cubic.queue, cubic)
				}
			})
		}
	}
}

// Where the link's rate is a guess the path may be faster: a window finds the path, and eight share the path. Twice as
// fast took 1.4 times as long as with the rate told, and eight times 5.4 times.
func TestPathsFasterThanGuessed(t *testing.T) {
	for _, of := range []struct {
		flows int
		times int64
	}{{1, 2}, {1, 8}, {8, 2}, {8, 4}} {
		for _, marks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d flows, %d times, marks %v", of.flows, of.times, marks), func(t *testing.T) {
				const rate, rtt = 400e9 / 8, 12_000
				p := must(t, nscc.Config{LinkRate: rate / of.times, BaseRTT: rtt, MTU: pathMTU, Profile: nscc.ProfileAdaptive, Unrated: true})
				r := runPath(pathConfig{rate: rate, rtt: rtt, marks: marks, limit: 4, flows: of.flows, stagger: 10 * rtt, rounds: 300}, windows(p))
				require.LessOrEqual(t, r.drops, 0.001, r)
				require.LessOrEqual(t, r.queue, 1.1, r)
				require.Greater(t, r.jain, 0.95, r)
				require.Greater(t, r.goodput, 0.92, r)
			})
		}
	}
}

// One flow, told of hosts slower than the path: where the switch's queue holds less than the hosts
// delay its window stays what the queue allows, and elsewhere the queue is the hosts' delay.
func TestPathsHostDelay(t *testing.T) {
	const host = 500_000
	for _, path := range []struct{ rate, rtt int64 }{{10e9 / 8, 40_000}, {10e9 / 8, 120_000}, {100e9 / 8, 20_000}, {100e9 / 8, 500_000}} {
		for _, limit := range []float64{1, 4, 32} {
			t.Run(fmt.Sprintf("%d Gb/s, %d us, room for %.0f", path.rate*8/1e9, path.rtt/1000, limit), func(t *testing.T) {
				c := pathConfig{rate: path.rate, rtt: path.rtt, limit: limit, flows: 1, rounds: 1000}
				with := func(host int64) pathResult {
					p := must(t, nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 500_000, MTU: pathMTU, InitialCwnd: 256 << 10, HostDelay: host, Profile: nscc.ProfileAdaptive})
					return runPath(c, windows(p))
				}
				hardware, software := with(0), with(host)
				require.LessOrEqual(t, software.drops, hardware.drops+0.005, hardware)
				require.GreaterOrEqual(t, software.goodput, 0.99, software)
				require.LessOrEqual(t, software.queue, max(1.1, 1.1*host/float64(path.rtt)), software)
			})
		}
	}
}

// A base round trip that is told wrong, or not at all, costs no fairness where queues mark:
// of 200 round trips the second half. With the specification's window and one that is 1.1 times
// too long two flows shared 1 to 6.
func TestPathsWrongBaseHeals(t *testing.T) {
	for _, path := range []struct{ rate, rtt int64 }{{100e9 / 8, 12_000}, {10e9 / 8, 120_000}, {1e9 / 8, 20_000_000}} {
		for _, told := range []float64{0.25, 0.5, 1 / 1.1, 1.1, 1.5, 2, 4, 0} {
			t.Run(fmt.Sprintf("%d us, told %.2f", path.rtt/1000, told), func(t *testing.T) {
				c := pathConfig{rate: path.rate, rtt: path.rtt, marks: true, limit: 4, flows: 8, stagger: 10 * path.rtt, rounds: 200}
				says, guess := int64(told*float64(path.rtt)), told == 0
				if guess {
					says = 12_000
				}
				r := runPath(c, adaptive(t, path.rate, says, guess))
				require.Greater(t, r.jain, 0.95, r)
				require.LessOrEqual(t, r.drops, 0.001, r)
				require.LessOrEqual(t, r.queue, 1.1, r)
				require.Greater(t, r.goodput, 0.94, r)
			})
		}
	}
}

// A flow alone that was told a base round trip too short by less than a proof fills the path within ten round
// trips all the same: constant delay was taken for a queue, and the window stayed at some packets for longer.
func TestPathsToldShortIsSoonFull(t *testing.T) {
	for _, path := range []struct{ rate, rtt int64 }{{400e9 / 8, 12_000}, {100e9 / 8, 60_000}, {400e9 / 8, 200_000}} {
		for _, marks := range []bool{false, true} {
			for _, told := range []float64{0.3, 0.4, 0.5, 0.6} {
				c := pathConfig{rate: path.rate, rtt: path.rtt, marks: marks, limit: 4, flows: 1, rounds: 20}
				r := runPath(c, adaptive(t, path.rate, int64(told*float64(path.rtt)), false))
				require.Greater(t, r.goodput, min(0.9, 1.4*told), "%+v told %v: %v", path, told, r) // the ceiling is as told
				require.Zero(t, r.drops, "%+v told %v: %v", path, told, r)
			}
		}
	}
}

// Losses that are not for want of room cost less than CUBIC's window: goodput of one flow.
func TestPathsLoss(t *testing.T) {
	for _, tc := range []struct{ loss, least float64 }{{0.001, 0.85}, {0.01, 0.8}, {0.05, 0.25}} {
		for _, path := range []struct{ rate, rtt int64 }{{100e9 / 8, 12_000}, {10e9 / 8, 1_000_000}} {
			c := pathConfig{rate: path.rate, rtt: path.rtt, marks: true, limit: 4, flows: 1, loss: tc.loss, rounds: 400}
			r := runPath(c, adaptive(t, path.rate, path.rtt, false))
			require.Greater(t, r.goodput, tc.least, "%v: %v", tc.loss, r)
			require.Greater(t, r.goodput, runPath(c, func(int) controller { return newCubic(pathMTU) }).goodput)
		}
	}
}

// Where a queue holds a few packets of a burst none meets a delay, and what is lost looks like loss on the way. A
// window that losses have left at few packets doubles. (Before: one ACK added the 64th part of a bandwidth-delay
// product, and more; 71 and 81 % of packets were dropped.)
func TestPathsTinyQueue(t *testing.T) {
	for _, flows := range []int{1, 8} {
		c := pathConfig{rate: 400e9 / 8, rtt: 2_000_000, limit: 0.0002, flows: flows, rounds: 200}
		r := runPath(c, adaptive(t, c.rate, c.rtt, false))
		require.LessOrEqual(t, r.drops, 0.5, r)
	}
}

// A packet that is smaller tells of a base round trip with a full packet on both links: 41 us is
// 82 at 1.6 Gb/s (41: reads both ways took 2.0 of ideal, 1.27 now), so that full packets, of 83,
// meet no delay. Over six links 41 us is 165, and says nothing against a base of 83; nor does an
// acknowledgement of several packets, the last of them small, or of none that counts. A full packet is
// taken at its word, and so is any by ProfileSpec.
func TestAdaptiveSmallPacketsKeepTheBase(t *testing.T) {
	const rate, base, small, long = 200e6, 82_500, 100, 400_000
	for _, tc := range []struct {
		profile   nscc.Profile
		base      int64
		bytes     int64
		rtt, want int64
	}{
		{nscc.ProfileAdaptive, base, small, 41_000, base},
		{nscc.ProfileAdaptive, long, small, 41_000, 41_000 + 2*5*(pathMTU-small)},
		{nscc.ProfileAdaptive, base, pathMTU, 70_000, 70_000},
		{nscc.ProfileAdaptive, base, 3 * pathMTU, 70_000, 70_000},
		{nscc.ProfileAdaptive, base, 3*pathMTU + small, 70_000, base},
		{nscc.ProfileAdaptive, base, 0, 70_000, base},
		{nscc.ProfileSpec, base, small, 41_000, 41_000},
	} {
		p := must(t, nscc.Config{LinkRate: rate, BaseRTT: tc.base, MTU: pathMTU, Profile: tc.profile})
		var w, probed nscc.Window
		w.Init(p, 0, 0)
		w.OnSend(tc.bytes)
		w.OnACK(p, tc.rtt, nscc.Ack{Bytes: tc.bytes, RTT: tc.rtt})
		require.Equal(t, tc.want, w.BaseRTT(), "%+v", tc)
		probed.Init(p, 0, 0)
		probed.SampleBase(p, 41_000)
		keeps := tc.profile == nscc.ProfileAdaptive && tc.base == base
		require.Equal(t, keeps, probed.BaseRTT() == base, "%+v", tc)
	}
}

// TestAdaptiveProbeOfABusyPath probes paths whose base round trip has been found in full packets, with some
// queue: 40.0 us over slow spines at 2.5 Gb/s, 28.6 in a fat tree at 10. Probes of 9.0 and 12.1 us may have
// passed many links, and full packets must not be late for ever: they took 3.3 and 8.1 times the ideal time.
func TestAdaptiveProbeOfABusyPath(t *testing.T) {
	for _, tc := range []struct{ rate, mtu, full, found, probe int64 }{
		{2_500_000_000 / 8, 1128, 40_040, 40_500, 9_012}, {10_000_000_000 / 8, 4200, 28_601, 30_953, 12_111},
	} {
		p := must(t, nscc.Config{LinkRate: tc.rate, BaseRTT: 4 * tc.full, MTU: tc.mtu, Profile: nscc.ProfileAdaptive})
		var w nscc.Window
		w.Init(p, 0, 0)
		now := int64(0)
		ack := func(rtt int64) {
			now += rtt
			w.OnSend(tc.mtu)
			w.OnACK(p, now, nscc.Ack{Bytes: tc.mtu, RTT: rtt})
		}
		ack(tc.found)
		w.SampleBase(p, tc.probe)
		require.Less(t, w.BaseRTT(), tc.found)
		for range 50 { // others' packets, for some time
			ack(3 * tc.full)
		}
		for range 50 {
			ack(tc.full)
		}
		require.Greater(t, w.Cwnd(), 2*tc.mtu, "%+v", tc)
	}
}

// Of a transfer that takes more than two round trips two packets go first, three of another and of one with a
// hundred packets to go, or whatever the configuration says. After a first round trip without delay
// there is no difference left.
func TestAdaptiveBegin(t *testing.T) {
	const mtu = 4200
	for _, tc := range []struct{ initial, packets, first int64 }{
		{0, 1, 3}, {0, 3, 3}, {0, 6, 3}, {0, 7, 2}, {0, 64, 2}, {0, 99, 2}, {0, 100, 3}, {0, 1000, 3}, {8 * mtu, 64, 8},
	} {
		for _, late := range []int64{0, 6_000} {
			p := must(t, nscc.Config{
				LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: mtu, Profile: nscc.ProfileAdaptive, InitialCwnd: tc.initial,
			})
			var w nscc.Window
			w.Init(p, 0, 0)
			w.Begin(p, tc.packets*mtu)
			require.Equal(t, tc.first*mtu, w.Cwnd(), "%+v", tc)
			n := w.OnSendRun(p, mtu, 100)
			w.Begin(p, 64*mtu)
			require.Equal(t, tc.first*mtu, w.Cwnd(), "in flight: %+v", tc)
			for i := range int64(n) {
				w.OnACK(p, 12_000+i*400+late, nscc.Ack{Bytes: mtu, RTT: 12_000 + late})
				w.OnSendRun(p, mtu, 100)
			}
			switch {
			case late == 0 && tc.initial == 0:
				require.GreaterOrEqual(t, w.Cwnd(), int64(9*mtu), "%+v", tc)
				require.LessOrEqual(t, w.Cwnd(), int64(10*mtu), "%+v", tc)
			case tc.first == 2:
				require.LessOrEqual(t, w.Cwnd(), int64(6*mtu), "%+v", tc)
			}
		}
	}
	p := must(t, nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: mtu, Trimming: true})
	var w nscc.Window
	w.Init(p, 0, 0)
	w.Begin(p, 64*mtu)
	require.Equal(t, int64(225_000), w.Cwnd())
}

// The room of five packets is no more than Tuning.MaxWnd allows.
func TestAdaptiveKeepsBelowMaxWnd(t *testing.T) {
	p := must(t, nscc.Config{LinkRate: 12.5e9, BaseRTT: 12_000, MTU: pathMTU, Profile: nscc.ProfileAdaptive, Tuning: nscc.Tuning{MaxWnd: 2 * pathMTU}})
	var w nscc.Window
	w.Init(p, 0, 0)
	for now := range int64(100) {
		w.OnSend(pathMTU)
		w.OnACK(p, now*11_000, nscc.Ack{Bytes: pathMTU, RTT: 11_000})
		require.LessOrEqual(t, w.Cwnd(), p.MaxWnd())
	}
}

// TestAdaptiveFirstSampleIsNotTheShortest hands the first samples to a window at its smallest,
// long after it was made: none may find a base round trip that no packet had.
func TestAdaptiveFirstSampleIsNotTheShortest(t *testing.T) {
	p := must(t, nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4096, Profile: nscc.ProfileAdaptive})
	for _, cached := range []int64{0, 30_000} {
		var w nscc.Window
		w.Init(p, 0, cached)
		w.OnSend(4096)
		for i := range int64(8) {
			w.OnACK(p, 1<<40+i*39_197, nscc.Ack{Bytes: 4096, RTT: 39_197, Pend: 6})
			require.GreaterOrEqual(t, w.BaseRTT(), int64(12_000), "cached %d, sample %d", cached, i)
		}
	}
}

// Acknowledgements without a sample, as of fetching operations that are answered later, let the window grow by
// the delay of the last sample; before any sample, or after a late one, they do not. 3,000 atomics of 8 bytes at
// 10 Gb/s and 60 us took 14.5 times the ideal time, with 38 of them in each round trip.
func TestAdaptiveGrowsBetweenSamples(t *testing.T) {
	const base = 60_000
	p := must(t, nscc.Config{LinkRate: 10e9 / 8, BaseRTT: base, MTU: pathMTU, Profile: nscc.ProfileAdaptive})
	for _, tc := range []struct {
		sampled int64
		grows   bool
	}{{0, false}, {base, true}, {10 * base, false}} {
		var w nscc.Window
		w.Init(p, 0, 0)
		send := func() {
			for w.CanSend(p, 116) {
				w.OnSend(116)
			}
		}
		send()
		if tc.sampled != 0 {
			w.OnACK(p, base, nscc.Ack{Bytes: 116, RTT: base})
			for range 20 { // the average delay follows
				send()
				w.OnACK(p, base, nscc.Ack{Bytes: 116, RTT: tc.sampled})
			}
		}
		before := w.Cwnd()
		for range 20 {
			w.OnACK(p, base+1, nscc.Ack{Bytes: 116})
			send()
		}
		require.Equal(t, tc.grows, w.Cwnd() > before, tc)
		require.Equal(t, !tc.grows, w.Cwnd() == before, tc)
	}
}

// Read requests of 104 bytes fill a window of one packet, and the window grows: where the round trip was told
// four times too short each window came down to one packet, a base was found, and the window stayed. A read
// took 109 times the ideal time, or never ended.
func TestAdaptiveGrowsOnSmallPackets(t *testing.T) {
	const told, base, size = 25_000, 85_000, 104
	p := must(t, nscc.Config{LinkRate: 10e9 / 8, BaseRTT: told, MTU: pathMTU, Profile: nscc.ProfileAdaptive})
	var w nscc.Window
	w.Init(p, 0, 0)
	least, now := w.Cwnd(), int64(0)
	for range 40 {
		now = fill(p, &w, now, base, size)
		least = min(least, w.Cwnd())
	}
	require.Less(t, least, int64(2*pathMTU), "the test must reach what it is about")
	require.Greater(t, w.Cwnd(), int64(10*pathMTU))
}

// fill sends packets of a size as far as the window lets it, and has all acknowledged a round trip later: the time then.
func fill(p *nscc.Params, w *nscc.Window, now, rtt, size int64) int64 {
	n := 0
	for w.CanSend(p, size) {
		w.OnSend(size)
		n++
	}
	now += rtt
	for range n {
		w.OnACK(p, now, nscc.Ack{Bytes: size, RTT: rtt})
	}
	return now
}

// TestAdaptiveSmallSamplesVouchForNothing is of paths told half of what they are. Samples of small packets come below the
// target, vouched for the base each time, and the window stayed at a packet or two. At 25 Gb/s, 44 us with what waits, those
// were of atomics, of packets counted before: reads, writes and atomics took 40 times the ideal time. At 100 Gb/s, 8 us and
// slow spines, those were of the last packets of messages of 100 KB, which took 22 times.
func TestAdaptiveSmallSamplesVouchForNothing(t *testing.T) {
	const mtu = 4200
	for name, c := range map[string]struct {
		rate       int64
		told, base int64
		every      int
		small      nscc.Ack
	}{
		"atomics": {25e9 / 8, 21_364, 44_000, 4, nscc.Ack{RTT: 40_000}},
		"tails":   {100e9 / 8, 5706, 11_434, 25, nscc.Ack{RTT: 9866, Bytes: 2241}},
	} {
		p := must(t, nscc.Config{LinkRate: c.rate, BaseRTT: c.told, MTU: mtu, Profile: nscc.ProfileAdaptive})
		var w nscc.Window
		w.Init(p, 0, 0)
		least, now := w.Cwnd(), int64(0)
		for i := range 400 {
			now = fill(p, &w, now, c.base, mtu)
			if i%c.every == 0 {
				w.OnSend(c.small.Bytes)
				w.OnACK(p, now, c.small)
			}
			least = min(least, w.Cwnd())
		}
		require.Less(t, least, int64(2*mtu), "%s: the test must reach what it is about", name)
		require.Greater(t, w.Cwnd(), int64(10*mtu), name)
	}
}

// Packets that are late or lost on their own tell of no queue, and end no search for a longer round trip: told half of
// 100 us at 400 Gb/s, a message of 33 MB took 8 times the ideal time where one packet in a thousand came late.
func TestAdaptiveStraysEndNoSearch(t *testing.T) {
	const told, base, mtu = 50_000, 100_000, 4200
	p := must(t, nscc.Config{LinkRate: 400e9 / 8, BaseRTT: told, MTU: mtu, Profile: nscc.ProfileAdaptive})
	for name, stray := range map[string]func(w *nscc.Window, now int64){
		"late": func(w *nscc.Window, now int64) { w.OnACK(p, now, nscc.Ack{Bytes: mtu, RTT: base + base/2}) },
		"lost": func(w *nscc.Window, _ int64) { w.OnInferredLoss(p, mtu) },
	} {
		var w nscc.Window
		w.Init(p, 0, 0)
		now := int64(0)
		for i := range 16 {
			if i != 0 {
				w.OnSend(mtu)
			}
			if now = fill(p, &w, now, base, mtu); i != 0 {
				stray(&w, now)
			}
		}
		require.InDelta(t, base, w.BaseRTT(), 1000, name)
		require.Greater(t, w.Cwnd(), int64(3_000_000), name)
	}
}
