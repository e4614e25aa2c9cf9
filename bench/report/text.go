package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printText writes the comparison for a terminal.
func printText(out io.Writer, a about, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n\n", a)
	fmt.Fprintln(w, "job\tours, ns\tagainst\tns\tratio\tgoal\t")
	var last *job
	for i := range rows {
		r := &rows[i]
		what, ours := "", ""
		if r.job != last {
			what, ours = r.job.what, span(r.ours)
			last = r.job
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", what, ours, r.against(), span(r.theirs), ratio(r), goal(r), r.verdict())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", summary(rows))
	return err
}

// against is the rival's name; that of one of ours says so.
func (r *row) against() string {
	switch {
	case r.rival.kind == kindOwn:
		return "own " + r.rival.name
	case r.rival.from != "":
		return r.rival.name + ", growth from " + r.rival.from
	}
	return r.rival.name
}

// span prints "12.3 [11.8 .. 14]".
func span(s spread) string {
	if s.median == 0 {
		return "-"
	}
	return fmt.Sprintf("%s [%s .. %s]", figure(s.median), figure(s.least), figure(s.largest))
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

func ratio(r *row) string { return span(r.ratio) }

func goal(r *row) string {
	if r.rival.goal == 0 {
		return ""
	}
	return fmt.Sprintf("<= %.3g", r.rival.goal)
}

// summary counts goals and names what allocates and what has no figure.
func summary(rows []row) string {
	met, goals := 0, 0
	var allocating, missing []string
	seen := map[string]bool{}
	once := func(list *[]string, s string) {
		if !seen[s] {
			seen[s] = true
			*list = append(*list, s)
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.rival.goal > 0 && len(r.missed) == 0 {
			goals++
			if r.isMet() {
				met++
			}
		}
		if r.allocs > 0 {
			once(&allocating, r.job.ours)
		}
		for _, name := range r.missed {
			once(&missing, name)
		}
	}
	s := fmt.Sprintf("%d of %d goals met in this run. ", met, goals)
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
