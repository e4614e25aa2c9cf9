// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/ses"
)

// Times that lie outside, and clocks that go back, hang and break nothing: the calls
// return, and what they have to send comes to an end.
func TestEndpointOddClocks(t *testing.T) {
	const hour = 3600e9
	for _, control := range []ccc.Control{ccc.ControlNSCC, ccc.ControlRCCC, ccc.ControlBoth} {
		for _, odd := range []int64{math.MinInt64, -1 << 62, -1, hour, 1<<62 - 1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
			t.Run(fmt.Sprint(control, "/", odd), func(t *testing.T) {
				n := newNetwork(t, 1, netFaults{}, 2, underCredit(control, 2048))
				for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
					n.write(mode, 40*netMTU)
				}
				for i, now := range []int64{0, odd, 0, odd, odd, 5000, odd - 1, 1 << 40, odd, 1_000_000, odd, 0} {
					for k, end := range n.ends {
						end.e.Tick(now)
						all := sendAll(now, end.e)
						require.Less(t, len(all), 1000)
						for j, p := range all {
							if (i+j)%7 == 0 {
								continue
							}
							_, back := receive(now, n.ends[1-k].e, p)
							for _, q := range back {
								receive(odd, end.e, q)
							}
						}
						end.e.NextDeadline()
						n.poll(end)
					}
				}
			})
		}
	}
}

// A clock that was negative, or has gone back, is one that time passes on all the same.
func TestEndpointGoesOnAfterAnOddClock(t *testing.T) {
	for _, odd := range []int64{math.MinInt64, -1 << 62, -1, 50_000_000} {
		for _, control := range []ccc.Control{ccc.ControlNSCC, ccc.ControlBoth} {
			n := newNetwork(t, 1, netFaults{}, 2, underCredit(control, 2048))
			for _, end := range n.ends {
				end.e.Tick(odd)
			}
			for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
				n.write(mode, 40*netMTU)
			}
			n.endWell(n.ends[0], 3)
		}
	}
}

// back sets the clock of all ends back.
func (n *network) back(ns int64) {
	flying := make([]netPacket, 0, n.q.Len())
	var after []int64
	for n.q.Len() > 0 {
		at, p := n.q.Pop()
		flying, after = append(flying, p), append(after, at-n.now)
	}
	n.now -= ns
	for i, p := range flying {
		n.q.Push(n.now+after[i], p)
	}
	for _, end := range n.ends {
		end.e.Tick(n.now)
	}
}

// A clock that goes back, by however much, makes nothing wait. By 20 ms it left messages that
// were to be tried again at the head of their line for ever, 7 of 7 RUDI ones and all behind
// them, without a deadline; by an hour it stopped each timer for an hour.
func TestEndpointClockThatGoesBack(t *testing.T) {
	const start = 1 << 61
	for _, back := range []int64{1, 100_000, ms, 20 * ms, 3_600_000 * ms, start} {
		for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
			n := newNetwork(t, 1, netFaults{loss: .1}, 2, func(c *uetcc.Config) { c.Now, c.Backoff, c.RUDI = start, 10*ms, 8 })
			n.now = start
			b := n.ends[1].e.Target()
			require.NoError(t, b.SetIndexState(1<<16, 0, ses.IndexGenDisabled))
			for range 4 {
				n.write(mode, 20*netMTU)
			}
			n.run(func() bool { return n.now >= start+5*ms })
			n.back(back)
			began := n.now
			require.NoError(t, b.SetIndexState(1<<16, 0, ses.IndexEnabled))
			n.run(func() bool { return n.now >= began+3*ms || len(n.ends[0].events) == 4 })
			n.back(min(back, n.now))
			n.endWell(n.ends[0], 4)
			require.Less(t, n.now-began, int64(500*ms), "%d %v", back, mode)
		}
	}
}

// An MTU of congestion control below that of the packets stops nothing.
func TestEndpointWindowBelowAPacket(t *testing.T) {
	for _, control := range []ccc.Control{ccc.ControlNSCC, ccc.ControlBoth} {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
			c.CC.Control, c.CC.NSCC.MTU, c.CC.NSCC.InitialCwnd = control, 128, 128
		})
		n.write(ses.ModeRUD, 40*netMTU)
		n.endWell(n.ends[0], 1)
	}
}

// A clock goes back by just as much as a time-out takes, so that the time-out is due, by the
// caller's clock, at the latest time that the endpoint has known. It passes all the same.
func TestEndpointTimeoutAfterAsLongAStepBack(t *testing.T) {
	begin := func(back int64) (n *network, e *uetcc.Endpoint, due int64) {
		n = newNetwork(t, 1, netFaults{}, 2, nil)
		e, n.now = n.ends[0].e, 50*ms
		e.Tick(n.now)
		n.now -= back
		n.write(ses.ModeRUD, netMTU)
		sendAll(n.now, e)
		due, _ = e.NextDeadline()
		return n, e, due
	}
	_, _, due := begin(0)
	_, e, at := begin(due - 50*ms)
	for range 10 {
		e.Tick(at)
		at, _ = e.NextDeadline()
	}
	require.NotZero(t, e.PDS().Stats().RTOs)

	_, e, at = begin(10 * ms)
	require.Less(t, at, int64(50*ms))
	e.Tick(50 * ms) // the caller's clock shows the latest time again, 10 ms later: a coarse clock may
	require.NotZero(t, e.PDS().Stats().RTOs)
}
