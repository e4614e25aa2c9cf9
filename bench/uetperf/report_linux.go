// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/uetcc/uetcc/bench/internal/stream"
	"github.com/uetcc/uetcc/ccc"
)

// A result is the final knowledge of the parties in the process. A party that did not
// run is nil.
type result struct {
	senders []*sender
	relay   *relay
	target  *host
	took    int64 // ns
}

// report tells the results, for people or as lines of JSON, and the doubts about them.
func (r *result) report(to *report) {
	if to.json {
		r.lines(to)
	} else {
		r.print(to.out)
	}
	to.bad = append(to.bad, r.doubts()...)
}

// A senderReport is the end of a sender to the bottleneck.
type senderReport struct {
	flowReport
	Retries  int64   `json:"retries"`
	Marked   float64 `json:"marked_percent"`
	RTTMin   float64 `json:"rtt_min_us,omitempty"`
	RTT50    float64 `json:"rtt_p50_us,omitempty"`
	RTT99    float64 `json:"rtt_p99_us,omitempty"`
	MeanCwnd int64   `json:"mean_cwnd_bytes"`
	Inferred uint64  `json:"inferred"`
}

func (s *sender) report() senderReport {
	v, p, done := s.snapshot(), s.PDS().Stats(), stream.Result{Bytes: s.delivered, Messages: s.messages, Took: time.Duration(s.ended - s.began)}
	x := senderReport{
		flowReport: flowReport{Summary: done.Summary("uet"), Local: s.Local().Addr().String(), Sent: p.Sent, Resent: p.Resent, TimeOuts: p.RTOs},
		Retries:    s.retries, Marked: percent(v.Marked, v.Acks), MeanCwnd: s.meanWindow(), Inferred: p.Inferred,
	}
	x.Event = "flow"
	if s.failed != nil {
		x.Error = s.failed.Error()
	}
	if s.rtt.n > 0 {
		x.RTTMin, x.RTT50, x.RTT99 = float64(s.rtt.min)/1e3, float64(s.rtt.quantile(0.5))/1e3, float64(s.rtt.quantile(0.99))/1e3
	}
	x.Held = map[string]float64{}
	for why, ns := range v.Held {
		if why != int(ccc.ReasonBacklog) && ns > 0 {
			x.Held[ccc.Reason(why).String()] = float64(ns) / 1e3
		}
	}
	return x
}

// lines are the results for programs, the sum of the senders last.
func (r *result) lines(to *report) {
	var sum stream.Result
	for _, s := range r.senders {
		x := s.report()
		to.print(x, "")
		sum.Bytes += x.Bytes
		sum.Messages += x.Messages
		sum.Took = max(sum.Took, time.Duration(s.ended-s.began))
	}
	c, t := r.relay.queue.Counters(), r.target
	to.print(map[string]any{
		"event": "bottleneck", "bits_per_second": r.relay.rate * 8, "busy_percent": percent(c.OutBytes*int64(time.Second)/r.relay.rate, r.took),
		"packets": c.Out, "marked_percent": percent(c.Marked, c.Out), "dropped": c.Dropped, "queue_mean_bytes": r.relay.meanQueue(), "queue_max_bytes": c.PeakLow,
	}, "")
	to.print(map[string]any{
		"event": "target", "bytes": t.total(), "packets": t.packets, "marked_percent": percent(t.marked, t.packets), "twice": t.PDS().Stats().Duplicates,
	}, "")
	to.print(sum.Summary("uet"), "")
}

func (r *result) print(w io.Writer) {
	if len(r.senders) > 0 {
		r.printSenders(w)
	}
	if r.relay != nil {
		r.relay.print(w, r.took)
	}
	if r.target != nil {
		r.target.print(w)
	}
	for _, s := range r.senders {
		if most := s.CC().Params().NSCC().MaxWnd(); int64(len(s.memory)) < most {
			fmt.Fprintf(w, "   %v: -depth messages have %d bytes, and the window up to %d\n", s.Local(), len(s.memory), most)
		}
	}
}

func (r *result) printSenders(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "sender\tMb/s\tMB\tmessages\tretries\tmarked\tRTT min\tp50\tp99\tmean cwnd\tsent\tresent\tinferred\ttime-outs\theld by\t")
	for _, s := range r.senders {
		x := s.report()
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%d\t%d\t%.1f%%\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t\n", x.Local,
			megabits(s.delivered, s.ended-s.began), float64(x.Bytes)/1e6, x.Messages, x.Retries, x.Marked,
			s.rtt.ms(0), s.rtt.ms(0.5), s.rtt.ms(0.99), x.MeanCwnd, x.Sent, x.Resent, x.Inferred, x.TimeOuts, x.heldBy())
	}
	_ = t.Flush()
}

func (r *relay) print(w io.Writer, took int64) {
	c := r.queue.Counters()
	fmt.Fprintf(w, "bottleneck: %.1f Mb/s, %.1f%% busy; %d packets, %.1f%% marked, %d dropped; queue %d bytes on average, at most %d\n",
		float64(r.rate)*8/1e6, percent(c.OutBytes*int64(time.Second)/r.rate, took), c.Out, percent(c.Marked, c.Out), c.Dropped,
		r.meanQueue(), c.PeakLow)
}

// meanQueue is the mean queue found by a packet, bytes.
func (r *relay) meanQueue() int64 { return r.waiting / max(r.seen, 1) }

// print says how fast data came behind the first packet, whose own time is not known.
func (h *host) print(w io.Writer) {
	s := h.PDS().Stats()
	fmt.Fprintf(w, "target: %s Mb/s, %.1f MB; %d packets, %.1f%% marked, %d twice\n",
		megabits(h.total()-h.atFirst, h.last-h.first), float64(h.total())/1e6, h.packets, percent(h.marked, h.packets), s.Duplicates)
}

// total is the payload bytes of all sources.
func (h *host) total() (n int64) {
	for _, v := range h.placed {
		n += v
	}
	return n
}

// doubts is the reasons to distrust the figures.
func (r *result) doubts() (all []string) {
	for _, s := range r.senders {
		if s.failed != nil {
			all = append(all, fmt.Sprintf("%v: %v", s.Local(), s.failed))
		}
		all = append(all, s.doubts()...)
	}
	if r.target != nil {
		all = append(all, r.target.doubts()...)
	}
	if r.relay != nil {
		all = append(all, doubts("the bottleneck", r.relay.openings())...)
	}
	return all
}

func (h *host) doubts() []string { return doubts(h.Local().String(), h.openings()) }

// doubts are about a party and the party's ports.
func doubts(who string, openings []*opening) (all []string) {
	say := func(n uint64, what string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: %d packets %s", who, n, what))
		}
	}
	for _, o := range openings {
		s := o.Stats()
		say(uint64(o.unsent)+s.Refused, "did not fit into the kernel's send buffer")
		say(s.Overflows, "came faster than this process could read them")
		say(s.Untold, "came without the TOS byte, so marks on them are not known")
	}
	return all
}

// megabits a second, or a note of no time.
func megabits(bytes, ns int64) string {
	if ns <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(bytes)*8e3/float64(ns))
}

func percent(n, of int64) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// ms is a quantile, or a note of no measurement.
func (h *histogram) ms(q float64) string {
	switch {
	case h.n == 0:
		return "-"
	case q == 0:
		return ms(h.min)
	}
	return ms(h.quantile(q))
}

func ms(ns int64) string { return fmt.Sprintf("%.2fms", float64(ns)/1e6) }
