// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// penalised is the policy of the example of package hw/hbm.
func penalised(c *uetcc.Config) {
	c.PDS.AckPerPacket = true
	c.Penalty = hbm.PolicyConfig{Low: 8192, High: 49152, Resume: 4096, Max: 127}
}

// states are the congestion states of all acknowledgements of what end 0 has to send now, in
// order.
func states(t *testing.T, n *network) (all []pds.NSCCState) {
	a, b := n.ends[0].e, n.ends[1].e
	for _, p := range sendAll(n.now, a) {
		_, back := receive(n.now, b, p)
		for _, q := range back {
			var ack pds.AckCC
			_, err := ack.Decode(q.data)
			require.NoError(t, err)
			var s pds.NSCCState
			require.True(t, ack.NSCC(&s))
			all = append(all, s)
			receive(n.now, a, q)
		}
	}
	return all
}

// What waits on the way into memory is a penalty in every acknowledgement, until it has gone, and
// then leave to restore: the numbers are those of package hw/hbm. A host that names a penalty by
// itself has its way.
func TestEndpointBacklogIsAPenalty(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, penalised)
	b := n.ends[1].e
	say := func(bytes int64, pend uint8, restore bool) {
		b.SetBacklog(n.now, bytes)
		n.write(ses.ModeRUD, 3*netMTU+1)
		all := states(t, n)
		require.NotEmpty(t, all)
		for _, s := range all {
			require.Equal(t, pend, s.CwndPend)
			require.Equal(t, restore, s.Restore)
		}
	}
	say(0, 0, false)
	say(28_672, 64, false)
	say(49_152, 127, false)
	say(4096, 0, true)
	say(0, 0, true)

	b.SetBacklog(n.now, 49_152)
	n.write(ses.ModeRUD, 1)
	p := sendAll(n.now, n.ends[0].e)[0]
	in := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst, State: pdc.AckState{Pend: 3}}
	reply := newReply(b)
	var r uetcc.Received
	b.Receive(n.now, &in, &reply, &r)
	var ack pds.AckCC
	_, err := ack.Decode(reply.Packet)
	require.NoError(t, err)
	var s pds.NSCCState
	require.True(t, ack.NSCC(&s))
	require.EqualValues(t, 3, s.CwndPend)
}

// The penalty brings the window of the source down, and leave to restore brings it back.
func TestEndpointBacklogMovesTheWindow(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, penalised)
	a, b := n.ends[0].e, n.ends[1].e
	n.write(ses.ModeRUD, netMTU)
	states(t, n)
	var context *ccc.Context
	for h := range a.PDS().All() {
		info, _ := a.PDS().PDC(h)
		context = a.CC().Context(info.Context)
	}
	full := context.Cwnd()
	b.SetBacklog(n.now, 49_152)
	for range 3 {
		n.now += 20_000
		n.write(ses.ModeRUD, 40*netMTU)
		states(t, n)
	}
	low := context.Cwnd()
	require.Less(t, low, full/2)
	b.SetBacklog(n.now, 0)
	n.now += 20_000
	n.write(ses.ModeRUD, 40*netMTU)
	states(t, n)
	require.Greater(t, context.Cwnd(), 2*low)
}

// Receiver credit slows with what waits, from the next grant on.
func TestEndpointBacklogSlowsCredit(t *testing.T) {
	arrived := func(backlog int64) uint64 {
		n := newNetwork(t, 1, netFaults{}, 2, underCredit(ccc.ControlRCCC, 4096))
		n.ends[1].e.SetBacklog(0, backlog)
		n.write(ses.ModeRUD, 1<<19)
		n.wait(60_000)
		return n.ends[1].e.PDS().Stats().Requests
	}
	require.Greater(t, arrived(0), 5*arrived(4_500_000))
}
