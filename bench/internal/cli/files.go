// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Apart is an error if two files on a command line are the same: flags are the flags
// naming the files. Devices may be named twice.
func Apart(flags, paths []string) error {
	for i, a := range paths {
		for j, b := range paths[:i] {
			if a != "" && b != "" && sameFile(a, b) {
				return fmt.Errorf("%s and %s are the same file, %s: each needs one of its own", flags[j], flags[i], a)
			}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return realPath(a) == realPath(b)
}

// A File is written under a second name and renamed by Settle, so the file of the final name is never
// partial. A device or a pipe is written to directly.
type File struct {
	*os.File
	path string // "": written to directly
}

// Create makes a File for a path. Several files may be made for the same path.
func Create(path string) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{f, ""}, err
	}
	for n := 0; ; n++ {
		f, err := os.OpenFile(fmt.Sprintf("%s.%d.%d.tmp", path, os.Getpid(), n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return &File{f, path}, err
		}
	}
}

// Path is the final name without links on the way; "": f is written to directly.
func (f *File) Path() string { return f.path }

// Settle closes f and gives f the final name. After an error, returned unchanged, f is removed
// instead, and an old file stays.
func (f *File) Settle(err error) error { return f.SettleAs(f.path, err) }

// SettleAs is Settle with another final name, for an f that may be closed already.
func (f *File) SettleAs(path string, err error) error {
	if closed := f.Close(); !errors.Is(closed, fs.ErrClosed) {
		err = errors.Join(err, closed)
	}
	switch {
	case f.path == "":
		return err
	case err != nil:
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}

// CheckPath reports early the error that Create would meet for a flag's file: nil also for an empty
// path.
func CheckPath(flag, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s %s is a folder, want the name of a file", flag, path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

// realPath is the path of a file, maybe absent, without links on the way.
func realPath(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	path = filepath.Join(dir, filepath.Base(path))
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
