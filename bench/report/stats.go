// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
)

// A spread summarises the rounds of one benchmark. All zero is none.
//
// Quiet is the first decile. A disturbance, above all a neighbour on the core's
// second thread, only ever makes a round slower, by up to 1.8 times, for some
// milliseconds or for seconds: so the quickest rounds of two benchmarks were measured
// under the same conditions, but maybe not the middle rounds.
type spread struct{ quiet, median, least, largest float64 }

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return spread{s[(n-1)/10], (s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]}
}

// over is s in units of u: statistic by statistic, and the widest range.
func (s spread) over(u spread) spread {
	if s == (spread{}) || u == (spread{}) {
		return spread{}
	}
	return spread{s.quiet / u.quiet, s.median / u.median, s.least / u.largest, s.largest / u.least}
}

// parts is the number of consecutive parts of a run, also judged separately.
const parts = 5

// A row is a measured comparison.
type row struct {
	job     *job
	rival   rival
	ours    spread // ns, or a growth
	theirs  spread // the same
	ratio   float64
	least   float64 // ratio of any part of the run
	largest float64
	medians float64 // ratio of the medians
	parts   int     // that have both figures
	within  int     // parts whose own ratio met the goal
	allocs  float64
	missed  []string // benchmarks without a figure
}

func (r *row) isMet() bool { return r.ratio <= r.rival.goal }

// verdict is the result of the comparison, as information, never a failure, with a
// remark if the parts of the run disagree, or the medians do.
func (r *row) verdict() string {
	switch {
	case len(r.missed) > 0:
		return "not measured"
	case r.rival.goal == 0:
		return ""
	}
	word := "missed"
	if r.isMet() {
		word = "met"
	}
	if r.within > 0 && r.within < r.parts {
		word += fmt.Sprintf(" (%d of %d parts)", r.within, r.parts)
	}
	if r.isMet() != (r.medians <= r.rival.goal) {
		word += ", not by medians"
	}
	return word
}

// rowsOf compares the figures of each job.
func rowsOf(jobs []job, rounds []round) (rows []row) {
	for i := range jobs {
		for _, r := range jobs[i].rivals {
			rows = append(rows, compare(&jobs[i], r, rounds))
		}
	}
	return rows
}

func compare(j *job, v rival, rounds []round) row {
	out := row{job: j, rival: v, least: math.Inf(1)}
	out.ours, out.theirs = both(j, &v, rounds)
	ratios := out.ours.over(out.theirs)
	out.ratio, out.medians = ratios.quiet, ratios.median
	for k := range parts {
		ours, theirs := both(j, &v, rounds[k*len(rounds)/parts:(k+1)*len(rounds)/parts])
		x := ours.over(theirs).quiet
		if x == 0 {
			continue
		}
		out.least, out.largest = min(out.least, x), max(out.largest, x)
		if out.parts++; x <= v.goal {
			out.within++
		}
	}
	out.allocs = fewestAllocs(j, rounds)
	if out.ours == (spread{}) {
		out.missed = append(out.missed, j.ours)
	}
	if out.theirs == (spread{}) {
		out.missed = append(out.missed, v.name)
	}
	return out
}

// fewestAllocs is the allocations of a job of ours in the round with the fewest: a
// delayed round runs so few iterations that the benchmark's own allocations show.
func fewestAllocs(j *job, rounds []round) (fewest float64) {
	first := true
	for i := range rounds {
		if n, ok := rounds[i].figure(j, ourSide, j.ours, "allocs/op"); ok && (first || n < fewest) {
			fewest, first = n, false
		}
	}
	return fewest
}

// both gives the two halves of a comparison over some rounds.
func both(j *job, v *rival, rounds []round) (ours, theirs spread) {
	s := sideOf(v.kind)
	ours, theirs = series(j, ourSide, j.ours, v.ofOurs, rounds), series(j, s, v.name, v.unit, rounds)
	if v.times > 0 {
		theirs = theirs.over(spread{1 / v.times, 1 / v.times, 1 / v.times, 1 / v.times})
	}
	if v.from == "" {
		return ours, theirs
	}
	ours = ours.over(series(j, ourSide, v.start(j.ours), v.ofOurs, rounds))
	theirs = theirs.over(series(j, s, v.start(v.name), v.unit, rounds))
	return ours, theirs
}

func series(j *job, side int, name, unit string, rounds []round) spread {
	var v []float64
	for i := range rounds {
		if t, ok := rounds[i].time(j, side, name, unit); ok {
			v = append(v, t)
		}
	}
	return spreadOf(v)
}
