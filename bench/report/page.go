// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"github.com/uetcc/uetcc/bench/page"
)

// page is the tables, and the bars of the picture, for a browser.
func (r *result) page() *page.Page {
	p := &page.Page{
		Title: "uetcc: benchmarks", About: method(r.about), Command: r.about.Command, Version: r.about.Go,
		Notes: []string{r.about.String(), r.summary()},
	}
	for _, t := range r.tables {
		title := t.title
		if title == "" {
			title = "The library"
		}
		if all := groups(t.rows); len(all) > 0 {
			p.Sections = append(p.Sections, page.Section{
				Title: title, Note: "Nanoseconds an operation: shorter is faster. A bar is the first decile of the rounds, the line goes from the least to the median.",
				Figures: []page.Figure{bars(all)},
			})
		}
		p.Below = append(p.Below, tableOf(title, t.lines()))
	}
	p.Below = append(p.Below, tableOf("Memory", r.memoryLines()))
	return p
}

// bars are the groups stacked, a row for each bar below the group's title.
func bars(all []group) page.Figure {
	f := page.Figure{Kind: page.Bars, X: page.Axis{Label: "time", Unit: "ns", Log: true}}
	kinds := []kind{kindOwn, kindFloor, kindPeer}
	for i, name := range []string{"uetcc", "floor: the least code that does it", "what a Go program could use instead"} {
		f.Series = append(f.Series, page.Series{Name: name, Style: []int{0, page.Gray, 1}[i]})
	}
	add := func(row string, of kind, ns spread, empty bool) {
		f.Rows = append(f.Rows, row)
		for i := range f.Series {
			s, y := &f.Series[i], math.NaN()
			if kinds[i] == of && !empty {
				y = ns.quiet
			}
			s.Y, s.Lo, s.Hi = append(s.Y, y), append(s.Lo, or(y, ns.least)), append(s.Hi, or(y, ns.median))
		}
	}
	for _, g := range all {
		add(g.title, kindOwn, spread{}, true)
		for _, b := range g.bars {
			add(b.label, b.kind, b.ns, false)
		}
	}
	return f
}

// or is v, or no value where y has none.
func or(y, v float64) float64 {
	if math.IsNaN(y) {
		return y
	}
	return v
}

// tableOf is lines whose first are the columns.
func tableOf(title string, lines [][]string) page.Table {
	return page.Table{Title: title, Columns: lines[0], Rows: lines[1:]}
}
