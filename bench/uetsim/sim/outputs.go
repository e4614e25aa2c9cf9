// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Outputs are the files of a flag, one for each run. The file of the last run has the name asked
// for, and files of earlier runs have the run's name in front of the ending, so no file replaces
// another.
type outputs struct {
	path  string // "": not asked for
	files []*output
}

// An output is the file of a run. An output is written under a second name and renamed when
// complete: the file of the final name is never partial. A device or a pipe is written to
// directly.
type output struct {
	path   string
	run    string
	number int // of the flag's files
	file   *os.File
	buffer *bufio.Writer
	moved  bool  // file has a name for now
	part   bool  // the run was ended by a signal
	err    error // the first
}

// next is the file of the next run, made at the first write.
func (o *outputs) next(run string) *output {
	f := &output{path: o.path, run: run, number: len(o.files)}
	o.files = append(o.files, f)
	return f
}

// open makes the file unless present.
func (f *output) open() {
	if f.err != nil || f.file != nil {
		return
	}
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = real
	}
	info, err := os.Stat(f.path)
	f.moved = err != nil || info.Mode().IsRegular()
	if f.moved {
		temporary := fmt.Sprintf("%s.%d.%d.tmp", f.path, os.Getpid(), f.number)
		f.file, f.err = os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	} else {
		f.file, f.err = os.OpenFile(f.path, os.O_WRONLY, 0)
	}
	if f.err == nil {
		f.buffer = bufio.NewWriter(f.file)
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
// settle. Results are the paths of partial files, and the first error.
func (o *outputs) settle(wrong error) (parts []string, err error) {
	last := len(o.files) - 1
	for last >= 0 && o.files[last].file == nil {
		err = cmp.Or(err, o.files[last].err)
		last--
	}
	taken := map[string]int{}
	for i, f := range o.files[:last+1] {
		if f.file == nil || f.err != nil {
			err = cmp.Or(err, f.err)
			wrong = errors.Join(wrong, f.err)
			continue
		}
		path := f.path
		if i < last {
			path = kept(f.path, f.run, taken)
		}
		if f.part && f.moved {
			path += ".partial"
		}
		if f.moved && wrong == nil {
			f.err = os.Rename(f.file.Name(), path)
			err = cmp.Or(err, f.err)
		}
		if f.part {
			parts = append(parts, path)
		}
	}
	for _, f := range o.files {
		if f.file != nil && f.moved && cmp.Or(wrong, f.err) != nil {
			f.end(f.part)
			err = cmp.Or(err, os.Remove(f.file.Name()))
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
