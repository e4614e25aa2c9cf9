package fabric

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ReadMatrix is [ParseMatrix] of a file; one whose name ends in .gz is unpacked.
func ReadMatrix(path string) (*Matrix, error) { return readFile(path, ParseMatrix) }

// ReadTopology is [ParseTopology] of a file; one whose name ends in .gz is unpacked.
func ReadTopology(path string) (*Topology, error) { return readFile(path, ParseTopology) }

func readFile[T any](path string, parse func(file string, r io.Reader) (*T, error)) (*T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := io.Reader(f)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, &os.PathError{Op: "unpack", Path: path, Err: err}
		}
	}
	return parse(filepath.Base(path), r)
}
