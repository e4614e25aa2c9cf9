//go:build linux && !purego

package slab

import (
	"syscall"
	"unsafe"
)

// huge is make([]T, n) for an array that is worth huge pages, nil for another: it begins
// with one and has the last one to itself, or the ends of it, which may be all, would lie
// on small ones. Where the system has no huge pages the array is as good as without, so
// that an error is nobody's concern.
func huge[T any](n int) []T {
	size := uintptr(n) * unsafe.Sizeof(*new(T))
	if size < hugePage/2 {
		return nil
	}
	size = (size + hugePage - 1) &^ (hugePage - 1)
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, size+hugePage)))
	p = unsafe.Add(p, -uintptr(p)%hugePage)
	_ = syscall.Madvise(unsafe.Slice((*byte)(p), size), syscall.MADV_HUGEPAGE)
	return unsafe.Slice((*T)(p), n)
}
