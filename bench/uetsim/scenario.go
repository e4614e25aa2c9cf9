package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// A scenario is one situation that the UET congestion chapters describe: chapters 6
// (congestion control contexts) and 8 (receiver credit) of a blog's series on Ultra
// Ethernet.
type scenario struct {
	name    string
	about   string // one line
	run     func(*options) (*report, error)
	ignores []string // flags that change nothing in it
}

// fabricFlags are those that a model without a fabric ignores.
var fabricFlags = []string{
	"entropy", "paths", "rules", "speed", "rtt", "end", "trim", "ecn", "cwnd", "first-credit", "packet", "slow", "pcap", "trace",
}

// noCredit is ignored where no receiver grants credit.
var noCredit = []string{"first-credit"}

var scenarios = []scenario{
	{"incast", "seven ranks write 2 MB each to rank 0 at once (figure 6-2)", incast, noCredit},
	{"local", "seven requesters want more of rank 0's memory than it can do (figure 6-3)", local, noCredit},
	{"dfc", "the same with destination flow control: the penalty, and its end (figure 6-14)", destinationFlowControl, noCredit},
	{"outcast", "rank 0 writes 2 MB to each of six others (figure 6-4)", outcast, noCredit},
	{"link", "ECMP sends two of four flows over one uplink (figure 6-5)", collision, []string{"first-credit", "entropy", "paths"}},
	{"spine", "five flows of 100 Gb/s meet on a spine's 400 Gb/s link (figure 6-10)", spine, noCredit},
	{"credit", "ranks 0 and 1 write 16 MB each to rank 2 under receiver credits (figure 8-1)", credit, nil},
	{"network", "flow control spreads an incast to flows that do not take part (network congestion chapter)", network, noCredit},
	{"hol", "a purple flow waits behind blue ones that leave by another port (ZTR-RTT, head-of-line blocking)", headOfLine, fabricFlags},
	{"ibcredit", "an InfiniBand link under absolute credits: buffers, losses, virtual lanes", ibcredit, fabricFlags},
}

// findScenario returns the scenario of a name, or an error that names all there are.
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

// A report is what a scenario or a matrix leads to.
type report struct {
	Name   string     `json:"name"`
	About  string     `json:"about"`
	Runs   []namedRun `json:"runs,omitempty"`   // on the simulated fabric
	Tables []table    `json:"tables,omitempty"` // of models that have no fabric
	Oracle []oracle   `json:"oracle,omitempty"` // recorded runs of htsim, for comparison
	Claims []claim    `json:"claims,omitempty"` // what the chapters say of it, and what was measured
	Notes  []string   `json:"notes,omitempty"`
}

type namedRun struct {
	Name   string         `json:"name"`
	Result *fabric.Result `json:"result"`
}

// A table is what a model found out, a row for each variant.
type table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// row adds a row; the first cell names the variant.
func (t *table) row(name string, cells ...float64) {
	row := []string{name}
	for _, c := range cells {
		row = append(row, strconv.FormatFloat(c, 'g', 4, 64))
	}
	t.Rows = append(t.Rows, row)
}

// An oracle is a recorded run of htsim of the same situation; -1 for what is not
// on record.
type oracle struct {
	Name    string  `json:"name"`
	Fastest float64 `json:"fastest_us"`
	Mean    float64 `json:"mean_us"`
	Slowest float64 `json:"slowest_us"`
	Trims   int64   `json:"trims"`
	Marks   int64   `json:"marks"`
}

// A claim is one statement of the chapters, and whether the measurement bears it out.
type claim struct {
	Text string `json:"text"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// add runs one variant and keeps its result.
func (r *report) add(name string, c fabric.Config) (*fabric.Result, error) {
	res, err := fabric.Run(c)
	if err != nil {
		return nil, err
	}
	r.Runs = append(r.Runs, namedRun{name, res})
	return res, nil
}

func (r *report) claim(ok bool, text, want, got string, a ...any) {
	r.Claims = append(r.Claims, claim{text, want, fmt.Sprintf(got, a...), ok})
}

func (r *report) note(format string, a ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, a...))
}

// failed lists why the command must not exit with 0.
func (r *report) failed() (why []string) {
	for _, n := range r.Runs {
		for _, v := range n.Result.Violations {
			why = append(why, n.Name+": "+v)
		}
		if n.Result.Unfinished > 0 {
			why = append(why, fmt.Sprintf("%s: %d transfers did not finish", n.Name, n.Result.Unfinished))
		}
	}
	for _, c := range r.Claims {
		if !c.OK {
			why = append(why, fmt.Sprintf("claim does not hold: %s: want %s, got %s", c.Text, c.Want, c.Got))
		}
	}
	return why
}

// The chapters' fabric: 100 Gb/s hosts and a configured base round trip of 6 us, so
// that the bandwidth-delay product is 75,000 bytes.
const (
	chapterRate = 100e9
	chapterRTT  = 6 * link.Microsecond
	chapterHop  = 580 * link.Nanosecond // 5.988 us over four links and back
)

// chapterFabric has leaves of perLeaf hosts and one link from each leaf to each
// spine; the flag -speed scales all links.
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

// flow is one transfer between hosts that starts at once.
func flow(src, dst int, size int64) fabric.Flow { return fabric.Flow{Src: src, Dst: dst, Size: size} }

// hostOf numbers the hosts of a fabric by rank: the leaves hold the ranks in the
// order in which they are listed.
func hostOf(ranks ...int) map[int]int {
	m := map[int]int{}
	for host, rank := range ranks {
		m[rank] = host
	}
	return m
}

// fcts lists the completion times of a run, us.
func fcts(r *fabric.Result) []float64 {
	var v []float64
	for _, t := range r.Transfers {
		v = append(v, t.FCT)
	}
	return v
}

// peaks are the most data that waited at a last hop, and at any other port.
func peaks(r *fabric.Result) (lastHop, core int64) {
	for _, q := range r.Queues {
		if q.LastHop {
			lastHop = max(lastHop, q.Peak)
		} else {
			core = max(core, q.Peak)
		}
	}
	return lastHop, core
}

// worstQueues sorts ports by what happened to packets there.
func worstQueues(q []fabric.QueueResult) []fabric.QueueResult {
	return slices.SortedStableFunc(slices.Values(q), func(a, b fabric.QueueResult) int {
		return cmp.Or(
			cmp.Compare(b.Trimmed+b.Dropped, a.Trimmed+a.Dropped),
			cmp.Compare(b.Marked, a.Marked),
			cmp.Compare(b.Peak, a.Peak),
		)
	})
}
