// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Places in the picture, in pixels.
const (
	labelWidth = 300
	plotWidth  = 520
	barHeight  = 13
	barGap     = 2
	groupGap   = 22
	topMargin  = 78
	bottom     = 34
)

// colors of a bar, by the rival's kind.
var colors = map[kind]string{kindOwn: "#1f6feb", kindFloor: "#8c959f", kindPeer: "#d4862a"}

// A bar is a figure with a range, ns.
type bar struct {
	label string
	kind  kind
	ns    spread
}

// A group is the bars of a job.
type group struct {
	title string
	bars  []bar
}

// groups are the measured jobs with a peer, ours first in each.
func groups(rows []row) (all []group) {
	byJob := map[*job]int{}
	for i := range rows {
		r := &rows[i]
		if !slices.ContainsFunc(r.job.rivals, func(v rival) bool { return v.kind == kindPeer }) || len(r.missed) > 0 {
			continue
		}
		at, ok := byJob[r.job]
		if !ok {
			at = len(all)
			byJob[r.job] = at
			all = append(all, group{r.job.what, []bar{{"uetcc", kindOwn, r.ours}}})
		}
		if r.rival.kind != kindOwn {
			all[at].bars = append(all[at].bars, bar{r.against(), r.rival.kind, r.theirs})
		}
	}
	return all
}

// scale maps ns to pixels, by powers of ten.
type scale struct{ low, high float64 } // decades

func newScale(all []group) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, g := range all {
		for _, b := range g.bars {
			s.low = min(s.low, math.Floor(math.Log10(b.ns.least)))
			s.high = max(s.high, math.Ceil(math.Log10(b.ns.median)))
		}
	}
	if s.low >= s.high { // nothing was measured, or one power of ten exactly
		return scale{0, 3}
	}
	return s
}

func (s scale) x(ns float64) float64 {
	return labelWidth + plotWidth*(math.Log10(ns)-s.low)/(s.high-s.low)
}

// picture is an SVG of bars on a logarithmic scale, with the range of the rounds.
func picture(a about, rows []row) string {
	all := groups(rows)
	height := topMargin + bottom
	for _, g := range all {
		height += groupGap + len(g.bars)*(barHeight+barGap)
	}
	width := labelWidth + plotWidth + 110
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="sans-serif" font-size="11">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	heading.text(&b, 10, 20, "Nanoseconds an operation, logarithmic scale: shorter is faster")
	remark.text(&b, 10, 36, fmt.Sprintf("first decile of %d rounds, whiskers from the least to the median", a.Rounds))
	remark.text(&b, 10, 50, a.String())
	legend(&b)
	s := newScale(all)
	grid(&b, s, height)
	y := float64(topMargin)
	for _, g := range all {
		heading.text(&b, 10, y+13, g.title)
		y += groupGap - barGap
		for _, v := range g.bars {
			drawBar(&b, s, v, y)
			y += barHeight + barGap
		}
		y += barGap
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// A style is the look of text, and the end of the text at the given place.
type style struct{ color, weight, anchor string }

var (
	heading = style{"#24292f", "bold", "start"}
	plain   = style{"#24292f", "normal", "start"}
	label   = style{"#24292f", "normal", "end"}
	remark  = style{"#57606a", "normal", "start"}
	tick    = style{"#57606a", "normal", "middle"}
)

func (s style) text(b *strings.Builder, x, y float64, text string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" font-weight="%s" text-anchor="%s">%s</text>`+"\n",
		x, y, s.color, s.weight, s.anchor, html.EscapeString(text))
}

func legend(b *strings.Builder) {
	x := 10.0
	for _, l := range []struct {
		kind kind
		name string
	}{{kindOwn, "uetcc"}, {kindFloor, "floor: the least code that does it"}, {kindPeer, "what a Go program could use instead"}} {
		fmt.Fprintf(b, `<rect x="%.1f" y="59" width="10" height="10" fill="%s"/>`+"\n", x, colors[l.kind])
		plain.text(b, x+14, 68, l.name)
		x += 40 + 6*float64(len(l.name))
	}
}

// grid draws a line for each power of ten.
func grid(b *strings.Builder, s scale, height int) {
	for d := s.low; d <= s.high; d++ {
		x := s.x(math.Pow(10, d))
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#d0d7de"/>`+"\n", x, topMargin, x, height-bottom+6)
		tick.text(b, x, float64(height-bottom+20), fmt.Sprintf("%g ns", math.Pow(10, d)))
	}
}

func drawBar(b *strings.Builder, s scale, v bar, y float64) {
	x, middle := s.x(v.ns.quiet), y+barHeight/2.0
	label.text(b, labelWidth-6, y+10, v.label)
	fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", labelWidth, y, max(x-labelWidth, 1), barHeight, colors[v.kind])
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#24292f"/>`+"\n", s.x(v.ns.least), middle, s.x(v.ns.median), middle)
	plain.text(b, s.x(v.ns.median)+5, y+10, figure(v.ns.quiet))
}
