// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/nscc"
)

// tuning are the flags of the parameters varied in published experiments: queues,
// thresholds, latencies and the constants of the window.
type tuning struct {
	queue              fabric.Queue
	trimBytes, ack     int64
	tiers              int
	switchUs, nicUs    float64
	pairRTT, inferLoss bool
	nscc               nscc.Tuning
	tuned              string // of -tune
	faults             []fabric.Fault
	rerouteUs          float64
	routing, hostQueue string
	nackRTT            bool
}

// tuningFlags are the names of tuning's flags; defaultTopology's flags shape the default
// topology.
var (
	tuningFlags = []string{
		"queue", "ecn-min", "ecn-max", "trim-bytes", "ack-bytes", "nic-latency", "pair-rtt", "infer-loss", "tune", "fail", "reroute", "routing", "host-queue", "nack-rtt",
	}
	defaultTopology = []string{"tiers", "switch-latency"}
)

func (t *tuning) define(f *flag.FlagSet) {
	size := func(to *fabric.Size) func(string) error {
		return func(text string) (err error) {
			*to, err = fabric.ParseSize(text)
			return err
		}
	}
	const units = " of every switch port, in bytes, packets as in 50p, or bandwidth-delay products as in 0.2bdp; 0, the default: as -rules has it"
	f.Func("queue", "`size`"+units, size(&t.queue.Limit))
	f.Func("ecn-min", "`size` of what waits up to which nothing is marked,"+units, size(&t.queue.ECNMin))
	f.Func("ecn-max", "`size` of what waits above which everything is marked,"+units, size(&t.queue.ECNMax))
	f.Int64Var(&t.trimBytes, "trim-bytes", fabric.HeaderBytes, "what is left of a trimmed packet, bytes on the wire")
	f.Int64Var(&t.ack, "ack-bytes", 16_384, "received bytes that cause an acknowledgement")
	f.IntVar(&t.tiers, "tiers", 3, "of the default topology, 2 (leaf-spine) or 3 (fat tree)")
	f.Float64Var(&t.switchUs, "switch-latency", 0, "latency of each switch of the default topology, us")
	f.Float64Var(&t.nicUs, "nic-latency", 0, "latency between a host and its link in each direction, us")
	f.BoolVar(&t.pairRTT, "pair-rtt", false, "windows begin with the base round trip of their own two hosts (-node light)")
	f.BoolVar(&t.nackRTT, "nack-rtt", true, "refusals lower the base round trip too (false: -node light)")
	f.StringVar(&t.hostQueue, "host-queue", "fair", "what a host sends first: fair (ten answers and a packet of data) or priority (answers)")
	f.BoolVar(&t.inferLoss, "infer-loss", false, "senders infer losses from what has overtaken them: SLEEK (-node light; endpoints always do)")
	f.Func("fail", "what goes wrong when, with commas: `PLACE:WHAT@FROM[-UNTIL]`, us; a place is leaf0.1 (its uplink 1), spine2, core4 or host5\n"+
		"(its link), and down, rate=0.25 or loss=0.01 happens there; may be given again", t.fail)
	f.StringVar(&t.routing, "routing", "entropy", "how switches choose a link: entropy (ECMP), adaptive (the shortest queue), mixed (entropy, but seldom the\n"+
		"longest queue) or round-robin")
	f.Float64Var(&t.rerouteUs, "reroute", 0, "how long after a link went down or came back all switches know, us; 0: for ever")
	f.Func("tune", "constants of NSCC, `name=value` with commas: "+tuneUsage(), t.tune)
}

// fail is a value of -fail.
func (t *tuning) fail(text string) error {
	for _, item := range strings.Split(text, ",") {
		f, err := fabric.ParseFault(item)
		if err != nil {
			return err
		}
		t.faults = append(t.faults, f)
	}
	return nil
}

// A tuneField is a constant of NSCC set by -tune.
type tuneField struct {
	name, unit      string
	whole, positive bool                            // no fractions of the unit; never zero
	set             func(t *nscc.Tuning, v float64) // -1 is a constant of zero
}

