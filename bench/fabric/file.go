// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ReadMatrix is [ParseMatrix] of a file, unpacked if the name ends in .gz.
func ReadMatrix(path string) (*Matrix, error) { return readFile(path, ParseMatrix) }

// ReadTopology is [ParseTopology] of a file, unpacked if the name ends in .gz.
func ReadTopology(path string) (*Topology, error) { return readFile(path, ParseTopology) }

// ReadExperiments is [ParseExperiments] of a file, unpacked if the name ends in .gz.
func ReadExperiments(path string) ([]Experiment, error) { return readFile(path, ParseExperiments) }

func readFile[T any](path string, parse parser[T]) (none T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	return unpacked(path, f, parse)
}

// readFS is readFile of a file in fsys.
func readFS[T any](fsys fs.FS, name string, parse parser[T]) (none T, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	return unpacked(name, f, parse)
}

// A parser reads a text; file is the name in errors.
type parser[T any] func(file string, r io.Reader) (T, error)

func unpacked[T any](path string, r io.Reader, parse parser[T]) (none T, err error) {
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return none, &os.PathError{Op: "unpack", Path: path, Err: err}
		}
	}
	return parse(filepath.Base(path), r)
}
