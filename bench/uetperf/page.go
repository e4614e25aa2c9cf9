// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/internal/stream"
	"github.com/uetcc/uetcc/bench/page"
)

// newPage returns a page with the command line, and no pictures yet.
func (o *options) newPage(about string) *page.Page {
	p := &page.Page{Title: "uetperf", About: about, Command: "uetperf " + strings.Join(o.args, " "), Version: cli.Version()}
	t := page.Table{Title: "Flags", Columns: []string{"", "value"}}
	for _, f := range o.flags {
		t.Rows = append(t.Rows, []string{"-" + f[0], f[1]})
	}
	p.Beside = append(p.Beside, t)
	return p
}

// page shows the results of -listen, -connect or -compare.
func (r *report) page(o *options) *page.Page {
	p := o.newPage("rates and times of messages over " + r.proto)
	p.Notes = r.bad
	if len(r.flows) > 0 {
		p.Tables = append(p.Tables, r.flowTable())
	}
	if len(r.rates.Lo) > 0 {
		r.rates.Name = "all flows"
		p.Sections = append(p.Sections, page.Section{Title: "Rate", Note: "What was acknowledged in each interval of -i.", Figures: []page.Figure{{
			Kind: page.Lines, X: page.Axis{Label: "time", Unit: "s"}, Y: page.Axis{Label: "rate", Unit: "Mb/s"}, Series: []page.Series{r.rates},
		}}})
	}
	if len(r.latencies) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Times of messages", Note: "From the call of a message to its end.", Figures: []page.Figure{{
			Kind: page.Stairs, X: page.Axis{Label: "time", Unit: "us"}, Y: page.Axis{Label: "messages", Unit: "%", Max: 100}, Series: r.latencies,
		}}})
	}
	if len(r.rounds) > 0 {
		p.Sections = append(p.Sections,
			compared("Throughput", "Mb/s", r.rounds, func(s stream.Summary) float64 { return s.Megabits }),
			compared("Time of a message, median", "us", r.rounds, func(s stream.Summary) float64 { return s.P50Micros }),
			compared("CPU a byte", "ns", r.rounds, perByte))
	}
	return p
}

func (r *report) flowTable() page.Table {
	t := page.Table{Columns: []string{"flow", "Mb/s", "MB", "messages", "p50, us", "p99, us", "sent", "resent", "time-outs"}}
	for i := range r.flows {
		f := &r.flows[i]
		t.Rows = append(t.Rows, []string{f.Local, fmt.Sprintf("%.1f", f.Megabits), fmt.Sprintf("%.1f", float64(f.Bytes)/1e6), fmt.Sprint(f.Messages),
			fmt.Sprintf("%.1f", f.P50Micros), fmt.Sprintf("%.1f", f.P99Micros), fmt.Sprint(f.Sent), fmt.Sprint(f.Resent), fmt.Sprint(f.TimeOuts)})
	}
	return t
}

// cumulative is the count of times up to each time, in 300 steps at most; times are sorted.
func cumulative(name string, style int, times []time.Duration) page.Series {
	s := page.Series{Name: name, Style: style, X: page.Values{0}, Y: page.Values{0}}
	slices.Sort(times)
	step := max(len(times)/300, 1)
	for i, t := range times {
		if i%step == 0 || i == len(times)-1 {
			s.X, s.Y = append(s.X, float64(t)/1e3), append(s.Y, 100*float64(i+1)/float64(len(times)))
		}
	}
	return s
}

// compared are bars of the medians over the rounds of -compare, with the full range.
func compared(title, unit string, rounds []round, of func(stream.Summary) float64) page.Section {
	f := page.Figure{Kind: page.Bars, X: page.Axis{Label: strings.ToLower(title), Unit: unit}, Series: []page.Series{{Name: "median"}}}
	s := &f.Series[0]
	var names []string
	for name := range rounds[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var v []float64
		for _, x := range rounds {
			v = append(v, of(x[name]))
		}
		slices.Sort(v)
		f.Rows = append(f.Rows, name)
		s.Y, s.Lo, s.Hi = append(s.Y, v[len(v)/2]), append(s.Lo, v[0]), append(s.Hi, v[len(v)-1])
	}
	return page.Section{Title: title, Note: "The median of the rounds; the line is from the least to the largest. Ratios within a round mean more than these.",
		Figures: []page.Figure{f}}
}
