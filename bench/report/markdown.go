package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	markBegin = "<!-- bench/report: begin -->"
	markEnd   = "<!-- bench/report: end -->"
)

// markdown is the table, with what it was measured on and how.
func markdown(a about, rows []row) string {
	var b strings.Builder
	b.WriteString("| job | ours, ns | against | ns | ratio | goal | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	var last *job
	for i := range rows {
		r := &rows[i]
		what, ours := "", ""
		if r.job != last {
			what, ours = r.job.what, span(r.ours)
			last = r.job
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s | %s |\n", what, ours, r.against(), span(r.theirs), ratio(r), goal(r), r.verdict())
	}
	fmt.Fprintf(&b, "\n%s\n\nMedians of %d rounds with the least and the largest value; a ratio is the median of the rounds' own. %s.\n\n    %s\n",
		summary(rows), a.Rounds, a, a.Command)
	return b.String()
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
