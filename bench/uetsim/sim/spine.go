// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
)

// spine is figure 6-10: ranks 0, 2, 8 on leaf 1A-1 and 1, 3 on 1A-2 write 4 MB
// each to five ranks behind leaf 1B-1. With one spine no second way exists; with
// two, a new entropy is enough.
func spine(o *options) (*report, error) {
	var flows []fabric.Flow
	for i, src := range []int{0, 1, 2, 5, 6} {
		flows = append(flows, flow(src, 10+i, 4_000_000))
	}
	r := o.newReport()
	alone := chapterConfig(o.chapterFabric(5, 3, 1, 400e9), flows)
	pair := chapterConfig(o.chapterFabric(5, 3, 2, 400e9), flows)
	fixed := o.with(pair, "nscc")
	fixed.Entropy = ccc.EntropyConfig{Values: 1}
	results, err := r.results(
		&variant{name: "one spine, without CC", config: o.with(alone, "none")},
		&variant{name: "one spine, NSCC", config: o.with(alone, "nscc")},
		&variant{name: "two spines, one path each, NSCC", config: fixed},
		&variant{name: "two spines, NSCC", config: o.with(pair, "nscc")},
	)
	if err != nil {
		return nil, err
	}
	off, one, two := results[0], results[1], results[3]
	r.Oracle = []oracle{{"htsim, one spine, on record", 331.6, 407.4, 663.9, 37, -1}}
	r.fillClaim(off, worstQueues(off.Queues)[0], fill{"five line rates into four", 5, []int{0, 1}, 1, off.Parameters.QueueLimit})
	r.spineClaims(one, two)
	return r, nil
}

func (r *report) spineClaims(one, two *fabric.Result) {
	marked := 0
	for _, t := range one.Transfers {
		if t.Marked > 0 {
			marked++
		}
	}
	bound := one.LowerBound * 5 / 4 // five line rates over a link of four
	alone := two.LowerBound + two.Parameters.BaseRTT
	r.claim(marked == 5, "marks reach the receivers of all five", "5 connections", "%d", marked)
	r.claim(one.FCT.Max >= bound, "the rates add up to at most the link's", fmt.Sprintf("slowest not before %.1f us", bound), "%.1f us", one.FCT.Max)
	r.claim(one.FCT.Max <= 1.2*bound, "the windows fall until the five fit", fmt.Sprintf("slowest within 20 %% of %.1f us", bound), "%.1f us", one.FCT.Max)
	r.claim(two.FCT.Max <= 1.1*alone, "with a second spine the entropy changes and nobody waits",
		fmt.Sprintf("slowest within 10 %% of %.1f us", alone), "%.1f us", two.FCT.Max)
	r.claim(two.Totals.Trimmed == 0, "and nothing is trimmed", "0", "%d", two.Totals.Trimmed)
	r.note("htsim's run on record is unfair by a factor of two between the flows; that is not asked for here")
}
