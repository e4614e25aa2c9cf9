// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	markBegin = "<!-- bench/report: begin -->"
	markEnd   = "<!-- bench/report: end -->"
)

// markdown is the tables, with machine and method of the measurement.
func (r *result) markdown() string {
	var b strings.Builder
	table := func(title string, lines [][]string) {
		if title != "" {
			fmt.Fprintf(&b, "\n### %s\n\n", title)
		}
		line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
		line(lines[0])
		line(slices.Repeat([]string{"---"}, len(lines[0])))
		for _, cells := range lines[1:] {
			line(cells)
		}
	}
	for _, t := range r.tables {
		lines := t.lines()
		for _, cells := range lines[1:] {
			cells[atAgainst] = "`" + cells[atAgainst] + "`"
		}
		table(t.title, lines)
	}
	for _, s := range simulated(r.rounds) {
		fmt.Fprintf(&b, "\n%s\n", s)
	}
	table("Memory", r.memoryLines())
	fmt.Fprintf(&b, "\nNot in this run: %s.\n", strings.Join(absent, "; "))
	fmt.Fprintf(&b, "\n%s\n\n%s %s.\n\n    %s\n", r.summary(), method(r.about), r.about, r.about.Command)
	return b.String()
}

// method says how the figures came about.
func method(a about) string {
	return fmt.Sprintf("%d rounds of %s each, ours and its rivals in turn. A figure is the first decile of the rounds, beside it their median "+
		"[least .. largest]; a ratio is that of the first deciles [range over %d parts of the run], beside it that of the medians.",
		a.Rounds, a.Benchtime, parts)
}

// writeMarked puts text between the markers of a file, made if absent. A file
// without markers is left alone.
func writeMarked(path, text string) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(markBegin+"\n"+markEnd+"\n"), nil
	}
	if err != nil {
		return err
	}
	merged, err := replaceMarked(string(old), text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(merged), 0o666)
}

var errMarkers = errors.New("want " + markBegin + " once, and " + markEnd + " after it")

func replaceMarked(doc, text string) (string, error) {
	before, rest, ok := strings.Cut(doc, markBegin)
	_, after, ok2 := strings.Cut(rest, markEnd)
	if !ok || !ok2 || strings.Contains(rest, markBegin) {
		return "", errMarkers
	}
	return before + markBegin + "\n" + text + markEnd + after, nil
}
