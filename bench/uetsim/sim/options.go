// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
)

// options are the command line. A scenario brings a configuration, changed by given flags.
type options struct {
	scenario, matrix, topo string
	goal                   string
	recvDone               string
	html                   string
	eager                  int64
	list, json, verbose    bool
	version                bool

	cc, entropy, rules string
	node               string
	paths              int
	seed               uint64
	speed              float64 // Gb/s
	hop, end, rtt      float64 // us
	trim, ecn          bool
	cwnd, packet       int64
	credit             int64
	slow               int
	tuning             tuning
	workers, seeds     int
	interval           float64 // us
	lines              int

	algorithms Algorithms

	chosen   *scenario
	given    map[string]bool
	progress func(fabric.Progress)
	stop     func() bool
	args     []string
	traced   traceFilter

	pcap, traces, qlog, perfetto, flows, series, profile outputs
}

func parseOptions(args []string, own Algorithms, stderr io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}, algorithms: own, args: args}
	f := o.define()
	var all bytes.Buffer
	if err := cli.Parse(f, args, "uetsim [flags], uetsim gen KIND [flags], uetsim validate FILE ..., or uetsim decode FILE.pcap ...", &all); err != nil {
		return nil, o.help(f, err, &all, stderr)
	}
	f.Visit(func(g *flag.Flag) { o.given[g.Name] = true })
	return o, o.check(f)
}

// define makes the flags, which set o.
func (o *options) define() *flag.FlagSet {
	f := flag.NewFlagSet("uetsim", flag.ContinueOnError)
	f.StringVar(&o.scenario, "scenario", "incast", "scenario to run, see -list")
	f.BoolVar(&o.list, "list", false, "list the scenarios")
	f.BoolVar(&o.version, "version", false, "say which version this is")
	f.StringVar(&o.matrix, "matrix", "", "connection matrix (*.cm, *.tm, also *.gz) to run instead of a scenario")
	f.StringVar(&o.goal, "goal", "", "GOAL schedule (text or binary, also *.gz) to run instead of a scenario: what each rank computes and sends")
	f.StringVar(&o.recvDone, "recv-done", "acked", "when a message of -goal is received: acked (its source knows, as in htsim) or arrived (its last byte is there)")
	f.Int64Var(&o.eager, "eager", -1, "largest message of -goal, bytes, whose send ends without its recv; -1: none")
	f.StringVar(&o.topo, "topo", "", "topology (*.topo) for -matrix and -goal; default: a fat tree")
	f.BoolVar(&o.json, "json", false, "write JSON with all parameters and results")
	f.BoolVar(&o.verbose, "v", false, "list every transfer and every queue")
	f.StringVar(&o.cc, "cc", "nscc", "congestion control, several with commas: "+strings.Join(o.words(), ", "))
	f.StringVar(&o.entropy, "entropy", "mixed", "path choice: oblivious, bitmap, reps, reps-legacy, mixed")
	f.IntVar(&o.paths, "paths", 64, "entropy values of a connection; 1 is one fixed path")
	f.StringVar(&o.rules, "rules", "spec", "windows and queues: spec (UE Specification) or htsim")
	f.StringVar(&o.node, "node", "endpoint", "what sits at the hosts: endpoint (the engine), or light (a transport of the\n"+
		"simulator's own around its congestion control, for -rules htsim and tens of thousands of hosts)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of every random choice")
	f.Float64Var(&o.speed, "speed", 100, "link speed of the default fat tree, Gb/s; scales a scenario's links")
	f.Float64Var(&o.hop, "hop", 1, "latency of a link of the default fat tree, us")
	f.Float64Var(&o.rtt, "rtt", 0, "config_base_rtt, us; 0: that of the idle topology")
	f.Float64Var(&o.end, "end", 1e6, "simulated time to stop at, us; of -goal, if not given, 1e8")
	f.BoolVar(&o.trim, "trim", true, "switches trim instead of dropping")
	f.BoolVar(&o.ecn, "ecn", true, "switches mark")
	f.Int64Var(&o.cwnd, "cwnd", 0, "first window, bytes; 0: MaxWnd")
	f.Int64Var(&o.credit, "first-credit", 0, "bytes sent before any receiver credit, with rccc; 0: MaxWnd")
	f.Int64Var(&o.packet, "packet", 0, "largest packet, bytes: of an endpoint 104 of headers (108 with credit) and the most that fits of 1,024, 2,048, 4,096 or\n8,192 of data, of -node light 64 of header and the rest; 0: 4,200 and 4,150")
	f.StringVar(&o.pcap.path, "pcap", "",
		"write the packets that reach the hosts in the last run to this file, and those of the runs before to files\n"+
			"with the names of the runs; trimmed: DSCP 16, on the last hop 18")
	f.StringVar(&o.traces.path, "trace", "", "write the congestion control of the last run to this file, and that of the runs before as -pcap: CSV,\n"+
		"a line for each event of a connection")
	f.Var(&o.traced.conns, "trace-conns", "connections that -trace tells of, such as 0-7,12; default: all")
	f.Var(&o.traced.hosts, "trace-hosts", "hosts that those connections are from or to; default: all")
	f.StringVar(&o.html, "html", "", "write a page with pictures of all runs to this file, for a browser")
	f.StringVar(&o.qlog.path, "qlog", "", "write what the sources of a run send and hear to this file, a name that ends in .sqlog, for qvis; runs as -pcap")
	f.StringVar(&o.perfetto.path, "perfetto", "", "write flows and ports of a run to this file: JSON for ui.perfetto.dev; runs as -pcap")
	f.StringVar(&o.flows.path, "flows", "", "write all transfers of all runs to this file: CSV, with ideal time and slowdown")
	f.StringVar(&o.series.path, "series", "", "write queues, links and windows over time of all runs to this file: CSV; they are in -json, too")
	f.Float64Var(&o.interval, "interval", 0, "time between two samples of -series, us; 0: the base round trip")
	f.IntVar(&o.lines, "lines", 64, "most ports and most connections in -series")
	f.IntVar(&o.seeds, "seeds", 1, "runs of each congestion control, with seeds from -seed on, and confidence intervals over them")
	f.StringVar(&o.profile.path, "cpuprofile", "", "write where the CPU time goes to this file, for go tool pprof")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "goroutines that simulate; the results are the same for any number")
	f.IntVar(&o.slow, "slow", 0, "uplinks that run at a quarter of their speed")
	o.tuning.define(f)
	return f
}

