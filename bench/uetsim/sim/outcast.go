// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	"github.com/uetcc/uetcc/bench/fabric"
)

// outcast is figure 6-4: the bottleneck is the sender's link, shared by the NIC among the
// contexts packet by packet.
func outcast(o *options) (*report, error) {
	topo := o.chapterFabric(2, 4, 2, 400e9)
	var flows []fabric.Flow
	for dst := 2; dst < 8; dst++ {
		flows = append(flows, flow(0, dst, 2_000_000))
	}
	c := chapterConfig(topo, flows)
	r := o.newReport()
	results, err := r.results(
		&variant{name: "without CC", config: o.with(c, "none")},
		&variant{name: "NSCC", config: o.with(c, "nscc")},
		&variant{name: "one twice, each in turn", config: o.with(dominated(c, false), "nscc")},
		&variant{name: "one twice, contexts in turn", config: o.with(dominated(c, true), "nscc")},
	)
	if err != nil {
		return nil, err
	}
	nscc, crowd, shared := results[1], results[2], results[3]
	r.Oracle = []oracle{{"htsim NSCC, on record", 975.1, -1, 979.9, 0, -1}}
	r.outcastClaims(nscc)
	r.dominatedClaims(nscc, crowd, shared)
	return r, nil
}

// dominated is c with two writes at a time to the first destination. Each write has a
// separate context, and gets a seventh of the link, or both share the destination's context.
func dominated(c fabric.Config, shared bool) fabric.Config {
	first := c.Matrix.Flows[0]
	first.ID, first.Message = 1, shared
	second := first
	if !shared {
		second.ID = 2
	}
	c.Matrix = &fabric.Matrix{Nodes: c.Matrix.Nodes, Flows: append([]fabric.Flow{first, second}, c.Matrix.Flows[1:]...)}
	return c
}

func (r *report) dominatedClaims(alike, crowd, shared *fabric.Result) {
	others := func(x *fabric.Result) float64 { return slices.Max(fcts(x)[2:]) }
	late := alike.FCT.Max * 7 / 6
	r.claim(others(crowd) > 0.99*late && others(crowd) < 1.01*late, "a flow with twice the packets delays all others",
		fmt.Sprintf("by a sixth, to %.1f us or 1 %% from that", late), "%.1f us", others(crowd))
	r.claim(others(shared) < 1.01*alike.FCT.Max, "egress scheduling by context keeps them from being outcast",
		fmt.Sprintf("not after %.1f us by more than 1 %%", alike.FCT.Max), "%.1f us", others(shared))
}

func (r *report) outcastClaims(nscc *fabric.Result) {
	v := fcts(nscc)
	packet := float64(nscc.Parameters.PacketBytes*8) / float64(nscc.Parameters.Tiers[0].DownRate) * 1e6
	spread := slices.Max(v) - slices.Min(v)
	r.claim(spread <= 6*packet+nscc.Parameters.BaseRTT, "all six get 1/6: the NIC takes them in turn",
		fmt.Sprintf("ends within one turn of six packets and a round trip, %.1f us", 6*packet+nscc.Parameters.BaseRTT), "%.1f us", spread)
	most := max(peaks(nscc))
	r.claim(most <= nscc.Parameters.PacketBytes, "no queue builds up in the network",
		"at most one packet waits", "%d bytes", most)
	r.claim(nscc.Totals.Trimmed+nscc.Totals.Marked == 0, "the network signals nothing", "no trims, no marks",
		"%d trims, %d marks", nscc.Totals.Trimmed, nscc.Totals.Marked)
	r.claim(nscc.FCT.Max <= nscc.LowerBound+2*nscc.Parameters.BaseRTT, "the sender's link stays busy",
		fmt.Sprintf("slowest within two round trips of %.1f us", nscc.LowerBound), "%.1f us", nscc.FCT.Max)
}
