// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

const (
	node128  = "Fabric/scenario=permutation/nodes=128"
	node1024 = "Fabric/scenario=permutation/nodes=1024"
)

const perPacket, perEvent = "cpu-ns/data-packet", "cpu-ns/event"

// htsim is the C++ reference simulator, on a job of ns nanoseconds. htsim can't run
// here; on the day of the measurement Hold took 143 ns on the same machine.
func htsim(ofOurs string, ns, goal float64) rival {
	const hold = 143
	return rival{kind: kindPeer, name: "Hold/n=1024/container-heap", goal: goal, ofOurs: ofOurs, times: ns / hold}
}

// simulator is whole simulations, in processor time: htsim's own permutations of 2
// MB, under NSCC. htsim has 23 and 24 events a data packet.
var simulator = []job{
	{"simulate 128 nodes, a data packet from end to end", node128, []rival{
		htsim(perPacket, 23*310, 0.5),
		htsim(perEvent, 310, 1)}},
	{"simulate 1,024 nodes, a data packet from end to end", node1024, []rival{
		htsim(perPacket, 24*736, 0.25),
		htsim(perEvent, 736, 1),
		{kind: kindOwn, name: node128, goal: 1.5, unit: perEvent, ofOurs: perEvent}}},
}

// simulated describes the simulations in the units of the goals.
func simulated(rounds []round) (lines []string) {
	for _, s := range []struct {
		what, ours string
		goal       int // htsim's data packets a second there, thousands, and a multiple of it
		theirs     int
	}{{"128 nodes", node128, 2, 138}, {"1,024 nodes", node1024, 4, 58}} {
		j := &job{ours: s.ours}
		rate := series(j, ourSide, s.ours, "data-packets/cpu-s", rounds)
		if rate == (spread{}) {
			continue
		}
		events := series(j, ourSide, s.ours, "events/data-packet", rounds)
		lines = append(lines, fmt.Sprintf("%s: %.0f thousand data packets a second of processor time (median; %.0f to %.0f), %.1f events each. "+
			"Goal: %d times the %d thousand of htsim on this kind of machine.",
			s.what, rate.median/1e3, rate.least/1e3, rate.largest/1e3, events.median, s.goal, s.theirs))
	}
	return lines
}

// absent is the rivals in the goals without a run here.
var absent = []string{
	"quic-go's 109 ns for a packet sent and acknowledged: its handler is an internal package, which no other module can import",
	"htsim, a C++ program: the container/heap benchmark stands for it, in the ratio of the day on which both were measured",
	"DPDK's rte_hash, in C",
	"tables of a million entries: an index has 16 bits here, so that 65,536 is the most",
}
