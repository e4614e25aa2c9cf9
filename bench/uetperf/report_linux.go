// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// A result is the final knowledge of the parties in the process. A party that did not
// run is nil.
type result struct {
	senders []*sender
	relay   *relay
	target  *host
	took    int64 // ns
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
	for _, d := range r.doubts() {
		fmt.Fprintln(w, "  ", d)
	}
}

func (r *result) printSenders(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "sender\tMb/s\tMB\tmessages\tretries\tmarked\tRTT min\tp50\tp99\tmean cwnd\tsent\tresent\tinferred\ttime-outs\t")
	for _, s := range r.senders {
		v, p := s.snapshot(), s.PDS().Stats()
		fmt.Fprintf(t, "%v\t%s\t%.1f\t%d\t%d\t%.1f%%\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", s.Local().Addr(),
			megabits(s.delivered, s.ended-s.began), float64(s.delivered)/1e6, s.messages, s.retries, percent(v.Marked, v.Acks),
			s.rtt.ms(0), s.rtt.ms(0.5), s.rtt.ms(0.99), s.meanWindow(), p.Sent, p.Resent, p.Inferred, p.RTOs)
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

// print says how fast data came from the first packet to the last.
func (h *host) print(w io.Writer) {
	s := h.PDS().Stats()
	fmt.Fprintf(w, "target: %s Mb/s, %.1f MB; %d packets, %.1f%% marked, %d twice\n",
		megabits(h.total(), h.last-h.first), float64(h.total())/1e6, h.packets, percent(h.marked, h.packets), s.Duplicates)
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
