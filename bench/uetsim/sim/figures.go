// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/bench/page"
	"github.com/uetcc/uetcc/hw/link"
)

// The numbers shown in a picture, the most important first.
const (
	flowsShown = 12
	portsShown = 7
	linksShown = 28
)

// A pictured run is a run with a record.
type picturedRun struct {
	namedRun
	flows []*flowRecord // that have lines of their own, the first to finish first
	ports []*portRecord // the fullest first
	until int64         // ps
}

// A sketch turns runs into figures. Each flow, port and reason to wait has the same style in all
// figures.
type sketch struct {
	runs                  []picturedRun
	flows, ports, reasons styles
}

// styles are numbers by name.
type styles map[string]int

// of is the style of everything with a name.
func (s styles) of(name string) int {
	i, ok := s[name]
	if !ok {
		i = len(s)
		s[name] = i
	}
	return i
}

var timeAxis = page.Axis{Label: "time", Unit: "us", Zoom: "time"}

// newSketch chooses the parts to be seen.
func newSketch(runs []namedRun) *sketch {
	s := &sketch{flows: styles{}, ports: styles{}, reasons: styles{}}
	for _, n := range runs {
		if n.seen == nil {
			continue
		}
		r := picturedRun{namedRun: n, until: int64(ended(n.Result) * 1e6)}
		r.seen.fine.Used(r.until)
		r.seen.coarse.Used(r.until)
		r.flows = r.chosenFlows()
		r.ports = r.fullestPorts()
		s.runs = append(s.runs, r)
	}
	return s
}

// ended is when the last transfer was over, us, or the run where some was not: timers may run on for long after all
// has been said.
func ended(r *fabric.Result) (end float64) {
	for _, t := range r.Transfers {
		if t.Finished < 0 {
			return r.SimTime
		}
		end = max(end, t.Finished)
	}
	if end == 0 {
		return r.SimTime
	}
	return end
}

// lasted is from when to when a flow was at work, us.
func (r *picturedRun) lasted() map[flowKey][2]float64 {
	spans := map[flowKey][2]float64{}
	for _, t := range r.Result.Transfers {
		if t.Start < 0 {
			continue
		}
		k, end := flowKey{uint32(t.Connection), uint32(t.Src)}, t.Finished
		if end < 0 {
			end = r.Result.SimTime
		}
		span, ok := spans[k]
		if !ok {
			span = [2]float64{t.Start, end}
		}
		spans[k] = [2]float64{min(span[0], t.Start), max(span[1], end)}
	}
	return spans
}

// chosenFlows are all flows of data, or if too many the quickest, the slowest and some between at
// even distances.
func (r *picturedRun) chosenFlows() (all []*flowRecord) {
	spans := r.lasted()
	for _, f := range r.seen.order {
		if _, ok := spans[f.flowKey]; ok {
			all = append(all, f)
		}
	}
	took := func(f *flowRecord) float64 { return spans[f.flowKey][1] - spans[f.flowKey][0] }
	if len(all) <= flowsShown {
		slices.SortFunc(all, func(a, b *flowRecord) int { return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.conn, b.conn)) })
		return all
	}
	slices.SortStableFunc(all, func(a, b *flowRecord) int { return cmp.Compare(took(a), took(b)) })
	some := make([]*flowRecord, flowsShown)
	for i := range some {
		some[i] = all[i*(len(all)-1)/(flowsShown-1)]
	}
	return some
}

// fullestPorts are the ports with most data waiting, or with most marks.
func (r *picturedRun) fullestPorts() (some []*portRecord) {
	peak := map[string]int64{}
	for _, q := range r.Result.Queues {
		peak[q.Name] = q.Peak
	}
	for _, p := range r.seen.ports {
		if p != nil && peak[p.name] > 0 {
			some = append(some, p)
		}
	}
	slices.SortStableFunc(some, func(a, b *portRecord) int {
		return cmp.Or(cmp.Compare(peak[b.name], peak[a.name]), cmp.Compare(b.marks, a.marks))
	})
	return some[:min(len(some), portsShown)]
}

func (f *flowRecord) name() string { return flowName(int(f.src), int(f.dst)) }

func flowName(src, dst int) string { return fmt.Sprintf("%d \u2192 %d", src, dst) }

// each is a section with a figure for each run.
func (s *sketch) each(title, note string, figure func(*picturedRun) page.Figure) page.Section {
	c := page.Section{Title: title, Note: note}
	for i := range s.runs {
		f := figure(&s.runs[i])
		f.Title = s.runs[i].Name
		c.Figures = append(c.Figures, f)
	}
	return c
}

