// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/bench/fabric"
)

// A report is the outcome of a scenario or a matrix.
type report struct {
	Name    string     `json:"name"`
	About   string     `json:"about"`
	Partial string     `json:"partial,omitempty"` // what ended the last of the runs, and all, early
	Runs    []namedRun `json:"runs,omitempty"`    // on the simulated fabric
	Tables  []table    `json:"tables,omitempty"`  // of models that have no fabric
	Oracle  []oracle   `json:"oracle,omitempty"`  // recorded runs of htsim, for comparison
	Claims  []claim    `json:"claims,omitempty"`  // what the chapters say of it, and what was measured
	Notes   []string   `json:"notes,omitempty"`
	Seeds   []spread   `json:"seeds,omitempty"` // with -seeds, for each word of -cc

	o *options
}

type namedRun struct {
	Name   string         `json:"name"`
	Result *fabric.Result `json:"result"`
	seen   *recorder      // with -html
}

// A table is the outcome of a model, a row for each variant.
type table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// row adds a row; the first cell names the variant.
func (t *table) row(name string, cells ...float64) {
	row := []string{name}
	for _, c := range cells {
		row = append(row, strconv.FormatFloat(c, 'g', 4, 64))
	}
	t.Rows = append(t.Rows, row)
}

// An oracle is a recorded run of htsim of the same situation; -1 for values not on
// record.
type oracle struct {
	Name    string  `json:"name"`
	Fastest float64 `json:"fastest_us"`
	Mean    float64 `json:"mean_us"`
	Slowest float64 `json:"slowest_us"`
	Trims   int64   `json:"trims"`
	Marks   int64   `json:"marks"`
}

// A claim is a statement of the chapters, with the verdict of the measurement.
type claim struct {
	Text string `json:"text"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

func (r *report) claim(ok bool, text, want, got string, a ...any) {
	r.Claims = append(r.Claims, claim{text, want, fmt.Sprintf(got, a...), ok})
}

func (r *report) note(format string, a ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, a...))
}

// failed lists why the command must not exit with 0.
func (r *report) failed() (why []string) {
	if r.Partial != "" {
		why = append(why, "interrupted, results are partial: "+r.Partial)
	}
	if len(r.Runs) > 0 {
		if err := r.o.traced.check(r.Runs); err != nil {
			why = append(why, err.Error())
		}
	}
	for _, n := range r.Runs {
		for _, v := range n.Result.Violations {
			why = append(why, n.Name+": "+v)
		}
		if a := n.Result.Application; a != nil && a.Unfinished > 0 && n.Result.Stopped == 0 {
			why = append(why, fmt.Sprintf("%s: %d operations did not end: %s", n.Name, a.Unfinished, strings.Join(a.Waiting, "; ")))
		} else if n.Result.Unfinished > 0 {
			why = append(why, fmt.Sprintf("%s: %d transfers did not finish: %s", n.Name, n.Result.Unfinished, r.ended(n.Result)))
		}
	}
	for _, c := range r.Claims {
		if !c.OK {
			why = append(why, fmt.Sprintf("claim does not hold: %s: want %s, got %s", c.Text, c.Want, c.Got))
		}
	}
	return why
}

// ended is the reason a run was over before all transfers.
func (r *report) ended(res *fabric.Result) string {
	waiting := 0
	for _, t := range res.Transfers {
		if t.Start < 0 {
			waiting++
		}
	}
	switch {
	case res.Stopped > 0 && r.Partial != "":
		return fmt.Sprintf("stopped at %g us by a signal", res.Stopped)
	case res.Stopped > 0:
		return fmt.Sprintf("stopped at %g us by -end, %d of them not begun", res.Stopped, waiting)
	case waiting > 0:
		return fmt.Sprintf("nothing was left to happen at %g us, and %d of them wait for a trigger that never fires", res.SimTime, waiting)
	}
	return fmt.Sprintf("nothing was left to happen at %g us", res.SimTime)
}

// fcts lists the completion times of a run, us.
func fcts(r *fabric.Result) []float64 {
	var v []float64
	for _, t := range r.Transfers {
		v = append(v, t.FCT)
	}
	return v
}

// peaks are the most data waiting at a last hop, and at any other port.
func peaks(r *fabric.Result) (lastHop, core int64) {
	for _, q := range r.Queues {
		if q.LastHop {
			lastHop = max(lastHop, q.Peak)
		} else {
			core = max(core, q.Peak)
		}
	}
	return lastHop, core
}

// worstQueues sorts ports by the fate of packets there.
func worstQueues(q []fabric.QueueResult) []fabric.QueueResult {
	return slices.SortedStableFunc(slices.Values(q), func(a, b fabric.QueueResult) int {
		return cmp.Or(
			cmp.Compare(b.Trimmed+b.Dropped, a.Trimmed+a.Dropped),
			cmp.Compare(b.Marked, a.Marked),
			cmp.Compare(b.Peak, a.Peak),
		)
	})
}

// lastHopQueue is the busiest port towards a host.
func lastHopQueue(r *fabric.Result) (worst fabric.QueueResult) {
	for _, q := range r.Queues {
		if q.LastHop && q.Packets > worst.Packets {
			worst = q
		}
	}
	return worst
}
