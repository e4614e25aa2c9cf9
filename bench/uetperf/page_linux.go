// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/page"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A recorder looks at the bottleneck and at the senders after each step of the loop, and keeps
// the extremes in a bounded number of steps.
type recorder struct {
	fine, coarse page.Clock // ns
	queue        page.Track // bytes
	marked       page.Sum   // packets
	before       switchq.Counters
	senders      []senderRecord
}

// A senderRecord is the record of a sender.
type senderRecord struct {
	window, inflight, rtt page.Track // bytes, bytes, ns
	arrived               page.Sum   // bytes
	before                int64
	at                    pdc.Addr // where its packets come from, for the target
}

func newRecorder(senders int, s *sites) *recorder {
	r := &recorder{fine: page.Clock{Steps: 512}, coarse: page.Clock{Steps: 128}, senders: make([]senderRecord, senders)}
	for i := range r.senders {
		r.senders[i].at = pdc.AddrFrom(s.side(i))
	}
	return r
}

// look takes in how things are now.
func (r *recorder) look(now int64, n *network) {
	c := n.relay.queue.Counters()
	if c.PeakLow > r.before.PeakLow { // between two looks
		r.queue.Set(&r.fine, now, c.PeakLow)
	}
	r.queue.Set(&r.fine, now, n.relay.queue.Bytes(switchq.ClassLow))
	r.marked.Add(&r.coarse, now, c.Marked-r.before.Marked)
	r.before = c
	for i, s := range n.senders {
		x, v := &r.senders[i], s.snapshot()
		placed := n.target.placed[x.at]
		x.arrived.Add(&r.coarse, now, placed-x.before)
		x.before = placed
		if v.Context == 0 {
			continue
		}
		x.window.Set(&r.fine, now, v.Cwnd)
		x.inflight.Set(&r.fine, now, v.Inflight)
		if v.Acks > 0 {
			x.rtt.Set(&r.fine, now, v.BaseRTT+v.QDelay)
		}
	}
}

var timeAxis = page.Axis{Label: "time", Unit: "ms", Zoom: "time"}

// page shows the results of a run through the bottleneck.
func (r *result) page(o *options, seen *recorder) *page.Page {
	p := o.newPage(fmt.Sprintf("from %d to 1 through a bottleneck of %.4g Mb/s in this process", len(r.senders), o.rate/1e6))
	p.Notes = r.doubts()
	p.Tables = append(p.Tables, r.senderTable())
	steps := seen.coarse.Used(r.took) // before the others, which it may make longer
	seen.fine.Used(r.took)
	ms := func(t *page.Track) page.Series { return t.Series(&seen.fine, r.took, 1e6) }
	config := r.relay.params.Config()
	queue, marks := ms(&seen.queue), amounts(&seen.marked, &seen.coarse, steps, 1)
	queue.Name, marks.Name = "bottleneck", "bottleneck"
	p.Sections = append(p.Sections,
		over("Queue", "Data that waits in the bottleneck. Marks begin at the lower level, and above the upper one all are marked.", "waiting", "bytes", queue),
		over("ECN marks", "Packets that the bottleneck marked in each step of time.", "marks in a step", "packets", marks))
	p.Sections[0].Figures[0].Mark = []page.Mark{{Name: "ECN min", At: float64(config.ECNMin)}, {Name: "ECN max", At: float64(config.ECNMax)}}
	var window, inflight, rtt, rate []page.Series
	held := page.Figure{Kind: page.Bars, X: page.Axis{Label: "time", Unit: "ms"}, Series: heldSeries(r.senders)}
	for i, s := range r.senders {
		x, name := &seen.senders[i], s.Local().Addr().String()
		add := func(all *[]page.Series, l page.Series) {
			l.Name, l.Style = name, i
			*all = append(*all, l)
		}
		add(&window, ms(&x.window))
		add(&inflight, ms(&x.inflight))
		add(&rtt, milliseconds(ms(&x.rtt)))
		add(&rate, amounts(&x.arrived, &seen.coarse, steps, 8e3/float64(seen.coarse.Step())))
		held.Rows = append(held.Rows, name)
	}
	p.Sections = append(p.Sections,
		over("Windows", "The congestion window of each sender.", "window", "bytes", window...),
		over("In flight", "Bytes that were sent and are not accounted for.", "in flight", "bytes", inflight...),
		over("Round trips", "The last round trip that a sender has measured.", "round trip", "ms", rtt...),
		over("Rates", "Data that arrived at the target in each step of time.", "rate", "Mb/s", rate...),
		page.Section{Title: "Why senders waited", Note: "Time in which a sender had data that it could not send, by what kept it back.", Figures: []page.Figure{held}})
	return p
}

// over is a picture of lines over time.
func over(title, note, label, unit string, lines ...page.Series) page.Section {
	f := page.Figure{Kind: page.Lines, X: timeAxis, Y: page.Axis{Label: label, Unit: unit}, Series: lines}
	return page.Section{Title: title, Note: note, Figures: []page.Figure{f}}
}

// milliseconds converts from nanoseconds.
func milliseconds(s page.Series) page.Series {
	for i := range s.Lo {
		s.Lo[i] /= 1e6
	}
	for i := range s.Hi {
		s.Hi[i] /= 1e6
	}
	return s
}

func (r *result) senderTable() page.Table {
	t := page.Table{Columns: []string{"sender", "Mb/s", "MB", "messages", "marked", "RTT min", "p50", "p99", "mean cwnd, bytes", "sent", "resent", "time-outs"}}
	for _, s := range r.senders {
		v, d := s.snapshot(), s.PDS().Stats()
		t.Rows = append(t.Rows, []string{s.Local().Addr().String(), megabits(s.delivered, s.ended-s.began), fmt.Sprintf("%.1f", float64(s.delivered)/1e6),
			fmt.Sprint(s.messages), fmt.Sprintf("%.1f%%", percent(v.Marked, v.Acks)), s.rtt.ms(0), s.rtt.ms(0.5), s.rtt.ms(0.99), fmt.Sprint(s.meanWindow()),
			fmt.Sprint(d.Sent), fmt.Sprint(d.Resent), fmt.Sprint(d.RTOs)})
	}
	return t
}

// amounts is a sum over time, each step times a factor.
func amounts(sum *page.Sum, c *page.Clock, steps int, factor float64) page.Series {
	s := page.Series{Step: float64(c.Step()) / 1e6}
	for i := range steps {
		s.Lo = append(s.Lo, float64(sum.At(c, i))*factor)
	}
	return s
}

// heldSeries are the waiting times of senders, ms, a series for each reason found.
func heldSeries(senders []*sender) (all []page.Series) {
	for why := range len(ccc.Snapshot{}.Held) {
		s, any := page.Series{Name: ccc.Reason(why).String(), Style: len(all)}, false
		for _, x := range senders {
			ns := x.snapshot().Held[why]
			any = any || ns > 0
			s.Y = append(s.Y, float64(ns)/1e6)
		}
		if any && why != int(ccc.ReasonBacklog) {
			all = append(all, s)
		}
	}
	return all
}
