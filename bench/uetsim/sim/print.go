// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/internal/cli"
)

// A printer writes aligned text and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, a...)
	}
}

// table writes rows of cells, each ending in a newline.
func (p *printer) table(rows func(f func(format string, a ...any))) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	inner := printer{w: t}
	rows(inner.f)
	if p.err == nil {
		p.err = inner.err
	}
	if err := t.Flush(); p.err == nil {
		p.err = err
	}
}

func (o *options) print(w io.Writer, r *report) error {
	p := &printer{w: w}
	p.f("%s: %s\n", r.Name, r.About)
	if named.MatchString(r.About) {
		p.f("%s\n", chapters)
	}
	if r.Partial != "" {
		p.f("PARTIAL: %s\n", r.Partial)
	}
	if len(r.Runs) > 0 {
		p.parameters(&r.Runs[0].Result.Parameters)
		p.runs(r)
	}
	for i := range r.Tables {
		p.model(&r.Tables[i])
	}
	most := busiest
	if o.verbose {
		most = math.MaxInt
	}
	if o.seeds == 1 {
		p.sizes(r.Runs, o.verbose)
	}
	p.spreads(r.Seeds)
	for _, n := range r.Runs {
		if o.seeds > 1 && !o.verbose {
			break
		}
		if n.Result.Application != nil {
			p.application(n, o.verbose)
		}
		if o.verbose {
			p.transfers(n)
		}
		p.queues(n, most)
		p.faults(n)
		if len(n.Result.Pauses) > 0 {
			p.pauses(n)
		}
	}
	p.claims(r.Claims)
	for _, n := range r.Notes {
		p.f("note: %s\n", n)
	}
	return p.err
}

func (p *printer) parameters(a *fabric.Parameters) {
	p.f("%d hosts at %g Gb/s, %d tiers, %s; base RTT %.3f us, BDP %d, MaxWnd %d bytes\n",
		a.Nodes, float64(a.Tiers[0].DownRate)/1e9, len(a.Tiers), a.Forwarding, a.BaseRTT, a.BDP, a.MaxWnd)
	p.f("packet %d bytes (header %d), trim %v; leaf uplinks: ECN %d to %d bytes, queue %d; last hop: ECN %d to %d, queue %d\n",
		a.PacketBytes, a.HeaderBytes, a.Trim, a.ECNMin, a.ECNMax, a.QueueLimit, a.LastHopECNMin, a.LastHopECNMax, a.LastHopLimit)
	p.f("entropy %s over %d values, rules %s, seed %d\n\n", a.Entropy, a.EntropyValues, a.Rules, a.Seed)
}

// runs is the main table: a line for each run.
func (p *printer) runs(r *report) {
	p.table(func(f func(string, ...any)) {
		f("\tfastest\tmean\tp99\tslowest\tbound\ttrims\tmarks\tdrops\tresent\tlast hop peak\tcore peak\tfairness\t\n")
		for _, n := range r.Runs {
			s := n.Result
			lastHop, core := peaks(s)
			times, fairness := "-\t-\t-\t-", "-"
			if s.Unfinished < len(s.Transfers) {
				times = fmt.Sprintf("%.1f\t%.1f\t%.1f\t%.1f", s.FCT.Min, s.FCT.Mean, s.FCT.P99, s.FCT.Max)
				fairness = fmt.Sprintf("%.3f", s.JainIndex)
			}
			f("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n", n.Name, times, bound(s),
				s.Totals.Trimmed, s.Totals.Marked, s.Totals.DataDropped+s.Totals.HeadersDropped, s.Totals.Retransmitted,
				lastHop, core, fairness)
		}
		for _, o := range r.Oracle {
			f("%s\t%s\t%s\t\t%s\t\t%s\t%s\t\t\t\t\t\t\n", o.Name, us(o.Fastest), us(o.Mean), us(o.Slowest), count(o.Trims), count(o.Marks))
		}
	})
	p.f("(completion times in us; bound: all cannot be over earlier, counted from 0; queue peaks in bytes, fairness as Jain's index of the rates)\n\n")
}

