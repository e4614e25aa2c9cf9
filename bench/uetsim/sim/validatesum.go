// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A summary is all outcomes with the number of each.
type summary struct {
	Met         int       `json:"met"`
	Missed      int       `json:"missed"`
	MissedThere int       `json:"missed_outside_too"` // of the missed ones
	Unsupported int       `json:"not_supported"`
	Errors      int       `json:"errors"`
	Skipped     int       `json:"skipped"`
	Outcomes    []outcome `json:"experiments"`
}

// ofFiles splits s by the files of the experiments, in order.
func (s *summary) ofFiles() (names []string, parts []summary) {
	for _, o := range s.Outcomes {
		if i := len(names) - 1; i < 0 || names[i] != o.File {
			names, parts = append(names, o.File), append(parts, summary{})
		}
		parts[len(parts)-1].add(o)
	}
	return names, parts
}

// reasons counts why experiments were not run, in the order of their first appearance.
func (s *summary) reasons() (why []string, n map[string]int) {
	n = map[string]int{}
	for _, o := range s.Outcomes {
		if _, reason, ok := strings.Cut(o.Why, "not supported: "); ok {
			if n[reason]++; n[reason] == 1 {
				why = append(why, reason)
			}
		}
	}
	return why, n
}

func (s *summary) add(o outcome) {
	s.Outcomes = append(s.Outcomes, o)
	switch o.Verdict {
	case verdictMet:
		s.Met++
	case verdictMissed:
		s.Missed++
		if o.missedThere() {
			s.MissedThere++
		}
	case verdictUnsupported:
		s.Unsupported++
	case verdictError:
		s.Errors++
	default:
		s.Skipped++
	}
}

// missedThere reports whether htsim misses the bar of the last transfer too.
func (o *outcome) missedThere() bool { return o.Target > 0 && o.Outside > o.Target }

// failed says why the command must not exit with 0.
func (s *summary) failed() (why []string) {
	unrun := 0
	for _, o := range s.Outcomes {
		if o.Why == interrupted {
			unrun++
		}
	}
	for _, n := range []struct {
		n    int
		what string
	}{{s.Missed, "missed their bar"}, {s.Errors, "could not be run"}, {unrun, "did not come to their end"}} {
		if n.n > 0 {
			why = append(why, fmt.Sprintf("%d of %d experiments %s", n.n, len(s.Outcomes), n.what))
		}
	}
	return why
}

func (p *printer) outcome(o *outcome) {
	tail, outside := "-", ""
	if o.Tail > 0 {
		tail = fmt.Sprintf("%.1f", o.Tail)
	}
	if o.Outside > 0 {
		outside = fmt.Sprintf(" (htsim %.1f)", o.Outside)
	}
	p.f("%-13s %s:%d: %s of %g us%s: %s", o.Verdict, o.File, o.Line, tail, o.Target, outside, cmp.Or(o.Name, o.Matrix))
	if o.Why != "" {
		p.f(": %s", o.Why)
	}
	p.f("\n")
}

func (p *printer) summary(s *summary) {
	p.f("\n")
	if names, parts := s.ofFiles(); len(names) > 1 {
		for i := range names {
			p.f("%s: %s\n", names[i], parts[i].String())
		}
	}
	why, n := s.reasons()
	for _, reason := range why {
		p.f("not supported, %d: %s\n", n[reason], reason)
	}
	p.f("%s\n", s.String())
}

// String is a line.
func (s *summary) String() string {
	return fmt.Sprintf("%d experiments: %d ran, %d met, %d missed (%d of them by htsim too), %d not supported, %d errors, %d skipped",
		len(s.Outcomes), s.Met+s.Missed, s.Met, s.Missed, s.MissedThere, s.Unsupported, s.Errors, s.Skipped)
}

// outsideKey is how an experiment is found in a table of htsim's results.
func outsideKey(file, name, matrix, params string) string {
	return strings.Join([]string{file, name, matrix, strings.Join(strings.Fields(params), " ")}, "\x00")
}

// readOutside reads a table of htsim's results.
func readOutside(path string) (map[string]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var at [5]int
	for i, name := range [...]string{"file", "experiment", "matrix", "params", "tail_htsim_us"} {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("%s:1: no column %s", path, name)
		}
	}
	m := map[string]float64{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if row[at[4]] == "" {
			continue // was not run
		}
		tail, err := strconv.ParseFloat(row[at[4]], 64)
		if err != nil {
			line, _ := r.FieldPos(at[4])
			return nil, fmt.Errorf("%s:%d: tail_htsim_us %q is not a number", path, line, row[at[4]])
		}
		m[outsideKey(row[at[0]], row[at[1]], row[at[2]], row[at[3]])] = tail
	}
}
