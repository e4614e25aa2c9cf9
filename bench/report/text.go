// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printText writes the comparison for a terminal.
func (r *result) printText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	table := func(title string, lines [][]string) {
		if title != "" {
			fmt.Fprintf(w, "\n%s\n", title)
		}
		for _, cells := range lines {
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
		w.Flush()
	}
	fmt.Fprintf(w, "%s\n\n", r.about)
	for _, t := range r.tables {
		table(t.title, t.lines())
	}
	for _, s := range simulated(r.rounds) {
		fmt.Fprintln(w, s)
	}
	table("Memory", r.memoryLines())
	fmt.Fprintf(w, "\nNot in this run:\n  %s.\n", strings.Join(absent, ";\n  "))
	fmt.Fprintf(w, "\n%s\n\n%s\n", r.summary(), method(r.about))
	return w.Flush()
}
