// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// What implementations of contexts are known to get wrong, one test each. Three
// more belong to whoever tracks packets and are tested in internal/pdc: RUDI and UUD
// have no context, a cleared SACK bit is no loss report, and rings are bounded.

func TestPitfallSizesSubtractExactly(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	sizes := []int64{4160, 64, 1500, 41, 4160}
	for _, s := range sizes {
		c.OnNewData(p, 0, s)
	}
	for i, s := range sizes {
		c.OnSend(p, 0, s, false)
		if i%2 == 0 {
			c.OnInferredLoss(p, us, Loss{Size: s})
			c.OnSend(p, us, s, true)
		}
		a := ack(1, s)
		a.RTT = 0
		c.OnACK(p, us, a)
	}
	require.Zero(t, c.Backlog())
	require.Zero(t, c.RtxBacklog())
	require.Zero(t, c.WaitingRtx())
	require.Zero(t, c.InflightPackets())
	require.Zero(t, c.Inflight())
}

func TestPitfallCountersAssertRatherThanWrap(t *testing.T) {
	p := testParams(t, chapterFabric())
	lost := func() *Context {
		c := bound(p)
		c.OnNewData(p, 0, 2*mtu)
		c.OnSend(p, 0, mtu, false)
		c.OnInferredLoss(p, 0, Loss{Size: mtu})
		return c
	}
	for name, misuse := range map[string]func(c *Context){
		"more sent than there was":   func(c *Context) { c.OnSend(p, 0, mtu+1, false) },
		"sent again twice":           func(c *Context) { c.OnSend(p, 0, mtu, true); c.OnSend(p, 0, mtu, true) },
		"sent again in another size": func(c *Context) { c.OnSend(p, 0, mtu-1, true) },
		"unmarked bytes but no packet": func(c *Context) {
			c.OnACK(p, 0, Ack{RtxBytes: mtu, RtxPackets: 0, Packets: 1})
			c.OnACK(p, 0, Ack{RtxBytes: mtu, RtxPackets: 2})
		},
		"refused packet without size":    func(c *Context) { c.OnNACK(p, 0, Nack{}) },
		"more data than a counter holds": func(c *Context) { c.OnNewData(p, 0, math.MaxInt64) },
		"negative delta":                 func(c *Context) { c.OnNewData(p, 0, -1) },
		"PDC unbound twice":              func(c *Context) { c.Unbind(p, 0, Left{}); c.Unbind(p, 0, Left{}) },
	} {
		require.Panics(t, func() { misuse(lost()) }, name)
	}
}

// The path choice learns from feedback whatever the window did with it.
func TestPitfallEntropyDoesNotDependOnWindow(t *testing.T) {
	f := chapterFabric()
	f.Entropy = EntropyConfig{Scheme: SchemeREPS, Values: 64}
	values := func(cwnd int64) []uint16 {
		f.NSCC.InitialCwnd = cwnd
		p := testParams(t, f)
		c := bound(p)
		var e Entropy
		e.Init(p.Entropy(), 7)
		side := make([]uint64, p.Entropy().Words())
		var out []uint16
		for i := range 100 {
			c.OnNewData(p, 0, mtu)
			c.OnSend(p, 0, mtu, false)
			v := e.Next(p.Entropy(), side, Progress{})
			out = append(out, v)
			a := Ack{Ack: nscc.Ack{Bytes: mtu, RTT: 6 * us, ECN: i%3 == 0}, Packets: 1, Entropy: v}
			e.OnACK(p.Entropy(), side, int64(i)*us, &a)
			c.OnACK(p, int64(i)*us, a)
		}
		return out
	}
	require.Equal(t, values(mtu), values(100_000))
}

// One acknowledgement of many packets is one report, of one value and one mark.
func TestPitfallAckCarriesOneEntropyAndOneMark(t *testing.T) {
	a := ack(16, mtu)
	a.Entropy, a.ECN = 77, true
	require.Equal(t, report{77, feedbackECN}, a.report())
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.OnNewData(p, 0, 16*mtu)
	for range 16 {
		c.OnSend(p, 0, mtu, false)
	}
	c.OnACK(p, us, a)
	require.Zero(t, c.InflightPackets())
	require.Zero(t, c.Inflight())
}

