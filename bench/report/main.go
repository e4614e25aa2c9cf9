// SPDX-License-Identifier: Apache-2.0

// Command report runs the benchmarks of the repository and of bench/peers in turn, job
// by job, and compares both.
//
//	go run ./bench/report                               thirty short rounds, a table
//	go run ./bench/report -run 'Keyed|NSCC' -rounds 99  some of it, more carefully
//	go run ./bench/report -md bench/RESULTS.md -svg bench/results.svg -raw /tmp/raw
//	go run ./bench/report -history bench.txt && benchstat -col commit bench.txt
//	go run ./bench/report -html report.html             the same in pictures, for a browser
//	go run ./bench/report -from /tmp/raw -md bench/RESULTS.md  the same figures again
//
// Pairs and goals are in pairs.go; the use of the rounds is explained at spread. A
// missed goal is printed without effect: the command exits with 2 only if unable to
// run, as when a benchmark does not build.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

type options struct {
	version   bool
	rounds    int
	benchtime string
	procs     int
	filter    string
	root      string
	raw, from string
	md, svg   string
	history   string
	html      string
	log       io.Writer
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{log: stderr}
	f := flag.NewFlagSet("report", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 30, "times that each side is run")
	f.StringVar(&o.benchtime, "benchtime", "5ms", "of one benchmark in one round, as of go test")
	f.BoolVar(&o.version, "version", false, "say which version this is")
	f.IntVar(&o.procs, "cpu", runtime.GOMAXPROCS(0), "cores that parallel benchmarks use")
	f.StringVar(&o.filter, "run", "", "only jobs whose text or benchmark this regular expression matches")
	f.StringVar(&o.root, "root", ".", "root of the repository")
	f.StringVar(&o.raw, "raw", "", "keep what go test prints in this folder")
	f.StringVar(&o.from, "from", "", "measure nothing; take the rounds from this folder of an earlier -raw")
	f.StringVar(&o.md, "md", "", "write the table between the markers of this Markdown file; - is the standard output")
	f.StringVar(&o.svg, "svg", "", "write the picture to this file")
	f.StringVar(&o.history, "history", "", "add what was measured to this file, for benchstat -col commit")
	f.StringVar(&o.html, "html", "", "write a page with pictures and tables to this file, for a browser")
	if err := cli.Parse(f, args, "report [flags]", stderr); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, cmp.Or(
		cli.CheckPath("-md", o.md), cli.CheckPath("-html", o.html),
		cli.Apart([]string{"-md", "-svg", "-history", "-html"}, []string{o.md, o.svg, o.history, o.html}),
		cli.Range("-rounds", o.rounds, 1, 100_000, "times"),
		cli.Range("-cpu", o.procs, 1, 4096, "cores"),
	)
}

// selected gives the jobs named by -run.
func (o *options) selected() (some []chapter, err error) {
	re, err := regexp.Compile(o.filter)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	for _, c := range chapters {
		c.jobs = slices.DeleteFunc(slices.Clone(c.jobs), func(j job) bool {
			return !re.MatchString(j.what) && !re.MatchString(j.ours)
		})
		if len(c.jobs) > 0 {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("-run %q: no such job", o.filter)
	}
	return some, nil
}

func main() {
	err := report(os.Args[1:], os.Stdout, os.Stderr, execute)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(2)
	}
}

func execute(dir, program string, args ...string) ([]byte, error) {
	c := exec.Command(program, args...)
	c.Dir = dir
	return c.CombinedOutput()
}

func report(args []string, stdout, stderr io.Writer, run command) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	if o.version {
		_, err = fmt.Fprintln(stdout, "report", cli.Version())
		return err
	}
	some, err := o.selected()
	if err != nil {
		return err
	}
	rounds, a, err := figuresOf(o, args, some, run)
	if err != nil {
		return err
	}
	r := newResult(a, some, rounds)
	if o.md == "-" {
		_, err = io.WriteString(stdout, r.markdown())
	} else {
		err = r.printText(stdout)
	}
	if err != nil {
		return err
	}
	return o.writeFiles(r)
}

// figuresOf measures, or takes earlier figures.
func figuresOf(o *options, args []string, some []chapter, run command) (rounds []round, a about, err error) {
	if o.from != "" {
		return earlierFigures(o)
	}
	a = newAbout(o, args)
	if o.raw != "" {
		if err := os.MkdirAll(o.raw, 0o777); err != nil {
			return nil, a, err
		}
	}
	texts, err := measure(o, some, run)
	if err != nil {
		return nil, a, err
	}
	rounds = a.parse(texts)
	if end := loadAverage(); end != a.Load {
		a.Load += " to " + end
	}
	if o.raw != "" {
		err = a.write(o.raw)
	}
	return rounds, a, errors.Join(err, o.remember(a, texts))
}

// earlierFigures are the figures that an earlier run kept in a folder.
func earlierFigures(o *options) (rounds []round, a about, err error) {
	if a, err = readAbout(o.from); err != nil {
		return nil, a, err
	}
	texts, err := load(o.from)
	if err == nil {
		err = o.remember(a, texts)
	}
	return a.parse(texts), a, err
}

// parse reads transcripts of rounds, and the processor named there.
func (a *about) parse(texts []string) (rounds []round) {
	for _, t := range texts {
		r := parseRound(t, a.Procs)
		a.CPU = r.cpu
		rounds = append(rounds, r)
	}
	return rounds
}

func (o *options) writeFiles(r *result) error {
	if o.md != "" && o.md != "-" {
		if err := writeMarked(o.md, r.markdown()); err != nil {
			return err
		}
	}
	if o.html != "" {
		if err := r.page().WriteFile(o.html); err != nil {
			return err
		}
	}
	if o.svg == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(o.svg), 0o777); err != nil {
		return err
	}
	return os.WriteFile(o.svg, []byte(picture(r.about, r.tables[0].rows)), 0o666)
}
