// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"

	"github.com/uetcc/uetcc/bench/fabric"
)

// A spread is the results of a congestion control over all seeds.
type spread struct {
	Name    string   `json:"name"`
	Seeds   int      `json:"seeds"`
	Figures []figure `json:"figures"`
}

// A figure is a number present in each run. Half is half the width of the 95 % confidence
// interval of the mean, by Student's distribution.
type figure struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	Half float64 `json:"half_95"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// figures are the numbers of a run, by name.
var figures = []struct {
	name string
	of   func(*fabric.Result) float64
}{
	{"fct_mean_us", func(r *fabric.Result) float64 { return r.FCT.Mean }},
	{"fct_p50_us", func(r *fabric.Result) float64 { return r.FCT.P50 }},
	{"fct_p99_us", func(r *fabric.Result) float64 { return r.FCT.P99 }},
	{"fct_max_us", func(r *fabric.Result) float64 { return r.FCT.Max }},
	{"slowdown_mean", func(r *fabric.Result) float64 { return r.Slowdown.Mean }},
	{"slowdown_p99", func(r *fabric.Result) float64 { return r.Slowdown.P99 }},
	{"trims", func(r *fabric.Result) float64 { return float64(r.Totals.Trimmed) }},
	{"marks", func(r *fabric.Result) float64 { return float64(r.Totals.Marked) }},
	{"drops", func(r *fabric.Result) float64 { return float64(r.Totals.DataDropped + r.Totals.HeadersDropped) }},
	{"resent", func(r *fabric.Result) float64 { return float64(r.Totals.Retransmitted) }},
	{"jain_index", func(r *fabric.Result) float64 { return r.JainIndex }},
}

// spreadOf describes the runs of a name.
func spreadOf(name string, runs []*fabric.Result) spread {
	s := spread{Name: name, Seeds: len(runs)}
	for _, f := range figures {
		x := figure{Name: f.name, Min: math.Inf(1), Max: math.Inf(-1)}
		for _, r := range runs {
			v := f.of(r)
			x.Mean += v / float64(len(runs))
			x.Min, x.Max = min(x.Min, v), max(x.Max, v)
		}
		squares := 0.0
		for _, r := range runs {
			squares += (f.of(r) - x.Mean) * (f.of(r) - x.Mean)
		}
		if n := len(runs); n > 1 {
			x.Half = student(n-1) * math.Sqrt(squares/float64(n-1)/float64(n))
		}
		s.Figures = append(s.Figures, x)
	}
	return s
}

// students are quantiles of Student's distribution, 97.5 %, from one degree of freedom on.
var students = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// student is the quantile for some degrees of freedom, within 0.001.
func student(free int) float64 {
	if free <= len(students) {
		return students[free-1]
	}
	return 1.96 + 2.46/float64(free)
}

// spreads is the table of all seeds.
func (p *printer) spreads(all []spread) {
	if len(all) == 0 {
		return
	}
	p.f("mean over seeds, and half of its 95 %% confidence interval:\n")
	p.table(func(f func(string, ...any)) {
		f("\tseeds")
		for _, x := range all[0].Figures {
			f("\t%s", x.Name)
		}
		f("\t\n")
		for _, s := range all {
			f("%s\t%d", s.Name, s.Seeds)
			for _, x := range s.Figures {
				f("\t%.4g ± %.2g", x.Mean, x.Half)
			}
			f("\t\n")
		}
	})
	p.f("\n")
}
