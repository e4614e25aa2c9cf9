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

// markdown is the table, with what it was measured on and how.
func markdown(a about, rows []row) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(columns)
	line(slices.Repeat([]string{"---"}, len(columns)))
	var last *job
	for i := range rows {
		c := rows[i].cells(last)
		c[atAgainst] = "`" + c[atAgainst] + "`"
		line(c)
		last = rows[i].job
	}
	fmt.Fprintf(&b, "\n%s\n\n%s %s.\n\n    %s\n", summary(rows), method(a), a, a.Command)
	return b.String()
}

// method says how the figures came about.
func method(a about) string {
	return fmt.Sprintf("%d rounds of %s each, ours and its rivals in turn. A figure is the first decile of the rounds, beside it their median "+
		"[least .. largest]; a ratio is that of the first deciles [range over %d parts of the run], beside it that of the medians.",
		a.Rounds, a.Benchtime, parts)
}

// writeMarked puts text between the markers of a file, which is made if there is
// none. A file without them is left alone.
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
