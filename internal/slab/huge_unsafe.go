// SPDX-License-Identifier: Apache-2.0

//go:build linux && !purego

package slab

import (
	"syscall"
	"unsafe"
)

// huge is make([]T, n) on huge pages, nil for an array too small to be worth huge pages. The
// array begins on a boundary of huge pages and takes whole pages, or the ends, maybe all of
// the array, would lie on small pages. Without huge pages the array still works, so errors
// of the system do not matter.
func huge[T any](n int) []T {
	size := uintptr(n) * unsafe.Sizeof(*new(T))
	if size < hugePage {
		return nil
	}
	size = (size + hugePage - 1) &^ (hugePage - 1)
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, size+hugePage)))
	p = unsafe.Add(p, -uintptr(p)%hugePage)
	_ = syscall.Madvise(unsafe.Slice((*byte)(p), size), syscall.MADV_HUGEPAGE)
	return unsafe.Slice((*T)(p), n)
}
