// SPDX-License-Identifier: Apache-2.0

// Package page writes the results of a run as one HTML file with pictures: opened by a double
// click, without a network, printed or sent on. A picture zooms in where a pointer is dragged
// and shows the values below the pointer; the section is saved as SVG.
//
// A [Page] has sections of figures that compare runs: figures of a section have one scale, and
// all figures over time are zoomed together. A [Track] and a [Sum] record changes over time in
// a bounded number of steps, and keep the extremes.
package page

import (
	"math"
	"strconv"
)

// A Page is the content of the file.
type Page struct {
	Title    string    `json:"title"`
	About    string    `json:"about"`
	Partial  string    `json:"partial,omitempty"` // why not all is there
	Command  string    `json:"command,omitempty"` // that made the file
	Version  string    `json:"version,omitempty"` // of the command
	Claims   []Claim   `json:"claims,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Tables   []Table   `json:"tables,omitempty"` // above the figures
	Sections []Section `json:"sections"`
	Beside   []Table   `json:"beside,omitempty"` // beside the figures, such as parameters
	Below    []Table   `json:"below,omitempty"`  // the figures
}

// A Claim is a statement, with the verdict of the measurement.
type Claim struct {
	Text string `json:"text"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// A Table has rows as long as Columns. The first column names the row.
type Table struct {
	Title   string     `json:"title,omitempty"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// A Section is figures to be compared: the axes have the same range.
type Section struct {
	Title   string   `json:"title"`
	Note    string   `json:"note,omitempty"` // how to read it
	Half    bool     `json:"half,omitempty"` // beside the next one of the kind, where there is room
	Figures []Figure `json:"figures"`
}

// Kind is the way a figure shows the series.
type Kind string

// The kinds, with the fields of a [Series] shown.
const (
	Lines   Kind = "lines"   // Lo and Hi of each step from Begin on
	Stairs  Kind = "stairs"  // Y from an X to the next one
	Points  Kind = "points"  // Y at X
	Bars    Kind = "bars"    // Y of each row, one behind the other; with whiskers from Lo to Hi
	Heat    Kind = "heat"    // Y of each step from Begin on, a row of cells for a series, 0 to 100
	Packets Kind = "packets" // those sent at X and there at Hi, of number Y and the kinds of Flags
)

// A Figure is one picture.
type Figure struct {
	Title  string   `json:"title"`
	Kind   Kind     `json:"kind"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Rows   []string `json:"rows,omitempty"` // of bars; one without values is a heading
	Series []Series `json:"series"`
	Mark   []Mark   `json:"mark,omitempty"` // values of Y to point at
}

// An Axis is a scale. Figures whose X axes have the same Zoom are zoomed together.
type Axis struct {
	Label string  `json:"label"`
	Unit  string  `json:"unit,omitempty"`
	Log   bool    `json:"log,omitempty"`
	Zoom  string  `json:"zoom,omitempty"`
	Max   float64 `json:"max,omitempty"` // least end of the scale; 0: that of the data
}

// A Mark is a level with a name.
type Mark struct {
	Name string  `json:"name"`
	At   float64 `json:"at"`
}

// A Series is one line, or a part of all bars, or a row of cells. The [Kind] names the fields
// that count.
type Series struct {
	Name  string  `json:"name"`
	Style int     `json:"style"`          // color and dashes; the same name has one style on a page
	Band  bool    `json:"band,omitempty"` // lines: the area between Lo and Hi
	Begin float64 `json:"begin,omitempty"`
	Step  float64 `json:"step,omitempty"`
	X     Values  `json:"x,omitempty"`
	Y     Values  `json:"y,omitempty"`
	Lo    Values  `json:"lo,omitempty"`
	Hi    Values  `json:"hi,omitempty"` // lines: nil if it is the same as Lo
	Flags []int   `json:"flags,omitempty"`
}

// Flags of a packet.
const (
	FlagAck     = 1 << iota // an acknowledgement of all before number Y, sent by the target
	FlagNack                // a refusal
	FlagCE                  // congestion experienced
	FlagTrimmed             // a switch has cut the payload
	FlagRetx                // sent again
	FlagLost                // never there
)

// Gray is the style of a series apart from the many, such as the middle.
const Gray = -1

// Values are numbers of a file: whole numbers exact, fractions of six digits, NaN for none.
type Values []float64

// MarshalJSON writes v as an array of numbers and null.
func (v Values) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			b = append(b, "null"...)
		case x == math.Trunc(x) && math.Abs(x) < 1<<53:
			b = strconv.AppendInt(b, int64(x), 10)
		default:
			b = strconv.AppendFloat(b, x, 'g', 6, 64)
		}
	}
	return append(b, ']'), nil
}
