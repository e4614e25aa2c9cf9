package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// Apart is an error if two files on a command line are the same: flags are the flags
// naming the files. Devices may be named twice.
func Apart(flags, paths []string) error {
	for i, a := range paths {
		for j, b := range paths[:i] {
			if a != "" && b != "" && sameFile(a, b) {
				return fmt.Errorf("%s and %s are the same file, %s: one would overwrite the other", flags[j], flags[i], a)
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

// realPath is the path of a file maybe absent, without links on the way.
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
