// SPDX-License-Identifier: Apache-2.0

package fuzz

import "testing"

// modelSettings are kinds of runs for two PDS managers without forgers, restarts or liars, so that what
// only honest peers owe each other is judged too: windows from one packet on, long delays, a store of one
// response, ordered packets over any reordering.
var modelSettings = []faultSetting{
	{name: "standard", loss: .1, dup: .05, window: 8, perMessage: 7, guaranteed: .3},
	{name: "all guaranteed", loss: .1, dup: .05, window: 8, perMessage: 60, guaranteed: 1},
	{name: "none guaranteed", loss: .1, dup: .05, window: 8, perMessage: 5},
	{name: "short and late", loss: .1, dup: .2, long: .2, jitter: 895, tail: 2700, window: 8, perMessage: 2, guaranteed: .3, closing: .5},
	{name: "wide window", loss: .1, dup: .05, window: 64, perMessage: 50, guaranteed: .2},
	{name: "full window", loss: .02, dup: .02, mark: .2, window: 1024, perMessage: 1000, budget: 500, guaranteed: .02},
	{name: "one at a time", loss: .1, dup: .1, window: 1, perMessage: 3, budget: 20, guaranteed: .5},
	{name: "trimming", loss: .02, dup: .05, trim: .15, mark: .3, window: 64, perMessage: 30, guaranteed: .1},
	{name: "slow answers", loss: .1, dup: .1, late: .4, refuse: .1, window: 16, perMessage: 7, guaranteed: .3},
	{name: "tiny response store", loss: .1, dup: .05, window: 16, perMessage: 60, guaranteed: .8, responses: 1},
	{name: "ordered", loss: .05, dup: .05, jitter: 1, window: 16, perMessage: 9, guaranteed: .2, ordered: true},
	{name: "ordered over reordering", loss: .02, dup: .05, jitter: 25, window: 8, perMessage: 9, guaranteed: .2, ordered: true},
	{name: "ordered, buffering", loss: .1, dup: .05, window: 16, perMessage: 9, guaranteed: .2, ordered: true, buffer: true},
	{name: "inferring", loss: .05, dup: .02, jitter: 25, window: 256, perMessage: 100, budget: 400, guaranteed: .05, infer: true},
}

// runModelSeed is runFaultSeed in the setting of modelSettings that seed counts to.
func runModelSeed(seed uint64) (res faultResult) {
	n := uint64(len(modelSettings))
	s := modelSettings[seed%n]
	s.blind = seed/n%2 == 1 // or windows never say anything, since an algorithm that follows them does
	if s.jitter == 0 {
		s.jitter = 35
	}
	if s.budget == 0 {
		s.budget = 80
	}
	return runPDCSeed("TestPDCModel", &s, seed, 2)
}

// Two honest managers over networks that lose, copy, delay, reorder, mark and trim keep all invariants.
func TestPDCModel(t *testing.T) {
	first, n, tally := *faultFrom, 12*len(modelSettings), faultTally{}
	switch {
	case *faultSeed >= 0:
		first, n = uint64(*faultSeed), 1
	case *faultSeeds > 0:
		n = *faultSeeds * len(modelSettings)
	}
	onAllCores(first, n, runModelSeed, func(r faultResult) { tally.count(t, &r) })
	t.Log(tally)
}
