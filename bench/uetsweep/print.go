// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed" // page.html
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// print writes the comparison as text.
func (c *comparison) print(w io.Writer) error {
	var b bytes.Buffer
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "%s\n", g.Name)
		t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "\t%s\t\n", strings.Join(c.Values, "\t\t"))
		for _, r := range g.Rows {
			fmt.Fprint(t, r.Metric)
			for i, cell := range r.Cells {
				fmt.Fprintf(t, "\t%s", cell.Interval())
				if i > 0 {
					fmt.Fprintf(t, "\t%s", cell.Difference())
				}
			}
			fmt.Fprint(t, "\t\n")
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "medians, their confidence intervals, and differences to %s: ~ is what luck alone may do\n", c.Values[0])
	for _, note := range c.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Interval is the median of a cell with the interval, left out for few results.
func (c cell) Interval() string {
	switch {
	case c.N == 0:
		return "-"
	case math.IsInf(c.Median.Lo, 0) || math.IsInf(c.Median.Hi, 0):
		return number(c.Median.Center)
	}
	return fmt.Sprintf("%s [%s, %s]", number(c.Median.Center), number(c.Median.Lo), number(c.Median.Hi))
}

// Difference is a cell's difference from the base, with the confidence.
func (c cell) Difference() string {
	if c.Delta == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", c.Delta, strings.Replace(c.Against.String(), "p=0.000", "p<0.001", 1))
}

// A mark is the place of a cell in the row's picture, in percent of the width.
type mark struct{ Lo, Width, Center float64 }

// Mark places a cell between the least and the greatest bound in the row; nil without an interval.
func (r row) Mark(c cell) *mark {
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range r.Cells {
		if c.N > 0 && !math.IsInf(c.Median.Lo, 0) && !math.IsInf(c.Median.Hi, 0) {
			least, most = min(least, c.Median.Lo), max(most, c.Median.Hi)
		}
	}
	if c.N == 0 || math.IsInf(c.Median.Lo, 0) || math.IsInf(c.Median.Hi, 0) {
		return nil
	}
	at := func(v float64) float64 {
		if most == least {
			return 50
		}
		return 2 + 96*(v-least)/(most-least)
	}
	return &mark{at(c.Median.Lo), max(at(c.Median.Hi)-at(c.Median.Lo), 0.5), at(c.Median.Center)}
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// writePage writes the comparison as HTML, complete or not at all.
func (c *comparison) writePage(path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	err = errors.Join(page.Execute(f, c), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
