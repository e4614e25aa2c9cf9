// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

// compareOptions are the command line of uetsweep compare.
type compareOptions struct {
	by, base   string
	metrics    []string
	alpha      float64
	confidence float64
	html       string
	dirs       []string
}

const defaultMetrics = "fct_us.mean,fct_us.p99,fct_us.max,jain_index,totals.trimmed,totals.retransmitted,unfinished"

func parseCompare(args []string, stderr io.Writer) (*compareOptions, error) {
	o := &compareOptions{}
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.StringVar(&o.by, "by", "cc", "what to compare: an axis of the sweep, or version")
	f.StringVar(&o.base, "base", "", "value of -by that the others are compared with; default: the first")
	metrics := f.String("metric", defaultMetrics, "numbers of a result to compare, by name")
	f.Float64Var(&o.alpha, "alpha", 0.05, "a difference counts if luck alone gives it less often")
	f.Float64Var(&o.confidence, "confidence", 0.95, "of the intervals of the medians")
	f.StringVar(&o.html, "html", "", "also write a page to this `FILE`")
	if err := cli.Parse(f, args, "uetsweep compare [flags] DIR ...", stderr); err != nil {
		return nil, err
	}
	o.metrics, o.dirs = strings.Split(*metrics, ","), f.Args()
	switch {
	case len(o.dirs) == 0:
		return nil, errors.New("nothing to compare: want the folders of sweeps, their -out")
	case o.by == "seed" || o.by != "version" && axisUsage(o.by) == "":
		return nil, fmt.Errorf("-by %q: want version or an axis other than seed", o.by)
	}
	return o, cmp.Or(
		cli.Range("-alpha", o.alpha, 1e-6, 0.5, "of all comparisons of what is alike"),
		cli.Range("-confidence", o.confidence, 0.5, 0.9999, "of all intervals"),
	)
}

// compare is the command compare.
func compare(_ context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseCompare(args, stderr)
	if err != nil {
		return err
	}
	s := newSamples(o)
	for _, dir := range o.dirs {
		file := filepath.Join(dir, resultsFile)
		if err := cli.Apart([]string{"the results", "-html"}, []string{file, o.html}); err != nil {
			return err
		}
		if _, err := readResults(file, s.add); err != nil {
			return fmt.Errorf("%s is no -out of a sweep: %w", dir, err)
		}
	}
	c, err := s.compare()
	if err != nil {
		return err
	}
	if o.html != "" {
		if err := c.writePage(o.html); err != nil {
			return err
		}
	}
	return c.print(stdout)
}

// A comparison is the samples' result, a group for each choice of all axes but seed and -by.
type comparison struct {
	By     string
	Values []string // of By, the base first
	Groups []group
	Notes  []string
}

type group struct {
	Name string // what its jobs have in common
	Rows []row
}

// A row is a number of the results.
type row struct {
	Metric string
	Cells  []cell // by Values
}

// A cell is a sample of the row's number, from all seeds.
type cell struct {
	N       int
	Median  benchmath.Summary
	Against benchmath.Comparison // the base; not of the base itself
	Delta   string               // "~" if luck alone may have done it, "" of the base
}

// compare does the statistics: no distribution is taken for granted. Medians have intervals by
// order statistics, and differences are tested by Mann and Whitney's U.
func (s *samples) compare() (*comparison, error) {
	values, err := s.columns()
	if err != nil {
		return nil, err
	}
	c := &comparison{By: s.o.by, Values: values}
	thresholds := &benchmath.Thresholds{CompareAlpha: s.o.alpha}
	warned, tests := map[string]bool{}, 0
	warn := func(some []error) {
		for _, w := range some {
			if !warned[w.Error()] {
				warned[w.Error()] = true
				c.Notes = append(c.Notes, w.Error())
			}
		}
	}
	for _, name := range s.groups {
		g := group{Name: s.title(name)}
		for _, metric := range s.o.metrics {
			r := row{Metric: metric}
			var base *benchmath.Sample
			for i, value := range values {
				all := s.of[point{name, metric, value}]
				cell := cell{N: len(all)}
				if len(all) > 0 {
					sample := benchmath.NewSample(all, thresholds)
					cell.Median = benchmath.AssumeNothing.Summary(sample, s.o.confidence)
					warn(cell.Median.Warnings)
					if i == 0 {
						base = sample
					} else if base != nil {
						tests++
						cell.Against = benchmath.AssumeNothing.Compare(base, sample)
						cell.Delta = cell.Against.FormatDelta(r.Cells[0].Median.Center, cell.Median.Center)
						if !slices.Equal(base.Values, sample.Values) {
							warn(cell.Against.Warnings)
						}
					}
				}
				r.Cells = append(r.Cells, cell)
			}
			g.Rows = append(g.Rows, r)
		}
		c.Groups = append(c.Groups, g)
	}
	if tests > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d comparisons: about %s of them would count as different by luck alone",
			tests, number(float64(tests)*s.o.alpha)))
	}
	c.Notes = append(c.Notes, s.notes()...)
	return c, nil
}

// number writes a value with four digits at least.
func number(v float64) string {
	digits := 0
	for limit := 1000.0; digits < 6 && v != 0 && v < limit && v > -limit; limit /= 10 {
		digits++
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
