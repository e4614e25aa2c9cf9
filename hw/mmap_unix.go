// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hw

import (
	"os"

	"golang.org/x/sys/unix"
)

// Mapping is a file mapped into the process, shared with all processes mapping
// the file: a plain file for a software device in another process, or a PCI
// resource file.
type Mapping struct{ bytes []byte }

// Map maps the first size bytes of the file at path for reading and writing. The
// file must be at least that long.
func Map(path string, size uint32) (*Mapping, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping outlives the descriptor
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	return &Mapping{b}, nil
}

// Bytes returns the mapped memory, for [WrapMemory] or [WrapBAR].
func (m *Mapping) Bytes() []byte { return m.bytes }

// Close unmaps the memory; spaces over the mapping must not be used any more.
func (m *Mapping) Close() error {
	b := m.bytes
	m.bytes = nil
	return unix.Munmap(b)
}
