// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/bench/internal/stream"
	"github.com/uetcc/uetcc/bench/page"
	"github.com/uetcc/uetcc/hw/node"
)

// A report prints the results of a run, for people or as lines of JSON.
type report struct {
	out   io.Writer
	json  bool
	proto string
	flows []flowReport
	bad   []string // doubts

	at        float64     // end of the last interval, s
	moved     int64       // bytes until then
	rates     page.Series // of all flows, in each interval
	latencies []page.Series
	rounds    []round
}

// A flowReport is the end of a flow.
type flowReport struct {
	stream.Summary
	Local     string `json:"local"`
	Error     string `json:"error,omitempty"`
	Sent      uint64 `json:"packets_sent,omitempty"`
	Resent    uint64 `json:"packets_resent,omitempty"`
	TimeOuts  uint64 `json:"time_outs,omitempty"`
	Segmented bool   `json:"segmentation_offload,omitempty"`

	// Held is the time that data waited, us, by the reason.
	Held map[string]float64 `json:"held_us,omitempty"`
}

// heldBy is Held in words, of the time that the flow took.
func (f *flowReport) heldBy() string { return cli.HeldBy(f.Held, f.Seconds*1e6) }

func (r *report) print(v any, format string, args ...any) {
	if r.json {
		_ = json.NewEncoder(r.out).Encode(v)
		return
	}
	fmt.Fprintf(r.out, format, args...)
}

func (r *report) listening(at fmt.Stringer) {
	r.print(map[string]string{"event": "listening", "at": at.String()}, "listening at %v\n", at)
}

// watch prints the bytes moved in each interval, until over.
func (r *report) watch(o *options, over <-chan struct{}, moved func() int64) {
	if o.interval <= 0 {
		<-over
		return
	}
	began := time.Now()
	tick := time.NewTicker(time.Duration(o.interval))
	defer tick.Stop()
	r.moved = moved()
	for {
		select {
		case <-over:
			return
		case now := <-tick.C:
			r.interval(now.Sub(began).Seconds(), moved())
		}
	}
}

// interval prints what has moved since the last call: n bytes in all, to the second of the run.
func (r *report) interval(to float64, n int64) {
	from, bytes := r.at, n-r.moved
	mbps := float64(bytes) * 8 / 1e6 / (to - from)
	r.print(map[string]any{"event": "interval", "from": from, "to": to, "bytes": bytes, "megabits_per_second": mbps},
		"%6.2f - %6.2f s  %10.1f MB  %10.1f Mb/s\n", from, to, float64(bytes)/1e6, mbps)
	r.rates.Lo, r.rates.Step = append(r.rates.Lo, mbps), to/float64(len(r.rates.Lo)+1)
	r.at, r.moved = to, n
}

// flow notes the end of a flow.
func (r *report) flow(f *flow) {
	x := flowReport{Summary: f.result.Summary(r.proto), Local: f.local}
	x.Event = "flow"
	r.latencies = append(r.latencies, cumulative(f.local, len(r.latencies), f.result.Latency))
	if f.err != nil {
		x.Error = f.err.Error()
		r.bad = append(r.bad, x.Error)
	}
	if f.node != nil {
		s := f.node.Stats()
		x.Segmented = s.Port.Segmentation
		for i := range s.Endpoints {
			p := &s.Endpoints[i].PDS
			x.Sent += p.Sent
			x.Resent += p.Resent
			x.TimeOuts += p.RTOs
		}
		x.Held = f.held()
		r.doubts(f.local, f.node)
	}
	r.flows = append(r.flows, x)
}

// doubts are reasons to distrust the figures.
func (r *report) doubts(who string, n *node.Node) {
	s := n.Stats()
	for _, d := range []struct {
		n    uint64
		what string
	}{
		{s.Port.Refused, "were not taken by the system"},
		{s.Port.Overflows, "came faster than this process could read them"},
		{s.Port.Untold, "came without the TOS byte, so marks on them are not known"},
	} {
		if d.n > 0 {
			r.bad = append(r.bad, fmt.Sprintf("%s: %d packets %s", who, d.n, d.what))
		}
	}
}

// node prints the counters of the far end.
func (r *report) node(n *node.Node) {
	s := n.Stats()
	var twice, pdcs uint64
	for i := range s.Endpoints {
		twice += s.Endpoints[i].PDS.Duplicates
		pdcs += uint64(s.Endpoints[i].Usage.PDCs)
	}
	r.print(map[string]any{"event": "target", "bytes": s.ReceivedBytes, "packets": s.Port.Received, "twice": twice, "calls": s.Port.RecvCalls},
		"target: %.1f MB in %d packets, %d of them twice, in %d system calls\n", float64(s.ReceivedBytes)/1e6, s.Port.Received, twice, s.Port.RecvCalls)
	r.doubts(n.Addr().String(), n)
}

// end prints the summary, and returns how the process exits.
func (r *report) end() int {
	if len(r.flows) > 0 {
		r.total()
	}
	for _, d := range r.bad {
		r.print(map[string]string{"event": "doubt", "what": d}, "   %s\n", d)
	}
	if len(r.bad) > 0 {
		return 1
	}
	return 0
}

// total prints the flows and their sum.
func (r *report) total() {
	var sum stream.Result
	t := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if !r.json {
		fmt.Fprintln(t, "flow\tMb/s\tMB\tmessages\tper second\tp50\tp99\tsent\tresent\ttime-outs\theld by\t")
	}
	for i := range r.flows {
		f := &r.flows[i]
		sum.Bytes += f.Bytes
		sum.Messages += f.Messages
		sum.Took = max(sum.Took, time.Duration(f.Seconds*1e9))
		if r.json {
			r.print(f, "")
			continue
		}
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%d\t%.0f\t%.1f us\t%.1f us\t%d\t%d\t%d\t%s\t\n", f.Local, f.Megabits, float64(f.Bytes)/1e6, f.Messages, f.PerSecond,
			f.P50Micros, f.P99Micros, f.Sent, f.Resent, f.TimeOuts, f.heldBy())
	}
	s := sum.Summary(r.proto)
	if len(r.flows) == 1 {
		s = r.flows[0].Summary
		s.Event = "summary"
	}
	if r.json {
		r.print(s, "")
		return
	}
	if len(r.flows) > 1 {
		fmt.Fprintf(t, "all\t%.1f\t%.1f\t%d\t%.0f\t\t\t\t\t\t\t\n", s.Megabits, float64(s.Bytes)/1e6, s.Messages, s.PerSecond)
	}
	_ = t.Flush()
}