func (o *options) check(f *flag.FlagSet) error {
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	var err error
	if o.chosen, err = findScenario(o.scenario); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.given)) {
		if err := o.applies(name); err != nil {
			return err
		}
	}
	for _, cc := range strings.Split(o.cc, ",") {
		if !slices.Contains(o.words(), cc) {
			return fmt.Errorf("-cc %q, want one of %s", cc, strings.Join(o.words(), ", "))
		}
	}
	if _, ok := schemes[o.entropy]; !ok {
		return fmt.Errorf("-entropy %q, want oblivious, bitmap, reps, reps-legacy or mixed", o.entropy)
	}
	if _, ok := rules[o.rules]; !ok {
		return fmt.Errorf("-rules %q, want spec or htsim", o.rules)
	}
	if err := o.checkNode(); err != nil {
		return err
	}
	if _, ok := recvDone[o.recvDone]; !ok {
		return fmt.Errorf("-recv-done %q, want acked or arrived", o.recvDone)
	}
	return cmp.Or(
		cli.CheckPath("-html", o.html),
		cli.Apart([]string{"-matrix", "-goal", "-topo", "-pcap", "-trace", "-html", "-qlog", "-perfetto", "-flows", "-series", "-cpuprofile"},
			[]string{o.matrix, o.goal, o.topo, o.pcap.path, o.traces.path, o.html, o.qlog.path, o.perfetto.path, o.flows.path, o.series.path, o.profile.path}),
		cli.Range("-speed", o.speed, 0.001, 35_000, "Gb/s"),
		cli.Range("-hop", o.hop, 1e-6, 1e6, "us"),
		cli.Range("-rtt", o.rtt, 0, 1e6, "us"),
		cli.Range("-end", o.end, 1e-6, 1e12, "us"),
		cli.Range("-paths", o.paths, 1, 65_536, "entropy values, a power of two"),
		cli.Range("-eager", o.eager, -1, math.MaxInt64, "bytes"),
		cli.Range("-cwnd", o.cwnd, 0, math.MaxUint32, "bytes"),
		cli.Range("-first-credit", o.credit, 0, math.MaxUint32, "bytes"),
		cli.Range("-packet", cmp.Or(o.packet, fabric.HeaderBytes+1), fabric.HeaderBytes+1, 32_768, "bytes, or 0"),
		cli.Range("-seeds", o.seeds, 1, 100_000, "runs"),
		cli.Range("-interval", cmp.Or(o.interval, 1), 0.01, 1e6, "us, or 0"),
		cli.Range("-lines", o.lines, 1, 1<<20, "ports and connections"),
		cli.Range("-workers", o.workers, 1, 1024, "goroutines"),
		cli.Range("-slow", o.slow, 0, 1<<20, "uplinks"),
		cli.Range("-ack-bytes", o.tuning.ack, 1, nodes[o.node].MaxAckBytes(), "bytes"),
		o.tuning.check(),
	)
}

