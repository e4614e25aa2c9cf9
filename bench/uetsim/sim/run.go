// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
)

// Main is the command uetsim: Main runs the command line args and returns the exit status. The
// words of own extend the engine's words for -cc. Never call Main concurrently.
func Main(args []string, own Algorithms, stdout, stderr io.Writer) int {
	failed, err := command(args, own, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "uetsim:", err)
		return 2
	}
	for _, why := range failed {
		fmt.Fprintln(stderr, "uetsim: FAILED:", why)
	}
	return min(len(failed), 1)
}

// command executes the command line, and returns the failures in the simulation.
func command(args []string, own Algorithms, stdout, stderr io.Writer) (failed []string, err error) {
	if len(args) > 0 && args[0] == "decode" {
		return nil, decode(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "gen" {
		return nil, generate(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "validate" {
		return validate(args[1:], stdout, stderr)
	}
	o, err := parseOptions(args, own, stderr)
	if err != nil {
		return nil, err
	}
	if o.version {
		_, err := fmt.Fprintln(stdout, "uetsim", cli.Version())
		return nil, err
	}
	if o.list {
		list(stdout)
		return nil, nil
	}
	o.progress = progressTo(stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // another signal ends the process
	o.stop = func() bool { return ctx.Err() != nil }
	r, err := o.profiled()
	if part := new(partError); errors.As(err, &part) {
		r, err = part.report, nil
		r.Partial = fmt.Sprintf("%v at %.1f us of run %q", context.Cause(ctx), part.at, part.run)
	}
	return o.finish(stdout, r, err)
}

// finish writes the report and all files of a run, and returns the failures.
func (o *options) finish(stdout io.Writer, r *report, err error) (failed []string, _ error) {
	for _, f := range []*outputs{&o.pcap, &o.traces, &o.qlog, &o.perfetto} {
		parts, wrong := f.settle(err)
		if wrong != nil && !errors.Is(err, wrong) {
			err = errors.Join(err, wrong)
		}
		for _, path := range parts {
			failed = append(failed, "only a part: "+path)
		}
	}
	if err != nil {
		return nil, o.inFlags(err)
	}
	parts, err := o.tables(r)
	if failed = append(failed, parts...); err != nil {
		return nil, err
	}
	if o.html != "" {
		if err := o.page(r).WriteFile(o.html); err != nil {
			return nil, err
		}
	}
	return append(r.failed(), failed...), o.write(stdout, r)
}

// profiled executes, with a CPU profile if asked for: complete, even for a partial run.
func (o *options) profiled() (*report, error) {
	if o.profile.path == "" {
		return o.execute()
	}
	f := o.profile.next("")
	if f.open(); f.err != nil {
		return nil, f.err
	}
	f.err = pprof.StartCPUProfile(f.buffer)
	r, err := o.execute()
	pprof.StopCPUProfile()
	f.end(false)
	_, wrong := o.profile.settle(nil)
	return r, cmp.Or(wrong, err)
}

func (o *options) execute() (*report, error) {
	if o.workload() {
		return o.runWorkload()
	}
	r, err := o.chosen.run(o)
	if part := new(partError); errors.As(err, &part) {
		part.report.Name, part.report.About = o.chosen.name, o.chosen.about
	}
	if err != nil {
		return nil, err
	}
	r.Name, r.About = o.chosen.name, o.chosen.about
	if o.changed() {
		r.Oracle = nil
	}
	return r, nil
}

// runWorkload runs a workload file once for each word of -cc and each seed.
func (o *options) runWorkload() (*report, error) {
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	r := o.newReport()
	r.Name = o.matrix
	if c.Application != nil {
		r.Name, r.About = o.goal, aboutSchedule(c.Application.Schedule)
	} else {
		r.About = fmt.Sprintf("%d transfers between %d nodes", len(c.Matrix.Flows), c.Matrix.Nodes)
	}
	var all []*variant
	ccs := strings.Split(o.cc, ",")
	for _, cc := range ccs {
		for i := range o.seeds {
			v := &variant{name: cc, config: o.with(c, cc)}
			if v.config.Seed += uint64(i); o.seeds > 1 {
				v.name = fmt.Sprintf("%s, seed %d", cc, v.config.Seed)
			}
			all = append(all, v)
		}
	}
	if err := r.addAll(all); err != nil || o.seeds == 1 {
		return r, err
	}
	for i, cc := range ccs {
		var runs []*fabric.Result
		for _, v := range all[i*o.seeds : (i+1)*o.seeds] {
			runs = append(runs, v.result)
		}
		r.Seeds = append(r.Seeds, spreadOf(cc, runs))
	}
	return r, nil
}

func (o *options) write(w io.Writer, r *report) error {
	if !o.json {
		return o.print(w, r)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// A Scenario is a scenario of -scenario.
type Scenario struct{ Name, About string }

// Scenarios returns all scenarios.
func Scenarios() (all []Scenario) {
	for _, s := range scenarios {
		all = append(all, Scenario{s.name, s.about})
	}
	return all
}

func list(w io.Writer) {
	for _, s := range Scenarios() {
		fmt.Fprintf(w, "%-10s %s\n", s.Name, s.About)
	}
	fmt.Fprintln(w, chapters)
}

// named finds scenarios of a figure or chapter, and chapters says where those are.
var named = regexp.MustCompile("figure|chapter")

const chapters = "(figures and chapters: the series on Ultra Ethernet at https://nwktimes.blogspot.com, December 2025 to February 2026)"

// progressTo reports on a terminal how far a long run has come; nowhere else.
func progressTo(stderr io.Writer) func(fabric.Progress) {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	began, last, before := time.Now(), time.Now(), fabric.Progress{}
	return func(p fabric.Progress) {
		now := time.Now()
		if p.Now < before.Now { // another run
			began = now
		}
		before = p
		if now.Sub(began) > 2*time.Second && now.Sub(last) > 500*time.Millisecond {
			last = now
			fmt.Fprintf(f, "\r%s\x1b[K\r", progressLine(p, now.Sub(began)))
		}
	}
}

// progressLine shows the progress of a run after the time took, and the time left if packets
// keep arriving at the same pace.
func progressLine(p fabric.Progress, took time.Duration) string {
	line := fmt.Sprintf("%.1f ms simulated, %d of %d transfers done, %d M events", float64(p.Now)/1e9, p.Done, p.Transfers, p.Events/1e6)
	if p.Delivered > 0 {
		left := time.Duration(float64(took) * float64(p.Packets-p.Delivered) / float64(p.Delivered))
		line += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return line
}
