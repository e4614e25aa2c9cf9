// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/hol"
	"github.com/uetcc/uetcc/hw/pcc"
)

// headOfLine is the ZTR-RTT description's example: two switches, and a blue
// incast whose queue a purple victim shares.
func headOfLine(o *options) (*report, error) {
	run := func(c hol.Control) hol.Result {
		return hol.Run(hol.Config{Slots: 600_000, Burst: 16, Seed: o.seed, Control: c})
	}
	fast, slow := pcc.DefaultTemplateParams(), pcc.DefaultTemplateParams()
	slow.AI = pcc.LineRate / 100
	none := run(nil)
	type row struct {
		name                 string
		purple, blue, paused float64 // at least, at least, at most
		hol.Result
	}
	controlled := []row{
		{additive(fast), 0.85, 0.95, 0.02, run(hol.Template(fast))},
		{additive(slow), 0.76, 0.90, 0.01, run(hol.Template(slow))},
		{"ZTR-RTT", 0.76, 0.90, 0.01, run(hol.ZTR(pcc.DefaultZTRParams()))},
	}
	t := table{
		Title:   "197 ms at 100 Gb/s, the second half measured",
		Columns: []string{"blue share", "purple share", "paused", "shared queue mean", "max", "blue's own queue", "purple waits us"},
	}
	add := func(name string, r hol.Result) {
		t.row(name, r.Blue, r.Purple, r.Paused, r.IngressMean, float64(r.IngressMax), r.BlueQueue, r.PurpleNs/1000)
	}
	add("without CC", none)
	for _, c := range controlled {
		add(c.name, c.Result)
	}
	r := &report{Tables: []table{t}}
	r.claim(none.Purple < 0.21 && none.Purple > 0.19, "without CC the victim gets a fifth although its own path is free", "0.20 of its rate", "%.3f", none.Purple)
	r.claim(none.Paused > 0.5, "the link between the switches is paused most of the time", "about 60 %", "%.0f %%", 100*none.Paused)
	for _, c := range controlled {
		r.claim(c.Purple >= c.purple, c.name+": the victim keeps its rate", fmt.Sprintf("at least %.2f", c.purple), "%.3f", c.Purple)
		r.claim(c.Blue >= c.blue, c.name+": the others use theirs", fmt.Sprintf("at least %.2f", c.blue), "%.3f", c.Blue)
		r.claim(c.Paused <= c.paused, c.name+": the link is hardly ever paused", fmt.Sprintf("at most %.0f %%", 100*c.paused), "%.2f %%", 100*c.Paused)
	}
	r.note("shares are fractions of 100 Gb/s, queues are packets; max-min fairness would give purple 0.80")
	return r, nil
}

// additive names the sample algorithm by its additive increase.
func additive(p pcc.TemplateParams) string {
	return fmt.Sprintf("sample algorithm, AI %d %%", (100*p.AI+pcc.LineRate/2)/pcc.LineRate)
}
