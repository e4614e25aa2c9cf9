// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// A result is everything a run says.
type result struct {
	about  about
	rounds []round
	tables []comparison
}

// A comparison is a chapter, measured.
type comparison struct {
	title string
	rows  []row
}

func newResult(a about, some []chapter, rounds []round) *result {
	r := &result{about: a, rounds: rounds}
	for _, c := range some {
		r.tables = append(r.tables, comparison{c.title, rowsOf(c.jobs, rounds)})
	}
	return r
}

// rows are the rows of all tables.
func (r *result) rows() (all []row) {
	for _, t := range r.tables {
		all = append(all, t.rows...)
	}
	return all
}

// lines are a table's rows in cells, with their header.
func (t *comparison) lines() [][]string {
	all := [][]string{columns}
	last := new(row)
	for i := range t.rows {
		all = append(all, t.rows[i].cells(last))
		last = &t.rows[i]
	}
	return all
}

// memoryLines are the lines of the footprints.
func (r *result) memoryLines() [][]string {
	all := [][]string{footprintColumns}
	for _, f := range footprints(r.rounds) {
		all = append(all, f.cells())
	}
	return all
}

// against is the rival's name; a rival of ours is marked so.
func (r *row) against() string {
	switch {
	case r.rival.kind == kindOwn:
		return "own " + r.rival.name
	case r.rival.from != "":
		return r.rival.name + " from " + r.rival.from
	case r.rival.times > 0:
		return fmt.Sprintf("%s x %.3g", r.rival.name, r.rival.times)
	case r.rival.unit != "":
		return r.rival.name + ", " + r.rival.unit
	}
	return r.rival.name
}

const atAgainst = 3 // in columns

var columns = []string{"job", "ours, ns", "median", "against", "ns", "median", "ratio", "of medians", "goal", ""}

// cells are the columns of a row; cells equal to the last row's are left out.
func (r *row) cells(last *row) []string {
	c := []string{"", "", ""}
	switch {
	case r.job != last.job:
		c = []string{r.job.what, number(r.ours.quiet), span(r.ours)}
	case r.rival.from != "":
		c = []string{"how it grows from " + r.rival.from, number(r.ours.quiet), span(r.ours)}
	case r.rival.ofOurs != last.rival.ofOurs:
		c = []string{"in " + r.rival.ofOurs, number(r.ours.quiet), span(r.ours)}
	}
	return append(c, r.against(), number(r.theirs.quiet), span(r.theirs), ratio(r), number(r.medians), goal(r), r.verdict())
}

// span prints "12.3 [11.8 .. 14]": the median in the range of all rounds.
func span(s spread) string {
	if s == (spread{}) {
		return "-"
	}
	return fmt.Sprintf("%s [%s .. %s]", figure(s.median), figure(s.least), figure(s.largest))
}

// ratio prints "1.27 [1.21 .. 1.30]": the run's ratio in the range of the parts.
func ratio(r *row) string {
	if r.parts == 0 {
		return number(r.ratio)
	}
	return fmt.Sprintf("%s [%s .. %s]", figure(r.ratio), figure(r.least), figure(r.largest))
}

// number prints a figure, if any.
func number(v float64) string {
	if v == 0 {
		return "-"
	}
	return figure(v)
}

// figure prints three digits.
func figure(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func goal(r *row) string {
	if r.rival.goal == 0 {
		return ""
	}
	return fmt.Sprintf("<= %.3g", r.rival.goal)
}

// summary counts goals and names jobs without a figure, and jobs of the first
// table, the library's, that allocate.
func (r *result) summary() string {
	met, byMedians, goals := 0, 0, 0
	var allocating, missing []string
	seen := map[string]bool{}
	once := func(list *[]string, s string) {
		if !seen[s] {
			seen[s] = true
			*list = append(*list, s)
		}
	}
	rows, library := r.rows(), len(r.tables[0].rows)
	for i := range rows {
		r := &rows[i]
		if r.rival.goal > 0 && len(r.missed) == 0 {
			goals++
			if r.isMet() {
				met++
			}
			if r.medians <= r.rival.goal {
				byMedians++
			}
		}
		if r.allocs > 0 && i < library {
			once(&allocating, r.job.ours)
		}
		for _, name := range r.missed {
			once(&missing, name)
		}
	}
	s := fmt.Sprintf("%d of %d goals met in this run, %d by the medians. ", met, goals, byMedians)
	if len(allocating) == 0 {
		s += "None of ours allocates."
	} else {
		s += "Ours that allocate: " + strings.Join(allocating, ", ") + "."
	}
	if len(missing) > 0 {
		s += " No figure for: " + strings.Join(missing, ", ") + "."
	}
	return s
}