// queues are the data waiting at the fullest ports, and marks the packets marked there.
func (s *sketch) queues() page.Section {
	return s.each("Queues", fmt.Sprintf("Data that waits at a port, behind the packet being sent: the %d fullest ports. Dashed: marks begin at the lower level "+
		"of a last hop, and above the upper one all are marked.", portsShown),
		func(r *picturedRun) page.Figure {
			f := page.Figure{Kind: page.Lines, X: timeAxis, Y: page.Axis{Label: "waiting", Unit: "bytes"}}
			for _, p := range r.ports {
				x := p.waiting.Series(&r.seen.fine, r.until, 1e6)
				x.Name, x.Style = p.name, s.ports.of(p.name)
				f.Series = append(f.Series, x)
			}
			if a := &r.Result.Parameters; a.ECN && len(r.ports) > 0 && r.ports[0].lastHop {
				f.Mark = []page.Mark{{Name: "ECN min", At: float64(a.LastHopECNMin)}, {Name: "ECN max", At: float64(a.LastHopECNMax)}}
			}
			return f
		})
}

func (s *sketch) marks() page.Section {
	return s.each("ECN marks", "Packets that a port marked in each step of time.", func(r *picturedRun) page.Figure {
		f := page.Figure{Kind: page.Lines, X: timeAxis, Y: page.Axis{Label: "marks in a step", Unit: "packets", Max: 4}}
		for _, p := range r.ports {
			x := r.amounts(&p.marked, 1)
			x.Name, x.Style = p.name, s.ports.of(p.name)
			f.Series = append(f.Series, x)
		}
		return f
	})
}

// amounts is a sum over time, each step times a factor.
func (r *picturedRun) amounts(sum *page.Sum, factor float64) (x page.Series) {
	c := &r.seen.coarse
	x.Step = float64(c.Step()) / 1e6
	for i := range c.Used(r.until) {
		x.Lo = append(x.Lo, float64(sum.At(c, i))*factor)
	}
	return x
}

// perFlow are lines of the chosen flows, over the middle of all flows if more.
func (s *sketch) perFlow(title, note string, y page.Axis, of func(*picturedRun, *flowRecord) page.Series) page.Section {
	return s.each(title, note, func(r *picturedRun) page.Figure {
		f := page.Figure{Kind: page.Lines, X: timeAxis, Y: y}
		if len(r.seen.order) > len(r.flows) && len(r.flows) == flowsShown {
			var all []page.Series
			for _, x := range r.seen.order {
				all = append(all, of(r, x))
			}
			band, median := page.Middle(all)
			band.Name, band.Style, median.Name, median.Style = "middle 80 % of all flows", page.Gray, "median of all flows", page.Gray
			f.Series = append(f.Series, band, median)
		}
		for _, x := range r.flows {
			l := of(r, x)
			l.Name, l.Style = x.name(), s.flows.of(x.name())
			f.Series = append(f.Series, l)
		}
		return f
	})
}

func (s *sketch) windows() []page.Section {
	return []page.Section{
		s.perFlow("Windows", "The congestion window of each flow. It limits nothing in a run without congestion control.",
			page.Axis{Label: "window", Unit: "bytes"},
			func(r *picturedRun, f *flowRecord) page.Series { return f.window.Series(&r.seen.fine, r.until, 1e6) }),
		s.perFlow("In flight", "Bytes that were sent and are not accounted for.", page.Axis{Label: "in flight", Unit: "bytes"},
			func(r *picturedRun, f *flowRecord) page.Series { return f.inflight.Series(&r.seen.fine, r.until, 1e6) }),
		s.perFlow("Round trips", "The last round trip that a flow has measured.", page.Axis{Label: "round trip", Unit: "us"},
			func(r *picturedRun, f *flowRecord) page.Series {
				x := f.rtt.Series(&r.seen.fine, r.until, 1e6)
				for i := range x.Lo {
					x.Lo[i] /= 1000
				}
				for i := range x.Hi {
					x.Hi[i] /= 1000
				}
				return x
			}),
		s.perFlow("Rates", "Data that arrived at the destination, duplicates included, in each step of time.", page.Axis{Label: "rate", Unit: "Gb/s"},
			func(r *picturedRun, f *flowRecord) page.Series {
				return r.amounts(&f.arrived, 8e3/float64(r.seen.coarse.Step()))
			}),
	}
}

