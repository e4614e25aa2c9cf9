// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/hw/pcc"
)

// delayed is a congestion control of one's own: the window grows by a packet each round
// trip that is shorter than the target, and shrinks with the excess once each round trip.
type delayed struct {
	cwnd, target float64 // bytes, ns
	cut          int64   // when it shrank last
}

func (d *delayed) OnSend(now, size int64, rtx bool) {}

func (d *delayed) OnACK(now int64, a ccc.Ack) {
	rtt := float64(a.RTT)
	switch {
	case a.RTT <= 0:
	case rtt < d.target:
		d.cwnd += 4150 * float64(a.Bytes) / d.cwnd
	case now-d.cut > a.RTT:
		d.cwnd, d.cut = max(d.cwnd*(1-0.5*(rtt-d.target)/rtt), 4150), now
	}
}

func (d *delayed) OnNACK(now int64, n ccc.Nack)         { d.cwnd = max(d.cwnd-float64(n.Size), 4150) }
func (d *delayed) OnInferredLoss(now int64, l ccc.Loss) { d.cwnd = max(d.cwnd-float64(l.Size), 4150) }

func (d *delayed) Allow(now int64, s ccc.Standing) (bytes, notBefore int64) {
	return int64(d.cwnd) - s.Inflight, 0
}

const incast = `
Nodes 16
Connections 3
5->0 start 0 size 1000000
9->0 start 0 size 1000000
13->0 start 0 size 1000000
`