var nodes = map[string]fabric.NodeKind{"light": fabric.NodeLight, "endpoint": fabric.NodeEndpoint}

// checkNode chooses the nodes needed by -rules htsim, unless the command line chooses.
func (o *options) checkNode() error {
	if _, ok := nodes[o.node]; !ok {
		return fmt.Errorf("-node %q, want endpoint or light", o.node)
	}
	if o.rules == "htsim" {
		if o.given["node"] && o.node != "light" {
			return errors.New("-rules htsim are rules of -node light")
		}
		o.node = "light"
	}
	return nil
}

// applies returns an error for a flag without effect on the coming runs.
func (o *options) applies(name string) error {
	switch {
	case o.matrix != "" && o.goal != "":
		return errors.New("-matrix and -goal exclude each other")
	case o.workload() && name == "scenario":
		return errors.New("-scenario and -matrix or -goal exclude each other")
	case !o.workload() && (slices.Contains([]string{"topo", "cc", "hop", "seeds"}, name) || slices.Contains(defaultTopology, name)):
		return fmt.Errorf("-%s needs -matrix or -goal", name)
	case o.goal == "" && slices.Contains([]string{"recv-done", "eager"}, name):
		return fmt.Errorf("-%s needs -goal", name)
	case o.topo != "" && (slices.Contains([]string{"speed", "hop"}, name) || slices.Contains(defaultTopology, name)):
		return fmt.Errorf("-%s and -topo exclude each other", name)
	case o.traces.path == "" && strings.HasPrefix(name, "trace-"):
		return fmt.Errorf("-%s needs -trace", name)
	case o.series.path == "" && slices.Contains([]string{"interval", "lines"}, name):
		return fmt.Errorf("-%s needs -series", name)
	case !o.workload() && slices.Contains(o.chosen.ignores, name):
		return fmt.Errorf("-%s changes nothing in scenario %s", name, o.scenario)
	case name == "reroute" && !o.given["fail"] && o.matrix == "" && o.scenario != "failure": // a matrix may have dead links
		return errors.New("-reroute needs -fail")
	case o.workload() && name == "first-credit" && !strings.Contains(o.cc, "rccc") && !strings.Contains(o.cc, "both"):
		return errors.New("-first-credit needs -cc rccc or both")
	}
	return nil
}

// changed reports whether a flag makes a scenario's runs differ from the chapters'.
func (o *options) changed() bool {
	for name := range o.given {
		if name != "seed" && slices.Contains(fabricFlags, name) && !slices.Contains(fileFlags, name) {
			return true
		}
	}
	return false
}

