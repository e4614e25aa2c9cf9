// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

// Outputs are the files of a flag, one for each run. The file of the last run has the name asked
// for, and files of earlier runs have the run's name in front of the ending, so no file replaces
// another.
type outputs struct {
	path  string // "": not asked for
	files []*output
}

// An output is the file of a run, under its final name when complete.
type output struct {
	path   string
	run    string
	file   *cli.File
	buffer *bufio.Writer
	part   bool  // the run was ended by a signal
	err    error // the first
}

// next is the file of the next run, made at the first write.
func (o *outputs) next(run string) *output {
	f := &output{path: o.path, run: run}
	o.files = append(o.files, f)
	return f
}

// open makes the file unless present.
func (f *output) open() {
	if f.err != nil || f.file != nil {
		return
	}
	file, err := cli.Create(f.path)
	if f.err = err; err == nil {
		f.file, f.buffer = file, bufio.NewWriter(file)
	}
}

// end closes the file of a finished or interrupted run.
func (f *output) end(part bool) {
	f.part = part
	if f.buffer != nil {
		flushed, closed := f.buffer.Flush(), f.file.Close()
		f.err, f.buffer = cmp.Or(f.err, flushed, closed), nil
	}
}

// settle gives the files the final names, or removes the files after an error, of a run or of
// a file. Results are the paths of partial files, and the first error of a file.
func (o *outputs) settle(wrong error) (parts []string, err error) {
	last := -1
	for i, f := range o.files {
		if f.file != nil {
			last = i
		}
		err = cmp.Or(err, f.err)
	}
	wrong = cmp.Or(wrong, err)
	taken := map[string]int{}
	for i, f := range o.files {
		if f.file == nil {
			continue
		}
		path := cmp.Or(f.file.Path(), f.path)
		if i < last {
			path = kept(path, f.run, taken)
		}
		if f.part {
			if f.file.Path() != "" {
				path += ".partial"
			}
			parts = append(parts, path)
		}
		if settled := f.file.SettleAs(path, wrong); wrong == nil {
			err, wrong = settled, settled
		}
	}
	return parts, err
}

// kept is the path of the file of an earlier run.
func kept(path, run string, taken map[string]int) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return '-'
	}, strings.ReplaceAll(run, ", ", "-"))
	if taken[name]++; taken[name] > 1 {
		name = fmt.Sprintf("%s-%d", name, taken[name])
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + name + ext
}
