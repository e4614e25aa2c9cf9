// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
)

// EQDS: a first window of a bandwidth-delay product; then a packet a pull, from the senders in turn,
// at the rate of the link.
func TestEQDSPullsPacketsInTurn(t *testing.T) {
	const rate, rtt, packet = 12_500_000_000, 10_000, 4096
	c, pull := EQDS(ccc.Config{NSCC: nscc.Config{LinkRate: rate, BaseRTT: rtt}}, packet)
	require.Equal(t, ccc.ControlRCCC, c.Control)
	require.EqualValues(t, 125_000, c.RCCC.InitialCredit)
	long, _ := EQDS(ccc.Config{NSCC: nscc.Config{LinkRate: 100e9, BaseRTT: 200e6}}, packet) // in nanobytes more than an int64
	require.EqualValues(t, 20e9, long.RCCC.InitialCredit)
	policy, err := rccc.NewPullPolicy(pull)
	require.NoError(t, err)
	r, err := rccc.NewReceiver(rccc.ReceiverConfig{Senders: 3, Rate: rate, MaxCredit: pull.MaxCredit, Policy: policy})
	require.NoError(t, err)
	var senders []rccc.Handle
	for range 3 {
		h, err := r.Add(0, 1, 0)
		require.NoError(t, err)
		r.OnArrival(h, 0, rccc.ArrivalData, 1_000_000)
		senders = append(senders, h)
	}
	const grants = 300
	cum := map[rccc.Handle]int64{}
	now := int64(0)
	for i := range grants {
		g, ok := r.Poll(now)
		for !ok {
			due, awake := r.Deadline()
			require.True(t, awake)
			now = due
			g, ok = r.Poll(now)
		}
		require.Equal(t, senders[i%3], g.Sender)
		require.EqualValues(t, packet, g.Cum-cum[g.Sender])
		cum[g.Sender] = g.Cum
	}
	require.InEpsilon(t, grants*packet*1e9/rate, now, 0.01) // a grant takes whole nanoseconds
}
