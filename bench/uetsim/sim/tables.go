// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/uetcc/uetcc/bench/fabric"
)

// Tables of all runs in one file, as CSV: output without a file for each run.

// flowColumns are the columns of -flows. Times are us, -1 for events that did not happen.
var flowColumns = []string{
	"run", "transfer", "connection", "src", "dst", "bytes", "start_us", "arrived_us", "finished_us", "fct_us", "ideal_us", "slowdown", "marked",
}

// writeFlows writes a line for each transfer of each run.
func writeFlows(w io.Writer, runs []namedRun) error {
	c := csv.NewWriter(w)
	if err := c.Write(flowColumns); err != nil {
		return err
	}
	for _, n := range runs {
		for i, t := range n.Result.Transfers {
			err := c.Write([]string{
				n.Name, strconv.Itoa(i), strconv.Itoa(t.Connection), strconv.Itoa(t.Src), strconv.Itoa(t.Dst), strconv.FormatInt(t.Bytes, 10),
				number(t.Start), number(t.Arrived), number(t.Finished), number(t.FCT), number(t.Ideal), number(t.Slowdown), strconv.FormatInt(t.Marked, 10),
			})
			if err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// number is v as in JSON.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// seriesColumns are the columns of -series. A line is a point of some samples, from
// time_us on.
var seriesColumns = []string{"run", "kind", "unit", "name", "time_us", "min", "mean", "max"}

// writeSeries writes a line for each point of each series of each run.
func writeSeries(w io.Writer, runs []namedRun) error {
	c := csv.NewWriter(w)
	if err := c.Write(seriesColumns); err != nil {
		return err
	}
	for _, n := range runs {
		for i := range n.Result.Series.Lines {
			if err := writeLine(c, n.Name, n.Result.Series, &n.Result.Series.Lines[i]); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

func writeLine(c *csv.Writer, run string, s *fabric.Series, l *fabric.Line) error {
	for i := range l.Mean {
		at := float64(i) * s.Interval
		err := c.Write([]string{run, l.Kind.String(), l.Kind.Unit(), l.Name, number(at), number(l.Min[i]), number(l.Mean[i]), number(l.Max[i])})
		if err != nil {
			return err
		}
	}
	return nil
}
