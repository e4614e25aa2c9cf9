package main

import (
	"bufio"
	"cmp"
	"os"
)

// A lastFile is an output file that each run starts anew, so that it holds the last one.
type lastFile struct {
	path   string // "": not asked for
	file   *os.File
	buffer *bufio.Writer
	err    error // the first
}

func (f *lastFile) restart() {
	if f.close() != nil {
		return
	}
	if f.file, f.err = os.Create(f.path); f.err == nil {
		f.buffer = bufio.NewWriter(f.file)
	}
}

// close ends the file and returns the first error there was.
func (f *lastFile) close() error {
	if f.file != nil {
		flushed, closed := f.buffer.Flush(), f.file.Close()
		f.err = cmp.Or(f.err, flushed, closed)
		f.file = nil
	}
	return f.err
}
