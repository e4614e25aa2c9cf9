// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/switchq"
)

// network is the chain reaction of the chapter on network congestion: four
// ranks write to rank 7 on leaf 1B-1 while rank 0 writes to rank 5 on a third
// leaf, over links otherwise unused for long.
func network(o *options) (*report, error) {
	topo := o.chapterFabric(2, 4, 2, 100e9)
	host := hostOf(0, 2, 1, 3, 6, 7, 4, 5) // leaves 1A-1, 1A-2, 1B-1, 1B-2
	victim := flow(host[0], host[5], 2_000_000)
	flows := []fabric.Flow{victim}
	for _, rank := range []int{1, 2, 3, 4} {
		flows = append(flows, flow(host[rank], host[7], 2_000_000))
	}
	alone := chapterConfig(topo, []fabric.Flow{victim})
	crowd := chapterConfig(topo, flows)
	pfc := crowd
	pfc.PFC = &switchq.PFCConfig{XOff: 15 * 4150, XOn: 12 * 4150, Pause: switchq.MaxPause(chapterRate)}
	pfc.NoECN = true
	r := o.newReport()
	for _, v := range []struct {
		name string
		cc   string
		c    fabric.Config
	}{{"host 0 alone", "nscc", alone}, {"PFC, without CC", "none", pfc}, {"no PFC, NSCC", "nscc", crowd}} {
		if _, err := r.add(v.name, o.with(v.c, v.cc)); err != nil {
			return nil, err
		}
	}
	r.networkClaims(r.Runs[0].Result, r.Runs[1].Result, r.Runs[2].Result)
	r.note("a switch pauses a link while more than %d bytes that came over it wait, until less than %d do", pfc.PFC.XOff, pfc.PFC.XOn)
	r.note("the first transfer of each run is host 0's; -v lists them")
	return r, nil
}

func (r *report) networkClaims(alone, pfc, nscc *fabric.Result) {
	free, stalled, beside := alone.Transfers[0].FCT, pfc.Transfers[0].FCT, nscc.Transfers[0].FCT
	pauses := map[string]int64{}
	for _, p := range pfc.Pauses {
		pauses[p.Kind] += p.Pauses
	}
	for _, c := range [][2]string{
		{"spine to leaf", "leaf 1B-1 stops the spines"}, {"leaf to spine", "the spines stop the other leaves"}, {"host to leaf", "and those stop their hosts"},
	} {
		r.claim(pauses[c[0]] > 0, c[1], "pauses of links "+c[0], "%d", pauses[c[0]])
	}
	r.claim(stalled > 1.5*free, "a flow between two other leaves stalls although its own path is free",
		fmt.Sprintf("more than 1.5 times its %.1f us alone", free), "%.1f us", stalled)
	r.claim(pfc.Totals.Trimmed+pfc.Totals.DataDropped == 0, "nothing is lost", "no trims, no drops", "%d", pfc.Totals.Trimmed+pfc.Totals.DataDropped)
	r.claim(pfc.Totals.Answers == pfc.Totals.Acks && len(pfc.Violations) == 0, "TC_high goes on, and all counters return to zero",
		"every acknowledgement arrives", "%d of %d", pfc.Totals.Acks, pfc.Totals.Answers)
	r.claim(beside < 1.25*free, "with NSCC in place of PFC the flow does not notice",
		fmt.Sprintf("within 25 %% of %.1f us", free), "%.1f us", beside)
}