var tuneFields = []tuneField{
	{"max-wnd", "bytes", true, true, func(t *nscc.Tuning, v float64) { t.MaxWnd = int64(v) }},
	{"target-delay", "us", false, true, func(t *nscc.Tuning, v float64) { t.TargetQdelay = int64(v) }},
	{"alpha", "bytes/s", false, false, func(t *nscc.Tuning, v float64) { t.Alpha = v }},
	{"fair-increase", "bytes", false, false, func(t *nscc.Tuning, v float64) { t.FairIncrease = v }},
	{"fast-scale", "", false, false, func(t *nscc.Tuning, v float64) { t.FastScale = v }},
	{"eta", "bytes", false, false, func(t *nscc.Tuning, v float64) { t.Eta = v }},
	{"gamma", "", false, false, func(t *nscc.Tuning, v float64) { t.Gamma = v }},
	{"max-md-jump", "", false, false, func(t *nscc.Tuning, v float64) { t.MaxMDJump = v }},
	{"adjust-bytes", "bytes", true, false, func(t *nscc.Tuning, v float64) { t.AdjustBytes = int64(v) }},
	{"adjust-period", "us", false, false, func(t *nscc.Tuning, v float64) { t.AdjustPeriod = int64(v) }},
	{"fast-delay", "us", false, false, func(t *nscc.Tuning, v float64) { t.FastDelay = int64(v) }},
	{"qa-gate", "as a power of two", true, false, func(t *nscc.Tuning, v float64) { t.QAGate = int(v) }},
	{"qa-threshold", "us", false, false, func(t *nscc.Tuning, v float64) { t.QAThreshold = int64(v) }},
	{"quick-adapt", "0 or 1", true, false, func(t *nscc.Tuning, v float64) { t.NoQuickAdapt = v < 0 }},
}

// value is v in the form of [nscc.Tuning].
func (f *tuneField) value(v float64) float64 {
	switch {
	case v == 0:
		return -1
	case f.unit == "us":
		return v * 1000 // ns
	}
	return v
}

// check refuses values that the constant cannot have.
func (f *tuneField) check(v float64) error {
	switch {
	case v == 0 && f.positive:
		return fmt.Errorf("%s is 0, want more", f.name)
	case v != 0 && f.unit == "us" && f.value(v) < 1:
		return fmt.Errorf("%s is %g us, want a nanosecond at least", f.name, v)
	case f.whole && v != math.Trunc(v):
		return fmt.Errorf("%s is %g, want a whole number", f.name, v)
	}
	return nil
}

func tuneUsage() string {
	var names []string
	for _, f := range tuneFields {
		names = append(names, strings.TrimSuffix(f.name+" ("+f.unit+")", " ()"))
	}
	return strings.Join(names, ", ")
}

// maxTune bounds every value, so no conversion overflows.
const maxTune = 1e13

// tune is a value of -tune.
func (t *tuning) tune(text string) error {
	t.tuned = text
next:
	for _, item := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= maxTune) {
			return fmt.Errorf("%q, want name=value with a value of 0 to %g", item, maxTune)
		}
		for _, f := range tuneFields {
			if f.name == name {
				if err := f.check(v); err != nil {
					return err
				}
				f.set(&t.nscc, f.value(v))
				continue next
			}
		}
		return fmt.Errorf("no constant %q, there are %s", name, tuneUsage())
	}
	return nil
}

var routings = map[string]fabric.Routing{
	"entropy": fabric.RoutingEntropy, "adaptive": fabric.RoutingAdaptive, "mixed": fabric.RoutingMixed, "round-robin": fabric.RoutingRoundRobin,
}

var hostQueues = map[string]fabric.HostQueue{"fair": fabric.HostFair, "priority": fabric.HostPriority}

func (t *tuning) check() error {
	if _, ok := hostQueues[t.hostQueue]; !ok {
		return fmt.Errorf("-host-queue %q, want fair or priority", t.hostQueue)
	}
	if _, ok := routings[t.routing]; !ok {
		return fmt.Errorf("-routing %q, want entropy, adaptive, mixed or round-robin", t.routing)
	}
	return cmp.Or(
		cli.Range("-trim-bytes", t.trimBytes, fabric.HeaderBytes, 32_768, "bytes"),
		cli.Range("-tiers", t.tiers, 2, 3, "tiers"),
		cli.Range("-switch-latency", t.switchUs, 0, 1e6, "us"),
		cli.Range("-reroute", t.rerouteUs, 0, 1e6, "us"),
		cli.Range("-nic-latency", t.nicUs, 0, 1e6, "us"),
	)
}

// with is c with the given flags; set applies a flag if the flag counts.
func (t *tuning) with(c *fabric.Config, set func(name string, to func())) {
	if t.queue != (fabric.Queue{}) {
		c.Queue = &t.queue
	}
	set("trim-bytes", func() { c.TrimBytes = t.trimBytes })
	set("ack-bytes", func() { c.AckBytes = t.ack })
	set("tiers", func() { c.Tiers = t.tiers })
	set("switch-latency", func() { c.SwitchLatency = microseconds(t.switchUs) })
	set("nic-latency", func() { c.NICLatency = microseconds(t.nicUs) })
	set("pair-rtt", func() { c.PairRTT = t.pairRTT })
	set("infer-loss", func() { c.InferLoss = t.inferLoss })
	set("host-queue", func() { c.HostQueue = hostQueues[t.hostQueue] })
	set("nack-rtt", func() { c.NoNackRTT = !t.nackRTT })
	set("routing", func() { c.Routing = routings[t.routing] })
	set("reroute", func() { c.Reroute = microseconds(t.rerouteUs) })
	if t.faults != nil {
		c.Faults = t.faults
	}
	if t.nscc != (nscc.Tuning{}) {
		c.Tuning = t.nscc
	}
}
