// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/rccc"
)

// toRankZero is figure 6-2: nodes A1, A2, B1, B2 with two ranks each, where all ranks from first
// on write to rank 0. Rank 1 shares rank 0's node and uses the node's internal link, so six
// senders meet at leaf 1A-1; seven if rank 1 used a NIC.
func (o *options) toRankZero(first int, bytes int64) fabric.Config {
	host := hostOf(0, 2, 1, 3, 4, 6, 5, 7) // leaves 1A-1, 1A-2, 1B-1, 1B-2
	var flows []fabric.Flow
	for rank := first; rank <= 7; rank++ {
		flows = append(flows, flow(host[rank], host[0], bytes))
	}
	return chapterConfig(o.chapterFabric(2, 4, 2, 400e9), flows)
}

func incast(o *options) (*report, error) {
	c := o.toRankZero(2, 2_000_000)
	r := o.newReport()
	receiver, small := o.with(c, "rccc"), o.with(c, "nscc")
	receiver.FirstCredit, small.InitialCwnd = firstCredit, 10_000
	results, err := r.results(
		&variant{name: "without CC", config: o.with(c, "none")},
		&variant{name: "seven NICs, without CC", config: o.with(o.toRankZero(1, 2_000_000), "none")},
		&variant{name: "RCCC, first credit 12.5 KB", config: receiver},
		&variant{name: "NSCC", config: o.with(c, "nscc")},
		&variant{name: "NSCC, first window 10 KB", config: small},
	)
	if err != nil {
		return nil, err
	}
	seven, granted, nscc, gentle := results[1], results[2], results[3], results[4]
	r.Oracle = []oracle{{"htsim NSCC, on record", 830.1, 918.5, 1019.4, 110, 2399}, {"htsim RCCC, on record", 977.2, 981.6, 984.6, 72, 0}}
	r.incastClaims(r.Runs[0].Result, nscc, gentle)
	r.fillClaim(seven, lastHopQueue(seven), fill{"seven line rates arrive and one leaves", 7, []int{0, 1, 1}, 0, seven.Parameters.LastHopLimit})
	r.incastCreditClaims(granted)
	r.note("the figure's seventh sender shares the node of host 0 and writes through the link inside; with seven NICs it is host 2")
	return r, nil
}

func (r *report) incastClaims(off, nscc, gentle *fabric.Result) {
	r.fillClaim(off, lastHopQueue(off), fill{"six line rates into one", 6, []int{0, 1, 1}, 0, off.Parameters.LastHopLimit})
	first := lastHopQueue(nscc)
	rtt := nscc.Parameters.BaseRTT
	r.claim(first.FirstTrim > 0 && first.FirstTrim < rtt, "a first window of MaxWnd each overflows the last hop within one round trip",
		fmt.Sprintf("first trim before %.1f us", rtt), "%.2f us", first.FirstTrim)
	r.claim(gentle.Totals.Trimmed < nscc.Totals.Trimmed/2, "a small first window lets the first round trip pass",
		"less than half of the trims", "%d instead of %d", gentle.Totals.Trimmed, nscc.Totals.Trimmed)
	_, core := peaks(nscc)
	r.claim(core <= nscc.Parameters.ECNMin, "the core stays clear",
		fmt.Sprintf("at most its ECN minimum of %d bytes", nscc.Parameters.ECNMin), "%d bytes", core)
	r.claim(nscc.FCT.Max >= nscc.LowerBound, "six senders share one link", fmt.Sprintf("slowest not before %.1f us", nscc.LowerBound), "%.1f us", nscc.FCT.Max)
	r.claim(nscc.FCT.Max <= 1.1*nscc.LowerBound, "the port stays busy", fmt.Sprintf("slowest within 10 %% of %.1f us", nscc.LowerBound), "%.1f us", nscc.FCT.Max)
	r.claim(nscc.FCT.Max < 2*nscc.FCT.Min, "no sender starves", "slowest below twice the fastest", "%.1f and %.1f us", nscc.FCT.Max, nscc.FCT.Min)
	r.claim(nscc.Totals.Trimmed*10 < off.Totals.Trimmed, "congestion control keeps the queue from overflowing",
		"less than a tenth of the trims without it", "%d instead of %d", nscc.Totals.Trimmed, off.Totals.Trimmed)
}

// incastCreditClaims are about the chapter's remedy: the receiver shares the link out before the
// switch has to. Six first credits are one BDP.
func (r *report) incastCreditClaims(on *fabric.Result) {
	hop := lastHopQueue(on)
	r.claim(hop.Peak <= 6*firstCredit, "receiver credit keeps the fan-in from overwhelming the last hop",
		fmt.Sprintf("at most the first credits wait, %d bytes", 6*firstCredit), "%d bytes", hop.Peak)
	r.claim(on.Totals.Trimmed+on.Totals.DataDropped+on.Totals.Retransmitted == 0, "nothing is lost or sent twice", "0", "%d",
		on.Totals.Trimmed+on.Totals.DataDropped+on.Totals.Retransmitted)
	turn := float64(6*rccc.DefaultGrant*8) / float64(on.Parameters.Tiers[0].DownRate) * 1e6
	apart := 2*turn + on.Parameters.BaseRTT
	r.claim(on.FCT.Max-on.FCT.Min <= apart, "each gets a sixth",
		fmt.Sprintf("ends within two turns of six grants and a round trip, %.1f us", apart), "%.1f us", on.FCT.Max-on.FCT.Min)
	ideal := on.LowerBound + on.Parameters.BaseRTT
	r.claim(on.FCT.Max <= 1.03*ideal, "credit keeps the port busy, too", fmt.Sprintf("slowest within 3 %% of %.1f us", ideal), "%.1f us", on.FCT.Max)
}
