// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/page"
)

// page is the report with pictures.
func (o *options) page(r *report) *page.Page {
	p := &page.Page{
		Title: "uetsim: " + r.Name, About: r.About, Partial: r.Partial,
		Command: "uetsim " + strings.Join(o.args, " "), Version: cli.Version(), Notes: r.Notes,
	}
	for _, c := range r.Claims {
		p.Claims = append(p.Claims, page.Claim(c))
	}
	if len(r.Runs) > 0 {
		p.Tables = append(p.Tables, runTable(r))
	}
	for _, t := range r.Tables {
		p.Tables = append(p.Tables, page.Table{Title: t.Title, Columns: append([]string{""}, t.Columns...), Rows: t.Rows})
	}
	if s := newSketch(r.Runs); len(s.runs) > 0 {
		p.Sections = append(p.Sections, s.completion(), s.slowdown(), s.queues(), s.marks())
		p.Sections = append(p.Sections, s.windows()...)
		p.Sections = append(p.Sections, s.fairness(), s.held(), s.links(), s.packets())
		shared, different := parameterTables(s)
		p.Beside = append(p.Beside, shared)
		if len(different.Columns) > 1 {
			p.Tables = append(p.Tables, different)
		}
	}
	return p
}

// runTable is the numbers of each run in -json.
func runTable(r *report) page.Table {
	t := page.Table{Columns: []string{"", "fastest, us", "mean, us", "p99, us", "slowest, us", "bound, us", "trims", "marks", "drops", "sent again", "last hop peak, bytes",
		"core peak, bytes", "fairness", "unfinished"}}
	for _, n := range r.Runs {
		s := n.Result
		lastHop, core := peaks(s)
		row := []string{n.Name, "-", "-", "-", "-", bound(s), fmt.Sprint(s.Totals.Trimmed), fmt.Sprint(s.Totals.Marked),
			fmt.Sprint(s.Totals.DataDropped + s.Totals.HeadersDropped), fmt.Sprint(s.Totals.Retransmitted), fmt.Sprint(lastHop), fmt.Sprint(core), "-", fmt.Sprint(s.Unfinished)}
		if s.Unfinished < len(s.Transfers) {
			for i, v := range []float64{s.FCT.Min, s.FCT.Mean, s.FCT.P99, s.FCT.Max} {
				row[i+1] = fmt.Sprintf("%.1f", v)
			}
			row[12] = fmt.Sprintf("%.3f", s.JainIndex)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// parameterTables are the shared parameters of all runs, and the differing
// parameters.
func parameterTables(s *sketch) (shared, different page.Table) {
	shared = page.Table{Title: "Parameters", Columns: []string{"", "of all runs"}}
	different = page.Table{Title: "Parameters that differ", Columns: []string{""}}
	for _, r := range s.runs {
		different.Rows = append(different.Rows, []string{r.Name})
	}
	kind := reflect.TypeFor[fabric.Parameters]()
	for i := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		var values []string
		for _, r := range s.runs {
			values = append(values, parameter(reflect.ValueOf(r.Result.Parameters).Field(i).Interface()))
		}
		if len(slices.Compact(slices.Clone(values))) == 1 {
			shared.Rows = append(shared.Rows, []string{name, values[0]})
			continue
		}
		different.Columns = append(different.Columns, name)
		for k, v := range values {
			different.Rows[k] = append(different.Rows[k], v)
		}
	}
	return shared, different
}

// parameter is a parameter in the form of -json.
func parameter(v any) string {
	if tiers, ok := v.([]fabric.Tier); ok {
		var all []string
		for _, t := range tiers {
			all = append(all, fmt.Sprintf("%g Gb/s, %g us, %d down, %d up", float64(t.DownRate)/1e9, float64(t.DownLatency)/1e6, t.RadixDown, t.RadixUp))
		}
		return strings.Join(all, "; ")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.Trim(string(b), `"`)
}
