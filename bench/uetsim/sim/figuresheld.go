// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/uetcc/uetcc/bench/page"
)

// held is the reasons of the chosen flows' waiting, and the average over all
// flows.
func (s *sketch) held() page.Section {
	return s.each("Why flows waited", "Time in which a flow had data that it could not send, by what kept it back; gray is the rest of its time, from its start to its end.",
		func(r *picturedRun) page.Figure {
			f := page.Figure{Kind: page.Bars, X: page.Axis{Label: "time", Unit: "us", Zoom: "held"}}
			whole, mean, n := map[flowKey]map[string]float64{}, map[string]float64{}, 0.0
			spans, rest := r.lasted(), page.Series{Name: "not held", Style: page.Gray}
			for _, t := range r.Result.Transfers {
				k := flowKey{uint32(t.Connection), uint32(t.Src)}
				if whole[k] == nil {
					whole[k] = t.Held
					n++
					for why, us := range t.Held {
						mean[why] += us
					}
				}
			}
			if len(whole) > len(r.flows) {
				f.Rows = append(f.Rows, fmt.Sprintf("mean of %d", len(whole)))
			}
			for _, x := range r.flows {
				f.Rows = append(f.Rows, x.name())
			}
			for _, why := range slices.Sorted(maps.Keys(mean)) {
				x := page.Series{Name: why, Style: s.reasons.of(why)}
				if len(whole) > len(r.flows) {
					x.Y = append(x.Y, mean[why]/n)
				}
				for _, flow := range r.flows {
					x.Y = append(x.Y, whole[flow.flowKey][why])
				}
				f.Series = append(f.Series, x)
			}
			for _, flow := range r.flows {
				left := spans[flow.flowKey][1] - spans[flow.flowKey][0]
				for _, us := range whole[flow.flowKey] {
					left -= us
				}
				rest.Y = append(rest.Y, max(left, 0))
			}
			if len(f.Rows) > len(r.flows) {
				rest.Y = append(page.Values{math.NaN()}, rest.Y...)
			}
			f.Series = append(f.Series, rest)
			return f
		})
}

// links are the loads of the links that carried or kept most.
func (s *sketch) links() page.Section {
	return s.each("Links", fmt.Sprintf("How busy each link was in each step of time, from blank for idle to full blue for all the time: the %d that carried most.", linksShown),
		func(r *picturedRun) page.Figure {
			f := page.Figure{Kind: page.Heat, X: timeAxis, Y: page.Axis{Unit: "% busy"}}
			var all []*portRecord
			for _, p := range r.seen.ports {
				if p != nil {
					all = append(all, p)
				}
			}
			order := slices.Clone(all)
			slices.SortStableFunc(order, func(a, b *portRecord) int {
				return cmp.Compare(float64(b.sent.Total())/b.rate, float64(a.sent.Total())/a.rate)
			})
			order = order[:min(len(order), linksShown)]
			for _, p := range all {
				if !slices.Contains(order, p) {
					continue
				}
				x := r.amounts(&p.sent, 100*8e12/(p.rate*float64(r.seen.coarse.Step())))
				x.Name, x.Y, x.Lo = p.name, x.Lo, nil
				for i := range x.Y {
					x.Y[i] = min(math.Round(x.Y[i]), 100)
				}
				f.Series = append(f.Series, x)
			}
			return f
		})
}

// packets is the history of the slowest flow's packets.
func (s *sketch) packets() page.Section {
	return s.each("Packets of one flow", "Each packet of the flow that took longest, from when it left to when it arrived: zoom in for single ones. A trimmed packet arrives without its "+
		"data, is refused, and sent again.",
		func(r *picturedRun) page.Figure {
			f := page.Figure{Kind: page.Packets, X: timeAxis, Y: page.Axis{Label: "packet"}}
			slowest, spans := -1.0, r.lasted()
			var flow *flowRecord
			for _, x := range r.flows {
				if took := spans[x.flowKey][1] - spans[x.flowKey][0]; took > slowest {
					slowest, flow = took, x
				}
			}
			if flow == nil {
				return f
			}
			x := page.Series{Name: flow.name(), Style: s.flows.of(flow.name())}
			f.Y.Label = fmt.Sprintf("packet of %s, the first %d", flow.name(), len(flow.packets))
			for _, p := range flow.packets {
				end := math.NaN()
				if p.end >= 0 && p.flags&page.FlagLost == 0 {
					end = float64(p.end) / 1e6
				}
				x.X, x.Hi, x.Y = append(x.X, float64(p.sent)/1e6), append(x.Hi, end), append(x.Y, float64(p.number))
				x.Flags = append(x.Flags, int(p.flags))
			}
			f.Series = append(f.Series, x)
			return f
		})
}