// An algorithm of one's own and NSCC, in the same incast.
func ExampleConfig_algorithm() {
	m, _ := fabric.ParseMatrix("incast", strings.NewReader(incast))
	own := fabric.Config{
		Matrix: m, Seed: 1, Control: ccc.ControlNone,
		Algorithm: func(src, dst int) ccc.Algorithm { return &delayed{cwnd: 50_000, target: 17_000} },
	}
	for name, c := range map[string]fabric.Config{"own": own, "NSCC": {Matrix: m, Seed: 1}} {
		r, err := fabric.Run(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: within 20 %% of the best %v, trims %v\n", name, r.FCT.Max < 1.2*r.LowerBound, r.Totals.Trimmed > 0)
	}
	// Unordered output:
	// own: within 20 % of the best true, trims false
	// NSCC: within 20 % of the best true, trims true
}

// ztr is the rate control of a NIC, ZTR-RTT, in a UET context: acknowledgements are its
// probes, and the next packet waits for as long as the last one takes at its rate.
type ztr struct {
	params *pcc.ZTRParams
	flow   pcc.ZTR
	rate   pcc.Rate
	ask    bool  // the next packet is a probe
	probed int64 // when the last one left
	next   int64 // when the next packet may
}

func (z *ztr) on(e pcc.Event) {
	d := z.flow.OnEvent(z.params, &e)
	z.rate, z.ask = d.Rate, z.ask || d.Probe
}

func (z *ztr) OnSend(now, size int64, rtx bool) {
	e := pcc.Event{Type: pcc.EventTX, Time: uint32(now)}
	if z.ask {
		e.Flags, z.ask, z.probed = pcc.ProbeSent, false, now
	}
	z.on(e)
	z.next = max(now, z.next) + size*8e9/z.rate.Bits(100e9)
}

func (z *ztr) OnACK(now int64, a ccc.Ack) {
	if sent := now - a.RTT; a.RTT > 0 && z.flow.InFlight && sent >= z.probed {
		z.on(pcc.Event{Type: pcc.EventRTT, Time: uint32(now), Stamps: pcc.Stamps{ReqSend: uint32(sent)}}) // the service time is off already
	}
}

func (z *ztr) OnNACK(now int64, n ccc.Nack) {
	z.on(pcc.Event{Type: pcc.EventNACK, Time: uint32(now)})
}

func (z *ztr) OnInferredLoss(now int64, l ccc.Loss) {}

func (z *ztr) Allow(now int64, s ccc.Standing) (bytes, notBefore int64) { return s.MTU, z.next }

// A rate instead of a window: the same incast under ZTR-RTT, which goes by the delay alone.
func ExampleConfig_rate() {
	m, _ := fabric.ParseMatrix("incast", strings.NewReader(incast))
	params := pcc.DefaultZTRParams()
	r, err := fabric.Run(fabric.Config{
		Matrix: m, Seed: 1, Control: ccc.ControlNone,
		Algorithm: func(src, dst int) ccc.Algorithm { return &ztr{params: &params} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("within 10 %% of the best %v, alike %v\n", r.FCT.Max < 1.1*r.LowerBound, r.JainIndex > 0.99)
	// Output:
	// within 10 % of the best true, alike true
}

// fixed allows so many bytes in flight, and a packet each gap nanoseconds.
type fixed struct {
	window, gap, last int64
	most              *int64
}

func (f *fixed) OnSend(now, size int64, rtx bool)     { f.last = now }
func (f *fixed) OnACK(now int64, a ccc.Ack)           {}
func (f *fixed) OnNACK(now int64, n ccc.Nack)         {}
func (f *fixed) OnInferredLoss(now int64, l ccc.Loss) {}
func (f *fixed) Allow(now int64, s ccc.Standing) (bytes, notBefore int64) {
	*f.most = max(*f.most, s.Inflight)
	return f.window - s.Inflight, f.last + f.gap
}

// What an algorithm allows is what is sent: the window is never passed, and packets that
// are to come every 10 us come so.
func TestAlgorithmDecides(t *testing.T) {
	m, err := fabric.ParseMatrix("one", strings.NewReader("Nodes 16\nConnections 1\n5->0 start 0 size 1000000\n"))
	require.NoError(t, err)
	run := func(window, gap int64) (r *fabric.Result, most int64) {
		r, err := fabric.Run(fabric.Config{Matrix: m, Seed: 1, Control: ccc.ControlNone, Algorithm: func(src, dst int) ccc.Algorithm {
			require.Equal(t, [2]int{5, 0}, [2]int{src, dst})
			return &fixed{window: window, gap: gap, last: -gap, most: &most}
		}})
		require.NoError(t, err)
		require.Zero(t, r.Unfinished)
		require.Empty(t, r.Violations)
		return r, most
	}
	_, most := run(3*4150, 0)
	require.LessOrEqual(t, most, int64(3*4150))
	require.Greater(t, most, int64(2*4150))
	r, _ := run(100*4150, 10_000)
	require.InDelta(t, 244*10, r.FCT.Max, 15, "245 packets")
}

func TestControlNoneNeedsAnAlgorithm(t *testing.T) {
	m, err := fabric.ParseMatrix("incast", strings.NewReader(incast))
	require.NoError(t, err)
	_, err = fabric.Run(fabric.Config{Matrix: m, Control: ccc.ControlNone})
	require.ErrorIs(t, err, fabric.ErrConfig)
}

// Config.Context is told of every step: time does not go back, a full window is what
// holds data back, and in the end nothing waits.
func TestContextState(t *testing.T) {
	m, err := fabric.ParseMatrix("incast", strings.NewReader(incast))
	require.NoError(t, err)
	var now link.Ps
	last := map[uint32]fabric.ContextState{}
	r, err := fabric.Run(fabric.Config{Matrix: m, Seed: 1, Context: func(s *fabric.ContextState) {
		require.GreaterOrEqual(t, s.Now, now)
		if s.State == ccc.StateActive {
			require.Equal(t, ccc.ReasonWindow, s.Reason)
			require.Greater(t, s.Window.Inflight+4150, s.Window.Cwnd)
		}
		now, last[s.Src] = s.Now, *s
	}})
	require.NoError(t, err)
	require.Zero(t, r.Unfinished)
	for _, src := range []uint32{5, 9, 13} {
		require.Zero(t, last[src].Dst)
		require.Zero(t, last[src].Waiting)
		require.Equal(t, ccc.StateIdle, last[src].State)
	}
}
