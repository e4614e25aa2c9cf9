package main

import (
	"fmt"
	"slices"
)

// A spread is a median with the least and the largest value. All zero is none.
type spread struct{ median, least, largest float64 }

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return spread{(s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]}
}

// A row is one comparison, measured.
type row struct {
	job    *job
	rival  rival
	ours   spread // ns
	theirs spread // ns
	ratio  spread // of each round
	rounds int    // with both figures
	within int    // rounds whose own ratio met the goal
	allocs float64
	missed []string // benchmarks without a figure
}

// isMet compares the median of the rounds' ratios with the goal. Both sides of a
// round are measured within seconds of each other, so that a change of the
// machine's speed from round to round drops out.
func (r *row) isMet() bool { return r.ratio.median <= r.rival.goal }

// verdict says how the comparison went; it is information, never a failure. If
// the rounds do not agree it says how many met the goal.
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
	if r.within > 0 && r.within < r.rounds {
		word += fmt.Sprintf(" (%d of %d rounds)", r.within, r.rounds)
	}
	return word
}

// rowsOf compares what was measured for each job.
func rowsOf(jobs []job, rounds []round) (rows []row) {
	for i := range jobs {
		for _, r := range jobs[i].rivals {
			rows = append(rows, compare(&jobs[i], r, rounds))
		}
	}
	return rows
}

func compare(j *job, r rival, rounds []round) row {
	out := row{job: j, rival: r}
	var ours, theirs, ratios []float64
	for i := range rounds {
		a, ok := rounds[i].timeFor(j, &r, 0, j.ours)
		if ok {
			ours = append(ours, a)
		}
		b, ok2 := rounds[i].timeFor(j, &r, sideOf(r.kind), r.name)
		if ok2 {
			theirs = append(theirs, b)
		}
		if ok && ok2 && b > 0 {
			ratios = append(ratios, a/b)
			if a/b <= r.goal {
				out.within++
			}
		}
		allocs, _ := rounds[i].figure(j, 0, j.ours, "allocs/op")
		out.allocs = max(out.allocs, allocs)
	}
	out.ours, out.theirs, out.ratio, out.rounds = spreadOf(ours), spreadOf(theirs), spreadOf(ratios), len(ratios)
	if len(ours) == 0 {
		out.missed = append(out.missed, j.ours)
	}
	if len(theirs) == 0 {
		out.missed = append(out.missed, r.name)
	}
	return out
}