// An acknowledgement without new bytes can still open the window.
func TestPitfallEvaluateAfterEmptyAck(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.OnNewData(p, 0, 1<<20)
	for c.State() == StateReady {
		c.OnSend(p, 0, mtu, false)
	}
	for range 8 {
		c.OnACK(p, us, Ack{Ack: nscc.Ack{Bytes: mtu, Pend: 127}, Packets: 1})
	}
	require.Equal(t, StateActive, c.State())
	c.OnACK(p, us, Ack{Ack: nscc.Ack{Bytes: 0, Restore: true}})
	require.Equal(t, StateReady, c.State(), "the restore brought the window back")
}

// A NACK and an acknowledgement of one packet cross: it leaves the flight once.
func TestPitfallNackedThenAcknowledgedLeavesFlightOnce(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.OnNewData(p, 0, 4*mtu)
	for range 4 {
		c.OnSend(p, 0, mtu, false)
	}
	c.OnNACK(p, us, Nack{Nack: nscc.Nack{Size: mtu, Reason: nscc.ReasonTrimmed}})
	a := ack(2, mtu) // one in flight, and the refused one after all
	a.RtxPackets, a.RtxBytes = 1, mtu
	c.OnACK(p, us, a)
	require.Equal(t, 2, c.InflightPackets())
	require.EqualValues(t, 2*mtu, c.Inflight())
	require.Zero(t, c.WaitingRtx())
	require.Zero(t, c.RtxBacklog())
}

// Bytes may be acknowledged that are not in flight any more: the count goes below
// zero and comes back.
func TestPitfallNegativeInflight(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.OnNewData(p, 0, 300)
	c.OnSend(p, 0, 300, false)
	c.OnACK(p, us, ack(1, 512)) // 300 bytes are 2 units of 256
	require.EqualValues(t, -212, c.Inflight())
	require.Equal(t, StateIdle, c.State())
	c.OnNewData(p, us, 1<<20)
	require.Equal(t, StateReady, c.State())
}

func TestPitfallTrimAtLastHopDoesNotBlamePath(t *testing.T) {
	for _, c := range []struct {
		nack Nack
		want feedback
	}{
		{Nack{Nack: nscc.Nack{Reason: nscc.ReasonTrimmed}, CE: true}, feedbackNACK},
		{Nack{Nack: nscc.Nack{Reason: nscc.ReasonTrimmed}}, feedbackNACK},
		{Nack{Nack: nscc.Nack{Reason: nscc.ReasonTrimmedLastHop}, CE: true}, feedbackECN},
		{Nack{Nack: nscc.Nack{Reason: nscc.ReasonTrimmedLastHop}}, feedbackGood},
		{Nack{Nack: nscc.Nack{Reason: nscc.ReasonOther}}, feedbackGood},
	} {
		require.Equal(t, c.want, c.nack.report().kind, "%+v", c.nack)
	}
	l := Loss{Entropy: 5}
	require.Equal(t, report{5, feedbackTimeout}, l.report(), "the lost packet's own value, not 0")
}

// A window cut below what is in flight stops sending and nothing else.
func TestPitfallWindowBelowInflight(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.OnNewData(p, 0, 1<<20)
	for c.State() == StateReady {
		c.OnSend(p, 0, mtu, false)
	}
	inflight, packets := c.Inflight(), c.InflightPackets()
	for i := range int64(40) {
		c.OnACK(p, 100*us*(i+1), Ack{Ack: nscc.Ack{RTT: 100 * us, ECN: true}})
	}
	require.Less(t, c.Cwnd(), inflight)
	require.Equal(t, inflight, c.Inflight())
	require.Equal(t, StateActive, c.State())
	require.Equal(t, Decision{Reason: ReasonWindow}, c.Decide(p, 5000*us))
	for range packets {
		c.OnACK(p, 5000*us, ack(1, mtu))
	}
	require.Equal(t, StateReady, c.State())
	require.Zero(t, c.Inflight())
}
