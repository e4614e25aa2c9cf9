// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// chapterCredit is the initial credit of UET congestion chapter 8: one microsecond of
// its 100 Gb/s link, a small part of the bandwidth-delay product.
const chapterCredit = 12_500

// incastMatrix is senders-to-one, 2 MB each, the destination being host 0.
func incastMatrix(t *testing.T, senders int) *Matrix {
	var b strings.Builder
	fmt.Fprintf(&b, "Nodes 16\nConnections %d\n", senders)
	for i := range senders {
		fmt.Fprintf(&b, "%d->0 start 0 size 2000000\n", i+1)
	}
	return matrix(t, b.String())
}

// Receiver credits keep an incast's link busy, whole and fair: the slowest flow
// ends within 2 % of what the link needs for all bytes, plus one round trip, and
// no last hop marks. With the small initial credit hardly anything is sent twice.
func TestCreditIncast(t *testing.T) {
	for _, tc := range []struct {
		matrix   *Matrix
		recorded int64 // packets that htsim sent again, RCCC; 0: none on record
	}{
		{incastMatrix(t, 7), 0},
		{loadMatrix(t, "incast.cm"), 762},
		{loadMatrix(t, "incast_128.cm"), 6218},
	} {
		for _, control := range []ccc.Control{ccc.ControlRCCC, ccc.ControlBoth} {
			for _, first := range []int64{chapterCredit, 0} {
				t.Run(fmt.Sprintf("%d to 1, %v, first credit %d", len(tc.matrix.Flows), control, first), func(t *testing.T) {
					r := run(t, Config{Matrix: tc.matrix, Control: control, FirstCredit: first, Entropy: mixed, Seed: 1})
					ideal := r.LowerBound + r.Parameters.BaseRTT
					t.Logf("slowest %.1f us, ideal %.1f (%+.2f %%), resent %d, jain %.4f, %d credits, %d requests",
						r.FCT.Max, ideal, 100*(r.FCT.Max/ideal-1), r.Totals.Retransmitted, r.JainIndex, r.Totals.Credits, r.Totals.CreditRequests)
					require.LessOrEqual(t, r.FCT.Max, 1.02*ideal)
					require.GreaterOrEqual(t, r.JainIndex, 0.99)
					for _, q := range r.Queues {
						require.False(t, q.LastHop && q.Marked > 0, "%s marked", q.Name)
					}
					if first == chapterCredit {
						require.LessOrEqual(t, r.Totals.Retransmitted, tc.recorded/10)
					}
				})
			}
		}
	}
}

// Both algorithms need each other's consent: in an oversubscribed fabric credit
// alone sends what the fabric trims; with NSCC the window holds it back.
func TestCreditAndWindowTogether(t *testing.T) {
	c := Config{Matrix: loadMatrix(t, "perm_32n_32c_2MB.cm"), Topology: loadTopology(t, "leaf_spine_tiny.topo"), Entropy: mixed, Seed: 13}
	resent := map[ccc.Control]int64{}
	for _, c.Control = range []ccc.Control{ccc.ControlRCCC, ccc.ControlBoth} {
		resent[c.Control] = run(t, c).Totals.Retransmitted
	}
	require.Less(t, resent[ccc.ControlBoth], resent[ccc.ControlRCCC]*2/3)
}

// Credit survives a fabric that drops instead of trimming, messages of one
// connection that come one after another, and a second run.
func TestCreditUnderLoss(t *testing.T) {
	c := Config{Matrix: incastMatrix(t, 15), Control: ccc.ControlRCCC, NoTrim: true, Entropy: mixed, Seed: 3}
	c.Topology = FatTree(16, 100e9, link.Microsecond)
	c.Topology.Tiers[0].QueueDown = 20 * 4150
	r := run(t, c)
	require.Positive(t, r.Totals.DataDropped)
	require.Equal(t, digest(t, r), digest(t, run(t, c)))
}

// All of 32 hosts to each other under receiver credits, beside htsim's run of the same: p99
// 322 us, and 11,264 acknowledgements. With a timer that asks for credit they were 278 and 8,345.
func TestCreditAllToAllAgainstHtsim(t *testing.T) {
	m := &Matrix{Nodes: 128}
	for i := range 32 {
		for j := range 32 {
			if i != j {
				m.Flows = append(m.Flows, Flow{Src: 4 * i, Dst: 4 * j, Size: 100_000})
			}
		}
	}
	var p99, acks float64
	const seeds = 3
	for seed := range uint64(seeds) {
		r, err := Run(Config{Matrix: m, Rules: RulesHTSim, Control: ccc.ControlRCCC, Seed: seed + 1, Entropy: ccc.EntropyConfig{Scheme: ccc.SchemeMixed}})
		require.NoError(t, err)
		require.Zero(t, r.Unfinished)
		require.Empty(t, r.Violations)
		p99, acks = p99+r.FCT.P99/seeds, acks+float64(r.Totals.Acks)/seeds
	}
	require.InEpsilon(t, 322, p99, 0.02)
	require.InEpsilon(t, 11_264, acks, 0.03)
}

// EQDS on both kinds of node: a bandwidth-delay product leaves before any credit is there, the last
// hop of an incast never has more than the first windows, all senders get as much, and marks change
// nothing.
func TestEQDS(t *testing.T) {
	for _, node := range []NodeKind{NodeLight, NodeEndpoint} {
		first := &unasked{}
		alone := run(t, Config{Matrix: matrix(t, "Nodes 16\nConnections 1\n0->13 start 0 size 1000000\n"), Node: node, EQDS: true, Watch: first})
		require.InDelta(t, alone.Parameters.BDP, first.bytes, float64(2*alone.Parameters.PacketBytes), "%v", node)
		require.Equal(t, "rccc", alone.Parameters.Control)
		var times []Summary
		for _, silent := range []bool{false, true} {
			r := run(t, Config{Matrix: incastMatrix(t, 7), Node: node, EQDS: true, NoECN: silent})
			require.GreaterOrEqual(t, r.JainIndex, 0.99, "%v", node)
			require.LessOrEqual(t, r.FCT.Max, 1.02*(r.LowerBound+r.Parameters.BaseRTT), "%v", node)
			times = append(times, r.FCT)
			for _, q := range r.Queues {
				require.LessOrEqual(t, q.Peak, 7*r.Parameters.BDP, q.Name)
			}
		}
		require.Equal(t, times[0], times[1], "%v", node)
	}
}

// unasked counts what a host sends before the first control packet arrives there.
type unasked struct {
	bytes int64
	over  bool
}

func (u *unasked) Port(*PortState) {}
func (u *unasked) Packet(p *PacketState) {
	switch {
	case p.Kind == PacketControl && p.Event == PacketArrived:
		u.over = true
	case p.Kind == PacketData && p.Event == PacketSent && !u.over:
		u.bytes += p.Size
	}
}
