// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// remember adds the rounds of a run to the history in the format of golang.org/x/perf: the output
// of go test, under lines with the conditions of the figures.
func (o *options) remember(a about, rounds []string) (err error) {
	if o.history == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "commit: %s\ndate: %s\nprocs: %d\nload: %s\ngo: %s\n", a.Commit, a.Date, a.Procs, a.Load, a.Go)
	for _, text := range rounds {
		for line := range strings.Lines(text) {
			_, _, isFigure := parseLine(strings.TrimSpace(line))
			if key, _, ok := strings.Cut(line, ": "); isFigure || ok && (key == "cpu" || key == "goos" || key == "goarch" || key == "pkg") {
				b.WriteString(line)
			}
		}
	}
	f, err := os.OpenFile(o.history, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String() + "\n")
	return errors.Join(err, f.Close())
}
