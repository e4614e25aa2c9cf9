package sim

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// A lastFile is an output file that each run starts anew, so that it holds the last one. It is
// written beside its path and moved there when it is whole: what has the name is never a part.
// A device or a pipe is written to directly.
type lastFile struct {
	path   string // "": not asked for
	file   *os.File
	buffer *bufio.Writer
	moved  bool  // file has a name for now
	err    error // the first
}

// restart empties the file.
func (f *lastFile) restart() {
	switch {
	case f.err != nil:
	case f.file == nil:
		f.err = f.open()
	case f.moved:
		f.buffer.Reset(f.file)
		_, sought := f.file.Seek(0, 0)
		f.err = cmp.Or(sought, f.file.Truncate(0))
	}
}

func (f *lastFile) open() (err error) {
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = real
	}
	info, err := os.Stat(f.path)
	f.moved = err != nil || info.Mode().IsRegular()
	if f.moved {
		f.file, err = os.OpenFile(fmt.Sprintf("%s.%d.tmp", f.path, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	} else {
		f.file, err = os.OpenFile(f.path, os.O_WRONLY, 0)
	}
	if err == nil {
		f.buffer = bufio.NewWriter(f.file)
	}
	return err
}

// close ends the file and returns its path, "" if there is none, and the first error there
// was. What is only a part of a run goes to the path with ".partial" behind it; after an error
// the file is removed.
func (f *lastFile) close(partial bool) (path string, err error) {
	if f.file == nil {
		return "", f.err
	}
	flushed, closed := f.buffer.Flush(), f.file.Close()
	f.err = cmp.Or(f.err, flushed, closed)
	path = f.path
	if partial && f.moved {
		path += ".partial"
	}
	if f.moved && f.err == nil {
		f.err = os.Rename(f.file.Name(), path)
	}
	if f.moved && f.err != nil {
		f.err = cmp.Or(f.err, os.Remove(f.file.Name()))
	}
	f.file = nil
	return path, f.err
}
