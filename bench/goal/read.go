// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Read reads a file in the text or the binary form, by the first bytes; a file with a name in
// .gz is unpacked.
func Read(path string) (*Schedule, error) {
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
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return Parse(filepath.Base(path), b)
}

// Parse reads either form; file is the name in errors. The magic number of the binary form has
// zeros, never found in text.
func Parse(file string, b []byte) (*Schedule, error) {
	if bytes.IndexByte(b[:min(len(b), 8)], 0) >= 0 {
		return ParseBinary(file, b)
	}
	return ParseText(file, bytes.NewReader(b))
}