// sizes is a table of runs with transfers of several ranges of sizes, or of all
// sizes.
func (p *printer) sizes(runs []namedRun, all bool) {
	several := func(n namedRun) bool { return len(n.Result.Sizes) > 1 }
	if !all && !slices.ContainsFunc(runs, several) {
		return
	}
	p.f("completion time (us) and slowdown (over that of the transfer alone) by size:\n")
	p.table(func(f func(string, ...any)) {
		f("\tbytes\ttransfers\tmean\tp50\tp99\tp99.9\tslowdown\tp50\tp99\tp99.9\t\n")
		for _, n := range runs {
			for _, s := range n.Result.Sizes {
				bytes := fmt.Sprintf("above %d", s.Above)
				if s.UpTo > 0 {
					bytes = fmt.Sprintf("up to %d", s.UpTo)
				}
				f("%s\t%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", n.Name, bytes, s.Transfers,
					s.FCT.Mean, s.FCT.P50, s.FCT.P99, s.FCT.P999, s.Slowdown.Mean, s.Slowdown.P50, s.Slowdown.P99, s.Slowdown.P999)
			}
		}
	})
	p.f("\n")
}

// model is a table of a model's.
func (p *printer) model(t *table) {
	p.f("%s:\n", t.Title)
	p.table(func(f func(string, ...any)) {
		f("\t%s\t\n", strings.Join(t.Columns, "\t"))
		for _, row := range t.Rows {
			f("%s\t\n", strings.Join(row, "\t"))
		}
	})
	p.f("\n")
}

func us(v float64) string {
	if v < 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", v)
}

func count(v int64) string {
	if v < 0 {
		return ""
	}
	return fmt.Sprint(v)
}

func (p *printer) transfers(n namedRun) {
	p.f("%s, transfers:\n", n.Name)
	p.table(func(f func(string, ...any)) {
		f("from\tto\tbytes\tstart us\tarrived\tfinished\ttook\tmarked\theld by\t\n")
		whole := connectionTimes(n.Result)
		for i, t := range n.Result.Transfers {
			f("%d\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%s\t\n", t.Src, t.Dst, t.Bytes, t.Start, t.Arrived, t.Finished, t.FCT, t.Marked,
				cli.HeldBy(t.Held, whole[i]))
		}
	})
	p.f("\n")
}

// busiest is the number of queues listed unless all are asked for.
const busiest = 5

// queues lists the worst queues of a run, at most most.
func (p *printer) queues(n namedRun, most int) {
	queues := worstQueues(n.Result.Queues)
	if len(queues) == 0 {
		return
	}
	more := max(len(queues)-most, 0)
	queues = queues[:len(queues)-more]
	p.f("%s, queues:\n", n.Name)
	p.table(func(f func(string, ...any)) {
		f("port\tpackets\tpeak bytes\tmarks\ttrims\tdrops\tfirst trim us\t\n")
		for _, q := range queues {
			f("%s\t%d\t%d\t%d\t%d\t%d\t%s\t\n", q.Name, q.Packets, q.Peak, q.Marked, q.Trimmed, q.Dropped, us(q.FirstTrim))
		}
	})
	if more > 0 {
		p.f("  and %d more, -v lists them\n", more)
	}
	p.f("\n")
}

func (p *printer) faults(n namedRun) {
	if len(n.Result.Faults) == 0 {
		return
	}
	p.f("%s, faults:\n", n.Name)
	p.table(func(f func(string, ...any)) {
		f("fault\tpackets lost\tof data\tthe last after us\t\n")
		for _, x := range n.Result.Faults {
			f("%s\t%d\t%d\t%.1f\t\n", x.Fault, x.Lost, x.LostData, x.Recovery)
		}
	})
	p.f("\n")
}

func (p *printer) pauses(n namedRun) {
	p.f("%s, ports that flow control stopped:\n", n.Name)
	p.table(func(f func(string, ...any)) {
		f("port\tpauses\tstopped us\t\n")
		for _, s := range n.Result.Pauses {
			f("%s\t%d\t%.1f\t\n", s.Name, s.Pauses, s.Time)
		}
	})
	p.f("\n")
}

func (p *printer) claims(claims []claim) {
	if len(claims) == 0 {
		return
	}
	p.f("what the chapters say, and what was measured:\n")
	for _, c := range claims {
		mark := "ok  "
		if !c.OK {
			mark = "FAIL"
		}
		p.f("  %s %s\n       want %s, got %s\n", mark, c.Text, c.Want, c.Got)
	}
}
