package main

import (
	"fmt"
	"slices"

	"github.com/uetcc/uetcc/bench/fabric"
)

// outcast is figure 6-4: the bottleneck is the sender's own link, which the NIC
// shares among the contexts packet by packet.
func outcast(o *options) (*report, error) {
	topo := o.chapterFabric(2, 4, 2, 400e9)
	var flows []fabric.Flow
	for dst := 2; dst < 8; dst++ {
		flows = append(flows, flow(0, dst, 2_000_000))
	}
	c := chapterConfig(topo, flows)
	r := &report{}
	if _, err := r.add("without CC", o.with(c, "none")); err != nil {
		return nil, err
	}
	nscc, err := r.add("NSCC", o.with(c, "nscc"))
	if err != nil {
		return nil, err
	}
	r.Oracle = []oracle{{"htsim NSCC, on record", 975.1, -1, 979.9, 0, -1}}
	r.outcastClaims(nscc)
	return r, nil
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
