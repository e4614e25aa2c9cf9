// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/goal"
	"github.com/uetcc/uetcc/bench/internal/cli"
)

// generate is the subcommand writing workloads.
func generate(args []string, stdout, stderr io.Writer) error {
	kind := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		kind, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("uetsim gen", flag.ContinueOnError)
	var j goal.Job
	var reduce, forward, backward, speed, duration float64
	f.IntVar(&j.Ranks, "ranks", 16, "ranks, each on a host")
	f.Int64Var(&j.Bytes, "bytes", 1<<20, "vector of a rank, bytes")
	f.Float64Var(&reduce, "reduce", 0, "us to add up a MiB that was received")
	f.IntVar(&j.Pieces, "pieces", 8, "pieces of a vector, or micro-batches")
	f.Float64Var(&forward, "forward", 40, "us of a micro-batch at a stage on its way there")
	f.Float64Var(&backward, "backward", 80, "us of a micro-batch at a stage on its way back")
	f.Uint64Var(&j.Seed, "seed", 1, "seed of every random choice")
	f.StringVar(&j.Sizes, "sizes", "web-search", "flow sizes: web-search, data-mining, hadoop")
	f.Float64Var(&j.Load, "load", 0.5, "of the links of the hosts, without headers")
	f.Float64Var(&speed, "rate", 100, "of these links, Gb/s")
	f.Float64Var(&duration, "duration", 1000, "us in which flows begin")
	form := f.String("form", "goal", "goal (text), binary (also GOAL) or matrix")
	out := outputs{}
	f.StringVar(&out.path, "o", "", "file to write; default: standard output")
	if err := cli.Parse(f, args, "uetsim gen KIND [flags]; KIND is one of\n"+kinds()+"flags:", stderr); err != nil {
		return err
	}
	p, err := goal.FindPattern(kind)
	if err != nil {
		return err
	}
	err = cmp.Or(
		cli.Range("-ranks", j.Ranks, 2, 1<<20, "ranks"), cli.Range("-bytes", j.Bytes, 0, goal.MaxMessage, "bytes"),
		cli.Range("-pieces", j.Pieces, 1, 1<<16, "pieces"), cli.Range("-load", j.Load, 1e-6, 10, "of the links"),
		cli.Range("-reduce", reduce, 0, 1e6, "us"), cli.Range("-forward", forward, 0, 1e12, "us"), cli.Range("-backward", backward, 0, 1e12, "us"),
		cli.Range("-rate", speed, 0.001, 35_000, "Gb/s"), cli.Range("-duration", duration, 0.001, 1e12, "us"), unusedFlag(f, p),
	)
	if err != nil {
		return err
	}
	j.Reduce, j.Forward, j.Backward = reduce*1000/(1<<20), int64(forward*1000), int64(backward*1000)
	j.Rate, j.Duration = int64(speed*1e9), int64(duration*1000)
	b, err := workloadText(p, j, *form)
	if err != nil || out.path == "" {
		_, wrong := stdout.Write(b)
		return cmp.Or(err, wrong)
	}
	o := out.next("")
	if o.open(); o.err == nil {
		_, o.err = o.buffer.Write(b)
	}
	o.end(false)
	_, err = out.settle(nil)
	return err
}

// kinds lists the patterns, with the flags each looks at.
func kinds() string {
	var b strings.Builder
	for _, p := range goal.Patterns() {
		fmt.Fprintf(&b, "  %-18s %s\n", p.Name, p.About)
	}
	return b.String()
}

// unusedFlag is an error about a flag given and changes nothing.
func unusedFlag(f *flag.FlagSet, p *goal.Pattern) (err error) {
	f.Visit(func(g *flag.Flag) {
		if !slices.Contains(append([]string{"ranks", "bytes", "form", "o"}, p.Uses...), g.Name) {
			err = fmt.Errorf("-%s changes nothing in %s", g.Name, p.Name)
		}
	})
	return err
}

// workloadText is a generated workload in the text or binary form.
func workloadText(p *goal.Pattern, j goal.Job, form string) ([]byte, error) {
	s, err := p.Make(j)
	if err != nil {
		return nil, err
	}
	switch form {
	case "goal":
		return goal.AppendText(nil, s), nil
	case "binary":
		return goal.AppendBinary(nil, s), nil
	case "matrix":
		m, err := fabric.MatrixOf(s)
		if err != nil {
			return nil, err
		}
		return fabric.AppendMatrix(nil, m), nil
	}
	return nil, fmt.Errorf("-form %q, want goal, binary or matrix", form)
}