// fairness is Jain's index over the throughputs of flows at work through a whole step.
func (s *sketch) fairness() page.Section {
	f := page.Figure{Kind: page.Lines, X: timeAxis, Y: page.Axis{Label: "Jain's index", Max: 1}}
	for i := range s.runs {
		r := &s.runs[i]
		c, spans := &r.seen.coarse, r.lasted()
		x := page.Series{Name: r.Name, Style: i, Step: float64(c.Step()) / 1e6}
		for k := range c.Used(r.until) {
			var n, sum, squares float64
			for _, flow := range r.seen.order {
				if span, ok := spans[flow.flowKey]; ok && span[0] <= float64(k)*x.Step && span[1] >= float64(k+1)*x.Step {
					got := float64(flow.arrived.At(c, k))
					n, sum, squares = n+1, sum+got, squares+got*got
				}
			}
			index := math.NaN()
			if n > 1 && squares > 0 {
				index = sum * sum / (n * squares)
			}
			x.Lo = append(x.Lo, index)
		}
		f.Series = append(f.Series, x)
	}
	return page.Section{Title: "Fairness", Note: "Jain's index of the rates of all flows at work in a step of time: 1 if all are equal, 1/n if one of n has all.",
		Figures: []page.Figure{f}}
}

// completion is the number of finished transfers over time.
func (s *sketch) completion() page.Section {
	f := page.Figure{Kind: page.Stairs, X: page.Axis{Label: "completion time", Unit: "us", Zoom: "fct"}, Y: page.Axis{Label: "transfers", Unit: "%", Max: 100}}
	for i := range s.runs {
		var v []float64
		for _, t := range s.runs[i].Result.Transfers {
			if t.FCT >= 0 {
				v = append(v, t.FCT)
			}
		}
		slices.Sort(v)
		x := page.Series{Name: s.runs[i].Name, Style: i, X: page.Values{0}, Y: page.Values{0}}
		all, step := len(s.runs[i].Result.Transfers), max(len(v)/500, 1)
		for k := range v {
			if k%step == 0 || k == len(v)-1 {
				x.X, x.Y = append(x.X, v[k]), append(x.Y, 100*float64(k+1)/float64(all))
			}
		}
		f.Series = append(f.Series, x)
	}
	return page.Section{Title: "Completion times", Note: "From the start of a transfer to its last acknowledgement.", Half: true, Figures: []page.Figure{f}}
}

// slowdown is the ratio of transfers' times to the times on idle links.
func (s *sketch) slowdown() page.Section {
	f := page.Figure{Kind: page.Points, X: page.Axis{Label: "size", Unit: "bytes", Log: true, Zoom: "size"}, Y: page.Axis{Label: "slowdown", Unit: "times", Log: true, Max: 1}}
	for i := range s.runs {
		x := page.Series{Name: s.runs[i].Name, Style: i}
		res := s.runs[i].Result
		ofSize := map[int64][]float64{}
		for _, t := range res.Transfers {
			if t.FCT >= 0 {
				ofSize[t.Bytes] = append(ofSize[t.Bytes], t.FCT/idle(&res.Parameters, &t))
			}
		}
		most := max(600/max(len(ofSize), 1), 3)
		for _, size := range slices.Sorted(maps.Keys(ofSize)) {
			v := ofSize[size]
			slices.Sort(v)
			for k := range min(len(v), most) {
				x.X, x.Y = append(x.X, float64(size)), append(x.Y, v[k*(len(v)-1)/max(min(len(v), most)-1, 1)])
			}
		}
		f.Series = append(f.Series, x)
	}
	return page.Section{Title: "Slowdown by size", Note: "Completion time over that of the same transfer on idle links.", Half: true, Figures: []page.Figure{f}}
}

// idle is how long a transfer takes where nothing else is, us.
func idle(a *fabric.Parameters, t *fabric.TransferResult) float64 {
	topo := fabric.Topology{Nodes: a.Nodes, PodSize: a.PodSize, Tiers: a.Tiers}
	payload := a.PacketBytes - a.HeaderBytes
	wire := t.Bytes + (t.Bytes+payload-1)/payload*a.HeaderBytes
	first := min(wire, a.PacketBytes)
	return float64(topo.RTT(t.Src, t.Dst, first, fabric.HeaderBytes)+link.Serialization(wire-first, a.Tiers[0].DownRate)) / 1e6
}
