// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// A scenario is a situation from the UET congestion chapters: chapters 6
// (congestion control contexts) and 8 (receiver credit) of a blog's series on Ultra
// Ethernet.
type scenario struct {
	name    string
	about   string // one line
	run     func(*options) (*report, error)
	ignores []string // flags that change nothing in it
}

// fabricFlags are the flags ignored by a model without a fabric.
var fabricFlags = append([]string{
	"entropy", "paths", "node", "rules", "speed", "rtt", "end", "trim", "ecn", "cwnd", "first-credit", "packet", "slow",
	"pcap", "trace", "qlog", "perfetto", "flows", "series",
}, tuningFlags...)

// fileFlags are the flags of output files, without effect on a run.
var fileFlags = []string{"pcap", "trace", "qlog", "perfetto", "flows", "series", "html", "cpuprofile"}

// noCredit is ignored where no receiver grants credit.
var noCredit = []string{"first-credit"}

var scenarios = []scenario{
	{"incast", "six hosts write 2 MB each to host 0 at once, and seven (figure 6-2)", incast, noCredit},
	{"local", "seven requesters want more of host 0's memory than it can do (figure 6-3)", local, noCredit},
	{"dfc", "the same with destination flow control: the penalty, and its end (figure 6-14)", destinationFlowControl, noCredit},
	{"outcast", "host 0 writes 2 MB to each of six others (figure 6-4)", outcast, noCredit},
	{"link", "ECMP sends two of four flows over one uplink (figure 6-5)", collision, []string{"first-credit", "entropy", "paths"}},
	{"spine", "five flows of 100 Gb/s meet on a spine's 400 Gb/s link (figure 6-10)", spine, noCredit},
	{"credit", "hosts 0 and 2 write 16 MB each to host 4 under receiver credits (figure 8-1)", credit, nil},
	{"network", "flow control spreads an incast to flows that do not take part (network congestion chapter)", network, noCredit},
	{"failure", "a leaf's link to a spine dies under a permutation: which path scheme finds around it", failure, []string{"first-credit", "entropy"}},
	{"hol", "a purple flow waits behind blue ones that leave by another port (ZTR-RTT, head-of-line blocking)", headOfLine, fabricFlags},
	{"ibcredit", "an InfiniBand link under absolute credits: buffers, losses, virtual lanes", ibcredit, fabricFlags},
}

// findScenario returns the scenario of a name, or an error with all names.
func findScenario(name string) (*scenario, error) {
	var names []string
	for i := range scenarios {
		if scenarios[i].name == name {
			return &scenarios[i], nil
		}
		names = append(names, scenarios[i].name)
	}
	return nil, fmt.Errorf("no scenario %q, there are: %s", name, strings.Join(names, ", "))
}

// The chapters' fabric: 100 Gb/s hosts and a configured base round trip of 6 us, so the
// bandwidth-delay product is 75,000 bytes.
const (
	chapterRate = 100e9
	chapterRTT  = 6 * link.Microsecond
	chapterHop  = 580 * link.Nanosecond // 5.988 us over four links and back
)

// chapterFabric has leaves of perLeaf hosts and one link from each leaf to each spine; the flag
// -speed scales all links.
func (o *options) chapterFabric(perLeaf, leaves, spines int, upRate int64) *fabric.Topology {
	scale := o.speed / 100
	return &fabric.Topology{Nodes: perLeaf * leaves, PodSize: perLeaf * leaves, Tiers: []fabric.Tier{
		{DownRate: int64(chapterRate * scale), DownLatency: chapterHop, RadixDown: perLeaf, RadixUp: spines},
		{DownRate: int64(float64(upRate) * scale), DownLatency: chapterHop, RadixDown: leaves},
	}}
}

// chapterConfig is the base of every scenario of chapter 6.
func chapterConfig(t *fabric.Topology, flows []fabric.Flow) fabric.Config {
	return fabric.Config{
		Topology: t,
		Matrix:   &fabric.Matrix{Nodes: t.Nodes, Flows: flows},
		BaseRTT:  chapterRTT,
		Entropy:  ccc.EntropyConfig{Scheme: ccc.SchemeMixed, Values: 64},
	}
}

// flow is a transfer between hosts, starting at once.
func flow(src, dst int, size int64) fabric.Flow { return fabric.Flow{Src: src, Dst: dst, Size: size} }

// hostOf numbers the hosts of a fabric by the figures' ranks, never named in the output: the
// leaves hold the ranks in the order of the list.
func hostOf(ranks ...int) map[int]int {
	m := map[int]int{}
	for host, rank := range ranks {
		m[rank] = host
	}
	return m
}
