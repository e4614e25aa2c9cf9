// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/uetcc/uetcc/bench/fabric"
)

// firstCredit is chapter 8's conservative initial credit, bytes.
const firstCredit = 12_500

// credit is figure 8-1: two sources on separate leaves, links of 400 Gb/s
// between the switches, and one destination link of 100 Gb/s.
func credit(o *options) (*report, error) {
	topo := o.chapterFabric(2, 4, 2, 400e9)
	c := chapterConfig(topo, []fabric.Flow{flow(0, 4, 16_000_000), flow(2, 4, 16_000_000)})
	c.FirstCredit = firstCredit
	r := o.newReport()
	results := map[string]*fabric.Result{}
	for _, v := range []struct{ name, cc string }{
		{"without CC", "none"}, {"NSCC", "nscc"}, {"RCCC", "rccc"}, {"NSCC and RCCC", "both"},
	} {
		res, err := r.add(v.name, o.with(c, v.cc))
		if err != nil {
			return nil, err
		}
		results[v.cc] = res
	}
	r.creditClaims(results["none"], results["rccc"])
	if err := r.coreClaim(o, c.Matrix.Flows); err != nil {
		return nil, err
	}
	lastHop, _ := peaks(results["both"])
	r.note("NSCC and RCCC: slowest %.1f us, last hop peak %d bytes", results["both"].FCT.Max, lastHop)
	return r, nil
}

func (r *report) creditClaims(off, on *fabric.Result) {
	hop, line := lastHopQueue(on), float64(on.Parameters.Tiers[0].DownRate)/1e9
	r.claim(lastHopQueue(off).Trimmed > 0, "without credit limits the last hop overflows", "trims there", "%d", lastHopQueue(off).Trimmed)
	r.fillClaim(off, lastHopQueue(off), fill{"two line rates into one", 2, []int{0, 1, 1}, 0, off.Parameters.LastHopLimit})
	for i, t := range on.Transfers {
		wire := float64(t.Bytes) * float64(on.Parameters.PacketBytes) / float64(on.Parameters.PacketBytes-on.Parameters.HeaderBytes)
		rate := wire * 8 / t.FCT / 1e3
		r.claim(rate > 0.97*line/2 && rate <= line/2, fmt.Sprintf("source %d is granted half of the link", i),
			fmt.Sprintf("%.0f Gb/s or up to 3 %% less", line/2), "%.2f Gb/s", rate)
	}
	initial := 2 * on.Parameters.FirstCredit
	r.claim(hop.Peak <= initial, "the last hop's queue is bounded", fmt.Sprintf("at most the initial credits, %d bytes", initial), "%d bytes", hop.Peak)
	if on.Parameters.ECN {
		r.claim(hop.Marked == 0, "no ECN on the last hop", "0 marks there", "%d", hop.Marked)
	}
	r.claim(on.Totals.Trimmed+on.Totals.Marked+on.Totals.Retransmitted == 0, "the fabric stays clear", "no trims, no marks, nothing sent twice",
		"%d, %d, %d", on.Totals.Trimmed, on.Totals.Marked, on.Totals.Retransmitted)
	ideal := on.LowerBound + on.Parameters.BaseRTT
	r.claim(on.FCT.Max <= 1.02*ideal, "the link stays busy", fmt.Sprintf("slowest within 2 %% of %.1f us", ideal), "%.1f us", on.FCT.Max)
}

// coreClaim is about the core while both sources send at their line rates: with a single spine
// both take the same link of 400 Gb/s.
func (r *report) coreClaim(o *options, flows []fabric.Flow) error {
	const core = "spine 0 to leaf 2"
	c := chapterConfig(o.chapterFabric(2, 4, 1, 400e9), flows)
	c.Series = &fabric.SeriesConfig{Interval: 20 * chapterRTT, Lines: 1, Port: func(name string) bool { return name == core }}
	res, err := r.add("one spine, without CC", o.with(c, "none"))
	if err != nil {
		return err
	}
	busy := 0.0
	for _, l := range res.Series.Lines {
		if l.Kind == fabric.SeriesLink {
			busy = slices.Max(l.Max) / float64(res.Parameters.Tiers[1].DownRate)
		}
	}
	r.claim(math.Abs(busy-0.5) < 0.005, "without credit limits the core is half full: two line rates on four",
		"50 % of "+core, "%.1f %%", 100*busy)
	return nil
}