// ccMode is the meaning of a word of -cc.
type ccMode struct {
	control ccc.Control
	mode    ccc.Mode
	eqds    bool
}

// words are all words of -cc: the engine's, then the algorithms.
func (o *options) words() []string {
	return append([]string{"none", "nscc", "rccc", "both", "observe", "eqds"}, slices.Sorted(maps.Keys(o.algorithms))...)
}

var modes = map[string]ccMode{
	"none":    {control: ccc.ControlNSCC, mode: ccc.ModeOff},
	"nscc":    {control: ccc.ControlNSCC, mode: ccc.ModeEnforce},
	"rccc":    {control: ccc.ControlRCCC, mode: ccc.ModeEnforce},
	"both":    {control: ccc.ControlBoth, mode: ccc.ModeEnforce},
	"observe": {control: ccc.ControlNSCC, mode: ccc.ModeObserve},
	"eqds":    {control: ccc.ControlRCCC, mode: ccc.ModeEnforce, eqds: true},
}

var schemes = map[string]ccc.Scheme{
	"oblivious": ccc.SchemeOblivious, "bitmap": ccc.SchemeBitmap, "reps": ccc.SchemeREPS,
	"reps-legacy": ccc.SchemeREPSLegacy, "mixed": ccc.SchemeMixed,
}

var rules = map[string]fabric.Rules{"spec": fabric.RulesSpec, "htsim": fabric.RulesHTSim}

// with is c with congestion control cc and with every flag given.
func (o *options) with(c fabric.Config, cc string) fabric.Config {
	m, ok := modes[cc]
	if !ok {
		m, c.Algorithm = ccMode{control: ccc.ControlNone, mode: ccc.ModeEnforce}, o.algorithms[cc]
	}
	c.Control, c.Mode, c.EQDS, c.Progress, c.Seed = m.control, m.mode, m.eqds, o.progress, o.seed
	c.Stop, c.Held = o.stop, o.verbose || o.json || o.html != ""
	c.Node = nodes[o.node]
	if o.series.path != "" {
		c.Series = &fabric.SeriesConfig{Interval: microseconds(o.interval), Lines: o.lines}
	}
	set := func(name string, to func()) {
		if o.given[name] || o.workload() {
			to()
		}
	}
	set("entropy", func() { c.Entropy.Scheme = schemes[o.entropy] })
	set("paths", func() { c.Entropy.Values = o.paths })
	set("rules", func() { c.Rules = rules[o.rules] })
	set("rtt", func() { c.BaseRTT = microseconds(o.rtt) })
	if o.goal == "" || o.given["end"] { // applications may take long, and end by themselves
		set("end", func() { c.End = microseconds(o.end) })
	}
	set("trim", func() { c.NoTrim = !o.trim })
	set("ecn", func() { c.NoECN = !o.ecn })
	set("cwnd", func() { c.InitialCwnd = o.cwnd })
	set("first-credit", func() { c.FirstCredit = o.credit })
	set("packet", func() { c.PacketBytes = o.packet })
	set("slow", func() { c.SlowLinks = o.slow })
	set("speed", func() { c.Rate = int64(o.speed * 1e9) })
	set("hop", func() { c.Hop = microseconds(o.hop) })
	o.tuning.with(&c, set)
	return c
}

func microseconds(us float64) link.Ps { return link.Ps(us * float64(link.Microsecond)) }

// workload reports whether a file gives the workload.
func (o *options) workload() bool { return o.matrix != "" || o.goal != "" }

// load reads the files of -matrix, -goal and -topo.
func (o *options) load() (c fabric.Config, err error) {
	flag := "-matrix"
	if o.goal != "" {
		flag = "-goal"
		c.Application, err = o.application()
	} else {
		c.Matrix, err = fabric.ReadMatrix(o.matrix)
	}
	if err == nil && o.topo != "" {
		flag = "-topo"
		c.Topology, err = fabric.ReadTopology(o.topo)
	}
	if errors.As(err, new(*fs.PathError)) { // other errors name the file and the line
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return c, err
}
